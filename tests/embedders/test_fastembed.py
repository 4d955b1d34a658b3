"""The local embedder, with a double for the package: its models come from a hub."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.embedders.fastembed import FastEmbedEmbedder
from arbiter_rag.errors import ConfigurationError, EmbeddingError


class _TextEmbedding:
    made = 0

    def __init__(self, model_name: str, cache_dir: str | None) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported")
        type(self).made += 1
        self.model_name = model_name

    def passage_embed(self, texts: Iterable[str], batch_size: int) -> Iterator[Any]:
        yield from (np.array([len(text), 0.0]) for text in texts if text != "lost")

    def query_embed(self, texts: Iterable[str], batch_size: int) -> Iterator[Any]:
        yield from (np.array([len(text), 1.0]) for text in texts)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> type[_TextEmbedding]:
    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=_TextEmbedding))
    monkeypatch.setattr(_TextEmbedding, "made", 0)
    return _TextEmbedding


@pytest.mark.usefixtures("package")
async def test_passages_and_questions() -> None:
    embedder = FastEmbedEmbedder("m")
    assert isinstance(embedder, Embedder)
    assert embedder.name == "fastembed:m"
    assert embedder.embed(["ab", "c"]).tolist() == [[2, 0], [1, 0]]
    assert (await embedder.aembed(["ab"], query=True)).tolist() == [[2, 1]]
    assert embedder.embed([]).shape == (0, 0)
    assert embedder.embed(["ab"]).dtype == np.float32


def test_the_model_is_loaded_once_and_late(package: type[_TextEmbedding]) -> None:
    embedder = FastEmbedEmbedder("m")
    assert package.made == 0
    embedder.embed(["a"])
    embedder.embed(["b"])
    assert package.made == 1


@pytest.mark.usefixtures("package")
def test_mistakes() -> None:
    with pytest.raises(ConfigurationError, match="unknown"):
        FastEmbedEmbedder("unknown").embed(["a"])
    with pytest.raises(EmbeddingError):
        FastEmbedEmbedder("m").embed(["a", "lost"])


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'arbiter-rag\[fastembed\]'"):
        FastEmbedEmbedder().embed(["a"])
