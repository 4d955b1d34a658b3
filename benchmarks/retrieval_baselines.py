"""What retrieval is compared with, each as a system that ranks passages of a document for a question.

BM25 is stemmed by the library's own analyzer and leaves function words out of the question, so that what differs is the
retrieval and not the tokenisation. Where several passages of a page are found, the best one stands for the page: "ten"
always means ten places, as in Arbiter's pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arbiter_rag.detectors import Embedder
from arbiter_rag.detectors.bm25 import Bm25
from arbiter_rag.detectors.embedding import passage_texts, unit
from arbiter_rag.detectors.index import index_of
from arbiter_rag.document import ParsedDocument
from arbiter_rag.fusion import reciprocal_rank_fusion
from benchmarks.retrieval_data import ANCHOR, Found, Question

WINDOW = 12
STRIDE = 6
DEPTH = 100
"""Passages that go into a fusion from each side."""

Rows = tuple[int, int]


class System(Protocol):
    """Ranks passages of a document for a question, best first; `k` is how many will be looked at."""

    @property
    def name(self) -> str:
        """How the tables call it."""
        ...

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """At least `k` passages that count, where the document has them."""
        ...


class Lexical:
    """Stemmed BM25 over runs of rows."""

    def __init__(self, document: ParsedDocument, runs: Sequence[Rows]) -> None:
        self.analyzer = index_of(document).analyzer
        self.runs = tuple(runs)
        self.model, self.vocabulary = Bm25.of_tokens([self.analyzer.terms(document.text(*run)) for run in runs])

    def best(self, text: str) -> list[int]:
        """Numbers of the runs that hold a word of the question, best first."""
        asked = [t for t in self.analyzer.terms(text) if not self.analyzer.is_stop(t)]
        known = [self.vocabulary[t] for t in asked if t in self.vocabulary]
        scores = self.model.scores([(t, 1.0) for t in known])
        return [int(i) for i in np.argsort(-scores, kind="stable") if self.model.holding(known)[i]] if known else []


class Bm25Pages:
    """Stemmed BM25 over whole pages."""

    name = "BM25 pages"

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """Pages; each counts as one line, since a page is what this baseline is asked for."""
        lexical = document.derived("bench:pages", lambda d: Lexical(d, _pages(d)))
        runs = [lexical.runs[i] for i in lexical.best(question.text)]
        return [Found(frozenset({document.pages[a]}), 1, document.text(a, b)) for a, b in runs]


class Bm25Windows:
    """Stemmed BM25 over windows of 12 lines, one every 6, within a page."""

    name = "BM25 windows"

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """The best window of each page."""
        lexical = document.derived("bench:windows", lambda d: Lexical(d, _page_windows(d)))
        return best_of_pages(document, [lexical.runs[i] for i in lexical.best(question.text)])


class Tiling:
    """Anchors of 15 lines spread evenly over the document, whatever is asked: what a pool holds by its size alone."""

    name = "blind tiling"

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """`k` anchors, from the document's beginning to its end."""
        rows = len(document)
        anchors = min(k, -(-rows // ANCHOR))
        starts = [max(0, min(rows - ANCHOR, round((i + 0.5) * rows / anchors - ANCHOR / 2))) for i in range(anchors)]
        return [found(document, (start, min(rows, start + ANCHOR))) for start in starts]


class Dense:
    """Cosine over the windows inside sections whose vectors the library makes."""

    name = "embeddings"

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def best(self, text: str, document: ParsedDocument) -> list[int]:
        """Numbers of the windows, best first."""
        vectors = vectors_of(document, self.embedder)
        asked = unit(self.embedder.embed([text], query=True))[0]
        return [int(i) for i in np.argsort(-(vectors @ asked), kind="stable")] if len(vectors) else []

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """The best window of each page."""
        runs = section_windows(document)
        return best_of_pages(document, [runs[i] for i in self.best(question.text, document)])


class Fused:
    """RRF of stemmed BM25 and embeddings over the same windows."""

    name = "RRF"

    def __init__(self, embedder: Embedder) -> None:
        self.dense = Dense(embedder)

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """The best window of each page."""
        lexical = section_lexical(document)
        sides = [lexical.best(question.text)[:DEPTH], self.dense.best(question.text, document)[:DEPTH]]
        return best_of_pages(document, [lexical.runs[i] for i, _ in reciprocal_rank_fusion(sides)])


def found(document: ParsedDocument, rows: Rows) -> Found:
    """Rows as a passage."""
    start, end = rows
    return Found(frozenset(document.pages[start:end]), end - start, document.text(start, end))


def best_of_pages(document: ParsedDocument, runs: Sequence[Rows]) -> list[Found]:
    """Runs as passages, without those that begin on a page that a better one has begun on."""
    first: dict[int, Rows] = {}
    for run in runs:
        first.setdefault(document.pages[run[0]], run)
    return [found(document, run) for run in first.values()]


def section_windows(document: ParsedDocument) -> tuple[Rows, ...]:
    """The library's windows: 12 lines inside a section."""
    index = index_of(document)
    return tuple(zip(index.starts.tolist(), index.ends.tolist(), strict=True))


def section_lexical(document: ParsedDocument) -> Lexical:
    """Stemmed BM25 over the library's windows."""
    return document.derived("bench:section windows", lambda d: Lexical(d, section_windows(d)))


def vectors_of(document: ParsedDocument, embedder: Embedder) -> NDArray[np.float32]:
    """Vectors of the library's windows."""
    return document.derived(f"bench:{embedder.name}", lambda d: unit(embedder.embed(passage_texts(d))))


def _pages(document: ParsedDocument) -> list[Rows]:
    runs = [document.page_rows(page) for page in range(1, document.profile.pages + 1)]
    return [(a, b) for a, b in runs if b > a]


def _page_windows(document: ParsedDocument) -> list[Rows]:
    return [
        (start, min(start + WINDOW, b))
        for a, b in _pages(document)
        for start in range(a, max(a + 1, b - WINDOW + STRIDE), STRIDE)
    ]
