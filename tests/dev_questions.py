"""The development questions for tests that assert shares over whole sources: documents parsed once a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arbiter_rag import Arbiter, ParsedDocument, RetrievalResult
from benchmarks.retrieval_data import Found, Question

Documents = Callable[[str, str], ParsedDocument]
"""A document by source and file name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question: hits among the pool's candidates, and whether the first kept one is right."""

    question: Question
    result: RetrievalResult
    in_pool: bool
    first: bool


def answer(arbiter: Arbiter, question: Question, document: ParsedDocument) -> Answer:
    """Ask by rules and look where the candidates stand; pages that the question excludes do not count."""
    result = arbiter.retrieve(question.text, document)
    pool = [*result.candidates, *result.discarded, *result.unjudged]
    right = {c.candidate_id for c in pool if (f := _found(c, document)).hits(question) and f.pages - question.excluded}
    counting = [c for c in result.candidates if not _found(c, document).pages <= question.excluded]
    return Answer(question, result, bool(right), bool(counting) and counting[0].candidate_id in right)


def _found(candidate: object, document: ParsedDocument) -> Found:
    anchor = candidate.anchor  # type: ignore[attr-defined]
    start, end = document.rows(anchor)
    return Found(frozenset(range(anchor.page_start, anchor.page_end + 1)), end - start, "")


def every(items: Sequence[Question], most: int) -> list[Question]:
    """At most `most` questions, evenly over the source and always the same ones."""
    return [items[i * len(items) // most] for i in range(most)] if len(items) > most else list(items)


def mean(values: Sequence[bool]) -> float:
    """Share of the true ones."""
    return sum(values) / len(values)
