"""Running headers, footers and page numbers: what stands at the same height on many pages. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from arbiter_rag.document.labels import roman_value
from arbiter_rag.document.lines import VisualLines

_DIGITS = re.compile(r"\d+")
_DEPTH = 4
"""How many lines from the top or the bottom of a page are looked at."""

_ZONE = 0.2
"""Share of the page's height at each end in which furniture stands."""

_MIN_PAGES = 3


def furniture(lines: VisualLines, starts: Sequence[int], heights: Sequence[float]) -> list[bool]:
    """Which lines are running headers, footers or page numbers.

    A line counts only when everything between it and the edge of the page counts too, when its text (digits masked)
    stands at the same height on at least three pages, and when it leaves the page some text of its own.

    Args:
        lines: All lines.
        starts: First row of each page, and the number of rows.
        heights: Height of each page.
    """
    flags = [False] * len(lines.text)
    places: dict[tuple[str, int, bool], set[int]] = defaultdict(set)
    zones = [_zone(lines, starts[p], starts[p + 1], heights[p]) for p in range(len(heights))]
    masks: dict[int, tuple[str, int]] = {}
    for page, zone in enumerate(zones):
        for at_top, rows in zip((True, False), zone, strict=True):
            for row in rows:
                mask, height = _mask(lines.text[row]), round(lines.box[row][3] / 4)
                masks[row] = (mask, height)
                for near in (height - 1, height, height + 1):
                    places[mask, near, at_top].add(page)
    for page, zone in enumerate(zones):
        left = starts[page + 1] - starts[page]
        for at_top, rows in zip((True, False), zone, strict=True):
            for row in rows:
                mask, height = masks[row]
                bare = not any(map(str.isalpha, mask))
                if not _repeated(places[mask, height, at_top], page) or (left <= 1 and not bare):
                    break
                flags[row] = True
                left -= 1
    return flags


def _zone(lines: VisualLines, start: int, end: int, height: float) -> tuple[list[int], list[int]]:
    """Rows near the top (downwards) and near the bottom (upwards)."""
    box = lines.box
    high, low = _ZONE * height, (1 - _ZONE) * height
    rows = range(start, end)
    top = sorted((r for r in rows if box[r][3] < high and not lines.turned[r]), key=lambda r: box[r][1])
    bottom = sorted((r for r in rows if box[r][1] > low and not lines.turned[r]), key=lambda r: -box[r][3])
    return top[:_DEPTH], bottom[:_DEPTH]


def _mask(text: str) -> str:
    mask = _DIGITS.sub("#", text)
    bare = mask.strip(" -–—[]()|.")
    return "#" if roman_value(bare) is not None else mask


def _repeated(pages: set[int], page: int) -> bool:
    """Whether a text comes back often enough around a page: running headers change from chapter to chapter."""
    return len(pages) >= _MIN_PAGES and sum(abs(p - page) <= 12 for p in pages) >= _MIN_PAGES
