"""Which rows of a candidate address the judge, and what the rows that do not say for themselves."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import partial

from arbiter_rag.detectors.evidence import strength
from arbiter_rag.detectors.reading import Reading
from arbiter_rag.document import ParsedDocument
from arbiter_rag.hostile import Suspicion, scan

LEAST = 0.0001
"""Evidence of a passage that holds nothing beside what is marked: measured, unlike 0."""


def suspicions(document: ParsedDocument, start: int, end: int) -> tuple[tuple[str, ...], frozenset[int]]:
    """What the scanner marks in rows `start` to `end` (exclusive): the texts, and the rows that they touch.

    Pages are scanned whole and once, as an attack may run over several lines and many candidates share a page.
    """
    texts: dict[str, None] = {}
    rows: set[int] = set()
    for page in range(document.pages[start], document.pages[end - 1] + 1):
        low, high = document.page_rows(page)
        spans = document.derived(f"suspicious:{page}", partial(_scanned, start=low, end=high))
        for span in spans:
            touched = [r for r in _touched(document, low, high, span) if start <= r < end]
            if touched:
                texts.setdefault(span.text)
                rows.update(touched)
    return tuple(texts), frozenset(rows)


def evidence_outside(reading: Reading, start: int, end: int, marked: Set[int]) -> float:
    """The strongest evidence of the runs of rows that nothing marks: an attack cannot vouch for its own passage."""
    best, row = LEAST, start
    while row < end:
        if row in marked:
            row += 1
            continue
        stop = row
        while stop < end and stop not in marked:
            stop += 1
        best = max(best, strength(reading.measure(row, stop)))
        row = stop
    return best


def _touched(document: ParsedDocument, start: int, end: int, span: Suspicion) -> Iterator[int]:
    offset = 0
    for row in range(start, end):
        length = len(document.texts[row])
        if span.start < offset + length and offset < span.end:
            yield row
        offset += length + 1


def _scanned(document: ParsedDocument, start: int, end: int) -> tuple[Suspicion, ...]:
    return scan(document.text(start, end))
