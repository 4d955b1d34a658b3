"""Headings by how they are set and numbered, for documents that list theirs nowhere. Pure.

A line is a heading when it stands out (size, bold, capitals) or bears a heading's number, stands alone, and is neither
a table row, a caption, a list item nor running text. Sets of lines that would give more headings than make sense are
left out: few right ones are worth more than many.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.numbering import DECIMAL, rank
from arbiter_rag.document.printed import CONTENTS_TITLES
from arbiter_rag.document.ranking import Candidate, Style, in_levels, prominence, style_of
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.titles import has_leader
from arbiter_rag.document.view import View

_MAX_CHARS = 140
_MAX_ROWS = 3
_MAX_PAGE_SHARE = 0.4
_CAPTION = re.compile(
    r"(?:fig(?:ure|ura)?|table(?:au)?|tab|tabelle|tabla|tabela|tabella|abbildung|exhibit|chart|graph(?:ique)?|box|source|"
    r"рис|таблица|图|表|図|그림|표)\.?\s*[\dIVX]",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[•●◦▪■□○‣⁃∙·*✓➢\-–—\uf000-\uf0ff]\s")
_DATE = re.compile(r"[^\W\d_]+\.?\s+\d{1,2},?\s+\d{4}$|\d{1,2}[./]\d{1,2}[./]\d{2,4}$")


def font_headings(view: View, anchors: Sequence[Heading] = (), leave_out: Sequence[int] = ()) -> list[Heading]:
    """Headings by style and numbering.

    Args:
        view: The text.
        anchors: Headings that are placed already; they keep their order of levels and come back too.
        leave_out: Pages on which nothing is a heading: printed contents.
    """
    taken = {row for h in anchors for row in range(h.row, h.row + max(1, h.rows))}
    taken.update(row for page in leave_out for row in view.rows(page))
    lines = _Lines(view)
    found = [c for c in _candidates(view, lines) if not taken & set(range(c.row, c.row + c.rows))]
    return in_levels(_plausible(found, view, anchors), anchors, view, "fonts")


class _Lines:
    """Geometry of the lines: the gap above each, and what is usual."""

    def __init__(self, view: View) -> None:
        self._view = view

    @cached_property
    def gaps(self) -> np.ndarray:
        """Space above each line; infinite for the first line of a page or column."""
        if not len(self._view):
            return np.empty(0)
        box = np.asarray(self._view.boxes)
        gaps = np.full(len(box), np.inf)
        same = np.zeros(len(box), dtype=bool)
        same[1:] = True
        same[[s for s in self._view.starts if s < len(box)]] = False
        step = box[1:, 1] - box[:-1, 3]
        overlap = np.minimum(box[1:, 2], box[:-1, 2]) - np.maximum(box[1:, 0], box[:-1, 0]) > 0
        down = same[1:] & overlap & (step > -6)
        gaps[1:][down] = step[down]
        return gaps

    @cached_property
    def usual(self) -> float:
        """The gap between two lines of running text."""
        body = [
            g
            for g, size in zip(self.gaps.tolist(), self._view.sizes, strict=True)
            if g < 40 and abs(size - self._view.body_size) < 0.3
        ]
        return float(np.median(body)) if body else 2.0

    def alone(self, row: int) -> bool:
        """Whether a line keeps more distance from the line above than lines of running text do."""
        return bool(self.gaps[row] > self.usual + 0.25 * self._view.body_size)


def _candidates(view: View, lines: _Lines) -> list[Candidate]:
    found: list[Candidate] = []
    row = 0
    while row < len(view):
        candidate = _candidate(view, lines, row)
        last = found[-1] if found else None
        if (
            candidate
            and last
            and last.title == last.number
            and candidate.row == last.row + last.rows
            and (not candidate.number and lines.gaps[candidate.row] < 2 * view.body_size)
        ):  # "ARTICLE I" and below it what it is about
            found[-1] = replace(last, rows=last.rows + candidate.rows, title=candidate.title)
        elif candidate:
            found.append(candidate)
        row += candidate.rows if candidate else 1
    return found


def _candidate(view: View, lines: _Lines, row: int) -> Candidate | None:
    text = view.texts[row]
    if len(text) > _MAX_CHARS or len(text) < 2 or view.furniture[row] or view.turned[row]:
        return None
    out = view.stands_out(row)
    upper = text.isupper()
    first = text[0]
    if not (out > 0 or upper or first.isdigit() or first.isupper() or first == "第"):
        return None
    number, title = split_number(text)
    numbered = rank(number)
    if out <= 0 and not upper and numbered is None:
        return None
    if not _reads_as_heading(text, number, title):
        return None
    style = style_of(view, row)
    rows = _extent(view, lines, row, style)
    if rows > _MAX_ROWS or _in_table(view, row, rows, number):
        return None
    if not _set_apart(view, lines, row, rows, out, upper, numbered):
        return None
    if rows > 1:
        title = " ".join([title, *(view.texts[r].strip() for r in range(row + 1, row + rows))])
    return Candidate(row, rows, number, title.rstrip(" \t:") or text, style)


def _reads_as_heading(text: str, number: str, title: str) -> bool:
    letters = sum(map(str.isalpha, text))
    if letters < 2 or letters < 0.4 * len(text.replace(" ", "")) or has_leader(text):
        return False
    if (
        _CAPTION.match(text)
        or _BULLET.match(text)
        or (text[-1].isdigit() and _DATE.search(text))
        or text[0] in '("“«[,;'
    ):
        return False
    if text.count("\t") > (1 if number else 0) or text[-1] in ",;" or (text[-1] == ":" and len(text) > 50):
        return False
    if squash(text) in CONTENTS_TITLES:
        return False
    if not title:
        return bool(number)
    if title == text and (whole := split_number(f"{text} x"))[1] == "x":
        return rank(whole[0]) is not None
    return not title[0].islower() and title[0] not in "\"“«„‘'"


def _extent(view: View, lines: _Lines, row: int, style: Style) -> int:
    """How many lines a heading takes: the following ones in its style that are set as close as running text."""
    rows = 1
    while row + rows < len(view) and rows <= _MAX_ROWS:
        following = row + rows
        close = lines.gaps[following] < max(0.6 * view.sizes[row], lines.usual + 0.25 * view.body_size)
        text = view.texts[following]
        if not close or style_of(view, following)[:2] != style[:2] or view.furniture[following]:
            break
        if style[1] is False and style[0] <= view.body_size * 1.04:  # body style: only numbers make it a heading
            break
        if rank(split_number(text)[0]) is not None or (style[2] and not text.isupper()) or _BULLET.match(text):
            break
        rows += 1
    return rows


def _in_table(view: View, row: int, rows: int, number: str) -> bool:
    """Whether a line stands in a table: its neighbours are rows of cells."""
    known = rank(number)
    if known is not None and (known < DECIMAL or view.stands_out(row) > 0):
        return False
    page = view.page_of(row)
    near = [r for r in (row - 1, row + rows, row + rows + 1) if view.starts[page - 1] <= r < view.starts[page]]
    cells = [r for r in near if view.texts[r].count("\t") >= 1 and any(map(str.isdigit, view.texts[r]))]
    large = view.sizes[row] > 1.2 * view.body_size
    return not large and (row + rows in cells or len(cells) >= 2)


def _set_apart(view: View, lines: _Lines, row: int, rows: int, out: float, upper: bool, numbered: float | None) -> bool:
    """Whether a line stands alone enough for how little or how much its style says."""
    text, last = view.texts[row], view.texts[row + rows - 1]
    following = view.texts[row + rows] if row + rows < len(view) else ""
    if out >= 1.0:
        if view.sizes[row] > 1.1 * view.body_size:
            return True
        runs_on = following[:1].islower() and last[-1] not in ".?!:"
        return (lines.alone(row) or numbered is not None) and not runs_on
    if len(text) > 100 or last[-1] == "." or following[:1].islower():
        return False
    if numbered is not None and numbered < DECIMAL:
        return lines.alone(row) or view.texts[row - 1][-1:] in ".;:!?"
    if upper:
        return lines.alone(row) and len(text) > 4 and len(text.split()) <= 12
    return numbered is not None and numbered > DECIMAL and lines.alone(row) and len(text.split()) <= 12


def _plausible(found: list[Candidate], view: View, anchors: Sequence[Heading]) -> list[Candidate]:
    """Leave out styles that are no headings, running titles, and pages made of display lines."""
    found = _without_frequent_styles(found, view)
    found = _without_running_titles(found)
    found = _without_display_pages(found, view)
    return _without_empty(found, view, {h.row for h in anchors})


def _without_empty(found: list[Candidate], view: View, anchors: set[int]) -> list[Candidate]:
    """A line with no text before the next line as prominent is part of a cover or a signature, not a section.

    A first page that is made of such lines keeps its title only.
    """
    kept = []
    for c, following in zip_longest(found, found[1:]):
        end = c.row + c.rows
        stop = following.row if following else len(view)
        beside = any(view.furniture[r] or r in anchors for r in range(end, min(stop, end + 1)))
        equal = following is not None and prominence(following.style) >= prominence(c.style) and not following.number
        if not c.number and ((stop == end and equal) or (beside and end in anchors)):
            continue
        kept.append(c)
    first = [c for c in kept if view.page_of(c.row) == 1]
    if len(first) > 3 and view.pages > 2 and not any(c.number for c in first):
        title = max(first, key=lambda c: (prominence(c.style), -c.row))
        kept = [title, *(c for c in kept if view.page_of(c.row) > 1)]
    return kept


def _without_frequent_styles(found: list[Candidate], view: View) -> list[Candidate]:
    """A style in which much of the text is set is no heading style, nor is one that mostly does not make headings."""
    lines: Counter[Style] = Counter(style_of(view, r) for r in range(len(view)) if not view.furniture[r])
    used: Counter[Style] = Counter()
    for c in found:
        used[c.style] += c.rows
    total = max(1, sum(lines.values()))
    return [
        c
        for c in found
        if (lines[c.style] < 0.2 * total or total < 60 or rank(c.number) is not None)
        and (used[c.style] > 0.25 * lines[c.style] or rank(c.number) is not None or c.style[0] > 1.2 * view.body_size)
    ]


def _without_running_titles(found: list[Candidate]) -> list[Candidate]:
    """A line that comes back again and again right above other headings names the document, not a section."""
    key = [squash(c.title) for c in found]
    count = Counter(key)
    above: Counter[str] = Counter()
    for a, b, k in zip(found, found[1:], key, strict=False):
        if b.row <= a.row + a.rows + 1:
            above[k] += 1
    return [
        c for c, k in zip(found, key, strict=True) if count[k] < 3 or (above[k] < 0.6 * count[k] and count[k] <= 12)
    ]


def _without_display_pages(found: list[Candidate], view: View) -> list[Candidate]:
    """On covers and slides nearly every line stands out: only the largest is kept."""
    pages: dict[int, list[Candidate]] = defaultdict(list)
    for c in found:
        pages[view.page_of(c.row)].append(c)
    kept = []
    for page, here in pages.items():
        lines = sum(not view.furniture[r] for r in view.rows(page))
        if len(here) > 2 and sum(c.rows for c in here) > _MAX_PAGE_SHARE * lines:
            largest = max(c.style[0] for c in here)
            here = [c for c in here if c.style[0] == largest or rank(c.number) is not None][:3]
        kept.extend(here)
    return sorted(kept, key=lambda c: c.row)
