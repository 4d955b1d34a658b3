"""Floors under what retrieval by rules reaches on each development source, without embeddings.

A floor stands a little under the figure on the day it was set: two questions or three points, whichever is more. It is
a statement about a whole source (or an even sample of it), never about a single question; improvement does not break
it, and a regression that is more than noise does. `python -m benchmarks.retrieval` measures the same on everything,
with intervals and baselines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from arbiter_rag import Arbiter
from benchmarks.retrieval_data import Question, questions
from tests.dev_questions import Answer, Documents, answer, every, mean

Answers = Callable[[str], list[Answer]]


class Floor(NamedTuple):
    """Least share with a hit in the pool of ten, least share of right first candidates, most false "not found"."""

    pool: float
    first: float
    false_not_found: float


FLOORS = {
    "backofbook_index": Floor(0.93, 0.68, 0.04),
    "debian_faq": Floor(0.96, 0.96, 0.04),
    "debian_faq_noheadings": Floor(0.83, 0.39, 0.11),
    "ffe_reglements_fr": Floor(0.96, 0.68, 0.11),
    "financebench": Floor(0.70, 0.25, 0.15),
    "kgrag_10q": Floor(0.66, 0.44, 0.12),
    "mmlongbench": Floor(0.81, 0.53, 0.26),
    "nist": Floor(0.91, 0.66, 0.17),
    "uda": Floor(0.68, 0.36, 0.11),
}

MOST = 60
"""Questions asked of a source; the bigger ones are sampled evenly."""

MOST_PAGES = 130
"""Longer documents are left to the benchmark."""


@pytest.fixture(scope="session")
def answers(data: Path, dev_document: Documents) -> Answers:
    """A source's answers in the documents' own language, asked once a session."""
    arbiter = Arbiter()

    @cache
    def asked(source: str) -> list[Answer]:
        own = [q for q in questions(source) if not q.crosses]
        return [answer(arbiter, q, dev_document(source, q.doc)) for q in sample(data, source, own)]

    return asked


def sample(data: Path, source: str, asked: list[Question]) -> list[Question]:
    """An even sample of a source's questions about documents that are not too long to parse in a test."""
    import pymupdf

    pages: dict[str, int] = {}
    for name in {q.doc for q in asked}:
        with pymupdf.open(data / "dev" / source / name) as pdf:
            pages[name] = len(pdf)
    return every([q for q in asked if pages[q.doc] <= MOST_PAGES], MOST)


@pytest.mark.parametrize("source", FLOORS)
def test_a_source_stays_above_its_floor(source: str, answers: Answers) -> None:
    floor = FLOORS[source]
    answerable = [a for a in answers(source) if a.question.answerable]
    assert mean([a.in_pool for a in answerable]) >= floor.pool
    assert mean([a.first for a in answerable]) >= floor.first
    assert mean([a.result.not_found for a in answerable]) <= floor.false_not_found


def test_absent_things_of_the_guidelines_are_not_found(answers: Answers) -> None:
    absent = [a for a in answers("nist") if not a.question.answerable]
    assert absent
    assert all(a.result.not_found and a.result.not_found_reason for a in absent)


def test_the_paper(data: Path, dev_document: Documents) -> None:
    paper = [q for q in questions("attention") if not q.crosses]
    got = [answer(Arbiter(), q, dev_document("attention", q.doc)) for q in paper]
    answerable = [a for a in got if a.question.answerable]
    absent = [a for a in got if not a.question.answerable]
    assert mean([a.in_pool for a in answerable]) == 1.0
    assert mean([a.first for a in answerable]) >= 0.85
    assert len(absent) == 4
    assert all(a.result.not_found for a in absent)
