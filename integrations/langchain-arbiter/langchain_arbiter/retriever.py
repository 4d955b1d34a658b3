"""The retriever: PDFs, or what other retrievers propose, judged in one call a question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import patch_config
from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from arbiter_rag import ConfigurationError, InputError, Lexicon, RetrievalResult, RetrievedCandidate
from arbiter_rag.embedders import CachedEmbedder
from langchain_arbiter.documents import Pool, emitted_copies, pool_of, verdict
from langchain_arbiter.embedder import LangChainEmbedder
from langchain_arbiter.settings import Judging, PdfSources, Sources, atell, sources, tell, whole

Proposer = Runnable[str, list[Document]]


@dataclass(slots=True)
class _Call:
    """One question on its way through LangChain's own `invoke`: its config in, its whole result out."""

    config: RunnableConfig = field(default_factory=RunnableConfig)
    results: list[RetrievalResult] = field(default_factory=list)


class ArbiterRetriever(Judging, PdfSources, BaseRetriever):
    """Retrieves what answers a question, each document with role, reason and checked quote; or nothing, and says why.

    Give it PDFs (`from_pdf`), which Arbiter's own detectors search, or `retrievers`, whose documents are judged
    together in place of reciprocal rank fusion. Either way a question costs one completion.

    Example:
        >>> retriever = ArbiterRetriever.from_pdf("policy.pdf", llm=ChatOpenAI(model="gpt-5-mini"))
        >>> ArbiterRetriever(retrievers={"bm25": bm25, "vectors": store.as_retriever()}, llm=llm, k=5)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retrievers: Mapping[str, Proposer] | Sequence[Proposer] | None = None
    """Who proposes instead of the PDFs' detectors; keys are the methods' names."""
    k: int = Field(default=5, ge=1)
    """Most documents handed on; also an argument of `invoke`."""
    embeddings: Embeddings | None = None
    """Adds the embedding detector for PDFs."""
    lexicon: Lexicon | None = None
    """The expert's dictionary: variants to look for beside the question's own words."""
    max_candidates: int | None = Field(default=None, ge=1)
    """Most candidates that the PDFs' detectors propose; by default 10, or `k` where that is more."""
    max_context_tokens: int = Field(default=1_500, ge=1)
    """Most tokens of a PDF candidate's text."""

    _embedder: Any = PrivateAttr(default=None)

    @classmethod
    def from_pdf(cls, path_or_paths: Sources, **settings: Any) -> ArbiterRetriever:
        """Search PDFs.

        Args:
            path_or_paths: One PDF or several: paths, or documents parsed already.
            settings: Fields of this class, such as `llm`, `embeddings` and `k`.
        """
        given: dict[str, Any] = {**sources(path_or_paths), **settings}
        return cls(**given)

    @field_validator("retrievers", mode="before")
    @classmethod
    def _are_retrievers(cls, given: Any) -> Any:
        """Refused in one sentence, where pydantic would name every alternative of the type."""
        several = [*given.values()] if isinstance(given, Mapping) else given
        names = [*given] if isinstance(given, Mapping) else []
        fit = isinstance(several, list | tuple) and several and all(isinstance(r, Runnable) for r in several)
        if given is None or (fit and all(isinstance(name, str) and name for name in names)):
            return given
        raise InputError(
            "retrievers= takes a list of retrievers (or other runnables from a question to documents), or a dict from "
            f"a name to each, such as {{'vectors': store.as_retriever()}}; got {_told(given)}."
        )

    @model_validator(mode="after")
    def _one_origin(self) -> ArbiterRetriever:
        if (self.retrievers is None) == (not self.paths and not self.documents):
            raise ConfigurationError(
                "Expected PDFs (paths=, documents= or from_pdf) or retrievers=; give one of them, not both or neither."
            )
        if self.retrievers is not None and self.embeddings is not None:
            raise ConfigurationError("embeddings= search PDFs; with retrievers=, give a vector store's retriever.")
        return self

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """True, as far as model, embeddings and retrievers are."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """`langchain_arbiter`."""
        return ["langchain_arbiter"]

    # --- what users call ----------------------------------------------------------------------------------------

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002  the base class names it so
        """Documents that answer the question, best first; `k=` overrides the field."""
        call = kwargs.pop("call", None) or _Call()
        call.config = ensure_config(config)
        return super().invoke(input, config, call=call, **kwargs)

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002  the base class names it so
        """The same without blocking the event loop; retrievers are asked concurrently."""
        call = kwargs.pop("call", None) or _Call()
        call.config = ensure_config(config)
        return await super().ainvoke(input, config, call=call, **kwargs)

    def retrieve_result(self, query: str, config: RunnableConfig | None = None) -> RetrievalResult:
        """The whole result: what was kept, discarded and cut, and why; the run is traced as that of `invoke`."""
        call = _Call()
        self.invoke(query, config, call=call)
        return call.results[0]

    async def aretrieve_result(self, query: str, config: RunnableConfig | None = None) -> RetrievalResult:
        """The same without blocking the event loop."""
        call = _Call()
        await self.ainvoke(query, config, call=call)
        return call.results[0]

    # --- the path -----------------------------------------------------------------------------------------------

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        call: _Call | None = None,
    ) -> list[Document]:
        call, k = call or _Call(), self._checked(k)
        children = run_manager.get_child()
        pool = None
        if self.retrievers is not None:
            found = {
                name: retriever.invoke(query, patch_config(call.config, callbacks=run_manager.get_child(tag=name)))
                for name, retriever in self._named().items()
            }
            pool = pool_of(found)
        arbiter = self._arbiter(patch_config(call.config, callbacks=children), k)
        if pool is None:
            result = arbiter.retrieve(query, self.parsed)
        else:
            result = pool.complete(arbiter.rank(query, pool.passages))
        tell(result, children)
        call.results.append(result)
        return self._handed_on(pool, result, k)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        call: _Call | None = None,
    ) -> list[Document]:
        call, k = call or _Call(), self._checked(k)
        children = run_manager.get_child()
        pool = await self._aproposed(query, run_manager, call.config) if self.retrievers is not None else None
        arbiter = self._arbiter(patch_config(call.config, callbacks=children), k)
        if pool is None:
            result = await arbiter.aretrieve(query, self.parsed)
        else:
            result = pool.complete(await arbiter.arank(query, pool.passages))
        await atell(result, children)
        call.results.append(result)
        return self._handed_on(pool, result, k)

    async def _aproposed(
        self, query: str, run_manager: AsyncCallbackManagerForRetrieverRun, config: RunnableConfig
    ) -> Pool:
        named = self._named()
        tasks = [
            asyncio.ensure_future(r.ainvoke(query, patch_config(config, callbacks=run_manager.get_child(tag=name))))
            for name, r in named.items()
        ]
        try:
            found = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:  # gather leaves the others running when one fails
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        return pool_of(dict(zip(named, found, strict=True)))

    def _named(self) -> dict[str, Proposer]:
        """Retrievers by method name: the keys given, else a retriever's name or class, numbered where it repeats."""
        if isinstance(self.retrievers, Mapping):
            return dict(self.retrievers)
        named: dict[str, Proposer] = {}
        for retriever in self.retrievers or ():
            own = getattr(retriever, "name", None) or type(retriever).__name__.removesuffix("Retriever").lower()
            name, n = own, 1
            while name in named:
                n += 1
                name = f"{own} {n}"
            named[name] = retriever
        return named

    def _arbiter(self, config: RunnableConfig, k: int) -> Any:
        return self.arbiter(
            config,
            embedder=self._embedder_of(),
            lexicon=self.lexicon,
            max_candidates=self.max_candidates or max(10, k),
            max_context_tokens=self.max_context_tokens,
        )

    def _embedder_of(self) -> Any:
        if self.embeddings is None:
            return None
        known, embedder = self._embedder or (None, None)
        if known is not self.embeddings:
            made = LangChainEmbedder(self.embeddings)
            embedder = CachedEmbedder(made, self.cache_dir) if self.cache_dir else made
            self._embedder = (self.embeddings, embedder)
        return embedder

    def _checked(self, k: int | None) -> int:
        return self.k if k is None else whole(k, "k")

    def _handed_on(self, pool: Pool | None, result: RetrievalResult, k: int) -> list[Document]:
        candidates = self.emitted(result)[:k]
        if pool is not None:
            return emitted_copies(pool, result, candidates)
        return [self._document(c, result) for c in candidates]

    def _document(self, candidate: RetrievedCandidate, result: RetrievalResult) -> Document:
        """A PDF candidate with the citation keys that LangChain's loaders write; `page` is 0-based as theirs."""
        holder = next((c for c in result.candidates if c.candidate_id == candidate.text_in), candidate)
        return Document(
            page_content=holder.text or candidate.snippet,
            id=f"{candidate.doc_id}:{candidate.candidate_id}",
            metadata={
                "source": self.source_of(candidate.doc_id),
                "page": (candidate.page or 1) - 1,
                "page_label": candidate.page_label or "",
                "section": candidate.section_title or "",
                "breadcrumb": candidate.breadcrumb or "",
                **verdict(candidate, result),
            },
        )


def _told(given: object) -> str:
    """What was given instead of retrievers, by its types."""
    if isinstance(given, Mapping):
        parts = [f"{key!r}: {type(value).__name__}" for key, value in given.items()]
        return f"{{{', '.join(parts)}}}"
    if isinstance(given, list | tuple):
        return f"[{', '.join(type(value).__name__ for value in given)}]"
    return f"a single {type(given).__name__}"
