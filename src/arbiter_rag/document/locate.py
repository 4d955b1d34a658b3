"""Outline entries -> headings placed on the line where they are printed; heights in a PDF are not to be trusted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading

_MAX_WRAP = 4


@dataclass(slots=True)
class Page:
    """What is looked at on one page: rows and their folded texts (made once a page, when needed)."""

    start: int
    end: int
    keys: list[str]


class Text:
    """The lines of a document as the search for headings sees them."""

    def __init__(
        self,
        texts: Sequence[str],
        boxes: Sequence[tuple[float, float, float, float]],
        sizes: Sequence[float],
        bold: Sequence[bool],
        furniture: Sequence[bool],
        starts: Sequence[int],
        heights: Sequence[float],
        body_size: float,
    ) -> None:
        self.texts = texts
        self.boxes = boxes
        self.sizes = sizes
        self.bold = bold
        self.furniture = furniture
        self.starts = starts
        self.heights = heights
        self.body_size = body_size
        self._pages: dict[int, Page] = {}

    def page(self, number: int) -> Page:
        """The 1-based page."""
        if number not in self._pages:
            start, end = self.starts[number - 1], self.starts[number]
            self._pages[number] = Page(start, end, [squash(t[:300]) for t in self.texts[start:end]])
        return self._pages[number]


@dataclass(frozen=True, slots=True)
class _Match:
    row: int
    rows: int
    number: str
    score: float


def place(entries: Sequence[Entry], text: Text, pages: int) -> list[Heading]:
    """Put every entry on its printed line, or where it points when its title is not printed there."""
    headings: list[Heading] = []
    floor = -1
    for entry in entries:
        if entry.page is None:
            continue
        number, title = split_number(entry.title)
        found = _search(entry, number, title, text, pages, floor)
        if found:
            headings.append(
                Heading(found.row, entry.level, title or entry.title, number or found.number, "outline", found.rows,
                        _page_of(text, found.row))
            )  # fmt: skip
            floor = found.row
        else:
            row = _row_at(entry, text)
            headings.append(Heading(row, entry.level, title or entry.title, number, "outline", 0, entry.page))
    return headings


def _page_of(text: Text, row: int) -> int:
    import bisect

    return bisect.bisect_right(text.starts, row)


def _search(entry: Entry, number: str, title: str, text: Text, pages: int, floor: int) -> _Match | None:
    assert entry.page is not None
    best: _Match | None = None
    for distance, page in ((0, entry.page), (1, entry.page + 1), (1, entry.page - 1)):
        if not 1 <= page <= pages:
            continue
        for match in _matches(squash(number), squash(title), text, page):
            score = match.score - 2.5 * distance + _near(entry, match.row, text) * (not distance)
            if match.row <= floor:
                score -= 3
            if best is None or score > best.score:
                best = _Match(match.row, match.rows, match.number, score)
    return best


def _matches(number: str, title: str, text: Text, page: int) -> list[_Match]:
    found = []
    view = text.page(page)
    wanted = number + title
    if not wanted:
        return []
    for i, key in enumerate(view.keys):
        if not key or not (wanted.startswith(key) or title.startswith(key) or title in key):
            continue
        row = view.start + i
        for rows in range(1, _MAX_WRAP + 1):
            if i + rows > len(view.keys):
                break
            joined = "".join(view.keys[i : i + rows])
            printed, _ = split_number(text.texts[row])
            bare = joined.removeprefix(squash(printed)) if printed else joined
            if joined in (wanted, title) or bare == title:
                found.append(_Match(row, rows, printed, 4.0 + _look(text, row, rows)))
                break
            if rows == 1 and len(title) > 3 and (joined.startswith(wanted) or bare.startswith(title)):
                found.append(_Match(row, 1, printed, 1.0 + _look(text, row, 1)))
            if not (wanted.startswith(joined) or title.startswith(bare)):
                break
    return found


def _look(text: Text, row: int, rows: int) -> float:
    """How much a line looks like a heading."""
    look = 0.0
    if text.bold[row]:
        look += 1.0
    if text.sizes[row] > 1.05 * text.body_size:
        look += 1.0
    if text.furniture[row]:
        look -= 2.5
    line = text.texts[row + rows - 1].rstrip()
    if "...." in line or ". . ." in line or (line[-1:].isdigit() and "\t" in line[-6:]):
        look -= 2.5
    return look


def _near(entry: Entry, row: int, text: Text) -> float:
    """1.0 where the destination's height fits this line, counted from the top or from the bottom."""
    if entry.y is None or entry.page is None:
        return 0.5
    top = text.boxes[row][1]
    away = min(abs(top - entry.y), abs(text.heights[entry.page - 1] - entry.y - top))
    return max(0.0, 1.5 - away / 60.0)


def _row_at(entry: Entry, text: Text) -> int:
    """Where an entry points whose title is not printed: the first line at or below its height."""
    assert entry.page is not None
    start, end = text.starts[entry.page - 1], text.starts[entry.page]
    if entry.y is None:
        return start
    return next((r for r in range(start, end) if text.boxes[r][3] >= entry.y), start)
