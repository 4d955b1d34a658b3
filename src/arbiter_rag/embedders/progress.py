"""Tells how far the embedding of many texts is, around any embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.progress import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ProgressEmbedder:
    """An embedder that works in batches and calls back after each; questions pass through untold.

    Around a cache (`ProgressEmbedder(CachedEmbedder(model, folder), bar)`) it counts every text, known or new.

    Args:
        embedder: The embedder; vectors and name are its own.
        progress: Called with the texts done and the texts in all, of one call of `embed`.
        batch: Texts between two calls.
    """

    def __init__(self, embedder: Embedder, progress: Progress, *, batch: int = 64) -> None:
        self._embedder = embedder
        self._progress = progress
        self._batch = max(1, batch)

    @property
    def name(self) -> str:
        """The embedder's own name."""
        return self._embedder.name

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of texts, as the embedder gives them."""
        if query or not texts:
            return self._embedder.embed(texts, query=query)
        self._progress(0, len(texts))
        parts = []
        for at in range(0, len(texts), self._batch):
            parts.append(self._embedder.embed(texts[at : at + self._batch]))
            self._progress(min(at + self._batch, len(texts)), len(texts))
        return np.concatenate(parts)

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """The same without blocking the event loop."""
        if query or not texts:
            return await self._embedder.aembed(texts, query=query)
        self._progress(0, len(texts))
        parts = []
        for at in range(0, len(texts), self._batch):
            parts.append(await self._embedder.aembed(texts[at : at + self._batch]))
            self._progress(min(at + self._batch, len(texts)), len(texts))
        return np.concatenate(parts)
