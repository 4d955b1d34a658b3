"""Arbiter as LlamaIndex retrievers: the arbiter itself, and its detectors for anybody's fusion."""

from llama_index.retrievers.arbiter.base import ArbiterRetriever
from llama_index.retrievers.arbiter.detectors import EmbeddingRetriever, KeywordRetriever, TocRetriever

__all__ = ["ArbiterRetriever", "EmbeddingRetriever", "KeywordRetriever", "TocRetriever"]
