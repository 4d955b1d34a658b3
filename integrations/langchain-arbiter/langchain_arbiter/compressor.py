"""The document compressor: in place of a reranker, all documents judged in one call."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.load.serializable import Serializable
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)
from pydantic import ConfigDict, Field

from arbiter_rag import RetrievalResult
from langchain_arbiter.documents import Pool, emitted_copies, pool_of
from langchain_arbiter.settings import Judging, atell, tell


class ArbiterDocumentCompressor(Judging, BaseDocumentCompressor, Serializable):
    """Gives each document a role and a reason in one completion, and drops what does not help to answer.

    Every document given is judged; the best `top_n` are handed on as copies, best first, with `arbiter_*` metadata and
    `relevance_score`. When the documents do not hold the answer, none is handed on, unless `on_not_found="keep"`.

    Example:
        >>> reranker = ArbiterDocumentCompressor(llm=ChatOpenAI(model="gpt-5-mini"), top_n=5)
        >>> ContextualCompressionRetriever(base_compressor=reranker, base_retriever=vectors.as_retriever())
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    top_n: int | None = Field(default=5, ge=1)
    """Most documents handed on; None for all that are kept."""

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """True, as far as the model is."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """`langchain_arbiter`."""
        return ["langchain_arbiter"]

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The documents that help to answer, best first."""
        pool = pool_of({"": documents})
        return self._handed_on(pool, self._judged(pool, query, callbacks))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The same without blocking the event loop."""
        pool = pool_of({"": documents})
        return self._handed_on(pool, await self._ajudged(pool, query, callbacks))

    def compress_result(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> RetrievalResult:
        """The whole result; `original_id` is the document's id (`document-<n>` for those without)."""
        return self._judged(pool_of({"": documents}), query, callbacks)

    async def acompress_result(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> RetrievalResult:
        """The same without blocking the event loop."""
        return await self._ajudged(pool_of({"": documents}), query, callbacks)

    def _judged(self, pool: Pool, query: str, callbacks: Callbacks | None) -> RetrievalResult:
        config = _config(callbacks)
        result = pool.complete(self.arbiter(config).rank(query, pool.passages))
        tell(result, get_callback_manager_for_config(config))
        return result

    async def _ajudged(self, pool: Pool, query: str, callbacks: Callbacks | None) -> RetrievalResult:
        config = _config(callbacks)
        result = pool.complete(await self.arbiter(config).arank(query, pool.passages))
        await atell(result, get_async_callback_manager_for_config(config))
        return result

    def _handed_on(self, pool: Pool, result: RetrievalResult) -> list[Document]:
        return emitted_copies(pool, result, self.emitted(result)[: self.top_n])


def _config(callbacks: Callbacks | None) -> RunnableConfig:
    """The caller's callbacks; without any those of the surrounding run, as in a chain's lambda."""
    return ensure_config({"callbacks": callbacks} if callbacks is not None else None)
