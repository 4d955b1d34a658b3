"""BM25 from postings arrays: rank-bm25's Okapi model and its numbers, without its loop over every passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.5
B = 0.75
EPSILON = 0.25


class Bm25:
    """Okapi BM25 as `rank_bm25.BM25Okapi` defines it (k1 1.5, b 0.75, negative idf raised to 0.25 of the mean).

    Source of the model: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009); of the
    floor for negative idf: rank-bm25.

    Args:
        terms: Term id of each token, int, shape (tokens,).
        passages: Passage number of each token, int, shape (tokens,).
        n_terms: Size of the vocabulary.
        n_passages: Number of passages (some may hold no token).
        lengths: Tokens a passage for the length norm; counted when None.
    """

    def __init__(
        self,
        terms: NDArray[np.int64],
        passages: NDArray[np.int64],
        n_terms: int,
        n_passages: int,
        lengths: NDArray[np.int64] | None = None,
    ) -> None:
        self.n_passages = n_passages
        keys, counts = np.unique(terms.astype(np.int64) * max(n_passages, 1) + passages, return_counts=True)
        term_of = keys // max(n_passages, 1)
        self._passages = (keys % max(n_passages, 1)).astype(np.int32)
        self._starts = np.searchsorted(term_of, np.arange(n_terms + 1))
        self.document_frequency: NDArray[np.int64] = np.diff(self._starts)
        self.idf = _okapi_idf(self.document_frequency, n_passages)
        if lengths is None:
            lengths = np.bincount(passages, minlength=n_passages)
        mean = lengths.sum() / n_passages if n_passages else 1.0
        norm = K1 * (1 - B + B * lengths / (mean or 1.0))
        # rank-bm25 multiplies idf by this quotient in this order; keeping it makes the numbers equal, not just close.
        self._weights = self.idf[term_of] * (counts * (K1 + 1) / (counts + norm[self._passages]))

    @classmethod
    def of_tokens(cls, corpus: Sequence[Sequence[str]]) -> tuple[Bm25, dict[str, int]]:
        """Build from tokenised passages; gives the vocabulary (term -> id) beside the model."""
        vocabulary: dict[str, int] = {}
        ids = [vocabulary.setdefault(t, len(vocabulary)) for passage in corpus for t in passage]
        owner = np.repeat(np.arange(len(corpus)), [len(p) for p in corpus])
        return cls(np.asarray(ids, dtype=np.int64), owner, len(vocabulary), len(corpus)), vocabulary

    def postings(self, term: int) -> NDArray[np.int32]:
        """Passages that hold a term, ascending."""
        found: NDArray[np.int32] = self._passages[self._starts[term] : self._starts[term + 1]]
        return found

    def holding(self, terms: Iterable[int]) -> NDArray[np.bool_]:
        """Which passages hold any of these terms, shape (n_passages,)."""
        found = np.zeros(self.n_passages, dtype=np.bool_)
        for term in terms:
            found[self.postings(term)] = True
        return found

    def scores(self, query: Iterable[tuple[int, float]]) -> NDArray[np.float64]:
        """Score of every passage, shape (n_passages,), for weighted term ids; repeated ids add up, as in rank-bm25."""
        total = np.zeros(self.n_passages)
        for term, weight in query:
            start, end = self._starts[term], self._starts[term + 1]
            # A term's postings name each passage once, so plain indexing adds correctly.
            total[self._passages[start:end]] += weight * self._weights[start:end]
        return total


def _okapi_idf(frequency: NDArray[np.int64], n_passages: int) -> NDArray[np.float64]:
    idf: NDArray[np.float64] = np.log(n_passages - frequency + 0.5) - np.log(frequency + 0.5)
    if len(idf):
        idf = np.where(idf < 0, EPSILON * idf.mean(), idf)
    return idf
