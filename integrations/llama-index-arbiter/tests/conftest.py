"""Fixtures of the integration's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.schema import NodeWithScore, TextNode
from llama_scenes import TEXTS, VERDICTS, WAYS, MakeLLM, by_text

from arbiter_rag import samples
from arbiter_rag.testing import ScriptedServer, answering


@pytest.fixture(params=list(WAYS))
def make_llm(request: pytest.FixtureRequest) -> MakeLLM:
    """Each way of asking a model in turn."""
    return WAYS[request.param]


@pytest.fixture
def nodes() -> list[NodeWithScore]:
    """Four nodes as an index would return them; the answer is not the first."""
    order = ["office", "fire", "answer", "scope"]
    return [
        NodeWithScore(
            node=TextNode(
                id_=name,
                text=TEXTS[name],
                metadata={"file_name": "policy.pdf", "page_label": str(place), "section": name.title()},
                excluded_llm_metadata_keys=["file_name"],
            ),
            score=1 - place / 10,
        )
        for place, name in enumerate(order, 1)
    ]


@pytest.fixture(scope="session")
def policy() -> Path:
    """A small insurance policy as a PDF."""
    return samples.path("policy_en")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that judges the four nodes as they are meant, and answers everything else with a sentence."""
    with ScriptedServer(answering(by_text(VERDICTS))) as running:
        yield running
