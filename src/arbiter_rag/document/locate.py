"""Outline or contents entries -> headings on the line where they are printed, whatever heights the file claims. Pure.

Every entry gets a few possible lines with a score; the best chain through all entries that keeps their order wins, so
that ten headings called "Overview" each find their own. However often a title is printed, an entry takes a bounded
number of lines into the chain, and a page is read once for all entries of one title.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.titles import EXACT, MAX_CHOICES, Choice, Printed, Search, look_of, readings_of
from arbiter_rag.document.view import View

_MAX_LOST = 64
"""Lines that are weighed for an entry that points nowhere."""

_MAX_WEIGHED = 32
"""Up to so many lines of a page are all scored for an entry; of more, the best, the nearest in order and in height."""

_MAX_LEVEL = 9
_SURE = EXACT + 1.5
"""A match this good on the page an entry names: no other page is looked at."""

_POINTED = 2.0
"""Score of the line an entry points to when its title is not printed there."""


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
    chosen: dict[int, Choice] = dict(
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


def _best_chain(entries: Sequence[Entry], view: View) -> list[Choice]:
    """The choices with the highest sum of scores, going backwards punished (Viterbi)."""
    if not entries:
        return []
    search, counts, before_it = Search(view), Counter((e.title, e.page) for e in entries), Counter[object]()
    columns = []
    for entry in entries:
        same = (entry.title, entry.page)
        columns.append(_choices(entry, search, before_it[same], counts[same]))
        before_it[same] += 1
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


def _cost(before: Choice, after: Choice, returns: bool) -> float:
    if after.row > before.row or returns:
        return 0.0
    if after.row == before.row:
        return 1.5 if before.rows and after.rows else 0.2
    return 3.0


def _choices(entry: Entry, search: Search, place: int, count: int) -> list[Choice]:
    """Where a section may start, best first; the last resort is where the entry points.

    Args:
        entry: The entry.
        search: The text.
        place: How many entries before it have its title and page.
        count: How many entries have them in all.
    """
    assert entry.page is not None
    view = search.view
    found: list[Choice] = []
    ordered: set[int] = set()
    for page in (entry.page, entry.page + 1, entry.page - 1, entry.page + 2, entry.page - 2):
        distance = abs(page - entry.page)
        best = max((c.score for c in found), default=0.0)
        if best >= (_SURE if distance == 1 else EXACT - 1) and distance:
            break
        if not 1 <= page <= view.pages:
            continue
        printed = search.printed(entry.title, page)
        in_order = printed.in_order(place, count) if not ordered else set()
        ordered.update(printed.choices[i].row for i in in_order)
        for match in _weighed(entry, printed, in_order):
            near = _near(entry, match.row, view) if not distance else -1.5 * distance
            found.append(replace(match, score=match.score + near))
    if not any(c.score >= EXACT - 1 for c in found):
        alike = Printed(search.alike(entry.title, entry.page), view)
        in_order = alike.in_order(place, count)
        ordered.update(alike.choices[i].row for i in in_order)
        found.extend(_weighed(entry, alike, in_order))
    found.append(_pointed(entry, view))
    ranked = sorted(found, key=lambda c: -c.score)
    return ranked[:MAX_CHOICES] + [c for c in ranked[MAX_CHOICES:] if c.row in ordered]


def _weighed(entry: Entry, printed: Printed, in_order: set[int]) -> list[Choice]:
    """The choices that an entry looks at, in reading order."""
    if len(printed.choices) <= _MAX_WEIGHED:
        return list(printed.choices)
    chosen = in_order.union(printed.best)
    if entry.top is not None and entry.page is not None:
        chosen |= printed.at_height(entry.top)
        chosen |= printed.at_height(printed.view.page_sizes[entry.page - 1][1] - entry.top)
    return [printed.choices[i] for i in sorted(chosen)]


def _near(entry: Entry, row: int, view: View) -> float:
    """How well the destination's height fits a line, whether it counts from the top or from the bottom."""
    if entry.top is None or entry.page is None:
        return 0.5
    top = view.boxes[row][1]
    flipped = view.page_sizes[entry.page - 1][1] - entry.top
    return max(0.0, 1.5 - abs(top - entry.top) / 60, 1.0 - abs(top - flipped) / 60)


def _pointed(entry: Entry, view: View) -> Choice:
    """Where an entry points: the first line at or below its height, or the page's first line."""
    assert entry.page is not None
    number, title = readings_of(entry.title)[0]
    rows = view.rows(entry.page)
    row = next((r for r in rows if not view.furniture[r]), rows.start)
    if entry.top is None:
        return Choice(row, 0, number, title, 0.5)
    row = next((r for r in rows if view.boxes[r][3] > entry.top + 2 and not view.furniture[r]), rows.stop)
    if row < rows.stop and view.stands_out(row) > 0:  # another wording of the title: half of its words are there
        words, there = set(entry.title.lower().split()), set(view.texts[row].lower().split())
        if len(words & there) * 2 >= len(words):
            return Choice(row, 1, number, title, _POINTED)
    return Choice(row, 0, number, title, _POINTED)


def _find_lost(entries: Sequence[Entry], chosen: dict[int, Choice], view: View, floor: int) -> list[Entry]:
    """Look for entries that point nowhere between their placed neighbours; only a line that is their heading counts."""
    lost = []
    placed = sorted(chosen)
    for i, entry in enumerate(entries):
        if i in chosen:
            floor = max(floor, chosen[i].row)
            continue
        later = bisect_right(placed, i)
        following = chosen[placed[later]].row if later < len(placed) else len(view)
        number, title = readings_of(entry.title)[0]
        rows: set[int] = set()
        for same in (view.index.get(squash(entry.title), []), view.index.get(squash(title), [])):
            first, stop = bisect_left(same, floor), bisect_left(same, max(following, floor + 1))
            rows.update(islice(same, first, min(stop, first + _MAX_LOST)))
        fits = [r for r in sorted(rows) if look_of(view, r, 1) > -1]
        if fits:
            best = max(fits, key=lambda r: look_of(view, r, 1))
            chosen[i] = Choice(best, 1, number or split_number(view.texts[best])[0], title, EXACT)
            floor = best
        else:
            lost.append(entry)
    return lost
