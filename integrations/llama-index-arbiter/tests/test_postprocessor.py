"""The node postprocessor keeps the framework's contracts and Arbiter's."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.indices.query.schema import QueryBundle
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.schema import NodeWithScore, TextNode
from llama_scenes import QUESTION, by_text, calling, native
from pydantic import Field

from arbiter_rag import ConfigurationError, InputError, RetrievalResult, RuleJudge
from arbiter_rag.audit import AuditLog
from arbiter_rag.contract import Cut
from arbiter_rag.testing import Reply, ScriptedJudge, ScriptedServer, answering
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor, ArbiterResultEvent
from llama_index.postprocessor.arbiter.events import announce


class Heard(BaseEventHandler):
    """Every event in order."""

    events: list[Any] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Heard"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.events.append(event)


@pytest.fixture
def heard() -> Any:
    handler = Heard(events=[])
    root = get_dispatcher()
    root.add_event_handler(handler)
    yield handler.events
    root.event_handlers.remove(handler)


def rules(**settings: Any) -> ArbiterNodePostprocessor:
    return ArbiterNodePostprocessor(judge=RuleJudge(), **settings)


# --- not found --------------------------------------------------------------------------------------------------


async def test_not_found_gives_nothing_and_its_reason_in_log_event_and_result(
    nodes: list[NodeWithScore], heard: list[BaseEvent], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="llama_index.postprocessor.arbiter")
    with ScriptedServer(answering(by_text({"fire": "tangential"}))) as server:
        post = ArbiterNodePostprocessor(native(server))
        assert post.postprocess_nodes(nodes, query_str=QUESTION) == []
        assert await post.apostprocess_nodes(nodes, query_str=QUESTION) == []
        result = post.postprocess_result(nodes, query_str=QUESTION)
        kept = post.model_copy(update={"on_not_found": "keep"}).postprocess_nodes(nodes, query_str=QUESTION)
    assert result.not_found
    assert result.not_found_reason in caplog.text
    told = [e for e in heard if isinstance(e, ArbiterResultEvent)]
    assert told[0].result.not_found_reason == result.not_found_reason
    ends = [e for e in heard if isinstance(e, ReRankEndEvent)]
    assert ends[0].tags["arbiter_not_found_reason"] == result.not_found_reason
    assert [n.node_id for n in kept] == ["fire"]


def test_roles_choose_what_comes_out(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    post = ArbiterNodePostprocessor(native(server), roles=("primary",))
    assert [n.node_id for n in post.postprocess_nodes(nodes, query_str=QUESTION)] == ["answer"]
    with pytest.raises(ValueError, match="roles="):
        ArbiterNodePostprocessor(native(server), roles=("best",))


def test_what_the_budget_cuts_is_counted_in_log_and_events(
    server: ScriptedServer, heard: list[BaseEvent], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="llama_index.postprocessor.arbiter")
    many = [NodeWithScore(node=TextNode(id_=f"n{i}", text=f"Deductible number {i}. " * 30)) for i in range(40)]
    post = ArbiterNodePostprocessor(native(server), max_prompt_tokens=1_200)
    post.postprocess_nodes(many, query_str=QUESTION)
    told = next(e for e in heard if isinstance(e, ArbiterResultEvent))
    assert 0 < told.cut == len(told.result.cut) < 40
    assert f"{told.cut} cut by max_prompt_tokens" in caplog.text
    assert next(e for e in heard if isinstance(e, ReRankEndEvent)).tags["arbiter_cut"] == str(told.cut)


def test_a_not_found_that_rests_on_fewer_nodes_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="llama_index.postprocessor.arbiter")
    cut = Cut(candidate_id="n2", why="the brief would exceed max_prompt_tokens (9)")
    other = Cut(candidate_id="n3", why="more than max_candidates")
    announce(RetrievalResult(question=QUESTION, not_found=True, not_found_reason="Not there.", cut=(cut, other)))
    assert "not found, 1 cut by max_prompt_tokens" in caplog.text
    assert "Not there." in caplog.text


# --- the framework's contracts ----------------------------------------------------------------------------------


async def test_no_query_and_no_nodes(
    server: ScriptedServer, nodes: list[NodeWithScore], heard: list[BaseEvent]
) -> None:
    post = ArbiterNodePostprocessor(native(server))
    with pytest.raises(ValueError, match="query"):
        post.postprocess_nodes(nodes)
    with pytest.raises(ValueError, match="query"):
        await post.apostprocess_nodes(nodes)
    with pytest.raises(ValueError, match="query"):
        post.postprocess_nodes([])
    with pytest.raises(ValueError, match="both"):
        post.postprocess_result(nodes, QueryBundle(QUESTION), QUESTION)
    assert post.postprocess_nodes([], query_str=QUESTION) == []
    assert await post.apostprocess_nodes([], QueryBundle(QUESTION)) == []
    assert server.count() == 0
    assert not [e for e in heard if isinstance(e, ReRankStartEvent)]


def test_query_bundle_and_query_str_are_the_same(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    post = ArbiterNodePostprocessor(native(server))
    one, two = post.postprocess_nodes(nodes, QueryBundle(QUESTION)), post.postprocess_nodes(nodes, query_str=QUESTION)
    assert [n.model_dump() for n in one] == [n.model_dump() for n in two]


async def test_the_loop_stays_free_while_the_llm_thinks(nodes: list[NodeWithScore]) -> None:
    with ScriptedServer(answering(by_text({"answer": "primary"}), delay=0.3)) as server:
        post = ArbiterNodePostprocessor(native(server))
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        found = await asyncio.gather(*(post.apostprocess_nodes(nodes, query_str=QUESTION) for _ in range(3)))
        ticking.cancel()
    assert [n[0].node_id for n in found] == ["answer"] * 3
    assert ticks > 10


async def test_events_start_and_end(server: ScriptedServer, nodes: list[NodeWithScore], heard: list[BaseEvent]) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    post = ArbiterNodePostprocessor(native(server), callback_manager=CallbackManager([debug]))
    post.postprocess_nodes(nodes, query_str=QUESTION)
    await post.apostprocess_nodes(nodes, query_str=QUESTION)
    names = [e.class_name() for e in heard if "ReRank" in e.class_name() or "Arbiter" in e.class_name()]
    assert names == ["ReRankStartEvent", "ArbiterResultEvent", "ReRankEndEvent"] * 2
    start = next(e for e in heard if isinstance(e, ReRankStartEvent))
    assert (start.top_n, start.model_name) == (5, "openai_llm:gpt-4o-mini")
    assert start.nodes == nodes
    (begun, ended), *more = debug.get_event_pairs(CBEventType.RERANKING)
    assert len(more) == 1
    assert begun.payload[EventPayload.QUERY_STR] == QUESTION
    assert [n.node_id for n in ended.payload[EventPayload.NODES]] == ["answer", "scope", "fire"]


@pytest.mark.parametrize("form", ["sync", "async"])
def test_events_end_also_on_failure(nodes: list[NodeWithScore], heard: list[BaseEvent], form: str) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    with ScriptedServer(lambda _: Reply("no", status=401)) as server:
        post = ArbiterNodePostprocessor(native(server), callback_manager=CallbackManager([debug]))
        call = (
            post.postprocess_nodes if form == "sync" else lambda *a, **k: asyncio.run(post.apostprocess_nodes(*a, **k))
        )
        with pytest.raises(ConfigurationError):
            call(nodes, query_str=QUESTION)
    end = next(e for e in heard if isinstance(e, ReRankEndEvent))
    assert end.nodes == []
    assert "ConfigurationError" in end.tags["arbiter_error"]
    ((_, ended),) = debug.get_event_pairs(CBEventType.RERANKING)
    assert EventPayload.EXCEPTION in ended.payload


async def test_events_end_also_on_cancellation(nodes: list[NodeWithScore], heard: list[BaseEvent]) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    with ScriptedServer(answering(delay=0.5)) as server:
        post = ArbiterNodePostprocessor(native(server), callback_manager=CallbackManager([debug]))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(post.apostprocess_nodes(nodes, query_str=QUESTION), 0.1)
    (end,) = [e for e in heard if isinstance(e, ReRankEndEvent)]
    assert end.nodes == []
    assert end.tags["arbiter_error"] == "CancelledError"
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_n": None}, {"top_n": "3"}, {"top_n": 2.5}, {"top_n": 0}, {"top_n": True}, {"max_prompt_tokens": "9"},
        {"roles": None}, {"roles": ()}, {"roles": "primary"}, {"roles": [["primary"]]}, {"on_not_found": "drop"},
        {"on_not_found": None}, {"on_error": "ignore"}, {"on_unverified": 1}, {"metadata_mode": "some"}, {"audit": 5},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_meant_are_refused_by_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name}="):
        rules(**wrong)


def test_an_llm_must_be_one() -> None:
    for wrong in ("gpt-4o", 5):
        with pytest.raises(InputError, match="llm="):
            ArbiterNodePostprocessor(wrong)
    with pytest.raises(InputError, match="judge"):
        ArbiterNodePostprocessor(judge=5)


def test_prompts_class_name_and_settings(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", native(server))
    post = ArbiterNodePostprocessor()
    assert post.llm is Settings.llm
    assert post.class_name() == "ArbiterNodePostprocessor"
    assert post._get_prompts() == {}
    post._update_prompts({})
    with pytest.raises(ValueError, match="both"):
        ArbiterNodePostprocessor(native(server), judge=RuleJudge())


def test_round_trip_through_a_dict_keeps_settings_and_no_key(
    server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    llm = native(server, api_key="sk-secret")
    post = ArbiterNodePostprocessor(llm, top_n=2, roles=("primary", "supporting"), instructions="Look closely.")
    data = post.to_dict()
    assert "sk-secret" not in json.dumps(data)
    assert data["class_name"] == "ArbiterNodePostprocessor"
    again = ArbiterNodePostprocessor.from_dict(data, llm=llm)
    assert (again.top_n, again.roles, again.instructions, again.llm) == (
        2,
        ("primary", "supporting"),
        "Look closely.",
        llm,
    )
    assert ArbiterNodePostprocessor.from_json(post.to_json(), llm=llm).to_dict() == data
    assert len(again.postprocess_nodes(nodes, query_str=QUESTION)) == 2


def test_round_trip_never_changes_the_judge_in_silence(server: ScriptedServer) -> None:
    again = ArbiterNodePostprocessor.from_dict(rules(top_n=3).to_dict())
    assert isinstance(again.judge, RuleJudge)
    assert again.llm is None
    scripted = ArbiterNodePostprocessor(judge=ScriptedJudge({"rankings": []}))
    with pytest.raises(ValueError, match="scripted"):
        ArbiterNodePostprocessor.from_dict(scripted.to_dict())
    llm = native(server)
    assert ArbiterNodePostprocessor.from_dict(scripted.to_dict(), llm=llm).llm is llm


def test_pickling(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    post = pickle.loads(pickle.dumps(ArbiterNodePostprocessor(calling(server), top_n=2, roles=("primary",))))
    assert (post.top_n, post.roles) == (2, ("primary",))
    assert [n.node_id for n in post.postprocess_nodes(nodes, query_str=QUESTION)] == ["answer"]
    assert isinstance(pickle.loads(pickle.dumps(rules())).judge, RuleJudge)
    with pytest.raises(pickle.PicklingError, match="judge"):
        pickle.dumps(ArbiterNodePostprocessor(judge=ScriptedJudge(lambda b: {})))


def test_decisions_are_recorded_exactly_as_sent(
    server: ScriptedServer, nodes: list[NodeWithScore], tmp_path: Path
) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    post = ArbiterNodePostprocessor(native(server), audit=log)
    best = post.postprocess_nodes(nodes, query_str=QUESTION)[0]
    again = ArbiterNodePostprocessor.from_dict(json.loads(post.to_json()), llm=post.llm)
    assert again.postprocess_nodes(nodes, query_str=QUESTION)[0].metadata["arbiter_record_id"]
    assert pickle.loads(pickle.dumps(post)).audit.path == log.path
    assert best.metadata["arbiter_record_id"]
    assert log.verify().ok
    first, _ = log.records()
    sent = [m["content"] for m in server.requests[0].body["messages"]]
    assert [first.request.system, first.request.user] == sent
    assert first.request.parameters["way"] in ("schema", "tool")
    assert first.request.model == "gpt-4o-mini"
