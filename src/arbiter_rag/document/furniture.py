"""Running headers, footers and page numbers: what stands at the same height on many pages. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

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
    usual = median(lines.size) if lines.size else 0.0
    zones = [_zone(lines, starts[p], starts[p + 1], heights[p]) for p in range(len(heights))]
    for row in (
        *_repeating(zones, lines, starts, usual),
        *_folios(lines, starts),
        *_changing_headers([top for top, _ in zones], lines, usual),
    ):
        flags[row] = True
    return flags


def _repeating(
    zones: Sequence[tuple[list[int], list[int]]], lines: VisualLines, starts: Sequence[int], usual: float
) -> Iterator[int]:
    """What says the same, digits masked, at the same height of many pages."""
    places: dict[tuple[str, int, bool], set[int]] = defaultdict(set)
    masks: dict[int, tuple[str, int]] = {}
    for page, zone in enumerate(zones):
        for at_top, rows in zip((True, False), zone, strict=True):
            for row in rows:
                large = lines.size[row] > 1.15 * usual  # "CHAPTER 1", "CHAPTER 2": headings, though they count up
                mask, height = lines.text[row] if large else _mask(lines.text[row]), round(lines.box[row][3] / 4)
                masks[row] = (mask, height)
                for near in (height - 1, height, height + 1):
                    places[mask, near, at_top].add(page)
    for page, zone in enumerate(zones):
        left = starts[page + 1] - starts[page]
        for at_top, rows in zip((True, False), zone, strict=True):
            run = []
            for row in rows[:_DEPTH]:
                if not _repeated(places[(*masks[row], at_top)], page):
                    break
                run.append(row)
            while run and not _apart(lines, run[-1], rows[len(run)] if len(run) < len(rows) else None):
                run.pop()
            for row in run:
                if left > 1 or not any(map(str.isalpha, masks[row][0])):
                    yield row
                    left -= 1


def _changing_headers(tops: Sequence[Sequence[int]], lines: VisualLines, usual: float) -> list[int]:
    """Running headers that name the section of each page: whatever they say, they stand where most pages begin.

    Bold or large lines are left alone: there, pages begin with a heading.
    """
    found: dict[int, list[int]] = defaultdict(list)
    begins = [top for top in tops if len(top) > 1]
    for first, second, *_ in begins:
        plain = not lines.bold[first] and lines.size[first] <= 1.05 * usual
        if plain and lines.box[second][1] - lines.box[first][3] > 0.9 * lines.size[first]:
            found[round(lines.box[first][3])].append(first)
    least = max(6, 0.5 * len(begins))
    near = {at: sum(len(found.get(at + d, ())) for d in (-1, 0, 1)) for at in found}
    return [row for at, rows in found.items() if near[at] >= least for row in rows]


def _apart(lines: VisualLines, row: int, inner: int | None) -> bool:
    """Whether a line keeps its distance from the text of the page; bare numbers need none."""
    if inner is None or not any(map(str.isalpha, lines.text[row])):
        return True
    outer, text = lines.box[row], lines.box[inner]
    gap = max(text[1] - outer[3], outer[1] - text[3])
    return gap > 0.5 * lines.size[row]


def _folios(lines: VisualLines, starts: Sequence[int]) -> list[int]:
    """Page numbers at the end or the beginning of pages of any length: they count up with the pages."""
    found: dict[int, list[int]] = defaultdict(list)
    for page, (start, end) in enumerate(pairwise(starts)):
        for row in {start, end - 1} if end > start + 1 else ():
            number = lines.text[row].strip(" -–—[]|")
            if number.isascii() and number.isdigit() and len(number) <= 4:
                found[int(number) - page].append(row)
    return [row for rows in found.values() if len(rows) >= _MIN_PAGES for row in rows]


def _zone(lines: VisualLines, start: int, end: int, height: float) -> tuple[list[int], list[int]]:
    """Rows near the top (downwards) and near the bottom (upwards), one more than can be furniture."""
    box = lines.box
    high, low = _ZONE * height, (1 - _ZONE) * height
    rows = range(start, end)
    top = sorted((r for r in rows if box[r][3] < high and not lines.turned[r]), key=lambda r: box[r][1])
    bottom = sorted((r for r in rows if box[r][1] > low and not lines.turned[r]), key=lambda r: -box[r][3])
    return top[: _DEPTH + 1], bottom[: _DEPTH + 1]


def _mask(text: str) -> str:
    mask = _DIGITS.sub("#", text)
    bare = mask.strip(" -–—[]()|.")
    return "#" if roman_value(bare) is not None else mask


def _repeated(pages: set[int], page: int) -> bool:
    """Whether a text comes back often enough around a page: running headers change from chapter to chapter."""
    return len(pages) >= _MIN_PAGES and sum(abs(p - page) <= 12 for p in pages) >= _MIN_PAGES
