"""One question read against one document, once: what detectors, candidates and coverage all measure with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.contract import ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence, has_shape_near, measure
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.needs import Needs, needs_of
from arbiter_rag.document import ParsedDocument

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE_SHARE = 0.35
"""What a page's own BM25 adds to its windows': an answer stands where its surroundings are on the subject too."""

_KEPT = 16


def foreign(language: str, documents: Sequence[str]) -> bool:
    """Whether a question's language is known and none of the documents is in it."""
    known = [d for d in documents if d != "und"]
    return language != "und" and bool(known) and language not in known


class Reading:
    """A question's terms and scores in one document, and the evidence of any of its lines.

    Attributes:
        needs: The question in the document's terms.
        wanted: The question's terms as a mask over the vocabulary, shape (terms,).
        by_page: BM25 of each page, shape (pages,).
        foreign: Whether question and document are known to differ in language.
        lexical: BM25 of each window with a share of its page's, shape (windows,).
    """

    def __init__(self, question: ParsedQuestion, document: ParsedDocument) -> None:
        self.question = question
        self.document = document
        self.index: DocumentIndex = index_of(document)
        self.needs: Needs = needs_of(question, self.index)
        self.wanted: NDArray[np.bool_] = np.zeros(len(self.index.vocabulary), dtype=np.bool_)
        self.wanted[list(self.needs.terms)] = True
        self.by_page: NDArray[np.float64] = self.index.by_page.scores(self.needs.query)
        self.lexical: NDArray[np.float64] = self.index.windows.scores(self.needs.query)
        self.lexical += PAGE_SHARE * self.by_page[self.index.window_pages]
        self.foreign = foreign(question.language, [self.index.language])
        self._measured: dict[tuple[int, int], Evidence] = {}

    def measure(self, start: int, end: int) -> Evidence:
        """Evidence of rows `start` to `end`, exclusive, but for the answer's shape."""
        key = (start, end)
        found = self._measured.get(key)
        if found is None:
            found = self._measured[key] = measure(self.index, self.needs, self.wanted, start, end)
        return found

    def measure_whole(self, start: int, end: int) -> Evidence:
        """The same with the answer's shape, whose patterns cost more than all the rest."""
        evidence = self.measure(start, end)
        shaped = has_shape_near(self.index, self.question.shape, evidence.best, start, end)
        return replace(evidence, shape=True) if shaped else evidence

    def windows_in(self, start: int, end: int) -> range:
        """Numbers of the windows that begin in rows `start` to `end`, exclusive."""
        low, high = np.searchsorted(self.index.starts, [start, end])
        return range(int(low), int(high))

    def rows_of(self, window: int) -> tuple[int, int]:
        """Rows of a window."""
        return int(self.index.starts[window]), int(self.index.ends[window])

    def lexical_of(self, start: int) -> float:
        """BM25 of the window that begins at or last before this row."""
        window = int(np.searchsorted(self.index.starts, start, side="right")) - 1
        return float(self.lexical[window]) if window >= 0 else 0.0


class _Recent:
    """The last few readings of a document."""

    def __init__(self, _: ParsedDocument) -> None:
        self._lock = Lock()
        self._readings: OrderedDict[ParsedQuestion, Reading] = OrderedDict()

    def get(self, question: ParsedQuestion, document: ParsedDocument) -> Reading:
        with self._lock:
            found = self._readings.get(question)
        if found is None:
            found = Reading(question, document)
            with self._lock:
                self._readings[question] = found
                while len(self._readings) > _KEPT:
                    self._readings.popitem(last=False)
        return found


def reading_of(question: ParsedQuestion, document: ParsedDocument) -> Reading:
    """The reading of a question against a document; detectors that ask one after the other share it."""
    return document.derived("readings", _Recent).get(question, document)
