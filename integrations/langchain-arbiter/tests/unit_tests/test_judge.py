"""The judge over chat models of every kind: structured, by tool, plain, failing; one completion each time."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, FakeListLLM
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import Field

from arbiter_rag import Arbiter, ConfigurationError, JudgeError, Passage
from arbiter_rag.testing import Reply, ScriptedJudge, answering
from langchain_arbiter import LangChainJudge

Serve = Callable[..., Any]
QUESTION = "What is the deductible for water damage?"
TEXTS = (
    "The deductible for water damage to the building is EUR 400.",
    "Glass breakage is settled without any deductible.",
    "The premium is due on the first day of each policy year.",
    "Claims must be reported within seven days of the event.",
    "The insurer is based in Lyon and supervised by the state.",
)
PASSAGES = [Passage(id=f"doc-{n}", text=text) for n, text in enumerate(TEXTS)]
IDS = [f"n{n}" for n in range(1, 6)]


def verdicts(role: str = "primary") -> dict[str, Any]:
    """Every candidate with this role and its own words as quote."""
    rows = [{"candidate_id": i, "reason": "says so", "role": role, "quote": None} for i in IDS]
    return {"rankings": rows, "conflicts": []}


class ToolModel(BaseChatModel):
    """A model that takes tools, as most do, and replies what it is told."""

    reply: Any = None
    asked: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "told"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.asked.append(messages)
        if isinstance(self.reply, Exception):
            raise self.reply
        return ChatResult(generations=[ChatGeneration(message=self.reply)])


class PlainModel(ToolModel):
    """A model without tools or schema."""

    bind_tools = BaseChatModel.bind_tools


def call(args: Any, name: str = "arbiter_output") -> AIMessage:
    usage = {"input_tokens": 70, "output_tokens": 30, "total_tokens": 100}
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "c1"}], usage_metadata=usage)


def judged(llm: Runnable[Any, Any], on_error: Any = "raise") -> Any:
    return Arbiter(LangChainJudge(llm), on_error=on_error, on_unverified="flag").rank(QUESTION, PASSAGES)


def test_a_tool_call_is_followed() -> None:
    model = ToolModel(reply=call(verdicts()))
    result = judged(model)
    assert {c.role for c in result.candidates} == {"primary"}
    assert len(model.asked) == 1
    assert (result.usage.calls, result.usage.prompt_tokens, result.usage.completion_tokens) == (1, 70, 30)
    assert result.judge == "langchain:ToolModel"


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("The first one answers it."),
        AIMessage(""),
        call({"query": "deductible"}, name="another_tool"),
        call({}),
        AIMessage("null"),
    ],
    ids=["prose", "empty", "another tool", "no arguments", "null"],
)
def test_no_verdict_is_a_failure_and_no_empty_answer(message: AIMessage) -> None:
    model = ToolModel(reply=message)
    with pytest.raises(JudgeError) as caught:
        judged(model)
    assert caught.value.kind == "unusable"
    result = judged(model, "fallback")
    assert result.status == "degraded"
    assert not result.not_found
    assert len(model.asked) == 2, "one completion a question"


def _said(text: str, message: AIMessage) -> AIMessage:
    return message.model_copy(update={"content": text})


@pytest.mark.parametrize(
    "message",
    [
        AIMessage(json.dumps(verdicts())),
        AIMessage(f"Here are the verdicts:\n```json\n{json.dumps(verdicts())}\n```"),
        AIMessage([{"type": "text", "text": json.dumps(verdicts())}]),
        call(verdicts(), name="another_tool"),
        call(verdicts(), name="ArbiterOutput"),
        _said(json.dumps(verdicts()), call({})),
        _said(json.dumps(verdicts()), call({"query": "deductible"}, name="search")),
        _said("Here they are.", call(verdicts())),
    ],
    ids=["text", "fence", "blocks", "another tool", "another case", "empty call", "another call", "both"],
)
async def test_a_verdict_that_did_not_come_as_the_call_asked_for_is_followed(message: AIMessage) -> None:
    model = ToolModel(reply=message)
    assert len(judged(model).candidates) == 5
    result = await Arbiter(LangChainJudge(model), on_error="raise", on_unverified="flag").arank(QUESTION, PASSAGES)
    assert len(result.candidates) == 5
    assert len(model.asked) == 2, "one completion a question"


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_broken_reply_is_read_leniently_without_a_second_call(serve: Serve, method: str) -> None:
    text = json.dumps(verdicts()).replace("}]", "},]")
    server, llm = serve([Reply(text) if method == "json_schema" else Reply(tool_calls=[("arbiter_output", text)])])
    result = judged(llm if method == "json_schema" else _by_tool(llm))
    assert len(result.candidates) == 5
    assert any(f.kind == "repaired" for f in result.faults)
    assert server.count() == 1


def test_two_tool_calls_are_reported() -> None:
    twice = call(verdicts("primary"))
    twice.tool_calls.append({"name": "arbiter_output", "args": verdicts("discarded"), "id": "c2", "type": "tool_call"})
    result = judged(ToolModel(reply=twice))
    assert {c.role for c in result.candidates} == {"primary"}
    assert any("second" in f.detail for f in result.faults)


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "Sure, here it is:\n{}\nDone."])
def test_a_plain_model_is_asked_in_words_and_read_leniently(wrap: str) -> None:
    model = PlainModel(reply=AIMessage(wrap.replace("{}", json.dumps(verdicts()))))
    result = judged(model)
    assert len(result.candidates) == 5
    assert len(model.asked) == 1
    assert "no code fence" in str(model.asked[0][0].content)


def test_a_text_completion_model_judges_too() -> None:
    assert len(judged(FakeListLLM(responses=[json.dumps(verdicts())])).candidates) == 5


def test_a_plain_model_that_talks_fails_visibly() -> None:
    with pytest.raises(JudgeError, match="list of rankings"):
        judged(PlainModel(reply=AIMessage("I would take the first.")))


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (TimeoutError(), JudgeError),
        (ConnectionError(), JudgeError),
        (RuntimeError("boom"), JudgeError),
        (ModuleNotFoundError("No module named 'x'"), ConfigurationError),
    ],
)
def test_failures_of_any_model(error: Exception, raised: type[Exception]) -> None:
    for kind in (ToolModel, PlainModel):
        with pytest.raises(raised):
            judged(kind(reply=error))


def test_a_wrong_set_up_raises_whatever_on_error_says(serve: Serve) -> None:
    for status in (400, 401, 403, 404):
        server, llm = serve([status])
        with pytest.raises(ConfigurationError):
            judged(llm, "fallback")
        assert server.count() == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (429, "rate_limit"),
        (500, "server"),
        (503, "server"),
        (Reply(drop_after=-1), "connection"),
        (Reply(refusal="I will not."), "refusal"),
        (Reply("", finish="content_filter"), "refusal"),
        (Reply(choices=False), "other"),
        (Reply(raw=b"<html>502</html>", content_type="text/html"), "other"),
        (Reply(""), "unusable"),
        (Reply("no JSON at all"), "unusable"),
        (Reply("null"), "unusable"),
        (Reply("", finish="length"), "truncated"),
    ],
)
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_what_goes_wrong_on_the_wire_is_degraded_in_one_call(serve: Serve, reply: Any, kind: str, method: str) -> None:
    server, llm = serve(lambda _: reply)
    model = llm if method == "json_schema" else _by_tool(llm)
    result = judged(model, "fallback")
    assert result.status == "degraded"
    assert not result.not_found
    assert not result.discarded
    assert server.count() == 1
    with pytest.raises(JudgeError) as caught:
        judged(model)
    if method == "json_schema":
        assert caught.value.kind == kind


def _by_tool(llm: ChatOpenAI) -> ChatOpenAI:
    class ByTool(ChatOpenAI):
        def with_structured_output(self, schema: Any = None, **kwargs: Any) -> Runnable[Any, Any]:  # type: ignore[override]  # a double
            return super().with_structured_output(schema, method="function_calling", include_raw=True)

    return ByTool(model="m", api_key="k", base_url=llm.openai_api_base, max_retries=0)  # type: ignore[arg-type]  # a plain key


def test_a_timeout_is_degraded(serve: Serve) -> None:
    server, llm = serve(answering(delay=2), timeout=0.2)
    assert judged(llm, "fallback").status == "degraded"
    assert server.count() == 1


def test_a_reply_cut_short_keeps_what_was_whole(serve: Serve) -> None:
    text = json.dumps(verdicts())
    cut = text[: text.index("n4") + 1]  # "n" of the fourth id
    server, llm = serve([Reply(cut, finish="length")])
    result = judged(llm)
    assert {c.candidate_id for c in result.candidates} == {"n1", "n2", "n3"}
    assert {c.candidate_id for c in result.unjudged} == {"n4", "n5"}
    assert result.status == "partial"
    assert any(f.kind == "truncated_reply" for f in result.faults)
    assert (result.usage.prompt_tokens, server.count()) == (100, 1)


@pytest.mark.parametrize(
    "dress",
    [
        lambda llm: llm.with_fallbacks([llm]),
        lambda llm: llm.bind(temperature=0),
        lambda llm: llm.with_config(tags=["mine"]),
        lambda llm: llm.with_retry(stop_after_attempt=1),
    ],
    ids=["fallbacks", "bind", "config", "retry"],
)
def test_dressed_models_judge(serve: Serve, dress: Callable[[ChatOpenAI], Runnable[Any, Any]]) -> None:
    server, llm = serve()
    result = judged(dress(llm))
    assert result.candidates[0].role == "primary"
    assert server.count() == 1


def test_what_is_bound_is_sent(serve: Serve) -> None:
    server, llm = serve()
    judged(llm.bind(temperature=0.5))
    body = server.requests[0].body
    assert body["temperature"] == 0.5
    assert body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_streamed_replies_are_read(serve: Serve, method: str) -> None:
    server, llm = serve()
    model = llm if method == "json_schema" else _by_tool(llm)
    result = judged(model.model_copy(update={"streaming": True, "stream_usage": True}))
    assert (result.candidates[0].role, server.count()) == ("primary", 1)
    assert result.usage.prompt_tokens == 100


async def test_async_form(serve: Serve) -> None:
    server, llm = serve()
    result = await Arbiter(LangChainJudge(llm)).arank(QUESTION, PASSAGES)
    assert result.candidates[0].role == "primary"
    assert server.count() == 1
    _, broken = serve([503])
    assert (await Arbiter(LangChainJudge(broken)).arank(QUESTION, PASSAGES)).status == "degraded"


# Whoever leaves a loop with connections open hears of them; which is what this test does.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_model_serves_several_event_loops(serve: Serve) -> None:
    _, llm = serve()

    async def several() -> list[Any]:
        arbiter = Arbiter(LangChainJudge(llm))
        return list(await asyncio.gather(*(arbiter.arank(QUESTION, PASSAGES) for _ in range(2))))

    for _ in range(4):
        assert [(r.status, r.candidates[0].role) for r in asyncio.run(several())] == [("ok", "primary")] * 2
    gc.collect()


class OfAnotherLoop(ToolModel):
    """A model whose async client belongs to another event loop."""

    sync: Any = None

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        try:
            raise RuntimeError("Event loop is closed")
        except RuntimeError as error:
            raise ConnectionError("Connection error.") from error

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(self.sync, Exception):
            raise self.sync
        return ChatResult(generations=[ChatGeneration(message=self.sync)])


async def test_a_client_of_another_loop_is_no_passing_failure() -> None:
    def arbiter(sync: Any) -> Arbiter:
        return Arbiter(LangChainJudge(OfAnotherLoop(sync=sync)), on_unverified="flag")

    result = await arbiter(call(verdicts())).arank(QUESTION, PASSAGES)
    assert (len(result.candidates), result.error, result.usage.calls, result.usage.attempts) == (5, None, 1, 2)
    with pytest.raises(ConfigurationError, match=r"another event loop.*one asyncio.run"):
        await arbiter(RuntimeError("<Lock> is bound to a different event loop")).arank(QUESTION, PASSAGES)
    failed = await arbiter(TimeoutError()).arank(QUESTION, PASSAGES)
    assert (failed.status, failed.usage.attempts) == ("degraded", 2)


def test_what_is_asked_is_told_as_it_is_sent(serve: Serve) -> None:
    for dressed, structured in ((lambda m: m, True), (lambda m: m.bind(temperature=0.5), True)):
        server, llm = serve(temperature=0.25)
        judge = LangChainJudge(dressed(llm))
        briefs = ScriptedJudge({"rankings": [], "conflicts": []})
        Arbiter(briefs).rank(QUESTION, PASSAGES)
        judge.judge(briefs.briefs[0])
        asked, sent = judge.request(briefs.briefs[0]), server.requests[0].body
        assert asked["structured"] is structured
        assert {k: asked[k] for k in ("model", "temperature", "messages")} == {
            k: sent[k] for k in ("model", "temperature", "messages")
        }
    plain = LangChainJudge(PlainModel(reply=AIMessage("x"))).request(briefs.briefs[0])
    assert (plain["model"], plain["structured"]) == ("PlainModel", False)
    assert "no code fence" in plain["messages"][0]["content"]


def test_responses_api(serve: Serve) -> None:
    server, llm = serve(use_responses_api=True)
    result = judged(llm)
    assert result.candidates[0].role == "primary"
    assert server.count("/responses") == 1
    assert result.usage.prompt_tokens == 100


def test_a_judge_can_be_pickled() -> None:
    judge = LangChainJudge(FakeListLLM(responses=["x"]), config={"tags": ["t"]})
    assert pickle.loads(pickle.dumps(judge)).name == judge.name
