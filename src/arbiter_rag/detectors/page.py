"""Notices the pages that the question names: "on page 3", "page iv"."""

from __future__ import annotations

from collections.abc import Iterator

from arbiter_rag.contract import Hit, PageHint, ParsedQuestion
from arbiter_rag.document import ParsedDocument

WIDEST = 20
"""Most pages that a range pins; "pages 1 to 300" is not a hint where to look."""


class PageDetector:
    """Pins the pages that the question names: those with that printed label and, where it differs, that PDF page."""

    name = "page"

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """One hit a pinned page that has text, in page order; the score is always 1."""
        found: dict[int, str] = {}
        for hint in question.pages:
            for page, note in _pinned(hint, document):
                found.setdefault(page, note)
        hits: list[Hit] = []
        for page in sorted(found):
            start, end = document.page_rows(page)
            if end > start:
                scope = document.scope(start, end)
                hits.append(Hit(method=self.name, scope=scope, score=1.0, rank=len(hits) + 1, note=found[page]))
        return tuple(hits)


def _pinned(hint: PageHint, document: ParsedDocument) -> Iterator[tuple[int, str]]:
    labels = [label.casefold() for label in document.page_labels]
    first, last = hint.label.casefold(), (hint.last_label or hint.label).casefold()
    if first in labels:
        start = labels.index(first)
        stop = labels.index(last, start) if last in labels[start:] else start
        for page in range(start + 1, min(stop, start + WIDEST) + 2):
            printed = labels[page - 1]
            yield page, f"page labelled {printed}" + ("" if printed == str(page) else f", PDF page {page}")
    if first.isdecimal():
        stop = int(last) if last.isdecimal() else int(first)
        for page in range(max(1, int(first)), min(stop, int(first) + WIDEST, document.profile.pages) + 1):
            label = document.page_labels[page - 1]
            yield page, f"PDF page {page}" + ("" if label == str(page) else f", labelled {label}")
