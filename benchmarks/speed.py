"""Speed of what surrounds the call: parsing, indexing, proposing, scoring keywords, importing."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles
from typing import Any

import bm25s
import numpy as np
import pymupdf
from rank_bm25 import BM25Okapi

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.detectors.bm25 import Bm25
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.document import ParsedDocument
from benchmarks.documents import joined_document, questions_of, speed_documents
from benchmarks.harness import Row, entry, side_by_side, timed

PASSAGES = 100_000
"""Passages in the keyword benchmark: what a large collection cut into 512-token chunks has."""


@entry("parse")
def parse() -> Iterator[Row]:
    """Parsing against PyMuPDF's own text extraction of every page (target: at most 2 times)"""
    for path in speed_documents():
        pages = len(pymupdf.open(path))
        ours, bare = side_by_side(
            [lambda path=path: ParsedDocument.from_pdf(path), lambda path=path: _bare(path)], repeat=3
        )
        yield {
            "document": path.name,
            "pages": pages,
            "ours ms": ours.best * 1000,
            "get_text ms": bare.best * 1000,
            "ratio": ours.best / bare.best,
        }


def _bare(path: Any) -> int:
    with pymupdf.open(path) as doc:
        return sum(len(page.get_text("dict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]) for page in doc)


@entry("index")
def index() -> Iterator[Row]:
    """Index build, once a document: time and memory that stays"""
    for path in speed_documents():
        document = ParsedDocument.from_pdf(path)
        yield {"document": path.name, **_index_row(document)}
    with joined_document() as (path, _):
        yield {"document": "joined", **_index_row(ParsedDocument.from_pdf(path))}


def _index_row(document: ParsedDocument) -> Row:
    build = timed(lambda: DocumentIndex(document), repeat=3)
    gc.collect()
    tracemalloc.start()
    kept = DocumentIndex(document)
    gc.collect()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    text = sum(len(t) for t in document.texts)
    return {
        "pages": document.profile.pages,
        "lines": len(document),
        "windows": len(kept.starts),
        "build ms": build.best * 1000,
        "held MB": held / 1e6,
        "peak MB": peak / 1e6,
        "bytes a character": held / max(text, 1),
    }


@entry("propose")
def propose() -> Iterator[Row]:
    """propose() against bare postings BM25 over the same windows (targets: 100 ms at 3,000 pages; 5 times)"""
    for path in speed_documents():
        yield _propose_row(path.name, ParsedDocument.from_pdf(path), questions_of(path))
    with joined_document() as (path, questions):
        yield _propose_row("joined", ParsedDocument.from_pdf(path), questions[:: max(len(questions) // 100, 1)])


def _propose_row(name: str, document: ParsedDocument, questions: Sequence[str]) -> Row:
    arbiter = Arbiter()
    start = time.perf_counter()
    arbiter.propose(questions[0], document)
    first = time.perf_counter() - start
    built = index_of(document)

    def bare(question: str) -> object:
        scores = built.windows.scores((term, 1.0) for term in built.ids(question) if term >= 0)
        return np.argsort(-scores, kind="stable")[:10]

    ours = [_once(lambda q=q: arbiter.propose(q, document)) for q in questions]
    postings = [_once(lambda q=q: bare(q)) for q in questions]
    return {
        "document": name,
        "pages": document.profile.pages,
        "questions": len(questions),
        "first ms": first * 1000,
        "median ms": median(ours) * 1000,
        "p95 ms": (quantiles(ours, n=20)[-1] if len(ours) > 1 else ours[0]) * 1000,
        "bare BM25 ms": median(postings) * 1000,
        "ratio": median(ours) / median(postings),
    }


def _once(run: Callable[[], object]) -> float:
    # The better of two: a question must not pay for what happened to run beside it.
    return timed(run, repeat=2).best


@entry("keyword")
def keyword() -> Iterator[Row]:
    """Scores of 100,000 passages against rank-bm25 (target: a tenth of its time, equal numbers) and bm25s"""
    corpus, queries = _corpus()
    start = time.perf_counter()
    model, vocabulary = Bm25.of_tokens(corpus)
    ours_build = time.perf_counter() - start
    start = time.perf_counter()
    okapi = BM25Okapi(corpus)
    okapi_build = time.perf_counter() - start
    start = time.perf_counter()
    sparse = bm25s.BM25(method="robertson")
    sparse.index(corpus, show_progress=False)
    sparse_build = time.perf_counter() - start

    def ours(query: list[str]) -> Any:
        return model.scores((vocabulary[t], 1.0) for t in query if t in vocabulary)

    worst = max(float(np.abs(ours(q) - okapi.get_scores(q)).max()) for q in queries)
    runs = [
        lambda: [ours(q) for q in queries],
        lambda: [okapi.get_scores(q) for q in queries],
        lambda: [sparse.get_scores(q) for q in queries],
    ]
    timings = side_by_side(runs, repeat=3)
    names, builds = ("ours", "rank-bm25", "bm25s"), (ours_build, okapi_build, sparse_build)
    for name, timing, build in zip(names, timings, builds, strict=True):
        yield {
            "scorer": name,
            "passages": PASSAGES,
            "build s": build,
            "ms a question": timing.best / len(queries) * 1000,
            "of rank-bm25": timing.best / timings[1].best,
            "largest difference": worst if name == "ours" else None,
        }


def _corpus() -> tuple[list[list[str]], list[list[str]]]:
    # Words fall off as in real text (Zipf); questions mix frequent and rare ones.
    rng = np.random.default_rng(7)
    words = np.array([f"w{i}" for i in range(50_000)])
    draws = np.minimum(rng.zipf(1.2, size=(PASSAGES, 60)), len(words)) - 1
    corpus = [words[row].tolist() for row in draws]
    queries = [words[np.minimum(rng.zipf(1.2, size=6), len(words)) - 1].tolist() for _ in range(5)]
    return corpus, queries


@entry("import")
def imports() -> Iterator[Row]:
    """Import time of arbiter_rag against pandas and pydantic alone, fresh processes (target: under 2 times)"""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    statements = {"arbiter_rag": "arbiter_rag", "pandas and pydantic": "pandas, pydantic"}
    seconds: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(7):
        for name, modules in statements.items():
            command = [sys.executable, "-c", code.format(modules)]
            seconds[name].append(float(subprocess.run(command, capture_output=True, check=True, text=True).stdout))
    base = min(seconds["pandas and pydantic"])
    for name, values in seconds.items():
        yield {
            "import": name,
            "best ms": min(values) * 1000,
            "median ms": median(values) * 1000,
            "ratio": min(values) / base,
        }
