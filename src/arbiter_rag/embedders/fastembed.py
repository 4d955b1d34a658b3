"""The embedder that runs on one's own machine with `fastembed` (ONNX, no torch)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arbiter_rag.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DEFAULT_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"


class FastEmbedEmbedder:
    """Vectors from a local ONNX model; nothing leaves the machine but the model's download on first use.

    Args:
        model: One of fastembed's model names; the default reads about fifty languages.
        model_dir: Where fastembed keeps models; by default where it likes.
        batch_size: Texts a pass.

    Raises:
        ConfigurationError: The package is missing or does not know the model (on first use).
    """

    def __init__(self, model: str = _DEFAULT_MODEL, *, model_dir: str | None = None, batch_size: int = 64) -> None:
        self.model = model
        self._model_dir = model_dir
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        """`fastembed:<model>`."""
        return f"fastembed:{self.model}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of texts; questions get the prefix that the model was trained with, where it has one.

        Raises:
            EmbeddingError: The model gave no usable vectors.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        model = self._model()
        make = model.query_embed if query else model.passage_embed
        rows = np.asarray(list(make(list(texts), batch_size=self._batch_size)), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts):
            raise EmbeddingError(f"{self.name} gave an array of shape {rows.shape} for {len(texts)} texts.")
        return rows

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As `embed`, in a thread."""
        return await asyncio.to_thread(self.embed, texts, query=query)

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                try:
                    from fastembed import TextEmbedding
                except ImportError as error:
                    raise ConfigurationError(
                        "The fastembed package is needed and not installed; pip install 'arbiter-rag[fastembed]'."
                    ) from error
                try:
                    self._loaded = TextEmbedding(model_name=self.model, cache_dir=self._model_dir)
                except ValueError as error:
                    raise ConfigurationError(f"fastembed cannot load {self.model!r}: {error}") from error
            return self._loaded
