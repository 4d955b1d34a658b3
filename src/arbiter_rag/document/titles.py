"""Where a title is printed: lines of a page that say it, nearly say it or begin with it, each with a score. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property

import numpy as np
import numpy.typing as npt

from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.view import View

_MAX_WRAP = 4
EXACT, _RUN_IN, _ALIKE = 4.0, 1.0, 1.5

MAX_CHOICES = 16
"""Best lines of an entry that enter the chain; those nearest to its place among entries of its title come on top."""

_IN_ORDER, _IN_HEIGHT = 2, 8
"""How many lines on either side of a place count as nearest to it."""

_FEW_TITLES = 8
"""So many titles are compared with every line of a page; for more, the page's lines are put in order first."""

_LIKENESS = 0.8
"""How much of a title and of what is printed must be the same, in the same order."""

_LETTERS = 64
"""Letters are counted in so many groups; letters of one group count as the same, which only lets more through."""

_LETTERED = re.compile(r"([A-Z])\s+(\S.+)")
_LEADER = re.compile(r"(?:[.·…_]\s?){4,}|\.{3,}|\t\s*(?:\d{1,4}|[ivxlc]{1,6})\s*$")
"""What a line of a printed contents page has: leader dots, or a page number in a cell of its own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A line at which an entry's section may start; `rows` is 0 when the title is not printed there."""

    row: int
    rows: int
    number: str
    title: str
    score: float


@dataclass(frozen=True)
class Printed:
    """Where a title is printed on a page, in reading order, and what tells the lines apart when they are many."""

    choices: tuple[Choice, ...]
    view: View

    @cached_property
    def best(self) -> list[int]:
        """Positions of the choices with the highest scores."""
        return sorted(range(len(self.choices)), key=lambda i: -self.choices[i].score)[:MAX_CHOICES]

    @cached_property
    def leading(self) -> list[int]:
        """Positions of the choices that are about as good as the best."""
        least = self.choices[self.best[0]].score - 0.5
        return [i for i, c in enumerate(self.choices) if c.score >= least]

    @cached_property
    def heights(self) -> list[tuple[float, int]]:
        """Height and position of every choice, by height."""
        return sorted((self.view.boxes[c.row][1], i) for i, c in enumerate(self.choices))

    def in_order(self, place: int, count: int) -> set[int]:
        """Positions that fit entry `place` of `count` of this title, counted from the first line and from the last."""
        near: set[int] = set()
        for among in (range(len(self.choices)), self.leading if self.choices else ()):
            last = len(among) - 1
            for spot in (min(place, last), max(0, place + len(among) - count)):
                near.update(among[max(0, spot - _IN_ORDER) : spot + _IN_ORDER + 1])
        return near

    def at_height(self, height: float) -> set[int]:
        """Positions nearest to a height."""
        at = bisect_left(self.heights, (height, 0))
        return {i for _, i in self.heights[max(0, at - _IN_HEIGHT) : at + _IN_HEIGHT]}


class _Beginnings:
    """Texts in order: those that begin like a text, and those that a text begins with, without a look at all others."""

    def __init__(self, texts: Iterable[tuple[str, int]]) -> None:
        self._at: dict[str, list[int]] = defaultdict(list)
        for text, i in texts:
            self._at[text].append(i)
        self._order = sorted(self._at)

    def related(self, text: str) -> Iterator[int]:
        """Where one of the two is the other's beginning."""
        for end in range(1, len(text)):
            yield from self._at.get(text[:end], ())
        for k in range(bisect_left(self._order, text), len(self._order)):
            if not self._order[k].startswith(text):
                break
            yield from self._at[self._order[k]]


class _Page:
    """The lines of a page that may say a title: all others would be looked at in vain."""

    def __init__(self, search: Search, page: int) -> None:
        keys, start = search.view.keys(page), search.view.starts[page - 1]
        rests = []
        self._cells: dict[str, list[int]] = defaultdict(list)
        for i, key in enumerate(keys):
            rest = key.removeprefix(search.number(start + i)[1])
            rests.append((rest or next((k for k in keys[i + 1 : i + _MAX_WRAP] if k), ""), i))
            if "\t" in (text := search.view.texts[start + i]):
                for cell in text.split("\t"):
                    self._cells[squash(cell)].append(i)
        self._keys, self._rests = _Beginnings(zip(keys, range(len(keys)), strict=True)), _Beginnings(rests)

    def rows(self, wanted: str, titles: Iterable[str]) -> list[int]:
        """Positions on the page, for a folded heading and its folded titles without number."""
        found = set(self._keys.related(wanted))
        for title in titles:
            found.update(self._keys.related(title))
            found.update(self._rests.related(title))
            found.update(self._cells.get(title, ()))
        return sorted(found)


