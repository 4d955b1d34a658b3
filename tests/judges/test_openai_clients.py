"""The judge's clients: its own and the caller's, over several event loops and threads, fifty at once."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import openai
import pytest

from arbiter_rag.contract import Brief, Candidate, ParsedQuestion, SnippetLine
from arbiter_rag.errors import ConfigurationError, JudgeError
from arbiter_rag.judges.openai import OpenAIJudge
from arbiter_rag.testing import Reply, ScriptedServer, answering

KEY = "sk-test-0123456789abcdef"
GOOD: dict[str, Any] = {"rankings": [], "conflicts": []}
APIS = pytest.mark.parametrize("api", ["responses", "chat"])


def brief_of(question: str = "How long is the notice period?", ids: tuple[str, ...] = ("p1-l1", "p2-l4")) -> Brief:
    return Brief(
        question=ParsedQuestion(text=question, language="en"),
        candidates=tuple(
            Candidate(candidate_id=i, snippet_lines=(SnippetLine(text="The notice period is 30 days."),)) for i in ids
        ),
    )


def judge_of(server: ScriptedServer, api: str) -> OpenAIJudge:
    return OpenAIJudge("some-model", base_url=server.base_url, api_key=KEY, api=api, timeout=20.0)


def test_a_client_of_ones_own_keeps_its_settings_but_not_its_retries() -> None:
    busy = Reply("busy", status=503, headers={"Retry-After": "0"})
    with (
        ScriptedServer([busy, Reply(GOOD)]) as server,
        openai.OpenAI(
            base_url=server.base_url, api_key=KEY, max_retries=5, default_headers={"X-Team": "law"}
        ) as client,
    ):
        reply = OpenAIJudge("m", client=client).judge(brief_of())
        assert (reply.attempts, server.count()) == (2, 2)
        assert server.requests[0].headers["x-team"] == "law"
        assert client.max_retries == 5


async def test_clients_that_do_not_fit() -> None:
    async with openai.AsyncOpenAI(api_key=KEY) as later:
        with openai.OpenAI(api_key=KEY) as now:
            for options in (
                {"client": later},
                {"async_client": now},
                {"client": now, "base_url": "http://localhost:1/v1"},
                {"async_client": later, "api_key": KEY},
            ):
                with pytest.raises(ConfigurationError):
                    OpenAIJudge("m", **options)
            assert OpenAIJudge("m", client=now, async_client=later).api == "responses"


async def test_an_async_client_of_ones_own() -> None:
    with ScriptedServer([Reply("busy", status=503, headers={"Retry-After": "0"}), Reply(GOOD)]) as server:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY, max_retries=5) as client:
            judge = OpenAIJudge("m", async_client=client)
            reply = await judge.ajudge(brief_of())
            assert (reply.attempts, server.count()) == (2, 2)
            with pytest.raises(ConfigurationError, match="synchronous client"):
                judge.judge(brief_of())


async def test_a_sync_client_serves_async_calls_from_a_thread() -> None:
    with (
        ScriptedServer(Reply(GOOD, delay=0.3)) as server,
        openai.OpenAI(base_url=server.base_url, api_key=KEY) as client,
    ):
        ticks = await _ticks_during(OpenAIJudge("m", client=client).ajudge(brief_of()))
        assert ticks > 3
        with pytest.raises(JudgeError, match=r"within 0\.1 s"):
            await OpenAIJudge("m", client=client, timeout=0.1).ajudge(brief_of())


def test_one_judge_over_several_loops_and_threads() -> None:
    with ScriptedServer() as server:
        judge = judge_of(server, "chat")
        for _ in range(3):
            assert asyncio.run(judge.ajudge(brief_of())).attempts == 1
        found: dict[int, str] = {}

        def run(number: int) -> None:
            brief = brief_of(ids=(f"n{number}",))
            reply = judge.judge(brief) if number % 2 else asyncio.run(judge.ajudge(brief))
            found[number] = json.loads(str(reply.raw))["rankings"][0]["candidate_id"]

        threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {number: f"n{number}" for number in range(12)}
        assert server.count() == 15


async def test_a_sync_call_inside_a_running_loop_works() -> None:
    with ScriptedServer(GOOD) as server:
        assert judge_of(server, "chat").judge(brief_of()).attempts == 1


@APIS
async def test_fifty_at_once_neither_block_nor_mix(api: str) -> None:
    with ScriptedServer(answering(delay=0.3)) as server:
        judge = judge_of(server, api)
        briefs = [brief_of(f"Question {n}?", ids=(f"q{n}-a", f"q{n}-b")) for n in range(50)]
        replies: list[Any] = []

        async def all_of_them() -> None:
            replies.extend(await asyncio.gather(*(judge.ajudge(brief) for brief in briefs)))

        ticks = await _ticks_during(all_of_them())
    assert server.count() == 50
    for number, reply in enumerate(replies):
        ids = [ranking["candidate_id"] for ranking in json.loads(reply.raw)["rankings"]]
        assert ids == [f"q{number}-a", f"q{number}-b"]
    assert ticks > 3


async def test_cancelling_ends_the_request() -> None:
    with ScriptedServer([Reply(GOOD, delay=30), Reply(GOOD)]) as server:
        judge = judge_of(server, "chat")
        task = asyncio.create_task(judge.ajudge(brief_of()))
        while not server.count():  # noqa: ASYNC110  the server lives in another thread
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await judge.ajudge(brief_of())).attempts == 1


async def _ticks_during(work: Any) -> int:
    """How often another coroutine ran, every hundredth of a second at best, while this one was awaited."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    try:
        await work
    finally:
        ticker.cancel()
    return ticks
