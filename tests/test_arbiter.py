"""The main path: propose, retrieve, rank, in both forms, with judges that decide, fail or break."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from arbiter_rag import Arbiter, ConfigurationError, InputError, JudgeError, ParsedDocument, Passage, RetrievalResult
from arbiter_rag.contract import Brief
from arbiter_rag.errors import EmbeddingError
from arbiter_rag.judges import JudgeReply
from arbiter_rag.testing import HashEmbedder, ScriptedJudge
from tests.policy import policy

NOTICE = "What is the notice period after a claim?"
PASSAGES = [
    Passage(id="a", text="After a claim the notice period is 14 days.", score=0.9),
    Passage(id="b", text="The premium is due on 1 January.", score=0.8),
    Passage(id="c", text="Write to the ombudsman.", score=0.7),
]


class Failing:
    """A judge whose service is down."""

    name = "down"
    calls_model = True

    def __init__(self, error: Exception) -> None:
        self.error = error

    def judge(self, brief: Brief) -> JudgeReply:
        raise self.error

    async def ajudge(self, brief: Brief) -> JudgeReply:
        raise self.error


def stable(result: RetrievalResult) -> str:
    """A result without its wall time."""
    data = result.model_dump(mode="json")
    data["usage"]["milliseconds"] = 0
    return json.dumps(data, sort_keys=True)


def everyone(result: RetrievalResult) -> list[str]:
    return [c.candidate_id for c in (*result.candidates, *result.discarded, *result.unjudged)]


def test_the_answer_is_primary_with_its_reason_and_quote() -> None:
    result = Arbiter().retrieve(NOTICE, policy())
    first = result.candidates[0]
    assert first.role == "primary"
    assert first.section_title == "Termination"
    assert "notice" in first.reason
    assert first.quote_status == "exact"
    assert result.status == "ok"
    assert not result.not_found
    assert result.usage.calls == 0


def test_what_the_document_does_not_hold_is_not_found_and_says_why() -> None:
    result = Arbiter().retrieve("Which spaceship is launched?", policy())
    assert result.not_found
    assert result.not_found_reason
    assert "spaceship" in result.not_found_reason
    assert result.candidates == ()


def test_the_same_input_gives_the_same_bytes() -> None:
    first = stable(Arbiter().retrieve(NOTICE, policy()))
    assert all(stable(Arbiter().retrieve(NOTICE, policy())) == first for _ in range(3))


async def test_the_async_form_gives_the_same() -> None:
    arbiter = Arbiter(embedder=HashEmbedder())
    assert stable(await arbiter.aretrieve(NOTICE, policy())) == stable(arbiter.retrieve(NOTICE, policy()))
    assert stable(await arbiter.arank(NOTICE, PASSAGES)) == stable(arbiter.rank(NOTICE, PASSAGES))
    assert await arbiter.apropose(NOTICE, policy()) == arbiter.propose(NOTICE, policy())


def test_one_judgement_a_question_whatever_the_pool() -> None:
    judge = ScriptedJudge([{"rankings": []}] * 3)
    passages = [Passage(id=str(i), text=f"notice number {i}") for i in range(60)]
    with pytest.raises(JudgeError):
        Arbiter(judge=judge, on_error="raise").rank(NOTICE, passages)
    assert judge.calls == 1


def test_nothing_proposed_asks_nobody() -> None:
    judge = ScriptedJudge([{"rankings": []}])
    result = Arbiter(judge=judge).rank(NOTICE, [])
    assert judge.calls == 0
    assert result.not_found


@pytest.mark.parametrize("kind", ["timeout", "rate_limit", "server", "refusal", "unusable"])
def test_a_failed_judge_falls_back_to_rules_visibly(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    failing = Failing(JudgeError("The service did not answer.", kind=kind, attempts=3, prompt_tokens=7))
    result = Arbiter(judge=failing).retrieve("Which spaceship has a premium?", policy())
    assert result.status == "degraded"
    assert result.error == "The service did not answer."
    assert result.judge == "rules"
    assert not result.not_found
    assert result.discarded == ()
    assert result.usage.attempts == 3
    assert result.usage.calls == 1
    assert any(r.levelname == "WARNING" for r in caplog.records)


def test_a_failed_judge_raises_when_asked_to() -> None:
    with pytest.raises(JudgeError):
        Arbiter(judge=Failing(JudgeError("down")), on_error="raise").retrieve(NOTICE, policy())


def test_a_wrong_set_up_always_raises() -> None:
    with pytest.raises(ConfigurationError):
        Arbiter(judge=Failing(ConfigurationError("The key is wrong."))).retrieve(NOTICE, policy())


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Arbiter().retrieve(text, policy())


def test_a_very_long_question_is_answered_and_loses_nothing() -> None:
    text = NOTICE + " please" * 15_000
    result = Arbiter().retrieve(text, policy())
    assert result.question == text.strip()
    assert result.candidates[0].section_title == "Termination"


def test_two_documents_share_one_pool_and_one_answer() -> None:
    other = ParsedDocument.from_frames(policy().line_df.assign(text="Nothing at all."), doc_id="other")
    result = Arbiter().retrieve(NOTICE, [other, policy()])
    assert result.candidates[0].candidate_id.startswith("d2-")
    assert [d.doc_id for d in result.documents] == ["other", "policy"]


def test_one_document_twice_is_searched_once() -> None:
    document = policy()
    assert len(Arbiter().retrieve(NOTICE, [document, document]).documents) == 1


def test_two_documents_with_one_id_are_refused() -> None:
    other = ParsedDocument.from_frames(policy().line_df.assign(text="else"), doc_id="policy")
    other.sha256 = "0" * 64
    with pytest.raises(InputError, match="policy"):
        Arbiter().retrieve(NOTICE, [policy(), other])


def test_rank_judges_every_passage_and_keeps_ids_and_scores() -> None:
    result = Arbiter().rank(NOTICE, PASSAGES)
    assert len(everyone(result)) == 3
    assert result.candidates[0].original_id == "a"
    assert result.candidates[0].original_score == 0.9
    assert result.methods_used == ("retriever",)


def test_a_document_is_indexed_once_between_threads() -> None:
    document, arbiter = policy(), Arbiter()
    barrier = threading.Barrier(8)

    def ask(_: int) -> str:
        barrier.wait()
        return stable(arbiter.retrieve(NOTICE, document))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


async def test_questions_at_once_do_not_mix() -> None:
    arbiter, document = Arbiter(embedder=HashEmbedder()), policy()
    questions = [NOTICE, "What is the annual premium?", "Which exclusions apply?", "Who is the ombudsman?"] * 5
    results = await asyncio.gather(*(arbiter.aretrieve(q, document) for q in questions))
    assert [r.question for r in results] == questions
    assert [stable(r) for r in results] == [stable(arbiter.retrieve(q, document)) for q in questions]


def test_sections_are_offered_to_a_model_when_words_find_too_little() -> None:
    asked: list[Brief] = []

    def reply(brief: Brief) -> dict[str, Any]:
        asked.append(brief)
        return {"rankings": [{"candidate_id": c.candidate_id, "reason": "no", "role": "discarded", "quote": None}
                             for c in brief.candidates], "conflicts": []}  # fmt: skip

    judge = Judging(reply)
    result = Arbiter(judge=judge).retrieve("When may I leave early?", policy())
    offered = [c for c in asked[0].candidates if c.weak]
    assert {"Termination", "Premium", "Exclusions"} <= {c.section_title for c in offered}
    assert result.not_found


class Judging:
    """A judge that answers by a function."""

    name = "function"
    calls_model = True

    def __init__(self, reply: Callable[[Brief], dict[str, Any]]) -> None:
        self.reply = reply

    def judge(self, brief: Brief) -> JudgeReply:
        return JudgeReply(raw=json.dumps(self.reply(brief)), attempts=1)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        return self.judge(brief)


def test_the_plan_says_what_ran_and_why() -> None:
    plan = {s.detector: s for s in Arbiter().retrieve(NOTICE, policy()).plan.steps}
    assert plan["keyword"].outcome
    assert not plan["embedding"].run
    assert plan["embedding"].reason == "no embedder is configured"
    assert all(s.reason for s in plan.values())


def test_embeddings_run_only_where_words_may_differ() -> None:
    found = Arbiter(embedder=HashEmbedder()).retrieve("Which deductible applies to fire, water and storm?", policy())
    step = next(s for s in found.plan.steps if s.detector == "embedding")
    assert step.condition
    assert step.outcome


@pytest.mark.parametrize(
    "limits", [{"max_candidates": 0}, {"max_prompt_tokens": 0}, {"max_prompt_tokens": 500}, {"max_context_tokens": 0}]
)
def test_limits_under_one_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Arbiter(**limits)  # type: ignore[arg-type]  # the table names only int parameters


class DownEmbedder:
    """An embedder whose service is down."""

    name = "down"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        raise EmbeddingError("The embedding service did not answer.")

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return self.embed(texts, query=query)


async def test_a_failed_embedder_leaves_words_and_titles_and_is_visible(caplog: pytest.LogCaptureFixture) -> None:
    arbiter = Arbiter(embedder=DownEmbedder())
    question = "Why is there a notice period after a claim?"
    for result in (arbiter.retrieve(question, policy()), await arbiter.aretrieve(question, policy())):
        assert result.candidates[0].section_title == "Termination"
        assert result.status == "partial"
        assert any("embedding service did not answer" in f.detail for f in result.faults)
        assert "embedding" not in result.coverage.detectors
    assert any(r.levelname == "WARNING" for r in caplog.records)
    with pytest.raises(EmbeddingError):
        Arbiter(embedder=DownEmbedder(), on_error="raise").retrieve(question, policy())


def test_a_judge_that_returns_something_else_is_a_failed_judge() -> None:
    class Wrong(Failing):
        def judge(self, brief: Brief) -> JudgeReply:
            return {"rankings": []}  # type: ignore[return-value]  # what a user's own judge may do

    result = Arbiter(judge=Wrong(JudgeError("unused"))).retrieve(NOTICE, policy())
    assert result.status == "degraded"
    assert "JudgeReply" in (result.error or "")


@pytest.mark.parametrize("error", [TimeoutError("late"), ConnectionResetError("gone")])
def test_what_python_raises_for_a_service_that_is_away_falls_back(error: Exception) -> None:
    assert Arbiter(judge=Failing(error)).retrieve(NOTICE, policy()).status == "degraded"


@pytest.mark.parametrize(
    "arguments",
    [{"judge": "gpt"}, {"lexicon": "words.csv"}, {"embedder": "e"}, {"on_error": "x"}, {"on_unverified": "x"}],
)
def test_arguments_of_the_wrong_kind_are_refused_where_they_are_given(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Arbiter(**arguments)


@pytest.mark.parametrize("document", [None, [], {}, 7, [None], pd.DataFrame({"page": [1]})])
def test_documents_of_the_wrong_kind_are_refused(document: Any) -> None:
    with pytest.raises(InputError):
        Arbiter().retrieve(NOTICE, document)


def test_passages_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InputError):
        Arbiter().rank(NOTICE, ["text"])  # type: ignore[list-item]  # what a newcomer types


def test_documents_of_one_id_are_refused_without_a_digest_too() -> None:
    a = ParsedDocument.from_frames(pd.DataFrame({"page": [1], "line": [1], "text": ["the fee"]}), doc_id="x")
    b = ParsedDocument.from_frames(pd.DataFrame({"page": [1], "line": [1], "text": ["a notice period"]}), doc_id="x")
    with pytest.raises(InputError):
        Arbiter().retrieve(NOTICE, [a, b])


def test_what_the_prompt_had_no_room_for_makes_no_not_found() -> None:
    def reject(brief: Brief) -> dict[str, Any]:
        rows = [{"candidate_id": c.candidate_id, "reason": "no", "role": "discarded"} for c in brief.candidates]
        return {"rankings": rows, "conflicts": []}

    passages = [Passage(id=str(i), text=f"Clause {i} has a notice period of its own.") for i in range(200)]
    result = Arbiter(judge=Judging(reject), max_prompt_tokens=2_000).rank(NOTICE, passages)
    assert any(cut.over_budget for cut in result.cut)
    assert (result.not_found, result.status) == (False, "partial")


def test_an_anchor_crosses_one_page_break_at_most() -> None:
    pages = ["Welcome", "Our company", "The notice period for a claim is 30 days", "Premium", "Claims", "Thanks"]
    frame = pd.DataFrame({"page": range(1, 7), "line": 1, "text": pages})
    for candidate in Arbiter().propose(NOTICE, ParsedDocument.from_frames(frame, doc_id="slides")).candidates:
        assert candidate.anchor
        assert candidate.anchor.page_end - candidate.anchor.page_start <= 1


@pytest.mark.parametrize("line", ["_" * 2_000, "字" * 2_000, "1" * 2_000, "12 " * 700, "a" * 20_000, "# " * 900])
def test_no_line_hangs_a_question(line: str) -> None:
    lines = ["Premium overview", line, "Plan\tPremium\tYear", "Basic\t500\t2021", f"Gold premium {line}\t900\t2022"]
    frame = pd.DataFrame({"page": 1, "line": range(1, 6), "text": lines})
    result = Arbiter().retrieve("What is the gold premium?", ParsedDocument.from_frames(frame, doc_id="lines"))
    assert result.candidates
    assert Arbiter().rank("What is the gold premium?", [Passage(id="a", text=f"gold premium {line}")]).candidates


@pytest.mark.parametrize("question", ["the of and", "what is it"])
def test_a_question_of_function_words_finds_no_answer(question: str) -> None:
    assert Arbiter().retrieve(question, policy()).not_found


def test_a_lone_surrogate_of_a_passage_can_be_written_as_json() -> None:
    result = Arbiter().rank(NOTICE, [Passage(id="a", text="After a claim the notice \ud800 period is 14 days.")])
    assert "14 days" in result.model_dump_json()
