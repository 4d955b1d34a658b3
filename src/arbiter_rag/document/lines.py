"""Fragments as PyMuPDF gives them -> visual lines in reading order. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class Fragments:
    """PyMuPDF's own lines of a whole document as parallel lists: cells, mostly. Every list has one entry a fragment."""

    page: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    box: list[tuple[float, float, float, float]] = field(default_factory=list)
    base: list[float] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


@dataclass(slots=True)
class VisualLines:
    """The document's lines as parallel lists, in reading order."""

    page: list[int] = field(default_factory=list)
    box: list[tuple[float, float, float, float]] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


def visual_lines(fragments: Fragments, widths: list[float]) -> VisualLines:
    """Join the fragments that stand on one baseline of one column; cells are joined by a tab."""
    out = VisualLines()
    for group in _groups(fragments, widths):
        parts = sorted(group, key=lambda i: fragments.box[i][0])
        main = max(parts, key=lambda i: len(fragments.text[i]))
        boxes = [fragments.box[i] for i in parts]
        out.page.append(fragments.page[main])
        out.box.append(
            (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
            if len(parts) > 1
            else boxes[0]
        )
        out.size.append(fragments.size[main])
        out.bold.append(fragments.bold[main])
        out.text.append(_joined(fragments, parts) if len(parts) > 1 else fragments.text[main])
    return out


def _joined(fragments: Fragments, parts: list[int]) -> str:
    texts = [fragments.text[parts[0]]]
    for left, right in zip(parts, parts[1:], strict=False):
        gap = fragments.box[right][0] - fragments.box[left][2]
        em = max(fragments.size[left], fragments.size[right])
        texts.append("\t" if gap > 0.6 * em else " " if gap > 0.1 * em else "")
        texts.append(fragments.text[right])
    return "".join(texts)


def _groups(fragments: Fragments, widths: list[float]) -> Iterator[list[int]]:
    pages = np.asarray(fragments.page)
    starts = np.flatnonzero(np.r_[True, pages[1:] != pages[:-1]]) if len(pages) else np.empty(0, dtype=int)
    ends = np.r_[starts[1:], len(pages)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=False):
        yield from _page_groups(fragments, start, end, widths[fragments.page[start] - 1])


def _page_groups(fragments: Fragments, start: int, end: int, width: float) -> list[list[int]]:
    """Rows of one page: a fragment joins an earlier row when its baseline is the same and the column is too."""
    by_base: dict[int, list[int]] = {}
    groups: list[list[int]] = []
    group_of: dict[int, int] = {}
    base, box, size, block, text = fragments.base, fragments.box, fragments.size, fragments.block, fragments.text
    for i in range(start, end):
        slot = round(base[i])
        mates = [j for s in (slot - 2, slot - 1, slot, slot + 1, slot + 2) for j in by_base.get(s, ())]
        home = None
        for j in reversed(mates):
            if abs(base[i] - base[j]) > 0.25 * max(size[i], size[j]):
                continue
            if min(box[i][2], box[j][2]) - max(box[i][0], box[j][0]) > 0.5 * min(size[i], size[j]):
                continue
            prose = len(text[i]) > 30 and len(text[j]) > 30
            if block[i] != block[j] and prose:
                continue
            home = group_of[j]
            break
        if home is None:
            home = len(groups)
            groups.append([])
        groups[home].append(i)
        group_of[i] = home
        by_base.setdefault(slot, []).append(i)
    return groups
