"""LangChain's own standard tests of retrievers, as they are, for every retriever of this package."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from arbiter_rag import samples
from langchain_arbiter import ArbiterRetriever, EmbeddingRetriever, KeywordRetriever, TocRetriever

PATH = str(samples.path("policy_en"))
QUESTION = "What is the deductible for water damage?"


class _Standard(RetrieversIntegrationTests):
    retriever_query_example = QUESTION  # type: ignore[assignment]  # the base class has a property


class TestFromPdf(_Standard):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return ArbiterRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"paths": [PATH]}


class TestFromRetrievers(TestFromPdf):
    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retrievers": [KeywordRetriever.from_pdf(PATH, k=8), TocRetriever.from_pdf(PATH, k=8)]}


class TestToc(TestFromPdf):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return TocRetriever


class TestKeyword(TestFromPdf):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return KeywordRetriever


class TestEmbedding(TestFromPdf):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return EmbeddingRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"paths": [PATH], "embeddings": DeterministicFakeEmbedding(size=64)}
