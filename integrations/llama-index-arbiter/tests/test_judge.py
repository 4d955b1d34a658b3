"""Any LLM as a judge: one completion, asked in the best way it has, read without trust."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.schema import NodeWithScore
from llama_index.llms.openai import OpenAI, OpenAIResponses
from llama_scenes import QUESTION, WAYS, MakeLLM, calling, native, plain
from pydantic import BaseModel, PrivateAttr

from arbiter_rag import ConfigurationError
from arbiter_rag.prompt import plain_instructions, reply_schema
from arbiter_rag.testing import Reply, ScriptedServer
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor, LlamaIndexJudge
from llama_index.postprocessor.arbiter.judge import way_of

IDS = {"answer", "scope", "fire", "office"}


def roles(nodes: list[NodeWithScore]) -> dict[str, str]:
    return {n.node_id: n.metadata["arbiter_role"] for n in nodes}


def has_schemas(llm: Any) -> bool:
    """Whether this version of `llama-index-llms-openai` uses native structured output with the `openai` installed."""
    return bool(llm._should_use_structure_outputs())


@pytest.mark.parametrize("way", list(WAYS))
def test_each_llm_is_asked_in_the_best_way_it_has(server: ScriptedServer, way: str) -> None:
    llm = WAYS[way](server)
    assert way_of(llm) == way if way != "schema" or has_schemas(llm) else "tool"


async def test_one_completion_that_judges_every_node(
    make_llm: MakeLLM, server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    post = ArbiterNodePostprocessor(make_llm(server))
    kept = {"answer": "primary", "scope": "supporting", "fire": "tangential"}
    assert roles(post.postprocess_nodes(nodes, query_str=QUESTION)) == kept
    assert roles(await post.apostprocess_nodes(nodes, query_str=QUESTION)) == kept
    assert server.count() == 2
    result = post.postprocess_result(nodes, query_str=QUESTION)
    assert result.status == "ok"
    assert (result.usage.calls, result.usage.attempts) == (1, 1)
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (100, 20)
    assert [c.original_id for c in result.discarded] == ["office"]


def test_native_output_carries_the_static_schema(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    if not has_schemas(native(server)):
        pytest.skip("this llama-index-llms-openai knows no native structured output")
    ArbiterNodePostprocessor(native(server)).postprocess_nodes(nodes, query_str=QUESTION)
    format_ = server.requests[0].body["response_format"]
    assert format_["json_schema"]["schema"] == reply_schema()
    assert format_["json_schema"]["strict"] is True


def test_the_tool_is_forced_and_single_and_its_schema_strict(
    server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    ArbiterNodePostprocessor(calling(server)).postprocess_nodes(nodes, query_str=QUESTION)
    body = server.requests[0].body
    assert body["tool_choice"] == "required"
    assert not body.get("parallel_tool_calls")
    (tool,) = body["tools"]
    objects = [tool["function"]["parameters"], *tool["function"]["parameters"]["$defs"].values()]
    assert all(o["additionalProperties"] is False and set(o["required"]) == set(o["properties"]) for o in objects)


def test_plain_completion_asks_for_json_in_words(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    ArbiterNodePostprocessor(plain(server)).postprocess_nodes(nodes, query_str=QUESTION)
    body = server.requests[0].body
    assert plain_instructions() in body["messages"][0]["content"]
    assert "tools" not in body
    assert "response_format" not in body


async def test_the_prompt_is_our_own_whatever_persona_the_llm_has(
    make_llm: MakeLLM, server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    llm = make_llm(server, system_prompt="You are a pirate.")
    post = ArbiterNodePostprocessor(llm, instructions="Deductibles matter most.")
    post.postprocess_nodes(nodes, query_str=QUESTION)
    await post.apostprocess_nodes(nodes, query_str=QUESTION)
    first, second = (request.body["messages"] for request in server.requests)
    assert first == second
    assert "pirate" not in json.dumps(first)
    assert "Deductibles matter most." in first[0]["content"]


@pytest.mark.parametrize("call", ["chat", "achat"])
def test_two_tool_calls_or_an_unknown_tool_never_crash(nodes: list[NodeWithScore], call: str) -> None:
    verdicts = {"rankings": [], "conflicts": []}
    for calls in (
        [("arbiter_output", verdicts), ("arbiter_output", verdicts)],
        [("another_tool", verdicts)],
        [("arbiter_output", "{")],
        [("arbiter_output", "[1, 2]")],
        [],
    ):
        with ScriptedServer(lambda _, calls=calls: Reply(None, tool_calls=calls)) as server:
            post = ArbiterNodePostprocessor(calling(server))
            if call == "chat":
                result = post.postprocess_result(nodes, query_str=QUESTION)
            else:
                result = asyncio.run(post.apostprocess_result(nodes, query_str=QUESTION))
            assert result.status == "degraded"
            assert {c.original_id for c in (*result.candidates, *result.unjudged)} == IDS
            assert server.count() == 1


def test_a_right_reply_in_two_tool_calls_is_read_once(nodes: list[NodeWithScore]) -> None:
    def script(request: Any) -> Reply:
        shown = json.loads(request.body["messages"][1]["content"])["candidates"]
        rows = [{"candidate_id": c["candidate_id"], "reason": "r", "role": "tangential", "quote": None} for c in shown]
        given = [("arbiter_output", {"rankings": rows, "conflicts": []})] * 2
        return Reply(None, tool_calls=given)

    with ScriptedServer(script) as server:
        out = ArbiterNodePostprocessor(calling(server), on_not_found="keep").postprocess_nodes(
            nodes, query_str=QUESTION
        )
    assert sorted(n.node_id for n in out) == sorted(IDS)


def test_a_reply_cut_short_is_told(
    make_llm: MakeLLM, nodes: list[NodeWithScore], caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Any) -> Reply:
        shown = json.loads(request.body["messages"][1]["content"])["candidates"]
        row = {"candidate_id": shown[0]["candidate_id"], "reason": "r", "role": "tangential", "quote": None}
        text = json.dumps({"rankings": [row]})[:-2] + ', {"candidate_id": "'
        call = [("arbiter_output", text)] if "tools" in request.body else None
        return Reply(text, finish="length", tool_calls=call)

    with ScriptedServer(script) as server:
        result = ArbiterNodePostprocessor(make_llm(server)).postprocess_result(nodes, query_str=QUESTION)
    assert result.status == "partial"
    assert len(result.unjudged) == 3
    assert any(fault.kind == "truncated_reply" for fault in result.faults)
    assert "max_tokens" in caplog.text


def test_of_a_structured_llm_the_llm_inside_judges(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    class Answer(BaseModel):
        text: str

    post = ArbiterNodePostprocessor(native(server).as_structured_llm(Answer))
    assert roles(post.postprocess_nodes(nodes, query_str=QUESTION))["answer"] == "primary"


RESPONSES = {"model": "gpt-4o-mini", "api_key": "k", "max_retries": 0}


def test_the_responses_class_is_asked_by_tool(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    with httpx.Client() as http:
        llm = OpenAIResponses(api_base=server.base_url, http_client=http, **RESPONSES)
        found = roles(ArbiterNodePostprocessor(llm).postprocess_nodes(nodes, query_str=QUESTION))
    assert found["answer"] == "primary"
    assert [r.path for r in server.requests] == ["/v1/responses"]


async def test_the_responses_class_in_async(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    async with httpx.AsyncClient() as http:
        llm = OpenAIResponses(api_base=server.base_url, async_http_client=http, **RESPONSES)
        found = roles(await ArbiterNodePostprocessor(llm).apostprocess_nodes(nodes, query_str=QUESTION))
    assert found["answer"] == "primary"
    assert server.count() == 1


def test_an_unknown_model_is_a_wrong_set_up(nodes: list[NodeWithScore]) -> None:
    post = ArbiterNodePostprocessor(OpenAI(model="gpt-of-tomorrow", api_key="k"))
    with pytest.raises(ConfigurationError, match="gpt-of-tomorrow"):
        post.postprocess_nodes(nodes, query_str=QUESTION)


def test_a_model_that_only_echoes_decides_nothing(nodes: list[NodeWithScore]) -> None:
    result = ArbiterNodePostprocessor(MockLLM()).postprocess_result(nodes, query_str=QUESTION)
    assert result.status in ("degraded", "partial")
    assert {c.original_id for c in (*result.candidates, *result.unjudged)} == IDS


class LocalLLM(CustomLLM):
    """A model in this process: blocking, and text alone."""

    reply: str = ""
    _threads: list[int] = PrivateAttr(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="local")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._threads.append(threading.get_ident())
        assert "discarded" in prompt
        return CompletionResponse(text=self.reply)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


async def test_a_blocking_local_model_does_not_block_the_loop(nodes: list[NodeWithScore]) -> None:
    llm = LocalLLM(reply="no idea")
    result = await ArbiterNodePostprocessor(llm).apostprocess_result(nodes, query_str=QUESTION)
    assert result.status == "degraded"
    assert threading.get_ident() not in llm._threads


class OldCaller(FunctionCallingLLM):
    """A function-calling LLM of an older make: calls in `additional_kwargs`, a small default limit."""

    max_tokens: int = 512
    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name="old")

    @classmethod
    def class_name(cls) -> str:
        return "Anthropic_LLM"

    def _prepare_chat_with_tools(self, tools: Any, **kwargs: Any) -> dict[str, Any]:
        return {"messages": kwargs.pop("chat_history"), "tools": tools, **kwargs}

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        self._seen.append(kwargs)
        shown = json.loads(messages[1].content)["candidates"]
        rows = [{"candidate_id": c["candidate_id"], "reason": "r", "role": "tangential", "quote": None} for c in shown]
        call = {"type": "tool_use", "id": "1", "name": "arbiter_output", "input": {"rankings": rows, "conflicts": []}}
        raw = {"usage": {"input_tokens": 7, "output_tokens": 3}, "stop_reason": "tool_use"}
        return ChatResponse(
            message=ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]}), raw=raw
        )

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    acomplete = stream_chat = astream_chat = stream_complete = astream_complete = complete


async def test_calls_of_older_integrations_and_their_small_limits(nodes: list[NodeWithScore]) -> None:
    many = [NodeWithScore(node=n.node.model_copy(update={"id_": f"{n.node_id}{i}"})) for i in range(3) for n in nodes]
    llm = OldCaller()
    result = await ArbiterNodePostprocessor(llm).apostprocess_result(many, query_str=QUESTION)
    assert result.status == "ok"
    assert len(result.candidates) == 12
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (7, 3)
    assert llm._seen[0]["max_tokens"] == 300 + 12 * 60


def test_the_name_says_class_and_model(server: ScriptedServer) -> None:
    assert LlamaIndexJudge(native(server)).name == "openai_llm:gpt-4o-mini"
