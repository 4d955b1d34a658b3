"""Arbiter as LangChain retrievers, a document compressor and a loader."""

from langchain_arbiter.compressor import ArbiterDocumentCompressor
from langchain_arbiter.detectors import EmbeddingRetriever, KeywordRetriever, TocRetriever
from langchain_arbiter.judge import LangChainJudge
from langchain_arbiter.loader import ArbiterPdfLoader
from langchain_arbiter.retriever import ArbiterRetriever

__all__ = [
    "ArbiterDocumentCompressor",
    "ArbiterPdfLoader",
    "ArbiterRetriever",
    "EmbeddingRetriever",
    "KeywordRetriever",
    "LangChainJudge",
    "TocRetriever",
]
