"""Headings by PyMuPDF 2's layout model; asked for by name only, it reads about five pages a second."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arbiter_rag.document.folding import split_number
from arbiter_rag.document.lines import Bounds
from arbiter_rag.document.ranking import Candidate, in_levels, style_of
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View
from arbiter_rag.errors import ConfigurationError

_KINDS = frozenset({"title", "section-header"})


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """A box that the model takes for a heading, on a 1-based page."""

    page: int
    box: Bounds


def read_layout(pymupdf: Any, doc: Any, pages: int) -> list[LayoutBlock]:
    """Ask the model about every page.

    Raises:
        ConfigurationError: The model is not installed.
    """
    try:
        importlib.import_module("pymupdf.layout").activate()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"headings='layout' needs PyMuPDF 2 with its layout model, {pymupdf.__version__} is installed without it: "
            "pip install 'arbiter-rag[layout]'."
        ) from error
    found: list[LayoutBlock] = []
    for index in range(pages):
        try:
            page = doc[index]
            page.get_layout()
            boxes = page.layout_information or []
        except Exception:  # noqa: BLE001 - noted where the text of the page is extracted
            continue
        for x0, y0, x1, y1, kind, *_ in boxes:
            if kind in _KINDS:
                found.append(LayoutBlock(index + 1, (float(x0), float(y0), float(x1), float(y1))))
    return found


def layout_headings(view: View, blocks: Sequence[LayoutBlock]) -> list[Heading]:
    """Headings on the lines that the model's boxes cover."""
    found: dict[int, Candidate] = {}
    for block in blocks:
        rows = [r for r in view.rows(block.page) if _covers(block.box, view.boxes[r]) and not view.furniture[r]]
        if not rows or rows[-1] - rows[0] >= 6:
            continue
        text = " ".join(view.texts[r] for r in range(rows[0], rows[-1] + 1))
        number, title = split_number(text)
        if any(map(str.isalpha, text)):
            found[rows[0]] = Candidate(
                rows[0], rows[-1] - rows[0] + 1, number, " ".join(title.split()) or text, style_of(view, rows[0])
            )
    return in_levels([found[row] for row in sorted(found)], (), view, "layout")


def _covers(outer: Bounds, inner: Bounds) -> bool:
    """Whether the middle of a line lies in a box and most of the line does."""
    x0, y0, x1, y1 = inner
    overlap = min(outer[2], x1) - max(outer[0], x0)
    return outer[1] <= (y0 + y1) / 2 <= outer[3] and overlap > 0.5 * (x1 - x0)
