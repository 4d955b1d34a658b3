"""The judge that asks no model: roles follow the evidence, reasons name it, and as a fallback it rejects nothing."""

from __future__ import annotations

import pytest

from arbiter_rag import Arbiter, ArbiterOutput, RuleJudge
from arbiter_rag.contract import Brief
from tests.policy import policy


def output(brief: Brief, judge: RuleJudge | None = None) -> ArbiterOutput:
    return ArbiterOutput.model_validate((judge or RuleJudge()).judge(brief).raw)


def brief_of(question: str) -> Brief:
    return Arbiter().propose(question, policy())


def test_every_candidate_gets_one_role() -> None:
    brief = brief_of("What is the notice period after a claim?")
    assert [r.candidate_id for r in output(brief).rankings].count("p3-l1") == 1
    assert {r.candidate_id for r in output(brief).rankings} == {c.candidate_id for c in brief.candidates}


def test_reasons_name_the_evidence() -> None:
    first = output(brief_of("Which exclusions are there for vermin?")).rankings[0]
    assert first.role == "primary"
    assert "'Exclusions'" in first.reason
    assert "vermin" in first.reason


def test_quotes_are_lines_of_the_snippet() -> None:
    brief = brief_of("What is the notice period after a claim?")
    snippets = {c.candidate_id: c.snippet for c in brief.candidates}
    for ranking in output(brief).rankings:
        assert ranking.quote is None or ranking.quote in snippets[ranking.candidate_id]


def test_without_enough_evidence_everything_is_discarded_with_what_it_lacks() -> None:
    rankings = output(brief_of("Which premium do spaceships and rockets on the moon pay?")).rankings
    assert {r.role for r in rankings} == {"discarded"}
    assert any("lacks" in r.reason for r in rankings)


@pytest.mark.parametrize("question", ["What is said on page 3?", "Summarise section 5"])
def test_what_the_question_pins_is_an_answer(question: str) -> None:
    result = Arbiter().retrieve(question, policy())
    assert result.candidates[0].role == "primary"
    assert result.candidates[0].page == 3


def test_a_missing_name_lowers_the_confidence() -> None:
    assert (
        brief_of("What is the annual premium in 2031?").confidence < brief_of("What is the annual premium?").confidence
    )


def test_as_a_fallback_it_discards_nothing_and_leaves_the_rest_unjudged() -> None:
    brief = brief_of("Which premium do spaceships and rockets on the moon pay?")
    assert output(brief, RuleJudge(fallback=True)).rankings == ()
    brief = brief_of("What is the notice period after a claim?")
    roles = {r.role for r in output(brief, RuleJudge(fallback=True)).rankings}
    assert roles
    assert "discarded" not in roles


async def test_the_async_form_gives_the_same() -> None:
    brief = brief_of("What is the annual premium?")
    assert await RuleJudge().ajudge(brief) == RuleJudge().judge(brief)
