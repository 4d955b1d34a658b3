"""The main path with a model behind it: one completion a question, failures visible, fifty questions at once."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

import arbiter_rag
from arbiter_rag import Arbiter, ConfigurationError, JudgeError, OpenAIJudge, ParsedDocument, Passage
from arbiter_rag.testing import Reply, ScriptedServer, answering, candidates_in

POLICY = Path(arbiter_rag.__file__).parent / "samples" / "policy_en.pdf"
QUESTION = "What is the deductible?"
PASSAGES = [Passage(id="a", text="The deductible is 500 euros."), Passage(id="b", text="The premium is due in May.")]


def arbiter_of(server: ScriptedServer, **options: object) -> Arbiter:
    judge = OpenAIJudge("some-model", base_url=server.base_url, api_key="sk-test", timeout=20)
    return Arbiter(judge=judge, **options)  # type: ignore[arg-type]  # options vary by test


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_one_completion_a_question(mode: str) -> None:
    with ScriptedServer(answering()) as server:
        arbiter = arbiter_of(server)
        if mode == "sync":
            result = arbiter.retrieve(QUESTION, POLICY)
        else:
            result = asyncio.run(arbiter.aretrieve(QUESTION, POLICY))
    assert server.count() == 1
    assert (result.usage.calls, result.usage.attempts, result.usage.prompt_tokens) == (1, 1, 100)
    assert result.judge == "openai:some-model"
    assert result.status in ("ok", "partial")
    assert result.candidates


@pytest.mark.parametrize(
    "reply",
    [
        Reply("broken", status=500),
        Reply("slow", status=429, headers={"Retry-After": "900"}),
        Reply(refusal="no"),
        Reply(None),
        Reply("The first one looks best."),
    ],
    ids=["500", "429", "refusal", "empty", "prose"],
)
def test_failures_fall_back_visibly_or_raise(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    with ScriptedServer(reply) as server:
        with caplog.at_level(logging.WARNING):
            result = arbiter_of(server).rank(QUESTION, PASSAGES)
        assert (result.status, result.not_found, server.count()) == ("degraded", False, 1)
        assert result.error
        assert caplog.records
        assert sorted(c.original_id or "" for c in (*result.candidates, *result.unjudged)) == ["a", "b"]
        with pytest.raises(JudgeError):
            arbiter_of(server, on_error="raise").rank(QUESTION, PASSAGES)


def test_truncated_output_is_salvaged() -> None:
    cut = '{"rankings":[{"candidate_id":"n1","reason":"r","role":"tangential","quote":null},{"candidate_id":"n2","rea'
    with ScriptedServer(Reply(cut, finish="length")) as server:
        result = arbiter_of(server).rank(QUESTION, PASSAGES)
    assert (result.status, result.not_found) == ("partial", False)
    assert [c.role for c in (*result.candidates, *result.unjudged)] == ["tangential", "unjudged"]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_mistakes_of_set_up_always_raise(status: int) -> None:
    with ScriptedServer(Reply("no", status=status)) as server, pytest.raises(ConfigurationError):
        arbiter_of(server).rank(QUESTION, PASSAGES)


async def test_fifty_questions_at_once() -> None:
    def judge(shown: list[dict[str, str]]) -> dict[str, str]:
        return {c["candidate_id"]: "primary" if "deductible" in c["snippet"].lower() else "tangential" for c in shown}

    with ScriptedServer(answering(judge, delay=0.3)) as server:
        arbiter = arbiter_of(server)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticker = asyncio.create_task(tick())
        pools = [[Passage(id=f"{n}-{p.id}", text=f"{p.text} Contract {n}.") for p in PASSAGES] for n in range(50)]
        results = await asyncio.gather(*(arbiter.arank(f"{QUESTION} (contract {n})", pools[n]) for n in range(50)))
        ticker.cancel()
    assert server.count() == 50
    assert ticks > 3
    for number, result in enumerate(results):
        assert result.question == f"{QUESTION} (contract {number})"
        assert [c.original_id for c in result.candidates] == [f"{number}-a", f"{number}-b"]
        assert [c.role for c in result.candidates] == ["primary", "tangential"]


async def test_fifty_questions_about_one_document() -> None:
    questions = [f"What does clause {n} say about the deductible and the premium?" for n in range(50)]
    with ScriptedServer(answering(delay=0.3)) as server:
        arbiter = arbiter_of(server)
        document = ParsedDocument.from_pdf(POLICY)
        results = await asyncio.gather(*(arbiter.aretrieve(question, document) for question in questions))
        asked = {}
        for request in server.requests:
            text = next(turn["content"] for turn in request.body["messages"] if turn["role"] == "user")
            asked[json.loads(text)["question"]] = [c["candidate_id"] for c in candidates_in(request) or ()]
    assert server.count() == 50
    for question, result in zip(questions, results, strict=True):
        assert result.question == question
        everyone = (*result.candidates, *result.discarded, *result.unjudged)
        assert sorted(c.candidate_id for c in everyone) == sorted(asked[question])
