"""The embedder behind LangChain's `Embeddings`."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.runnables.config import run_in_executor
from numpy.typing import NDArray

from langchain_arbiter.failures import ELSEWHERE, embedding_failure, of_another_loop

log = logging.getLogger("langchain_arbiter")

_SECRET = ("key", "token", "secret", "password", "header")


class LangChainEmbedder:
    """Turns texts into vectors with any LangChain embeddings.

    Args:
        embeddings: The embeddings; batching, retries and time-outs are their own settings.

    Raises:
        EmbeddingError: Time-out, connection, 429, 5xx.
        ConfigurationError: 400, 401, 403, 404, a missing key or package.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings
        self._name = _name(embeddings)

    @property
    def name(self) -> str:
        """Class, model and a hash of the plain settings: kept vectors must not outlive a change of any of them."""
        return self._name

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors as rows."""
        try:
            if query:
                return _rows([self.embeddings.embed_query(text) for text in texts])
            return _rows(self.embeddings.embed_documents(list(texts)))
        except Exception as error:
            raise embedding_failure(error, self._name) from error

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """The same by the embeddings' own async form; by the sync one in a thread where that is of another loop."""
        try:
            if query:
                return _rows([await self.embeddings.aembed_query(text) for text in texts])
            return _rows(await self.embeddings.aembed_documents(list(texts)))
        except Exception as error:
            if not of_another_loop(error):
                raise embedding_failure(error, self._name) from error
            log.warning("%s: %s", self._name, ELSEWHERE)
        return await run_in_executor(None, self.embed, texts, query=query)


def _rows(vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    return np.asarray(vectors, dtype=np.float32).reshape(len(vectors), -1)


def _name(embeddings: Embeddings) -> str:
    plain = {
        key: value
        for key, value in vars(embeddings).items()
        if isinstance(value, str | int | float | bool | None) and not any(part in key.casefold() for part in _SECRET)
    }
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:8]
    model = plain.get("model") or plain.get("model_name") or type(embeddings).__name__
    return f"langchain:{type(embeddings).__name__}:{model}:{digest}"
