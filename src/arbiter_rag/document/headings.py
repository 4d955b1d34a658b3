"""Which source gives a document its sections: outline, printed contents, fonts, layout model. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.locate import place
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View

HeadingsMode = Literal["auto", "outline", "printed", "fonts", "layout", "none"]


@dataclass(frozen=True, slots=True)
class Found:
    """Headings, where (most of) them came from, and sentences about what was odd."""

    headings: tuple[Heading, ...] = ()
    source: HeadingSource = "none"
    notes: tuple[str, ...] = ()


def find_headings(view: View, outline: Sequence[Entry], mode: HeadingsMode) -> Found:
    """The document's headings by the source asked for; `auto` takes the first that gives useful ones."""
    if mode == "none":
        return Found()
    placed, lost = place(outline, view)
    notes = []
    if lost:
        notes.append(f"{len(lost)} of {len(outline)} outline entries point nowhere and are not printed as headings.")
    return Found(tuple(placed), "outline" if placed else "none", tuple(notes))
