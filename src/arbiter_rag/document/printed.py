"""Printed contents pages -> entries with the PDF page each number means. Pure.

A number on a contents page is what is printed on the page it means, not a PDF page: labels of the file, folios printed
on the pages, and where the titles themselves stand decide together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.labels import roman_value
from arbiter_rag.document.locate import place
from arbiter_rag.document.numbering import levels, rank, settled
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View

_LABEL = re.compile(r"(?:p(?:age|\.)?\s?)?(?P<label>\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}-?\d{1,3})$", re.IGNORECASE)
_LEADERS = ".·…_‥․"
CONTENTS_TITLES = frozenset(
    (
        "contents", "tableofcontents", "index", "sommaire", "tabledesmatieres", "tabledescontenus", "inhalt",
        "inhaltsverzeichnis", "indice", "indicegeneral", "contenido", "tabladecontenido", "sumario", "conteudo",
        "inhoud", "inhoudsopgave", "оглавление", "содержание", "目次", "目录", "目錄", "차례", "목차",
    )
)  # fmt: skip
"""Headings of contents pages, folded."""

_CAPTION = re.compile(
    r"(?:fig(?:ure|ura)?|table(?:au)?|tab|tabelle|tabla|tabela|abbildung|chart|graph(?:ique)?|box)\.?\s*[\dIVX]", re.I
)
_FIRST_PAGES, _LAST_PAGES = 30, 4
_MIN_FOUND = 0.5
"""Share of the entries whose titles must stand in the text, else the page was no contents page."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One entry as printed: `label` is empty for a part title without a page number."""

    title: str
    label: str
    x0: float
    row: int


def printed_headings(view: View, pages: Sequence[int]) -> tuple[list[Heading], list[str]]:
    """Headings by the printed contents on these pages, placed in the text; empty when they do not fit it.

    Returns:
        The headings and sentences about what was odd.
    """
    lines = [line for page in pages for line in _lines(view, page)]
    if len(lines) < 3:
        return [], []
    after = view.starts[max(pages)] if max(pages) <= view.pages // 2 else 0
    page_of = _page_numbers(lines, view, set(pages))
    entries = [
        Entry(level, line.title, page_of.get(line.row))
        for level, line in zip(levels(_ranks(lines)), lines, strict=True)
    ]
    placed, _lost = place(entries, view, "printed", floor=after)
    found = [h for h in placed if h.rows and view.page_of(h.row) not in pages]
    if len(found) < max(3, _MIN_FOUND * sum(bool(line.label) for line in lines)):
        return [], []
    missing = len(entries) - len(found)
    notes = [f"{missing} of {len(entries)} lines of the printed contents are not found as headings."] if missing else []
    return found, notes


def contents_pages(view: View) -> list[int]:
    """The pages that are mostly contents lines; the first run of them counts."""
    candidates = [*range(1, min(view.pages, _FIRST_PAGES) + 1)]
    candidates += range(max(len(candidates), view.pages - _LAST_PAGES) + 1, view.pages + 1)
    found: list[int] = []
    for page in candidates:
        if found and page != found[-1] + 1:
            break
        rows = [r for r in view.rows(page) if not view.furniture[r]]
        matches = [m for r in rows if (m := _match(view.texts[r]))]
        named = any(key in CONTENTS_TITLES for key in view.keys(page)[:12])
        least = 3 if found or named else 6
        share = 0.3 if found or named else 0.5
        if len(matches) >= least and len(matches) >= share * len(rows) and _rising(matches, view.pages):
            found.append(page)
    return found


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line that ends in a page number, away from its text; `dotted` when dots lead to it."""

    title: str
    label: str
    dotted: bool


def _match(text: str) -> _Entry | None:
    text = text.rstrip()
    tail = text[-12:]
    found = _LABEL.search(tail)
    if not found or text.count("\t") > 3:
        return None
    before = text[: len(text) - len(tail) + found.start()]
    title = before.rstrip(f"{_LEADERS} \t")
    gap = before[len(title) :]
    dotted = sum(gap.count(c) for c in _LEADERS) >= 3
    if not (dotted or "\t" in gap or "  " in gap) or not any(map(str.isalpha, title)):
        return None
    return _Entry(title.strip(), found["label"], dotted)


def _rising(entries: Sequence[_Entry], pages: int) -> bool:
    """Whether the page numbers rise, as they do in contents and not in tables or indexes."""
    numbers = [int(e.label) for e in entries if e.label.isdigit()]
    if len(numbers) < 2:
        return len(entries) >= 3
    ups = sum(a <= b for a, b in pairwise(numbers))
    dotted = sum(e.dotted for e in entries) > 0.7 * len(entries)
    fits = len(numbers) if dotted else sum(n <= pages + 60 for n in numbers)
    return ups >= 0.8 * (len(numbers) - 1) and fits >= 0.9 * len(numbers) and numbers[0] < numbers[-1]


def _lines(view: View, page: int) -> Iterator[_Line]:
    """Entries of one contents page; a title may be wrapped before its number, a part's title may have none."""
    pending: tuple[str, int] | None = None
    for row in view.rows(page):
        text = view.texts[row]
        found = _match(text)
        if view.furniture[row] or view.keys(page)[row - view.starts[page - 1]] in CONTENTS_TITLES:
            continue
        if not found:
            number, _ = split_number(text)
            whole = split_number(f"{text} x")
            if whole[0] and whole[1] == "x" and any(map(str.isalpha, text)):
                yield _Line(text, "", view.boxes[row][0], row)
                pending = None
            else:
                pending = (text, row) if len(text) > 25 or number else None
            continue
        title, x0 = found.title, view.boxes[row][0]
        if pending and (title[:1].islower() or not split_number(title)[0]) and pending[1] == row - 1:
            wrapped = x0 > view.boxes[pending[1]][0] + 2 or title[:1].islower()
            title = f"{pending[0]} {title}" if wrapped else title
        pending = None
        if not _CAPTION.match(title):
            yield _Line(" ".join(title.split()), found.label, x0, row)