class _StandingOut:
    """Lines of a page that stand out, alone and with those below that are set like them, and the letters they have."""

    def __init__(self, view: View, page: int) -> None:
        self._joined: list[tuple[int, int, str]] = []
        keys, start = view.keys(page), view.starts[page - 1]
        for i, row in enumerate(view.rows(page)):
            if view.stands_out(row) <= 0 or view.furniture[row]:
                continue
            for n in range(1, min(_MAX_WRAP, len(keys) - i) + 1):
                if abs(view.sizes[start + i + n - 1] - view.sizes[row]) > 0.5:
                    break
                self._joined.append((row, n, "".join(keys[i : i + n])))
        self._letters = np.array([_letters(text) for *_, text in self._joined], dtype=np.uint16).reshape(-1, _LETTERS)
        self._lengths = np.array([len(text) for *_, text in self._joined], dtype=np.int64)

    def like(self, key: str) -> Iterator[tuple[int, int, str]]:
        """First row, number of rows and folded text of what has enough letters of a folded title."""
        common = np.minimum(self._letters, _letters(key)).sum(axis=1, dtype=np.int64)
        fits = (self._lengths > 0.7 * len(key)) & (self._lengths <= 1.4 * len(key))
        fits &= 2 * common > _LIKENESS * (self._lengths + len(key))
        return (self._joined[i] for i in np.flatnonzero(fits).tolist())


def _letters(text: str) -> npt.NDArray[np.uint16]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.bincount(codes % _LETTERS, minlength=_LETTERS).astype(np.uint16)


