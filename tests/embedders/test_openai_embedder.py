"""The embedder behind OpenAI-compatible APIs, with the real client against the scripted server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.embedders.openai import OpenAIEmbedder
from arbiter_rag.errors import ConfigurationError, EmbeddingError
from arbiter_rag.testing import HashEmbedder, Reply, ScriptedServer

KEY = "sk-test-0123456789abcdef"
TEXTS = ["notice period", "premium and deductible", "notice period of thirty days"]


def embedder_of(server: ScriptedServer, **options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder("small", base_url=server.base_url, api_key=KEY, **{"timeout": 20.0, **options})


def raw(*vectors: Any, numbers: list[Any] | None = None) -> Reply:
    data = [
        {"object": "embedding", "embedding": vector} | ({} if numbers is None else {"index": numbers[at]})
        for at, vector in enumerate(vectors)
    ]
    return Reply(raw=json.dumps({"object": "list", "data": data, "model": "small"}).encode())


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_in_the_order_of_the_texts(mode: str) -> None:
    with ScriptedServer() as server:
        embedder = embedder_of(server, batch_size=2)
        assert isinstance(embedder, Embedder)
        vectors = embedder.embed(TEXTS) if mode == "sync" else asyncio.run(embedder.aembed(TEXTS))
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, HashEmbedder(64).embed(TEXTS), rtol=1e-6)
    assert [request.body["input"] for request in server.requests] == [TEXTS[:2], TEXTS[2:]]
    assert server.requests[0].body["encoding_format"] == "float"


def test_the_clients_own_base64_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer() as server:
        embedder = embedder_of(server)
        monkeypatch.setattr(type(embedder._service), "is_openai", True)
        np.testing.assert_allclose(embedder.embed(TEXTS), HashEmbedder(64).embed(TEXTS), rtol=1e-6)
    assert server.requests[0].body["encoding_format"] == "base64"


def test_order_is_taken_from_the_index() -> None:
    with ScriptedServer(embeddings=[raw([1, 0], [2, 0], [3, 0], numbers=[2, 0, 1])]) as server:
        assert embedder_of(server).embed(TEXTS)[:, 0].tolist() == [2, 3, 1]
    with ScriptedServer(embeddings=[raw([1, 0], [2, 0], [3, 0])]) as server:
        assert embedder_of(server).embed(TEXTS)[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "reply",
    [
        raw([1.0], [2.0], numbers=[0, 1]),
        raw([1.0], [2.0], [3.0], numbers=[0, 1, 1]),
        raw([1.0], [2.0], [3.0], numbers=[1, 2, 3]),
        raw([1.0], [2.0, 3.0], [3.0], numbers=[0, 1, 2]),
        raw([], [], [], numbers=[0, 1, 2]),
        raw([1.0], None, [3.0], numbers=[0, 1, 2]),
        raw([float("nan")], [1.0], [3.0], numbers=[0, 1, 2]),
        Reply(raw=b"{}"),
        Reply(raw=b'{"data": "none"}'),
        Reply(raw=b"<html>", content_type="text/html"),
    ],
    ids=range(10),
)
def test_vectors_that_do_not_fit(reply: Reply) -> None:
    with ScriptedServer(embeddings=[reply]) as server, pytest.raises(EmbeddingError) as caught:
        embedder_of(server).embed(TEXTS)
    assert caught.value.kind == "unusable"


def test_dimensions_are_asked_for_and_checked() -> None:
    with ScriptedServer() as server:
        assert embedder_of(server, dimensions=16).embed(TEXTS).shape == (3, 16)
        assert server.requests[0].body["dimensions"] == 16
    with ScriptedServer(embeddings=lambda texts: [[1.0]] * len(texts)) as server, pytest.raises(EmbeddingError):
        embedder_of(server, dimensions=16).embed(TEXTS)


def test_batches_must_agree() -> None:
    replies = [raw([1.0], numbers=[0]), raw([1.0, 2.0], numbers=[0])]
    with ScriptedServer(embeddings=replies) as server, pytest.raises(EmbeddingError, match="dimensions"):
        embedder_of(server, batch_size=1).embed(TEXTS[:2])


def test_what_cannot_be_sent_is_made_to_fit() -> None:
    with ScriptedServer() as server:
        assert embedder_of(server).embed(["", "word " * 40_000, "条" * 20_000, "bad \ud800"]).shape[0] == 4
    blank, long, wide, bad = server.requests[0].body["input"]
    assert blank == " "
    assert len(long) < 25_000
    assert len(wide) <= 6_000
    assert bad == "bad ?"


def test_no_texts_make_no_request() -> None:
    with ScriptedServer() as server:
        assert embedder_of(server).embed([]).shape == (0, 0)
        assert not server.requests


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit"), (500, "server"), (503, "server")])
def test_failures_that_may_pass(status: int, kind: str) -> None:
    down = Reply("busy", status=status, headers={"Retry-After": "60"})
    with ScriptedServer(embeddings=[down]) as server, pytest.raises(EmbeddingError) as caught:
        embedder_of(server).embed(TEXTS)
    assert caught.value.kind == kind


def test_retries() -> None:
    busy = Reply("busy", status=429, headers={"Retry-After": "0"})
    with ScriptedServer(embeddings=[busy, busy, raw([1.0], numbers=[0])]) as server:
        assert embedder_of(server).embed(TEXTS[:1]).tolist() == [[1.0]]
        assert server.count("/embeddings") == 3


def test_timeout() -> None:
    with ScriptedServer(embeddings=[Reply(delay=30)]) as server, pytest.raises(EmbeddingError) as caught:
        embedder_of(server, timeout=0.3).embed(TEXTS)
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_mistakes_of_set_up(status: int) -> None:
    with ScriptedServer(embeddings=[Reply("bad " + KEY, status=status)]) as server:
        with pytest.raises(ConfigurationError) as caught:
            embedder_of(server).embed(TEXTS)
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"dimensions": 0}, {"timeout": -1}, {"model": ""}], ids=str)
def test_arguments_that_cannot_be_meant(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        OpenAIEmbedder(**{"api_key": KEY, **options})


def test_names_tell_vectors_apart() -> None:
    names = {
        OpenAIEmbedder("m", api_key=KEY, base_url="https://api.openai.com/v1").name,
        OpenAIEmbedder("m", api_key=KEY, base_url="https://api.openai.com/v1", dimensions=8).name,
        OpenAIEmbedder("m", api_key=KEY, base_url="http://localhost:1/v1").name,
        OpenAIEmbedder("n", api_key=KEY, base_url="http://localhost:1/v1").name,
    }
    assert len(names) == 4
    assert KEY not in repr(OpenAIEmbedder("m", api_key=KEY))