def _ranks(lines: Sequence[_Line]) -> list[float]:
    """Rank of each entry by its number, or by its indentation among the others."""
    own = settled([rank(split_number(line.title)[0] or split_number(f"{line.title} x")[0]) for line in lines])
    steps: list[float] = []
    for x0 in sorted(line.x0 for line in lines):
        if not steps or x0 > steps[-1] + 4:
            steps.append(x0)
    by_indent: dict[float, Counter[float]] = {}
    indents = [max(s for s in steps if s <= line.x0) for line in lines]
    for value, indent in zip(own, indents, strict=True):
        if value is not None:
            by_indent.setdefault(indent, Counter())[value] += 1
    out = []
    for value, indent in zip(own, indents, strict=True):
        if value is None:
            known = by_indent.get(indent)
            value = known.most_common(1)[0][0] if known else 60.0 + steps.index(indent)
        out.append(value)
    return out


def _page_numbers(lines: Sequence[_Line], view: View, contents: set[int]) -> dict[int, int]:
    """PDF page of each entry (by its row), where one can be told."""
    by_label = _labels(view)
    offset = _offset(lines, view, contents)
    out = {}
    for line in lines:
        key = line.label.lower()
        if key.isdigit() and offset is not None and 1 <= int(key) + offset <= view.pages:
            out[line.row] = int(key) + offset
        elif key in by_label:
            out[line.row] = by_label[key]
    return out


def _labels(view: View) -> dict[str, int]:
    """Pages by the label of the file, or by the folio printed in their furniture."""
    out: dict[str, int] = {}
    for page in range(1, view.pages + 1):
        rows = view.rows(page)
        for row in (*rows[:2], *rows[-2:]):
            text = view.texts[row].strip(" -–—[]()|.").lower()
            if text.isdigit() or roman_value(text) is not None:
                out.setdefault(text, page)
    if any(label != str(page) for page, label in enumerate(view.labels, start=1)):
        out |= {label.lower(): page for page, label in reversed(list(enumerate(view.labels, start=1)))}
    return out


def _offset(lines: Sequence[_Line], view: View, contents: set[int]) -> int | None:
    """What to add to an arabic number to get the PDF page: a vote of the pages on which the titles stand."""
    votes: Counter[int] = Counter()
    for line in lines:
        if not line.label.isdigit():
            continue
        title = split_number(line.title)[1]
        rows = {*view.index.get(squash(line.title), ()), *view.index.get(squash(title), ())}
        pages = {view.page_of(r) for r in rows} - contents
        if len(pages) <= 4:
            votes.update(page - int(line.label) for page in pages)
    if not votes:
        return None
    offset, count = votes.most_common(1)[0]
    return offset if count >= 2 or len(lines) < 6 else None
