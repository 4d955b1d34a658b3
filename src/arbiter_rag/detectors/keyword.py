"""Notices passages by their words: BM25 over windows and pages, words that stand together, phrases, answer shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence, measure
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.needs import Needs, needs_of
from arbiter_rag.document import ParsedDocument

LOOKED_AT = 100
"""Windows with the best BM25 that are measured line by line; the answer's window is almost never further down."""

PAGE_SHARE = 0.35
"""What a page's own BM25 adds to its windows': an answer stands where its surroundings are on the subject too."""


class KeywordDetector:
    """Ranks windows of 12 lines inside sections by BM25, then by how closely the question's words stand together.

    Args:
        limit: Most hits given back.
    """

    name = "keyword"

    def __init__(self, limit: int = 40) -> None:
        self.limit = limit

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """Hits best first; the score is BM25, raised where words co-occur or a phrase or the answer's shape stands."""
        index = index_of(document)
        needs = needs_of(question, index)
        if not needs.terms:
            return ()
        wanted = wanted_terms(index, needs)
        lexical = lexical_scores(index, needs)
        looked_at = _best(lexical, index.windows.holding(needs.terms), LOOKED_AT)
        measured = [
            (_raised(float(lexical[w]), e), w, e)
            for w in looked_at
            if (e := measure(index, needs, wanted, question.shape, int(index.starts[w]), int(index.ends[w]))).matched
        ]
        measured.sort(key=lambda item: (-item[0], item[1]))
        return self._hits(measured, document, index)

    def _hits(
        self, measured: list[tuple[float, int, Evidence]], document: ParsedDocument, index: DocumentIndex
    ) -> tuple[Hit, ...]:
        hits: list[Hit] = []
        taken: list[tuple[int, int, int]] = []
        for score, w, evidence in measured:
            start, end = int(index.starts[w]), int(index.ends[w])
            page = int(index.window_pages[w])
            # Windows overlap by half: on one page the better one stands for both.
            if any(start < e and s < end and p == page for s, e, p in taken):
                continue
            taken.append((start, end, page))
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


def wanted_terms(index: DocumentIndex, needs: Needs) -> NDArray[np.bool_]:
    """The question's terms as a mask over the document's vocabulary."""
    wanted = np.zeros(len(index.vocabulary), dtype=np.bool_)
    wanted[list(needs.terms)] = True
    return wanted


def lexical_scores(index: DocumentIndex, needs: Needs) -> NDArray[np.float64]:
    """BM25 of every window, with a share of its page's own BM25."""
    scores = index.windows.scores(needs.query)
    pages = index.by_page.scores(needs.query)
    scores += PAGE_SHARE * pages[index.window_pages]
    return scores


def _best(scores: NDArray[np.float64], holding: NDArray[np.bool_], n: int) -> list[int]:
    # Which windows hold a term, not whose score is positive: in a document of a few windows BM25's idf is negative.
    among = np.flatnonzero(holding)
    if len(among) > n:
        among = among[np.argpartition(-scores[among], n)[:n]]
    among = among[np.lexsort((among, -scores[among]))]
    return [int(w) for w in among]


def _raised(lexical: float, e: Evidence) -> float:
    return max(lexical, 0.1) * (1.0 + 0.5 * e.coverage + 0.5 * e.near + 0.25 * e.pairs + 0.1 * e.shape + 1.0 * e.phrase)
