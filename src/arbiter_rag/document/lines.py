"""Fragments as PyMuPDF gives them -> visual lines in reading order. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.document.columns import Gutters

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bounds = tuple[float, float, float, float]

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_CURRENCY = frozenset("$€£¥₹₽")
_CLOSING = frozenset(")%]")

TOP_DOWN, BOTTOM_UP, UPSIDE_DOWN, SLANTED = 1, 2, 3, 4
"""Directions of text that is not upright (0)."""


@dataclass(slots=True)
class Fragments:
    """PyMuPDF's own lines of a whole document, as parallel lists: cells, mostly. Pages come in order.

    Attributes:
        page: 1-based.
        block: PyMuPDF's block number on its page.
        box: x0, y0, x1, y1 in points, origin top left.
        base: Height of the baseline.
        turned: Directions of the few fragments that are not upright, by index.
    """

    page: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    box: list[Bounds] = field(default_factory=list)
    base: list[float] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    turned: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class VisualLines:
    """The document's lines in reading order, as parallel lists."""

    page: list[int] = field(default_factory=list)
    box: list[Bounds] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)


def visual_lines(fragments: Fragments, widths: Sequence[float]) -> VisualLines:
    """Join the fragments that stand on one baseline of one column; the cells of a table row are joined by a tab.

    Args:
        fragments: All pages of a document.
        widths: Width of each page.
    """
    if not fragments.text:
        return VisualLines()
    flat = _Flat(fragments)
    groups = _order(list(_groups(flat, fragments, widths)), flat)
    out = VisualLines()
    box, text = fragments.box, fragments.text
    for parts in groups:
        main = parts[0]
        if len(parts) > 1:
            main = max(parts, key=lambda i: len(text[i]))
            boxes = [box[i] for i in parts]
            x0, y0, x1, y1 = zip(*boxes, strict=True)
            out.box.append((min(x0), min(y0), max(x1), max(y1)))
            out.text.append(_joined(fragments, flat, parts))
        else:
            out.box.append(box[main])
            out.text.append(text[main])
        out.page.append(fragments.page[main])
        out.size.append(fragments.size[main])
        out.bold.append(fragments.bold[main])
        out.turned.append(main in fragments.turned)
    return out


class _Flat:
    """The fragments as arrays, every direction of text turned so that its lines run from left to right."""

    def __init__(self, fragments: Fragments) -> None:
        box = np.asarray(fragments.box, dtype=np.float64)
        self.page = np.asarray(fragments.page, dtype=np.int64)
        self.block = np.asarray(fragments.block, dtype=np.int64)
        self.base = np.asarray(fragments.base, dtype=np.float64)
        self.size = np.asarray(fragments.size, dtype=np.float64)
        self.chars = np.fromiter(map(len, fragments.text), dtype=np.int64, count=len(fragments.text))
        self.way = np.zeros(len(box), dtype=np.int64)
        for i, way in fragments.turned.items():
            x0, y0, x1, y1 = box[i]
            box[i] = {TOP_DOWN: (y0, -x1, y1, -x0), BOTTOM_UP: (-y1, x0, -y0, x1)}.get(way, (x0, y0, x1, y1))
            self.way[i] = way
        self.x0, self.y0, self.x1, self.y1 = box.T
        self._settle_small_and_large()

    def _settle_small_and_large(self) -> None:
        """Put footnote marks and drop caps on the baseline of the line they belong to."""
        typical = float(np.median(self.size))
        odd = (self.chars <= 3) & ((self.size < 0.8 * typical) | (self.size > 1.8 * typical)) & (self.way == 0)
        for i in np.flatnonzero(odd).tolist():
            host = self._host(i)
            if host is not None:
                self.base[i] = self.base[host]

    def _host(self, i: int) -> int | None:
        near = [j for j in (i - 1, i + 1, i - 2, i + 2) if 0 <= j < len(self.page) and self.page[j] == self.page[i]]
        for j in near:
            reach = 0.5 * min(self.size[i], self.size[j])
            if self.way[j]:
                continue
            if self.size[i] < 0.85 * self.size[j]:  # a raised or lowered mark that touches its word
                beside = abs(self.x0[i] - self.x1[j]) < reach or abs(self.x0[j] - self.x1[i]) < reach
                if beside and self.y0[j] - reach < self.base[i] < self.y1[j] + reach:
                    return j
            elif self.size[i] > 1.8 * self.size[j] and j > i:  # a drop cap: its word goes on at the top of the letter
                beside = -reach < self.x0[j] - self.x1[i] < 2.5 * self.size[j]
                if beside and self.base[i] - self.size[i] < self.base[j] <= self.base[i] + reach:
                    return j
        return None


