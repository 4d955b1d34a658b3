"""Any LlamaIndex embedding model as Arbiter's embedder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray

from arbiter_rag.errors import ConfigurationError, EmbeddingError, InputError, JudgeError
from llama_index.postprocessor.arbiter.failures import arbiter_error


class LlamaIndexEmbedder:
    """Asks a LlamaIndex embedding model; batches and retries are the model's own settings.

    Args:
        model: The embedding model.
    """

    def __init__(self, model: BaseEmbedding) -> None:
        if not isinstance(model, BaseEmbedding):
            raise InputError(
                f"embed_model= takes an embedding model, such as OpenAIEmbedding(); got a {type(model).__name__}."
            )
        self.model = model

    @property
    def name(self) -> str:
        """`<class name>:<model name>`."""
        return f"{self.model.class_name()}:{self.model.model_name}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors, a row a text.

        Raises:
            EmbeddingError: Time-out, connection, 429, 5xx, or a reply that does not fit.
            ConfigurationError: A missing key or package, 400, 401, 403, 404.
        """
        try:
            if query:
                return _array([self.model.get_query_embedding(text) for text in texts])
            return _array(self.model.get_text_embedding_batch(list(texts)))
        except Exception as error:
            raise self._failure(error) from error

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As `embed`, without blocking the event loop."""
        try:
            if query:
                return _array([await self.model.aget_query_embedding(text) for text in texts])
            return _array(await self.model.aget_text_embedding_batch(list(texts)))
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> EmbeddingError | ConfigurationError:
        meant = arbiter_error(error, f"The embedding model {self.name}")
        if isinstance(meant, ConfigurationError):
            return meant
        return EmbeddingError(str(meant), kind=meant.kind if isinstance(meant, JudgeError) else "other")


def _array(vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    return np.asarray(vectors, dtype=np.float32)
