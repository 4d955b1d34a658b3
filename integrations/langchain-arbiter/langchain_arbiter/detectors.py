"""Arbiter's detectors as retrievers of their own: by title, by keyword, by embedding; no model judges here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import ConfigDict, Field, model_validator

from arbiter_rag import ConfigurationError, Lexicon, ParsedDocument, parse_question
from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.detectors import EmbeddingDetector, KeywordDetector, TocDetector
from arbiter_rag.detectors.index import index_of
from arbiter_rag.embedders import CachedEmbedder
from langchain_arbiter.embedder import LangChainEmbedder
from langchain_arbiter.sections import MAX_CHARS, Part, parts_of
from langchain_arbiter.settings import PdfSources, Sources, sources, whole

Self = TypeVar("Self", bound="_DetectorRetriever")
_PER_HIT = 2
"""Parts of a long section that its title alone brings in before other sections had their turn."""


class _DetectorRetriever(PdfSources, BaseRetriever):
    """Sections as `ArbiterPdfLoader` gives them, in a detector's order; `page` is where it matched, `score` its own."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    k: int = Field(default=5, ge=1)
    """Most documents; also an argument of `invoke`."""
    lexicon: Lexicon | None = None
    """The expert's dictionary: variants to look for beside the question's own words."""
    max_chars: int = Field(default=MAX_CHARS, ge=1)
    """Longer sections are split at the ends of paragraphs."""

    @classmethod
    def from_pdf(cls: type[Self], path_or_paths: Sources, **settings: Any) -> Self:
        """Search PDFs: paths, or documents parsed already; `settings` are fields of the class, such as `k`."""
        given: dict[str, Any] = {**sources(path_or_paths), **settings}
        return cls(**given)

    @model_validator(mode="after")
    def _has_pdfs(self: Self) -> Self:
        if not self.parsed:
            raise ConfigurationError("Expected PDFs to search (from_pdf, paths= or documents=); got none.")
        return self

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """True: paths and settings are plain values."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """`langchain_arbiter`."""
        return ["langchain_arbiter"]

    def _hits(self, question: ParsedQuestion, document: ParsedDocument) -> Sequence[Hit]:
        raise NotImplementedError

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        question = parse_question(query, self.lexicon)
        return self._best([(d, self._hits(question, d)) for d in self.parsed], k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        # The base class does the same, but without `k`.
        manager = run_manager.get_sync()
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=manager, k=k)

    def _best(self, found: Iterable[tuple[ParsedDocument, Sequence[Hit]]], k: int | None) -> list[Document]:
        most = self.k if k is None else whole(k, "k")
        ranked = [(h.score, d, h) for d, hits in found for h in hits]
        ranked.sort(key=lambda item: -item[0])
        first: dict[str, Document] = {}
        later: dict[str, Document] = {}
        for _, document, hit in ranked:
            matched = self._matched(document, hit)
            for into, parts in ((first, matched[:_PER_HIT]), (later, matched[_PER_HIT:])):
                for part in parts:
                    copy = _at(document, part, hit)
                    into.setdefault(str(copy.id), copy)
        return list((first | {i: d for i, d in later.items() if i not in first}).values())[:most]

    def _matched(self, document: ParsedDocument, hit: Hit) -> list[Part]:
        """The part in which a hit begins."""
        parts = self._parts(document)
        row, _ = document.rows(hit.scope)
        at = bisect_right([part.start for part in parts], row) - 1
        return [parts[at]] if at >= 0 else parts[:1]

    def _parts(self, document: ParsedDocument) -> list[Part]:
        source = self.source_of(document.doc_id)
        return document.derived(f"parts:{self.max_chars}:{source}", lambda d: parts_of(d, source, self.max_chars))


class TocRetriever(_DetectorRetriever):
    """Sections whose title says what the question asks, exact matches first.

    Of a long section the beginning comes first; of a heading without text of its own, what stands under it.
    """

    def _hits(self, question: ParsedQuestion, document: ParsedDocument) -> Sequence[Hit]:
        return TocDetector(limit=max(20, self.k)).detect(question, document)

    def _matched(self, document: ParsedDocument, hit: Hit) -> list[Part]:
        section = next(s for s in document.sections if s.section_id == hit.scope.section_id)
        bare = section.own_end - section.start <= section.heading_rows
        end = section.full_end if bare else section.own_end
        own = [p for p in self._parts(document) if section.start <= p.start < end]
        return own[1:] if bare and len(own) > 1 else own


class KeywordRetriever(_DetectorRetriever):
    """Sections that hold the question's words, best where they stand together."""

    def _hits(self, question: ParsedQuestion, document: ParsedDocument) -> Sequence[Hit]:
        return KeywordDetector(limit=max(40, 4 * self.k)).detect(question, document)


class EmbeddingRetriever(_DetectorRetriever):
    """Sections that hold a passage close in meaning to the question."""

    embeddings: Embeddings
    """What turns text into vectors; a document's vectors are made once and kept with it (or in `cache_dir`)."""

    def _detector(self) -> EmbeddingDetector:
        embedder = LangChainEmbedder(self.embeddings)
        kept = CachedEmbedder(embedder, self.cache_dir) if self.cache_dir else embedder
        return EmbeddingDetector(kept, limit=max(20, 4 * self.k))

    def _hits(self, question: ParsedQuestion, document: ParsedDocument) -> Sequence[Hit]:
        return self._detector().detect(question, document)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        """The embeddings in their own async form, everything else in a thread."""
        question = await run_in_executor(None, parse_question, query, self.lexicon)
        detector = self._detector()
        found: list[tuple[ParsedDocument, Sequence[Hit]]] = []
        for document in self.parsed:
            await run_in_executor(None, index_of, document)
            found.append((document, await detector.adetect(question, document)))
        return await run_in_executor(None, self._best, found, k)


def _at(document: ParsedDocument, part: Part, hit: Hit) -> Document:
    """A copy of the part's document that says where in it the hit begins, and its score."""
    page = max(hit.scope.page_start, document.pages[part.start])
    metadata = {
        **part.document.metadata,
        "page": page - 1,
        "page_label": document.page_labels[page - 1],
        "score": hit.score,
    }
    return part.document.model_copy(update={"metadata": metadata})
