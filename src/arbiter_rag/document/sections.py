"""Headings placed in the text -> sections with their extents, and the tables that show them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.model import FRONT, Section

BREADCRUMB = " > "


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading placed in the text.

    Attributes:
        row: First row that belongs to its section.
        level: 1 is the top.
        title: Without its number.
        number: As printed or as the outline has it ("3.5", "Article 12"), or empty.
        rows: How many rows from `row` are the printed heading (0: not found in the text).
        page: 1-based page it points to; it may have no lines at all.
    """

    row: int
    level: int
    title: str
    number: str
    source: HeadingSource
    rows: int
    page: int


def build_sections(headings: Sequence[Heading], lines: int) -> tuple[Section, ...]:
    """Turn headings into sections over `lines` rows; `front` comes first where text stands before the first heading."""
    ordered = sorted(headings, key=lambda h: h.row)
    sections: list[Section] = []
    if lines and (not ordered or ordered[0].row > 0):
        own_end = ordered[0].row if ordered else lines
        sections.append(Section(FRONT, 0, None, "", "", "", "none", 0, own_end, own_end))
    ends = _full_ends(ordered, lines)
    open_ones: list[tuple[int, str, str]] = []  # (level, section_id, breadcrumb) from the top down
    for i, h in enumerate(ordered):
        while open_ones and open_ones[-1][0] >= h.level:
            open_ones.pop()
        section_id = f"s{i + 1}"
        shown = h.title if h.title.startswith(h.number) else f"{h.number} {h.title}"
        above = open_ones[-1] if open_ones else None
        breadcrumb = f"{above[2]}{BREADCRUMB}{shown}" if above else shown
        own_end = ordered[i + 1].row if i + 1 < len(ordered) else lines
        sections.append(
            Section(
                section_id=section_id,
                level=h.level,
                parent=above[1] if above else None,
                title=h.title,
                number=h.number,
                breadcrumb=breadcrumb,
                source=h.source,
                start=h.row,
                own_end=own_end,
                full_end=ends[i],
                heading_rows=h.rows,
            )
        )
        open_ones.append((h.level, section_id, breadcrumb))
    return tuple(sections)


def _full_ends(ordered: Sequence[Heading], lines: int) -> list[int]:
    ends = [lines] * len(ordered)
    waiting: list[int] = []
    for i, h in enumerate(ordered):
        while waiting and ordered[waiting[-1]].level >= h.level:
            ends[waiting.pop()] = h.row
        waiting.append(i)
    return ends


def section_column(sections: Sequence[Section], lines: int) -> np.ndarray:
    """Section id of every row: the last section that starts at or above it."""
    starts = np.array([s.start for s in sections], dtype=np.int64)
    ids = np.array([s.section_id for s in sections], dtype=object)
    if not lines:
        return np.empty(0, dtype=object)
    return ids[np.searchsorted(starts, np.arange(lines), side="right") - 1]


def toc_table(sections: Sequence[Section], line_df: pd.DataFrame, pages: Sequence[int]) -> pd.DataFrame:
    """The sections as a table; `pages` gives the page of each (a heading may point to a page without lines)."""
    page_of = line_df["page"].to_numpy()
    line_of = line_df["line"].to_numpy()
    last = len(line_df) - 1

    def place(section: Section, page: int) -> tuple[int, int]:
        if section.start <= last and page_of[section.start] == page:
            return page, int(line_of[section.start])
        return page, 1

    def end(section: Section, row: int, start: tuple[int, int]) -> tuple[int, int]:
        return (int(page_of[row - 1]), int(line_of[row - 1])) if row > section.start else start

    records = []
    for section, page in zip(sections, pages, strict=True):
        start = place(section, page)
        own, full = end(section, section.own_end, start), end(section, section.full_end, start)
        records.append(
            (
                section.section_id, section.level, section.parent, section.title, section.number, *start,
                section.breadcrumb, section.source, *own, *full,
            )
        )  # fmt: skip
    columns = [
        "section_id", "level", "parent", "title", "number", "page", "line",
        "breadcrumb", "source", "own_page_end", "own_line_end", "full_page_end", "full_line_end",
    ]  # fmt: skip
    whole = ["level", "page", "line", "own_page_end", "own_line_end", "full_page_end", "full_line_end"]
    return pd.DataFrame(records, columns=columns).astype(dict.fromkeys(whole, "int32"))
