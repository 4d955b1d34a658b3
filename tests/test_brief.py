"""The token budget: snippets shrink evenly before a candidate is dropped, and nothing goes unsaid."""

from __future__ import annotations

import pytest

from arbiter_rag import Arbiter, Passage
from arbiter_rag.brief import fit, shuffled
from arbiter_rag.contract import Brief
from arbiter_rag.prompt import forecast

FILLER = " ".join(f"filler{i}" for i in range(60))


def wide(n: int = 40) -> Brief:
    passages = [
        Passage(id=str(i), text=f"{FILLER}. The premium of part {i} is {i}00 euros. {FILLER}.") for i in range(n)
    ]
    judge = Arbiter()
    return next_brief(judge, passages)


def next_brief(arbiter: Arbiter, passages: list[Passage]) -> Brief:
    """The brief that `rank` would send."""
    seen: list[Brief] = []

    class Spy:
        name = "spy"
        calls_model = False

        def judge(self, brief: Brief) -> object:
            seen.append(brief)
            return arbiter.judge.judge(brief)

        async def ajudge(self, brief: Brief) -> object:
            return self.judge(brief)

    Arbiter(judge=Spy(), max_prompt_tokens=arbiter.max_prompt_tokens).rank(  # type: ignore[arg-type]  # a spy
        "What is the premium of part 7?", passages
    )
    return seen[0]


@pytest.mark.parametrize("budget", [6_000, 3_500, 2_500, 1_500])
def test_a_brief_never_exceeds_its_budget(budget: int) -> None:
    brief = wide()
    fitted = fit(brief, budget)
    assert fitted.forecast_tokens == forecast(fitted) <= budget
    kept = {c.candidate_id for c in fitted.candidates}
    assert kept | {c.candidate_id for c in fitted.cut} == {c.candidate_id for c in brief.candidates}
    assert set(fitted.truncated) <= kept


def test_snippets_shrink_around_the_match_before_anything_is_cut() -> None:
    brief = wide(20)
    fitted = fit(brief, forecast(brief) * 2 // 3)
    assert len(fitted.candidates) == 20
    assert fitted.cut == ()
    assert len(fitted.truncated) == 20
    assert all("premium" in c.snippet for c in fitted.candidates)


def test_what_is_cut_comes_from_the_end_of_the_callers_order() -> None:
    fitted = fit(wide(40), 1_500)
    kept = [c.incoming_rank for c in fitted.candidates]
    assert sorted(kept) == list(range(1, len(kept) + 1))


def test_a_brief_within_budget_is_left_alone() -> None:
    brief = wide(3)
    assert fit(brief, 16_000).candidates == brief.candidates


def test_a_tokenizers_own_count_is_used() -> None:
    brief = wide(3)
    assert fit(brief, 10**9, count=len).forecast_tokens > fit(brief, 10**9).forecast_tokens


def test_a_shuffle_is_a_recorded_choice() -> None:
    brief = wide(12)
    once, again, other = shuffled(brief, 1), shuffled(brief, 1), shuffled(brief, 2)
    assert once == again
    assert once.shuffle_seed == 1
    assert [c.candidate_id for c in once.candidates] != [c.candidate_id for c in other.candidates]
    assert shuffled(brief, None) == brief
