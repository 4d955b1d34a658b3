"""Outline or contents entries -> headings on the line where they are printed, whatever heights the file claims. Pure.

Every entry gets a few possible lines with a score; the best chain through all entries that keeps their order wins, so
that ten headings called "Overview" each find their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View

_MAX_WRAP = 4
_MAX_CHOICES = 8
_MAX_LEVEL = 9
_EXACT, _RUN_IN, _ALIKE = 4.0, 1.0, 1.5
_SURE = _EXACT + 1.5
"""A match this good on the page an entry names: no other page is looked at."""

_POINTED = 2.0
"""Score of the line an entry points to when its title is not printed there."""

_LETTERED = re.compile(r"([A-Z])\s+(\S.+)")
_LEADER = re.compile(r"(?:[.·…_]\s?){4,}|\.{3,}|\t\s*(?:\d{1,4}|[ivxlc]{1,6})\s*$")
"""What a line of a printed contents page has: leader dots, or a page number in a cell of its own."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A line at which an entry's section may start; `rows` is 0 when the title is not printed there."""

    row: int
    rows: int
    number: str
    title: str
    score: float


def place(
    entries: Sequence[Entry], view: View, source: HeadingSource = "outline", floor: int = 0
) -> tuple[list[Heading], list[Entry]]:
    """Put every entry on its printed line, or where it points when its title is not printed near there.

    Args:
        entries: In their order.
        view: The text.
        source: What the headings say about where they came from.
        floor: Entries that point nowhere are looked for from this row on.

    Returns:
        The headings, and the entries that could not be placed: they point nowhere and stand nowhere.
    """
    pointed = [e for e in entries if e.page is not None]
    chosen: dict[int, _Choice] = dict(
        zip((i for i, e in enumerate(entries) if e.page is not None), _best_chain(pointed, view), strict=True)
    )
    lost = _find_lost(entries, chosen, view, floor)
    headings = []
    for i, entry in enumerate(entries):
        if (choice := chosen.get(i)) is None:
            continue
        page = entry.page if not choice.rows and entry.page else view.page_of(choice.row)
        headings.append(
            Heading(
                row=choice.row,
                level=min(entry.level, _MAX_LEVEL),
                title=choice.title,
                number=choice.number,
                source=source,
                rows=choice.rows,
                page=min(page, view.pages),
            )
        )
    return headings, lost


def _best_chain(entries: Sequence[Entry], view: View) -> list[_Choice]:
    """The choices with the highest sum of scores, going backwards punished (Viterbi)."""
    if not entries:
        return []
    columns = [_choices(entry, view) for entry in entries]
    totals = [c.score for c in columns[0]]
    back: list[list[int]] = []
    for i, column in enumerate(columns[1:], start=1):
        returns = (entries[i].page or 0) < (entries[i - 1].page or 0)
        fresh, origins = [], []
        for choice in column:
            best, origin = max(
                (total - _cost(before, choice, returns), -j)
                for j, (total, before) in enumerate(zip(totals, columns[i - 1], strict=True))
            )
            fresh.append(best + choice.score)
            origins.append(-origin)
        totals = fresh
        back.append(origins)
    at = max(range(len(totals)), key=totals.__getitem__)
    chain = [at]
    for origins in reversed(back):
        at = origins[at]
        chain.append(at)
    return [columns[i][at] for i, at in enumerate(reversed(chain))]


def _cost(before: _Choice, after: _Choice, returns: bool) -> float:
    if after.row > before.row or returns:
        return 0.0
    if after.row == before.row:
        return 1.5 if before.rows and after.rows else 0.2
    return 3.0


def _choices(entry: Entry, view: View) -> list[_Choice]:
    """Where a section may start, best first; the last resort is where the entry points."""
    assert entry.page is not None
    found: list[_Choice] = []
    for page in (entry.page, entry.page + 1, entry.page - 1, entry.page + 2, entry.page - 2):
        distance = abs(page - entry.page)
        best = max((c.score for c in found), default=0.0)
        if best >= (_SURE if distance == 1 else _EXACT - 1) and distance:
            break
        if not 1 <= page <= view.pages:
            continue
        for match in _matches(entry.title, view, page):
            near = _near(entry, match.row, view) if not distance else -1.5 * distance
            found.append(replace(match, score=match.score + near))
    if not any(c.score >= _EXACT - 1 for c in found):
        found.extend(_alike(entry, view))
    found.append(_pointed(entry, view))
    return sorted(found, key=lambda c: -c.score)[:_MAX_CHOICES]


def _readings(heading: str) -> list[tuple[str, str]]:
    """Number and title, as a heading may be meant: "A References" may be appendix A, "2 discs" may have no number."""
    number, title = split_number(heading)
    readings = [(number, title or heading)]
    if number and title:
        readings.append(("", heading))
    elif not number and (lettered := _LETTERED.match(heading)):
        readings.append((lettered[1], lettered[2]))
    return readings


