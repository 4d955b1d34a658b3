"""Real query engines, chat engines and tools with real LLM classes over loopback: one judgement a question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex, get_response_synthesizer
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import RetrieverTool
from llama_scenes import QUESTION, TEXTS, VERDICTS, MakeLLM, by_text

from arbiter_rag.testing import ScriptedServer, answering, candidates_in
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor
from llama_index.retrievers.arbiter import ArbiterRetriever

ANSWER = "It is 500 EUR."


class Scene:
    """A server, an LLM, an index over the four nodes, and what came over the wire."""

    def __init__(self, server: ScriptedServer, llm: LLM, nodes: list[NodeWithScore]) -> None:
        self.server, self.llm = server, llm
        self.index = VectorStoreIndex([n.node for n in nodes], embed_model=MockEmbedding(embed_dim=4))

    def synthesis(self) -> str:
        """Everything that was sent except the judgements."""
        return json.dumps([r.body for r in self.server.requests if candidates_in(r) is None])

    def judgements(self) -> int:
        return sum(candidates_in(r) is not None for r in self.server.requests)


@pytest.fixture
def scene(make_llm: MakeLLM, nodes: list[NodeWithScore]) -> Iterator[Scene]:
    with ScriptedServer(answering(by_text(VERDICTS), otherwise=ANSWER)) as server:
        yield Scene(server, make_llm(server), nodes)


@pytest.fixture
def absent(make_llm: MakeLLM, nodes: list[NodeWithScore]) -> Iterator[Scene]:
    with ScriptedServer(answering(by_text({"fire": "tangential"}), otherwise=ANSWER)) as server:
        yield Scene(server, make_llm(server), nodes)


def check(response: Any, scene: Scene, asked: int = 1) -> None:
    assert str(response) == ANSWER
    assert [n.node_id for n in response.source_nodes] == ["answer", "scope", "fire"]
    assert [n.metadata["arbiter_role"] for n in response.source_nodes] == ["primary", "supporting", "tangential"]
    assert response.source_nodes[0].metadata["arbiter_reason"] == "scripted primary"
    sent = scene.synthesis()
    assert TEXTS["answer"] in sent
    assert TEXTS["office"] not in sent
    assert "arbiter_" not in sent
    assert "scripted primary" not in sent
    assert scene.judgements() == asked


def settings(scene: Scene) -> dict[str, Any]:
    return {"llm": scene.llm, "similarity_top_k": 4, "node_postprocessors": [ArbiterNodePostprocessor(scene.llm)]}


async def test_as_query_engine(scene: Scene) -> None:
    engine = scene.index.as_query_engine(**settings(scene))
    check(engine.query(QUESTION), scene)
    check(await engine.aquery(QUESTION), scene, 2)
    assert engine.get_prompts()


async def test_retriever_query_engine(scene: Scene) -> None:
    retriever = ArbiterRetriever({"vector": scene.index.as_retriever(similarity_top_k=4)}, scene.llm)
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=scene.llm))
    response = engine.query(QUESTION)
    check(response, scene)
    assert response.source_nodes[0].metadata["arbiter_methods"] == ["vector"]
    check(await engine.aquery(QUESTION), scene, 2)


async def test_metadata_reaches_the_synthesis_when_asked(scene: Scene) -> None:
    shown = ArbiterNodePostprocessor(scene.llm, expose_metadata=True)
    engine = scene.index.as_query_engine(**(settings(scene) | {"node_postprocessors": [shown]}))
    engine.query(QUESTION)
    assert "arbiter_role: primary" in scene.synthesis()
    assert "arbiter_reason: scripted primary" in scene.synthesis()


@pytest.mark.parametrize("mode", ["context", "condense_plus_context"])
async def test_chat_engines(scene: Scene, mode: str) -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
    engine = scene.index.as_chat_engine(chat_mode=mode, memory=memory, **settings(scene))
    assert isinstance(engine, ContextChatEngine | CondensePlusContextChatEngine)
    check(engine.chat(QUESTION), scene)
    engine.reset()
    check(await engine.achat(QUESTION), scene, 2)


async def test_retriever_tool(scene: Scene) -> None:
    tool = RetrieverTool.from_defaults(
        scene.index.as_retriever(similarity_top_k=4), node_postprocessors=[ArbiterNodePostprocessor(scene.llm)]
    )
    judged = RetrieverTool.from_defaults(ArbiterRetriever([scene.index.as_retriever(similarity_top_k=4)], scene.llm))
    for output in (
        tool.call(QUESTION),
        await tool.acall(QUESTION),
        judged.call(QUESTION),
        await judged.acall(QUESTION),
    ):
        assert TEXTS["answer"] in str(output)
        assert TEXTS["office"] not in str(output)
        assert "scripted primary" not in str(output)
        assert [n.node_id for n in output.raw_output] == ["answer", "scope", "fire"]
    assert scene.judgements() == 4


async def test_not_found_leaves_the_tangential_passages_out(absent: Scene) -> None:
    post = ArbiterNodePostprocessor(absent.llm)
    engine = absent.index.as_query_engine(**(settings(absent) | {"node_postprocessors": [post]}))
    for response in (engine.query(QUESTION), await engine.aquery(QUESTION)):
        assert response.source_nodes == []
    assert TEXTS["fire"] not in absent.synthesis()
    result = post.postprocess_result(
        absent.index.as_retriever(similarity_top_k=4).retrieve(QUESTION), query_str=QUESTION
    )
    assert result.not_found
    assert result.not_found_reason


async def test_over_a_pdf(make_llm: MakeLLM, policy: Path) -> None:
    with ScriptedServer(answering(otherwise=ANSWER)) as server:
        llm = make_llm(server)
        retriever = ArbiterRetriever.from_pdf(policy, llm, top_n=3)
        engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
        for response in (engine.query(QUESTION), await engine.aquery(QUESTION)):
            assert str(response) == ANSWER
            assert len(response.source_nodes) == 3
            assert response.source_nodes[0].metadata["page_label"]
        prompts = [r for r in server.requests if candidates_in(r) is not None]
        assert len(prompts) == 2
        sent = json.dumps([r.body for r in server.requests if candidates_in(r) is None])
        assert "policy_en.pdf" in sent
        assert "arbiter_" not in sent
