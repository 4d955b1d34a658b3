"""One pass over a PDF's pages: what PyMuPDF extracts, as fragments. Reads a PyMuPDF document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arbiter_rag.document.lines import BOTTOM_UP, SLANTED, TOP_DOWN, UPSIDE_DOWN, Fragments
from arbiter_rag.document.strings import clean
from arbiter_rag.progress import Progress

_BOLD = 16
"""PyMuPDF's span flag for bold."""


@dataclass(slots=True)
class Extract:
    """What one pass over the pages found.

    Attributes:
        fragments: All text.
        sizes: Width and height of each page.
        notes: Sentences about pages that could not be read.
    """

    fragments: Fragments = field(default_factory=Fragments)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def extract(pymupdf: Any, doc: Any, pages: int, progress: Progress | None = None) -> Extract:
    """Read every page once; a page that cannot be read becomes a page without text and a note."""
    out = Extract()
    flags = pymupdf.TEXTFLAGS_TEXT
    broken: list[int] = []
    for index in range(pages):
        if progress:
            progress(index, pages)
        try:
            content = doc[index].get_text("dict", flags=flags)
        except Exception:  # noqa: BLE001 - MuPDF raises a class of its own for every kind of damage
            broken.append(index + 1)
            out.sizes.append(out.sizes[-1] if out.sizes else (612.0, 792.0))
            continue
        out.sizes.append((content["width"], content["height"]))
        for block in content["blocks"]:
            if block["type"] == 0:
                _add(out.fragments, index + 1, block["number"], block["lines"])
    if progress:
        progress(pages, pages)
    if broken:
        out.notes.append(f"{len(broken)} of {pages} pages could not be read ({_listed(broken)}).")
    return out


def _add(out: Fragments, page: int, block: int, lines: Sequence[dict[str, Any]]) -> None:
    """Append the lines of one block; this is the loop that every line of a document goes through."""
    for line in lines:
        spans = line["spans"]
        if len(spans) == 1:
            main = spans[0]
            text = main["text"]
        else:
            text = "".join([s["text"] for s in spans])
            main = max(spans, key=_weight)
        text = text.strip()
        if not text.isprintable():
            text = clean(text)
        if not text:
            continue
        across, down = line["dir"]
        if across < 0.98:
            out.turned[len(out.text)] = (
                UPSIDE_DOWN if across < -0.98 else BOTTOM_UP if down < -0.98 else TOP_DOWN if down > 0.98 else SLANTED
            )
        out.page.append(page)
        out.block.append(block)
        out.box.append(line["bbox"])
        x, y = main["origin"]
        out.base.append(y if across >= 0.98 else x if down < -0.98 else -x if down > 0.98 else y)
        out.size.append(main["size"])
        out.bold.append(main["flags"] & _BOLD != 0 or "bold" in main["font"].lower())
        out.text.append(text)


def _weight(span: dict[str, Any]) -> int:
    return len(span["text"])


def _listed(pages: Sequence[int], most: int = 10) -> str:
    shown = ", ".join(map(str, pages[:most]))
    return shown if len(pages) <= most else f"{shown}, ..."
