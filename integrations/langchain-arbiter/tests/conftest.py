"""What the tests share: the sample policy parsed once, and a real client that talks to a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from langchain_core.documents import Document
from langchain_openai import ChatOpenAI

from arbiter_rag import ParsedDocument, samples
from arbiter_rag.testing import ScriptedServer

TEXTS = (
    "The deductible for water damage to the building is EUR 400.",
    "Glass breakage is settled without any deductible.",
    "The premium is due on the first day of each policy year.",
    "Claims must be reported within seven days of the event.",
    "The insurer is based in Lyon and supervised by the state.",
)

Serve = Callable[..., tuple[ScriptedServer, ChatOpenAI]]


@pytest.fixture(scope="session")
def policy() -> ParsedDocument:
    return ParsedDocument.from_pdf(samples.path("policy_en"))


@pytest.fixture
def documents() -> list[Document]:
    """Five documents with ids and metadata, the first one the answer."""
    return [
        Document(text, id=f"doc-{n}", metadata={"source": "policy.txt", "page": n, "tags": ["a", {"b": n}]})
        for n, text in enumerate(TEXTS)
    ]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(script, **settings) -> a running scripted server and a `ChatOpenAI` that talks to it."""
    with ExitStack() as stack:

        def start(script: object = None, **settings: object) -> tuple[ScriptedServer, ChatOpenAI]:
            server = stack.enter_context(ScriptedServer(script))  # type: ignore[arg-type]  # any script of a test
            given = {
                "model": "scripted-model",
                "api_key": "k",
                "max_retries": 0,
                "base_url": server.base_url,
                **settings,
            }
            return server, ChatOpenAI(**given)  # type: ignore[arg-type]  # settings of a test

        yield start
