"""The embedder behind an OpenAI-compatible `embeddings` endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arbiter_rag.errors import ConfigurationError, EmbeddingError
from arbiter_rag.openai_service.client import Answer, Service
from arbiter_rag.prompt import estimate_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

# OpenAI's limits are 8,191 tokens a text and 300,000 a request; the estimate may be a quarter too low.
_TOKENS_A_TEXT = 6_000
_TOKENS_A_REQUEST = 200_000


class OpenAIEmbedder:
    """Vectors from OpenAI, Azure OpenAI or a compatible server (Ollama, vLLM, llama.cpp, text-embeddings-inference).

    Texts go in batches, one request each; connection errors, 429 and 503 are retried at most twice within a batch's
    timeout. Texts longer than a model takes (about 6,000 tokens) are embedded by their beginning.

    Args:
        model: The model's name (the deployment's on Azure).
        client, async_client: `openai` clients of your own, as for `OpenAIJudge`.
        base_url: Where the service is; else `OPENAI_BASE_URL`, else OpenAI.
        api_key: Else `OPENAI_API_KEY`; a server other than OpenAI or Azure may need none.
        batch_size: Texts a request.
        timeout: Seconds a batch may take, retries and waits included.
        dimensions: Length of the vectors, for models that can shorten them.

    Raises:
        ConfigurationError: The package or a key is missing, or an argument cannot be meant.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        client: Any = None,
        async_client: Any = None,
        base_url: str | None = None,
        api_key: str | None = None,
        batch_size: int = 128,
        timeout: float = 60.0,
        dimensions: int | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigurationError(f"batch_size is at least 1; got {batch_size!r}.")
        if dimensions is not None and dimensions < 1:
            raise ConfigurationError(f"dimensions is at least 1; got {dimensions!r}.")
        self._service = Service(
            client=client,
            async_client=async_client,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            error=EmbeddingError,
            model=model,
        )
        self.model = model
        self._batch_size = batch_size
        self._dimensions = dimensions

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model!r}, base_url={self._service.base_url!r}, dimensions={self._dimensions!r})"

    @property
    def name(self) -> str:
        """Model, server and length: what vectors depend on."""
        place = "" if self._service.is_openai else f"@{self._service.host}"
        size = "" if self._dimensions is None else f":{self._dimensions}"
        return f"openai:{self.model}{place}{size}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of texts, in their order; questions are embedded as any text.

        Raises:
            EmbeddingError: Time-out, connection, 429, 5xx, or vectors that do not fit the texts.
            ConfigurationError: 400, 401, 403, 404 and other mistakes of set-up.
        """
        return self._joined(
            [self._read(self._service.call(partial(self._send, batch)), len(batch)) for batch in self._batches(texts)]
        )

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As `embed`, without blocking the event loop."""
        return self._joined(
            [
                self._read(await self._service.acall(partial(self._send, batch)), len(batch))
                for batch in self._batches(texts)
            ]
        )

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            sent, tokens = _fitting(text)
            if batch and (len(batch) >= self._batch_size or size + tokens > _TOKENS_A_REQUEST):
                yield batch
                batch, size = [], 0
            batch.append(sent)
            size += tokens
        if batch:
            yield batch

    def _send(self, batch: list[str], client: Any, seconds: float) -> Any:
        request: dict[str, Any] = {"model": self.model, "input": batch}
        if self._dimensions is not None:
            request["dimensions"] = self._dimensions
        if not self._service.is_openai:
            # The client asks for base64 of its own accord, which not every server knows.
            request["encoding_format"] = "float"
        return client.embeddings.create(**request, timeout=seconds)

    def _read(self, answer: Answer, expected: int) -> NDArray[np.float32]:
        data = getattr(answer.response, "data", None)
        where = self._service.host

        def unusable(what: str) -> EmbeddingError:
            return EmbeddingError(f"{where} {what}.", kind="unusable", attempts=answer.attempts)

        if not isinstance(data, list):
            raise unusable("sent something that is no list of embeddings")
        if len(data) != expected:
            raise unusable(f"sent {len(data)} vectors for {expected} texts")
        order = _order([getattr(item, "index", None) for item in data])
        if order is None:
            raise unusable("numbered its vectors so that they cannot be matched to the texts")
        try:
            rows = np.asarray([getattr(item, "embedding", None) for item in data], dtype=np.float32)
        except (TypeError, ValueError):
            raise unusable("sent vectors of unequal length or without numbers") from None
        if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
            raise unusable("sent vectors that are empty or not finite")
        if self._dimensions is not None and rows.shape[1] != self._dimensions:
            raise unusable(f"sent vectors of {rows.shape[1]} dimensions where {self._dimensions} were asked for")
        return rows[order]

    def _joined(self, parts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        if not parts:
            return np.zeros((0, self._dimensions or 0), dtype=np.float32)
        sizes = {part.shape[1] for part in parts}
        if len(sizes) > 1:
            raise EmbeddingError(f"{self._service.host} sent vectors of {sorted(sizes)} dimensions.", kind="unusable")
        return np.concatenate(parts)


def _fitting(text: str) -> tuple[str, int]:
    """The text as it can be sent, and its estimated tokens: never empty (services reject that), never too long."""
    text = text.encode("utf-8", "replace").decode("utf-8") if text.strip() else " "
    tokens = estimate_tokens(text)
    while tokens > _TOKENS_A_TEXT:
        text = text[: max(1, len(text) * _TOKENS_A_TEXT // tokens - 1)]
        tokens = estimate_tokens(text)
    return text, tokens


def _order(numbers: list[Any]) -> list[int] | None:
    """Where each text's vector stands in the reply, by the service's numbers; None where they do not fit."""
    if all(number is None for number in numbers):  # a few servers leave them out and keep the order
        return list(range(len(numbers)))
    places = {number: at for at, number in enumerate(numbers) if isinstance(number, int)}
    if set(places) != set(range(len(numbers))):
        return None
    return [places[at] for at in range(len(numbers))]
