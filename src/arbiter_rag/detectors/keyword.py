"""Notices passages by their words: BM25 over windows and pages, words that stand together, phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence
from arbiter_rag.detectors.index import DocumentIndex
from arbiter_rag.detectors.reading import reading_of
from arbiter_rag.document import ParsedDocument

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOKED_AT = 60
"""Windows with the best BM25 that are measured line by line; the answer's window is almost never further down."""


class KeywordDetector:
    """Ranks windows of 12 lines inside sections by BM25, then by how closely the question's words stand together.

    Args:
        limit: Most hits given back.
    """

    name = "keyword"

    def __init__(self, limit: int = 40) -> None:
        self.limit = limit

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """Hits best first; the score is BM25, raised where words co-occur or a phrase stands."""
        reading = reading_of(question, document)
        index, needs, lexical = reading.index, reading.needs, reading.lexical
        if not needs.terms:
            return ()
        looked_at = _best(lexical, index.windows.holding(needs.terms), LOOKED_AT)
        measured = [
            (_raised(float(lexical[w]), evidence), w, evidence)
            for w in looked_at
            if (evidence := reading.measure(*reading.rows_of(w))).held
        ]
        measured.sort(key=lambda item: (-item[0], item[1]))
        return self._hits(measured, document, index)

    def _hits(
        self, measured: list[tuple[float, int, Evidence]], document: ParsedDocument, index: DocumentIndex
    ) -> tuple[Hit, ...]:
        hits: list[Hit] = []
        taken: dict[int, list[tuple[int, int]]] = {}
        for score, w, evidence in measured:
            start, end = int(index.starts[w]), int(index.ends[w])
            # Windows overlap by half: on one page the better one stands for both.
            on_page = taken.setdefault(int(index.window_pages[w]), [])
            if any(start < e and s < end for s, e in on_page):
                continue
            on_page.append((start, end))
            note = "words stand together" if evidence.near >= 0.5 and len(evidence.matched) > 1 else "words occur"
            hits.append(
                Hit(
                    method=self.name,
                    scope=document.scope(start, end),
                    score=round(score, 6),
                    rank=len(hits) + 1,
                    matched=evidence.matched,
                    note="quoted phrase stands here" if evidence.phrase else note,
                )
            )
            if len(hits) == self.limit:
                break
        return tuple(hits)


def _best(scores: NDArray[np.float64], holding: NDArray[np.bool_], n: int) -> list[int]:
    # Which windows hold a term, not whose score is positive: in a document of a few windows BM25's idf is negative.
    among = np.flatnonzero(holding)
    if len(among) > n:
        among = among[np.argpartition(-scores[among], n)[:n]]
    among = among[np.lexsort((among, -scores[among]))]
    return [int(w) for w in among]


def _raised(lexical: float, e: Evidence) -> float:
    return max(lexical, 0.1) * (1.0 + 0.5 * e.coverage + 0.5 * e.near + 0.25 * e.pairs + 1.0 * e.phrase)