def _groups(flat: _Flat, fragments: Fragments, widths: Sequence[float]) -> Iterator[list[int]]:
    """Fragments that make one line each, from left to right."""
    key = flat.page * 8 + flat.way
    order = np.lexsort((flat.base, key))
    base, size = flat.base[order], flat.size[order]
    same = (np.diff(key[order]) == 0) & (np.diff(base) <= 0.25 * np.maximum(size[1:], size[:-1]))
    same &= flat.way[order][1:] != SLANTED
    starts = np.flatnonzero(np.r_[True, ~same])
    ends = np.r_[starts[1:], len(order)]
    members = order.tolist()
    page_starts = np.searchsorted(flat.page, np.arange(1, len(widths) + 2))
    gutters: Gutters | None = None
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end - start == 1:
            yield [members[start]]
            continue
        row = sorted(members[start:end], key=flat.x0.__getitem__)
        page = fragments.page[row[0]]
        if gutters is None or gutters.page != page:
            part = slice(int(page_starts[page - 1]), int(page_starts[page]))
            gutters = Gutters(
                page, widths[page - 1], flat.x0[part], flat.x1[part], flat.base[part], flat.chars[part],
                upright=flat.way[part] == 0,
            )  # fmt: skip
        yield from _split(row, flat, fragments, gutters)


def _split(row: list[int], flat: _Flat, fragments: Fragments, gutters: Gutters) -> Iterator[list[int]]:
    """Part a row where a text column ends; drop what is printed twice on the same spot (fake bold)."""
    group = [row[0]]
    for i in row[1:]:
        last = group[-1]
        em = max(flat.size[i], flat.size[last])
        gap = flat.x0[i] - flat.x1[last]
        if gap < -0.5 * em:
            twice = (j for j in group if fragments.text[j] == fragments.text[i])
            if any(max(abs(flat.x0[j] - flat.x0[i]), abs(flat.base[j] - flat.base[i])) < 0.2 * em for j in twice):
                fragments.bold[last] = True
                continue
            if gap < -0.5 * (flat.x1[i] - flat.x0[i]):  # overprinted with something else
                yield group
                group = [i]
                continue
        if gap > 0.7 * em and gutters.between(
            float(flat.x1[last]), float(flat.x0[i]), float(flat.base[i]), flat.block[last] == flat.block[i]
        ):
            yield group
            group = [i]
        else:
            group.append(i)
    yield group


def _joined(fragments: Fragments, flat: _Flat, parts: list[int]) -> str:
    texts = [fragments.text[i] for i in parts]
    if sum(bool(_RIGHT_TO_LEFT.search(t)) for t in texts) * 2 > len(parts):
        return "\t".join(reversed(texts))
    out = [texts[0]]
    for n, (left, right) in enumerate(itertools.pairwise(parts), start=1):
        em = max(flat.size[left], flat.size[right])
        gap = flat.x0[right] - flat.x1[left]
        if gap < 0.12 * em:
            out.append("")
        elif gap < 0.7 * em or texts[n - 1] in _CURRENCY or texts[n] in _CLOSING:
            out.append(" ")
        else:
            out.append("\t")
        out.append(texts[n])
    return "".join(out)


def _order(groups: list[list[int]], flat: _Flat) -> list[list[int]]:
    """Reading order: as the file draws, which writers keep right for columns; from top to bottom where it jumps up."""
    groups.sort(key=min)
    first = np.fromiter(map(min, groups), dtype=np.int64, count=len(groups))
    left = flat.x0[[g[0] for g in groups]]
    right = flat.x1[[g[-1] for g in groups]]
    page, base, size = flat.page[first], flat.base[first], flat.size[first]
    overlap = np.minimum(right[1:], right[:-1]) - np.maximum(left[1:], left[:-1]) > 0
    jumps = (page[1:] == page[:-1]) & overlap & (base[1:] < base[:-1] - size[:-1])
    for number in np.unique(page[1:][jumps]).tolist():
        start, end = (int(v) for v in np.searchsorted(page, (number, number + 1)))
        one_column = _one_column(left[start:end], right[start:end], base[start:end], size[start:end])
        if one_column and not flat.way[first[start:end]].any():
            again = np.argsort(base[start:end], kind="stable")
            groups[start:end] = [groups[start + i] for i in again.tolist()]
    return groups


def _one_column(
    left: NDArray[np.float64], right: NDArray[np.float64], base: NDArray[np.float64], size: NDArray[np.float64]
) -> bool:
    """Whether no two lines of a page stand side by side."""
    order = np.argsort(base)
    close = np.diff(base[order]) < 0.7 * size[order][1:]
    starts, ends = left[order], right[order]
    apart = (starts[1:] > ends[:-1]) | (starts[:-1] > ends[1:])
    return not bool((close & apart).any())
