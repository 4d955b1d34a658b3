"""Arbiter's detectors as ordinary retrievers: alone, or in anybody's fusion."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from arbiter_rag import Candidate, InputError, Lexicon, ParsedDocument, parse_question
from arbiter_rag.candidates import gather
from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.detectors import EmbeddingDetector, KeywordDetector, TocDetector
from arbiter_rag.detectors.index import index_of
from llama_index.postprocessor.arbiter.nodes import with_metadata
from llama_index.postprocessor.arbiter.settings import number_of
from llama_index.retrievers.arbiter.documents import Sources, node_of, opened
from llama_index.retrievers.arbiter.embedder import LlamaIndexEmbedder
from llama_index.retrievers.arbiter.events import EventfulRetriever
from llama_index.retrievers.arbiter.together import all_of

CONTEXT_TOKENS = 1_500


class DetectorRetriever(EventfulRetriever):
    """One detector over documents: hits become nodes, best first by the detector's own raw score.

    Args:
        documents: What to search.
        similarity_top_k: Most nodes that come out.
        lexicon: The expert's dictionary: variants to look for beside the question's own words.
        expose_metadata: Show `arbiter_*` metadata to LLMs and embedding models.
    """

    method: str

    def __init__(
        self,
        documents: Sequence[ParsedDocument],
        *,
        similarity_top_k: int = 5,
        lexicon: Lexicon | None = None,
        expose_metadata: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._documents = opened(documents)
        self._top_k = number_of("similarity_top_k", similarity_top_k)
        if lexicon is not None and not isinstance(lexicon, Lexicon):
            raise InputError(f"lexicon= takes a Lexicon: Lexicon.load(path); got {type(lexicon).__name__}.")
        self._lexicon = lexicon
        self._expose = expose_metadata
        super().__init__(callback_manager=callback_manager)

    @abstractmethod
    def _hits(self, question: ParsedQuestion) -> list[Hit]:
        """What the detector finds."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = parse_question(query_bundle.query_str, self._lexicon)
        return self._nodes(question, self._hits(question))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)  # nothing to wait for, but a long document to read

    def _nodes(self, question: ParsedQuestion, hits: Sequence[Hit]) -> list[NodeWithScore]:
        # Wider than what is asked for: candidates of one section grow to the same text, which is given once.
        found, _ = gather(question, self._documents, hits, limit=4 * self._top_k, context_tokens=CONTEXT_TOKENS)
        scored = sorted(((_score(c), c) for c in found if c.hits), key=lambda pair: (-pair[0], pair[1].incoming_rank))
        nodes: dict[str, NodeWithScore] = {}
        for score, candidate in scored:
            node = node_of(candidate, self._documents)
            if node.node_id not in nodes:
                known = {
                    "arbiter_methods": [self.method],
                    "arbiter_matched_keywords": list(candidate.matched_keywords),
                    "arbiter_page": candidate.page,
                    "arbiter_candidate_id": candidate.candidate_id,
                }
                copy = with_metadata(node, known, expose=self._expose)
                nodes[node.node_id] = NodeWithScore(node=copy, score=score)
        return list(nodes.values())[: self._top_k]


class LexicalRetriever(DetectorRetriever):
    """A detector that needs no model."""

    @classmethod
    def from_pdf(
        cls,
        path_or_paths: Sources,
        *,
        similarity_top_k: int = 5,
        lexicon: Lexicon | None = None,
        cache_dir: str | Path | None = None,
        expose_metadata: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> Self:
        """Over PDF files."""
        return cls(
            opened(path_or_paths, cache_dir),
            similarity_top_k=similarity_top_k,
            lexicon=lexicon,
            expose_metadata=expose_metadata,
            callback_manager=callback_manager,
        )


class TocRetriever(LexicalRetriever):
    """Sections whose title the question names, by words or by number ("section 5.2")."""

    method = "toc"

    def _hits(self, question: ParsedQuestion) -> list[Hit]:
        return _over(self._documents, TocDetector(), question)


class KeywordRetriever(LexicalRetriever):
    """Passages in which the question's words stand together."""

    method = "keyword"

    def _hits(self, question: ParsedQuestion) -> list[Hit]:
        return _over(self._documents, KeywordDetector(), question)


class EmbeddingRetriever(DetectorRetriever):
    """Passages that are close in meaning, by an embedding model; something is always nearest.

    Args:
        documents: What to search; each is embedded once, at its first question.
        embed_model: The embedding model.
    """

    method = "embedding"

    def __init__(
        self,
        documents: Sequence[ParsedDocument],
        embed_model: BaseEmbedding,
        *,
        similarity_top_k: int = 5,
        expose_metadata: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._embed_model = LlamaIndexEmbedder(embed_model).model  # refuses what is none
        super().__init__(
            documents,
            similarity_top_k=similarity_top_k,
            expose_metadata=expose_metadata,
            callback_manager=callback_manager,
        )

    @classmethod
    def from_pdf(
        cls,
        path_or_paths: Sources,
        embed_model: BaseEmbedding,
        *,
        similarity_top_k: int = 5,
        cache_dir: str | Path | None = None,
        expose_metadata: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> Self:
        """Over PDF files."""
        return cls(
            opened(path_or_paths, cache_dir),
            embed_model,
            similarity_top_k=similarity_top_k,
            expose_metadata=expose_metadata,
            callback_manager=callback_manager,
        )

    def _hits(self, question: ParsedQuestion) -> list[Hit]:
        return _over(self._documents, self._detector, question)

    @property
    def _detector(self) -> EmbeddingDetector:
        return EmbeddingDetector(LlamaIndexEmbedder(self._embed_model))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = await asyncio.to_thread(parse_question, query_bundle.query_str)
        for document in self._documents:
            await asyncio.to_thread(index_of, document)  # seconds for a long document, once
        found = await all_of(self._detector.adetect(question, d) for d in self._documents)
        return await asyncio.to_thread(self._nodes, question, [hit for hits in found for hit in hits])


def _over(
    documents: Iterable[ParsedDocument], detector: TocDetector | KeywordDetector | EmbeddingDetector, q: ParsedQuestion
) -> list[Hit]:
    return [hit for document in documents for hit in detector.detect(q, document)]


def _score(candidate: Candidate) -> float:
    return max(hit.score for hit in candidate.hits)
