"""The clear case of a conflict, found without a model."""

from __future__ import annotations

from typing import Any

import pytest

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.contract import AnswerShape, Candidate, ParsedQuestion
from arbiter_rag.document import ParsedDocument
from arbiter_rag.samples import path as sample
from arbiter_rag.settle import obvious_conflicts
from benchmarks.settle_conflicts import SAMPLES
from tests.settle.build import document, lined


def pair(first: str, second: str, title: str = "Amendment No. 1", **fields: Any) -> list[Candidate]:
    doc = document([first], [second])
    old, new = lined(doc, 0, 1), lined(doc, 1, 2)
    words = {"matched_keywords": ("fee", "notice", "préavis"), **fields}
    assert old.context is not None
    assert new.context is not None
    return [
        old.model_copy(
            update={
                **words,
                "section_title": "Article 2",
                "context": old.context.model_copy(update={"section_id": "s1"}),
            }
        ),
        new.model_copy(
            update={**words, "section_title": title, "context": new.context.model_copy(update={"section_id": "s2"})}
        ),
    ]


def found(candidates: list[Candidate], shape: AnswerShape = "amount") -> int:
    return len(obvious_conflicts(ParsedQuestion(text="q", shape=shape), candidates))


def test_an_amended_amount_is_a_conflict_with_both_sides_quoted() -> None:
    (conflict,) = obvious_conflicts(
        ParsedQuestion(text="What is the fee?", shape="amount"),
        pair("The fee is EUR 100 a year.", "Article 2 is replaced by: the fee is EUR 120 a year."),
    )
    assert [s.candidate_id for s in conflict.sides] == ["p1-l1", "p2-l1"]
    assert "eur 100" in conflict.reason
    assert conflict.sides[0].quote == "The fee is EUR 100 a year."


def test_written_numbers_and_what_a_line_replaces() -> None:
    amended = "The notice period of three months is replaced by a notice period of two months."
    assert found(pair("It ends with a notice period of three months.", amended), "duration") == 1
    assert found(pair("It ends with a notice period of 2 months.", amended), "duration") == 0
    french = "Le préavis de trois mois est remplacé par un préavis de deux mois."
    assert found(pair("Moyennant un préavis de trois mois.", french, "Avenant n° 1"), "duration") == 1


@pytest.mark.parametrize(
    ("first", "second", "title", "shape"),
    [
        ("The fee is EUR 100 a year.", "The fee is EUR 100 a year.", "Amendment No. 1", "amount"),
        ("The fee is EUR 100 a year.", "The fee is EUR 120 a year.", "Article 7", "amount"),
        ("The fee is EUR 100 or EUR 80.", "The fee is EUR 120 a year.", "Amendment No. 1", "amount"),
        ("The fee is EUR 100 a year.", "The fee is EUR 120 a year.", "Amendment No. 1", "open"),
        ("The price is EUR 100 a year.", "The fee is EUR 120 a year.", "Amendment No. 1", "amount"),
    ],
)
def test_what_is_no_clear_case(first: str, second: str, title: str, shape: AnswerShape) -> None:
    assert found(pair(first, second, title), shape) == 0


def test_an_offered_section_is_no_side() -> None:
    both = pair("The fee is EUR 100 a year.", "Article 2 is replaced by: the fee is EUR 120 a year.", weak=True)
    assert found(both) == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_the_amended_samples_conflict_on_premium_deductible_and_notice(name: str) -> None:
    amended = ParsedDocument.from_pdf(sample(name))
    for question in SAMPLES[name]:
        brief = Arbiter().propose(question, amended)
        assert obvious_conflicts(brief.question, brief.candidates), question