def _matches(heading: str, view: View, page: int) -> Iterator[_Choice]:
    """Lines of a page on which a heading is printed: whole, wrapped, in a cell, or as the beginning of the line."""
    wanted = squash(heading)
    readings = [(number, title, squash(number), squash(title)) for number, title in _readings(heading)]
    heads = [bare[:6] for *_, bare in readings]
    keys, start = view.keys(page), view.starts[page - 1]
    if not any(head in view.joined(page) for head in heads):
        return
    for i, key in enumerate(keys):
        if not key or not (wanted.startswith(key) or any(head in key for head in heads)):
            continue
        text = view.texts[start + i]
        printed = split_number(text)[0]
        for number, title, folded, bare in readings:
            said = squash(printed)
            agrees = said == folded or (bool(said and folded) and (said.endswith(folded) or folded.endswith(said)))
            if number and len(number) == 1 and number.isalpha() and not agrees:
                continue
            rows, whole = _extent(keys, i, wanted, bare, said, view, start)
            if whole:
                fit = 0.5 if agrees else -2.0 if said and folded else 0.0
                score = _EXACT + _look(view, start + i, rows) + fit
                choice = _Choice(start + i, rows, number or printed, title, score)
                yield _with_number_above(choice, number, view)
                break
            if "\t" in text and any(squash(cell) == bare for cell in text.split("\t")):
                yield _Choice(start + i, 1, number or printed, title, _RUN_IN + 1.5 + _look(view, start + i, 1))
            elif len(bare) > 3 and (key.startswith(wanted) or key.removeprefix(said).startswith(bare)):
                if agrees or not (said and folded):
                    yield _Choice(start + i, 1, number or printed, title, _RUN_IN + _look(view, start + i, 1))
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


def _with_number_above(choice: _Choice, number: str, view: View) -> _Choice:
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


def _look(view: View, row: int, rows: int) -> float:
    """How much a line looks like a heading; printed contents pages and running headers do not."""
    look = view.stands_out(row)
    if view.furniture[row] or view.turned[row]:
        look -= 2.5
    if any(has_leader(view.texts[r]) for r in range(row, row + rows + 1) if r < len(view)):
        look -= 3.0
    return look


def _near(entry: Entry, row: int, view: View) -> float:
    """How well the destination's height fits a line, whether it counts from the top or from the bottom."""
    if entry.top is None or entry.page is None:
        return 0.5
    top = view.boxes[row][1]
    flipped = view.page_sizes[entry.page - 1][1] - entry.top
    return max(0.0, 1.5 - abs(top - entry.top) / 60, 1.0 - abs(top - flipped) / 60)


def _alike(entry: Entry, view: View) -> Iterator[_Choice]:
    """Lines of the page that nearly say the title: typing errors, other punctuation, a word more."""
    assert entry.page is not None
    key = squash(entry.title)
    number, title = _readings(entry.title)[0]
    rows, keys = view.rows(entry.page), view.keys(entry.page)
    if len(key) < 6:
        return
    for i, row in enumerate(rows):
        if view.stands_out(row) <= 0 or view.furniture[row]:
            continue
        joined = ""
        for n, part in enumerate(keys[i : i + _MAX_WRAP], start=1):
            joined += part
            if len(joined) > 1.4 * len(key) or abs(view.sizes[row + n - 1] - view.sizes[row]) > 0.5:
                break
            if len(joined) > 0.7 * len(key) and (ratio := SequenceMatcher(None, key, joined).ratio()) > 0.8:
                printed = split_number(view.texts[row])[0]
                yield _Choice(row, n, number or printed, title, _ALIKE * ratio + _look(view, row, n))


def _pointed(entry: Entry, view: View) -> _Choice:
    """Where an entry points: the first line at or below its height, or the page's first line."""
    assert entry.page is not None
    number, title = _readings(entry.title)[0]
    rows = view.rows(entry.page)
    row = next((r for r in rows if not view.furniture[r]), rows.start)
    if entry.top is None:
        return _Choice(row, 0, number, title, 0.5)
    row = next((r for r in rows if view.boxes[r][3] > entry.top + 2 and not view.furniture[r]), rows.stop)
    if row < rows.stop and view.stands_out(row) > 0:  # another wording of the title: half of its words are there
        words, there = set(entry.title.lower().split()), set(view.texts[row].lower().split())
        if len(words & there) * 2 >= len(words):
            return _Choice(row, 1, number, title, _POINTED)
    return _Choice(row, 0, number, title, _POINTED)


def _find_lost(entries: Sequence[Entry], chosen: dict[int, _Choice], view: View, floor: int) -> list[Entry]:
    """Look for entries that point nowhere between their placed neighbours; only a line that is their heading counts."""
    lost = []
    placed = sorted(chosen)
    for i, entry in enumerate(entries):
        if i in chosen:
            floor = max(floor, chosen[i].row)
            continue
        later = bisect_right(placed, i)
        following = chosen[placed[later]].row if later < len(placed) else len(view)
        number, title = _readings(entry.title)[0]
        rows = sorted({*view.index.get(squash(entry.title), ()), *(view.index.get(squash(title), ()))})
        fits = [r for r in rows if floor <= r < max(following, floor + 1) and _look(view, r, 1) > -1]
        if fits:
            best = max(fits, key=lambda r: _look(view, r, 1))
            chosen[i] = _Choice(best, 1, number or split_number(view.texts[best])[0], title, _EXACT)
            floor = best
        else:
            lost.append(entry)
    return lost
