"""The retriever: detectors or anybody's retrievers propose, one judgement decides, nodes with roles come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle

from arbiter_rag import Arbiter, InputError, Lexicon, ParsedDocument, RetrievalResult
from arbiter_rag.audit import AuditLog
from arbiter_rag.judges.base import Judge
from llama_index.postprocessor.arbiter.base import judge_of, question_of, speechless
from llama_index.postprocessor.arbiter.events import announce
from llama_index.postprocessor.arbiter.nodes import Pool, verdict_node
from llama_index.postprocessor.arbiter.settings import (
    ROLES,
    OnNotFound,
    Retrievers,
    Roles,
    number_of,
    on_not_found_of,
    retrievers_of,
    roles_of,
)
from llama_index.retrievers.arbiter.documents import Sources, node_of, opened
from llama_index.retrievers.arbiter.embedder import LlamaIndexEmbedder
from llama_index.retrievers.arbiter.events import EventfulRetriever
from llama_index.retrievers.arbiter.together import all_of


class ArbiterRetriever(EventfulRetriever):
    """Retrieves with one judgement instead of a fused number: each node comes with its role and a reason.

    Either over PDF files (`from_pdf`), or in place of `QueryFusionRetriever`: `retrievers=` propose, what they found
    is judged in one call. `top_n` bounds what comes out, never what is judged.

    Args:
        retrievers: Retrievers of any kind, or name -> retriever; the name (else the class's) is kept as the method.
        llm: Who judges; by default `Settings.llm`.
        top_n: Most nodes that come out.
        documents: Parsed documents to search instead of asking retrievers.
        embed_model: Adds the embedding detector over `documents`; without one only words and titles propose.
        judge: A judge of Arbiter's instead of an LLM; `RuleJudge()` needs no model.
        roles: Which roles come out.
        on_not_found: `empty` returns no node when none holds the answer, `keep` returns what has one of the roles.
        expose_metadata: Show `arbiter_*` metadata to the LLM that answers and to embedding models.
        instructions: Your domain rules, added to the judge's prompt.
        lexicon: The expert's dictionary: variants to look for beside the question's own words.
        max_candidates: Most candidates that the detectors propose; of retrievers everything is judged.
        max_prompt_tokens: Budget of the judge's prompt.
        cache_dir: Where vectors may be kept; nothing is written without it.
        on_error: When the LLM fails: decide by rules and say so (`arbiter_status` is `degraded`), or raise.
        on_unverified: What becomes of a primary whose quote does not stand in its passage.
        audit: Where each decision is recorded; its id stands in `arbiter_record_id`.
    """

    def __init__(
        self,
        retrievers: Retrievers | None = None,
        llm: LLM | None = None,
        top_n: int = 5,
        *,
        documents: Sequence[ParsedDocument] | None = None,
        embed_model: BaseEmbedding | None = None,
        judge: Judge | None = None,
        roles: Sequence[str] = ROLES,
        on_not_found: OnNotFound = "empty",
        expose_metadata: bool = False,
        instructions: str | None = None,
        lexicon: Lexicon | None = None,
        max_candidates: int = 10,
        max_prompt_tokens: int = 16_000,
        cache_dir: str | Path | None = None,
        on_error: Literal["fallback", "raise"] = "fallback",
        on_unverified: Literal["demote", "flag", "discard"] = "demote",
        audit: AuditLog | None = None,
        callback_manager: CallbackManager | None = None,
        objects: list[IndexNode] | None = None,
        object_map: dict[str, object] | None = None,
    ) -> None:
        if (retrievers is None) == (documents is None):
            raise InputError("Either retrievers= or documents= was expected; for PDF files call from_pdf(path).")
        self._retrievers = retrievers_of(retrievers) if retrievers is not None else {}
        self._documents = opened(documents) if documents is not None else ()
        self._top_n = number_of("top_n", top_n)
        self._roles: Roles = roles_of(roles)
        self._on_not_found: OnNotFound = on_not_found_of(on_not_found)
        self._expose = expose_metadata
        self._arbiter = Arbiter(
            judge_of(llm, judge),
            LlamaIndexEmbedder(embed_model) if embed_model is not None else None,
            lexicon,
            max_candidates=max_candidates,
            max_prompt_tokens=max_prompt_tokens,
            instructions=instructions,
            cache_dir=cache_dir,
            on_error=on_error,
            on_unverified=on_unverified,
            audit=audit,
        )
        super().__init__(callback_manager=callback_manager, objects=objects, object_map=object_map)

    @classmethod
    def from_pdf(
        cls,
        path_or_paths: Sources,
        llm: LLM | None = None,
        embed_model: BaseEmbedding | None = None,
        top_n: int = 5,
        *,
        judge: Judge | None = None,
        roles: Sequence[str] = ROLES,
        on_not_found: OnNotFound = "empty",
        expose_metadata: bool = False,
        instructions: str | None = None,
        lexicon: Lexicon | None = None,
        max_candidates: int = 10,
        max_prompt_tokens: int = 16_000,
        cache_dir: str | Path | None = None,
        on_error: Literal["fallback", "raise"] = "fallback",
        on_unverified: Literal["demote", "flag", "discard"] = "demote",
        audit: AuditLog | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> Self:
        """Over one PDF or several: the table of contents, keywords and (with `embed_model`) embeddings propose.

        Raises:
            DocumentError: A path cannot be opened as a PDF.
            ConfigurationError: PyMuPDF is missing (extra `pdf`).
        """
        return cls(
            llm=llm,
            top_n=top_n,
            documents=opened(path_or_paths, cache_dir),
            embed_model=embed_model,
            judge=judge,
            roles=roles,
            on_not_found=on_not_found,
            expose_metadata=expose_metadata,
            instructions=instructions,
            lexicon=lexicon,
            max_candidates=max_candidates,
            max_prompt_tokens=max_prompt_tokens,
            cache_dir=cache_dir,
            on_error=on_error,
            on_unverified=on_unverified,
            audit=audit,
            callback_manager=callback_manager,
        )

    # --- the whole result ---------------------------------------------------------------------------------------

    def retrieve_result(self, query: QueryBundle | str) -> RetrievalResult:
        """As `retrieve`, but everything: discarded candidates with reasons, faults, and why nothing was found."""
        return self._result(question_of(query))[0]

    async def aretrieve_result(self, query: QueryBundle | str) -> RetrievalResult:
        """`retrieve_result` without blocking the event loop."""
        return (await self._aresult(question_of(query)))[0]

    # --- what the framework calls ---------------------------------------------------------------------------------

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if speechless(query_bundle) and self._retrievers:
            return self._pool([r.retrieve(query_bundle) for r in self._retrievers.values()]).as_given
        return self._emitted(*self._result(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if speechless(query_bundle) and self._retrievers:
            return self._pool(await self._all(query_bundle)).as_given
        return self._emitted(*await self._aresult(query_bundle))

    def _result(self, query: QueryBundle) -> tuple[RetrievalResult, Pool]:
        if self._documents:
            return self._told(self._arbiter.retrieve(query.query_str, self._documents), Pool((), ()))
        pool = self._pool([r.retrieve(query) for r in self._retrievers.values()])
        return self._told(self._arbiter.rank(query.query_str, pool.passages), pool)

    async def _aresult(self, query: QueryBundle) -> tuple[RetrievalResult, Pool]:
        if self._documents:
            return self._told(await self._arbiter.aretrieve(query.query_str, self._documents), Pool((), ()))
        pool = self._pool(await self._all(query))
        return self._told(await self._arbiter.arank(query.query_str, pool.passages), pool)

    async def _all(self, query: QueryBundle) -> list[list[NodeWithScore]]:
        return await all_of(r.aretrieve(query) for r in self._retrievers.values())

    def _pool(self, found: Sequence[list[NodeWithScore]]) -> Pool:
        return Pool.of(dict(zip(self._retrievers, found, strict=True)), by_text=True)

    def _told(self, result: RetrievalResult, pool: Pool) -> tuple[RetrievalResult, Pool]:
        result = pool.complete(result)
        announce(result)
        return result, pool

    def _emitted(self, result: RetrievalResult, pool: Pool) -> list[NodeWithScore]:
        if not self._documents:
            return pool.emit(
                result, roles=self._roles, on_not_found=self._on_not_found, top_n=self._top_n, expose=self._expose
            )
        # A text that a better ranked candidate's text holds comes out once, with the better one.
        kept = [c for c in result.emitted(self._roles, self._on_not_found) if c.text_in is None]
        return [verdict_node(node_of(c, self._documents), c, result, expose=self._expose) for c in kept[: self._top_n]]
