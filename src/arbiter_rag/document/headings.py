"""Which source gives a document its sections: outline, printed contents, fonts, layout model. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.fonts import font_headings
from arbiter_rag.document.layout import LayoutBlock, layout_headings
from arbiter_rag.document.locate import place
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.printed import contents_pages, printed_headings
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View

HeadingsMode = Literal["auto", "outline", "printed", "fonts", "layout", "none"]

_NO_TITLE = re.compile(
    r"(?:p(?:age|\.)?|slide|seite|p[aá]gina|diapositive|folie)?\s*[\divxlc]+|cover|blank(?: page)?|untitled|"
    r"\S*[\d_]\S*|\S+\.(?:pdf|docx?|indd|pptx?|xlsx?|qxd)",
    re.IGNORECASE,
)
_NAMELESS = "holds page numbers or file names instead of titles"

_PAGES_AN_ENTRY = 12
"""An outline with fewer than one entry on so many pages is too thin to find anything by."""

_STAIR = (3, 8)
"""Lengths of a run of entries that reads as nested by mistake; longer ones are meant."""


@dataclass(frozen=True, slots=True)
class Found:
    """Headings, where (most of) them came from, and sentences about what was odd."""

    headings: tuple[Heading, ...] = ()
    source: HeadingSource = "none"
    notes: tuple[str, ...] = ()


def find_headings(view: View, outline: Sequence[Entry], blocks: Sequence[LayoutBlock], mode: HeadingsMode) -> Found:
    """The document's headings by the source asked for; `auto` takes the first that gives useful ones.

    Args:
        view: The text.
        outline: Entries of the file's outline.
        blocks: What the layout model took for headings, when it was asked.
        mode: The source asked for.
    """
    if mode == "none":
        return Found()
    if mode == "layout":
        headings = layout_headings(view, blocks)
        return Found(tuple(headings), "layout" if headings else "none")
    if mode == "printed":
        headings, odd = printed_headings(view, contents_pages(view))
        return Found(tuple(headings), "printed" if headings else "none", tuple(odd))
    if mode == "fonts":
        headings = font_headings(view, leave_out=contents_pages(view))
        return Found(tuple(headings), "fonts" if headings else "none")
    return _by_outline(view, outline, only=mode == "outline")


def _by_outline(view: View, outline: Sequence[Entry], only: bool) -> Found:
    placed, lost = place(outline, view)
    notes = []
    if lost:
        notes.append(f"{len(lost)} of {len(outline)} outline entries point nowhere and are not printed as headings.")
    placed, stairs = _without_stairs(placed)
    notes.extend(stairs)
    weak = _weakness(placed, view)
    if only or (placed and not weak):
        return Found(tuple(placed), "outline" if placed else "none", tuple(notes))
    found = _from_the_text(view)
    if len(found.headings) < 3 or (weak != _NAMELESS and len(found.headings) < 1.5 * len(placed)):
        return Found(tuple(placed), "outline", tuple(notes)) if placed else found
    if placed:
        notes.append(f"The outline {weak}; sections were taken from the text ({found.source}) as well.")
    kept = placed if weak != _NAMELESS else [h for h in placed if h.rows]
    return Found(_merged(kept, found.headings), found.source, (*notes, *found.notes))


def _without_stairs(placed: list[Heading]) -> tuple[list[Heading], list[str]]:
    """Put on one level what was nested by mistake: several entries, pages apart, each the only child of the one before.

    Writing programs make such stairs out of a preface, a list of acronyms and a summary that follow one another.
    """
    out, notes = list(placed), []
    start = 0
    for i in range(1, len(placed) + 1):
        if i < len(placed) and placed[i].level == placed[i - 1].level + 1:
            continue
        stair = placed[start:i]
        ends = i == len(placed) or placed[i].level <= stair[0].level
        apart = all(a.page < b.page for a, b in pairwise(stair))
        if ends and apart and _STAIR[0] <= len(stair) <= _STAIR[1] and not any(h.number for h in stair):
            out[start:i] = [replace(h, level=stair[0].level) for h in stair]
            notes.append(f"{len(stair)} outline entries from page {stair[0].page} on were nested into one another.")
        start = i
    return out, notes


def _weakness(placed: Sequence[Heading], view: View) -> str:
    """What makes an outline useless by itself, or nothing."""
    named = [h for h in placed if h.rows or not _NO_TITLE.fullmatch(h.title)]
    if placed and len(named) < 0.4 * len(placed):
        return _NAMELESS
    if len(placed) < view.pages / _PAGES_AN_ENTRY or (len(placed) < 3 and view.pages > 2):
        return f"has only {len(placed)} entries for {view.pages} pages"
    return ""


def _from_the_text(view: View) -> Found:
    """The printed contents, and below what they list what fonts and numbering show."""
    pages = contents_pages(view)
    listed, notes = printed_headings(view, pages)
    headings = font_headings(view, listed, leave_out=pages)
    if not headings:
        return Found()
    return Found(tuple(headings), "printed" if listed else "fonts", tuple(notes))


def _merged(outline: Sequence[Heading], others: Sequence[Heading]) -> tuple[Heading, ...]:
    """What the text shows, and the outline's printed titles that it did not show."""
    taken = {row for h in others for row in range(h.row, h.row + max(1, h.rows))}
    extra = [h for h in outline if h.row not in taken and h.rows]
    return tuple(sorted((*others, *extra), key=lambda h: h.row))