class Search:
    """The text, and what was found in it: equal titles on one page are looked for once."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._printed: dict[tuple[str, int], Printed] = {}
        self._alike: dict[tuple[str, int], tuple[Choice, ...]] = {}
        self._numbers: dict[int, tuple[str, str]] = {}
        self._asked: Counter[int] = Counter()
        self._pages: dict[int, _Page] = {}
        self._standing_out: dict[int, _StandingOut] = {}

    def printed(self, title: str, page: int) -> Printed:
        """Where a title is printed on a page."""
        if (title, page) not in self._printed:
            self._printed[title, page] = Printed(tuple(_matches(title, self, page)), self.view)
        return self._printed[title, page]

    def alike(self, title: str, page: int) -> tuple[Choice, ...]:
        """Lines of a page that nearly say a title."""
        if (title, page) not in self._alike:
            self._alike[title, page] = tuple(_alike(title, self, page))
        return self._alike[title, page]

    def positions(self, page: int, wanted: str, titles: Iterable[str]) -> Iterable[int]:
        """Positions on a page at which a folded heading may stand, in order."""
        self._asked[page] += 1
        if self._asked[page] <= _FEW_TITLES:
            return range(len(self.view.rows(page)))
        if page not in self._pages:
            self._pages[page] = _Page(self, page)
        return self._pages[page].rows(wanted, titles)

    def standing_out(self, page: int) -> _StandingOut:
        """The lines of a page that stand out."""
        if page not in self._standing_out:
            self._standing_out[page] = _StandingOut(self.view, page)
        return self._standing_out[page]

    def number(self, row: int) -> tuple[str, str]:
        """The number a line begins with, as printed and folded."""
        if row not in self._numbers:
            printed = split_number(self.view.texts[row])[0]
            self._numbers[row] = printed, squash(printed)
        return self._numbers[row]


def readings_of(heading: str) -> list[tuple[str, str]]:
    """Number and title, as a heading may be meant: "A References" may be appendix A, "2 discs" may have no number."""
    number, title = split_number(heading)
    readings = [(number, title or heading)]
    if number and title:
        readings.append(("", heading))
    elif not number and (lettered := _LETTERED.match(heading)):
        readings.append((lettered[1], lettered[2]))
    return readings


def _matches(heading: str, search: Search, page: int) -> Iterator[Choice]:
    """Lines of a page on which a heading is printed: whole, wrapped, in a cell, or as the beginning of the line."""
    view, wanted = search.view, squash(heading)
    readings = [(number, title, squash(number), squash(title)) for number, title in readings_of(heading)]
    readings = [reading for reading in readings if reading[3]]  # a title without letters or digits would be everywhere
    heads = [bare[:6] for *_, bare in readings]
    keys, start = view.keys(page), view.starts[page - 1]
    if not any(head in view.joined(page) for head in heads):
        return
    for i in search.positions(page, wanted, [bare for *_, bare in readings]):
        key = keys[i]
        if not key or not (wanted.startswith(key) or any(head in key for head in heads)):
            continue
        text = view.texts[start + i]
        printed, said = search.number(start + i)
        for number, title, folded, bare in readings:
            agrees = said == folded or (bool(said and folded) and (said.endswith(folded) or folded.endswith(said)))
            if number and len(number) == 1 and number.isalpha() and not agrees:
                continue
            rows, whole = _extent(keys, i, wanted, bare, said, view, start)
            if whole:
                fit = 0.5 if agrees else -2.0 if said and folded else 0.0
                score = EXACT + look_of(view, start + i, rows) + fit
                choice = Choice(start + i, rows, number or printed, title, score)
                yield _with_number_above(choice, number, view)
                break
            if "\t" in text and any(squash(cell) == bare for cell in text.split("\t")):
                yield Choice(start + i, 1, number or printed, title, _RUN_IN + 1.5 + look_of(view, start + i, 1))
            elif len(bare) > 3 and (key.startswith(wanted) or key.removeprefix(said).startswith(bare)):
                if agrees or not (said and folded):
                    yield Choice(start + i, 1, number or printed, title, _RUN_IN + look_of(view, start + i, 1))
                break


def _extent(keys: list[str], i: int, wanted: str, bare: str, said: str, view: View, start: int) -> tuple[int, bool]:
    """How many rows from `i` on a heading takes, and whether they say it to its end."""
    joined = ""
    for rows in range(1, min(_MAX_WRAP, len(keys) - i) + 1):
        if rows > 1 and view.furniture[start + i + rows - 1]:
            break
        joined += keys[i + rows - 1]
        rest = joined.removeprefix(said)
        if joined in (wanted, bare) or rest == bare:
            return rows, True
        if not (wanted.startswith(joined) or bare.startswith(rest)):
            break
    return 1, False


def _with_number_above(choice: Choice, number: str, view: View) -> Choice:
    """Take in "Chapter 3" on a line of its own above the title."""
    above = choice.row - 1
    if split_number(view.texts[choice.row])[0] or above < view.starts[view.page_of(choice.row) - 1]:
        return choice
    text = view.texts[above]
    if len(text) > 20 or view.furniture[above] or view.stands_out(above) <= 0:
        return choice
    printed, rest = split_number(f"{text} x")
    if rest != "x" or not printed or (number and not squash(printed).endswith(squash(number))):
        return choice
    return replace(choice, row=above, rows=choice.rows + 1, number=number or printed)


def has_leader(text: str) -> bool:
    """Whether a line looks like one of a contents page; the pattern is tried only where it can match."""
    return any(c in text for c in ("..", ". .", "\t", "…", "·", "_")) and bool(_LEADER.search(text))


def look_of(view: View, row: int, rows: int) -> float:
    """How much a line looks like a heading; printed contents pages and running headers do not."""
    look = view.stands_out(row)
    if view.furniture[row] or view.turned[row]:
        look -= 2.5
    if any(has_leader(view.texts[r]) for r in range(row, row + rows + 1) if r < len(view)):
        look -= 3.0
    return look


def _alike(heading: str, search: Search, page: int) -> Iterator[Choice]:
    """Lines of a page that nearly say a heading: typing errors, other punctuation, a word more."""
    key = squash(heading)
    number, title = readings_of(heading)[0]
    if len(key) < 6:
        return
    for row, rows, joined in search.standing_out(page).like(key):
        if (ratio := SequenceMatcher(None, key, joined).ratio()) > _LIKENESS:
            printed = search.number(row)[0]
            yield Choice(row, rows, number or printed, title, _ALIKE * ratio + look_of(search.view, row, rows))
