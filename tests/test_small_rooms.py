"""Fusion, dispatch, coverage and the drivers of the main path."""

from __future__ import annotations

from typing import Any

import pytest

from arbiter_rag import Arbiter, parse_question
from arbiter_rag.dispatch import dispatch
from arbiter_rag.fusion import reciprocal_rank_fusion
from arbiter_rag.steps import Steps, adrive, drive
from tests.policy import policy


def test_fusion_sums_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["b", "c"], ["b"]])
    assert [key for key, _ in fused] == ["b", "c", "a"]
    assert fused[0][1] == pytest.approx(1 / 62 + 1 / 61 + 1 / 61)


def test_fusion_of_nothing_is_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []


@pytest.mark.parametrize(
    ("question", "embedder", "languages", "runs"),
    [
        ("What is the premium?", False, ["en"], {"toc", "keyword"}),
        ("What is the premium?", True, ["en"], {"toc", "keyword", "embedding"}),
        ("What is said on page 3?", False, ["en"], {"page", "toc", "keyword"}),
        ("Quelle est la prime d'assurance ?", True, ["en"], {"toc", "keyword", "embedding"}),
    ],
)
def test_dispatch(question: str, embedder: bool, languages: list[str], runs: set[str]) -> None:
    plan = dispatch(parse_question(question), has_sections=True, has_embedder=embedder, document_languages=languages)
    assert {s.detector for s in plan.steps if s.run} - {"keyword"} == runs - {"keyword"}


def test_embeddings_are_conditional_for_a_plain_lookup_and_not_across_languages() -> None:
    def condition(question: str) -> str | None:
        plan = dispatch(parse_question(question), has_sections=True, has_embedder=True, document_languages=["en"])
        return next(s for s in plan.steps if s.detector == "embedding").condition

    assert condition("How high is the annual premium?") is not None
    assert condition("Quelle est la prime d'assurance annuelle ?") is None


def test_coverage_counts_terms_and_names_what_occurs_nowhere() -> None:
    coverage = Arbiter().propose("Which premium does Initech Insurance ask for in 2031?", policy()).coverage
    counts = {t.text: t.lines for t in coverage.terms}
    assert counts["premium"] == 2
    assert set(coverage.missing_names) == {"Initech Insurance", "2031"}
    assert coverage.pages == 3
    assert coverage.detectors == ("toc", "keyword")


def test_a_question_in_another_language_says_that_nothing_bridges_it() -> None:
    coverage = Arbiter().propose("Quelle est la franchise pour les dégâts des eaux ?", policy()).coverage
    assert coverage.question_language == "fr"
    assert coverage.document_languages == ("en",)
    assert not coverage.bridged
    assert any("nothing bridges" in note for note in coverage.notes)


def test_near_misses_say_what_they_lack() -> None:
    coverage = Arbiter().propose("Which premium do spaceships and rockets on the moon pay?", policy()).coverage
    assert coverage.near_misses
    assert "lacks" in coverage.near_misses[0].why


class Give:
    """An action that gives a value or raises."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def run(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    async def arun(self) -> Any:
        return self.run()


def adding() -> Steps[int]:
    total = 0
    for value in (1, ValueError("two"), 3):
        try:
            total += yield Give(value)
        except ValueError:
            total += 100
    return total


async def test_drivers_send_values_and_raise_errors_at_the_yield() -> None:
    assert drive(adding()) == 104
    assert await adrive(adding()) == 104


async def test_an_error_that_the_path_does_not_catch_reaches_the_caller() -> None:
    def path() -> Steps[None]:
        yield Give(KeyError("lost"))

    with pytest.raises(KeyError):
        drive(path())
    with pytest.raises(KeyError):
        await adrive(path())


@pytest.mark.parametrize(
    ("question", "note"),
    [("What is said on page 99?", "no page 99"), ("Summarise section 42", "number 42")],
)
def test_a_page_or_section_that_is_not_there_is_said(question: str, note: str) -> None:
    assert any(note in n for n in Arbiter().propose(question, policy()).coverage.notes)
