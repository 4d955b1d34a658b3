"""The real `langchain-openai` over loopback: RAG chains and `ContextualCompressionRetriever`, sync and async."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from arbiter_rag import samples
from arbiter_rag.testing import ScriptedServer, candidates_in
from langchain_arbiter import ArbiterDocumentCompressor, ArbiterPdfLoader, ArbiterRetriever, KeywordRetriever

Serve = Callable[..., Any]
QUESTION = "What is the deductible for water damage?"
PATH = samples.path("policy_en")
PROMPT = ChatPromptTemplate.from_template("Answer from this:\n{context}\n\nQuestion: {question}")


def _chain(retriever: Runnable[str, list[Document]], llm: Any) -> Runnable[str, str]:
    def joined(documents: list[Document]) -> str:
        return "\n\n".join(d.page_content for d in documents)

    given: Any = {"context": retriever | joined, "question": RunnablePassthrough()}
    return given | PROMPT | llm | StrOutputParser()


def _asked(server: ScriptedServer) -> tuple[int, int]:
    """How many completions were Arbiter's and how many the chain's own."""
    arbiter = sum(candidates_in(request) is not None for request in server.requests)
    return arbiter, server.count() - arbiter


def _store() -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents(ArbiterPdfLoader(PATH).load())
    return store


def _retriever(kind: str, llm: Any) -> Runnable[str, list[Document]]:
    if kind == "pdf":
        return ArbiterRetriever.from_pdf(PATH, llm=llm)
    vectors = _store().as_retriever(search_kwargs={"k": 20})
    if kind == "retrievers":
        return ArbiterRetriever(retrievers={"vectors": vectors, "keyword": KeywordRetriever.from_pdf(PATH)}, llm=llm)
    compressor: Any = ArbiterDocumentCompressor(llm=llm)
    if kind == "pipeline":
        compressor = DocumentCompressorPipeline(transformers=[compressor])
    return ContextualCompressionRetriever(base_compressor=compressor, base_retriever=vectors)


KINDS = ["pdf", "retrievers", "compression", "pipeline"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_arbiter_completion_a_query(serve: Serve, kind: str) -> None:
    server, llm = serve()
    usage = UsageMetadataCallbackHandler()
    answer = _chain(_retriever(kind, llm), llm).invoke(QUESTION, {"callbacks": [usage], "tags": ["mine"]})
    assert answer == "A scripted answer."
    assert _asked(server) == (1, 1)
    assert usage.usage_metadata["scripted-model"]["total_tokens"] == 240


@pytest.mark.parametrize("kind", KINDS)
async def test_one_arbiter_completion_a_query_async(serve: Serve, kind: str) -> None:
    server, llm = serve()
    usage = UsageMetadataCallbackHandler()
    chain = _chain(_retriever(kind, llm), llm)
    assert await chain.ainvoke(QUESTION, {"callbacks": [usage]}) == "A scripted answer."
    assert _asked(server) == (1, 1)
    assert usage.usage_metadata["scripted-model"]["total_tokens"] == 240
    assert await chain.abatch([QUESTION, "When is the premium due?"]) == ["A scripted answer."] * 2
    assert _asked(server) == (3, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_judge_does_not_stop_the_chain(serve: Serve, kind: str) -> None:
    def script(request: Any) -> Any:
        return 503 if candidates_in(request) is not None else "An answer all the same."

    server, llm = serve(script)
    assert _chain(_retriever(kind, llm), llm).invoke(QUESTION) == "An answer all the same."
    assert _asked(server) == (1, 1)


def test_streamed_chains_stream_the_answer_alone(serve: Serve) -> None:
    server, llm = serve()
    chain = _chain(_retriever("pdf", llm), llm)
    assert "".join(chain.stream(QUESTION)) == "A scripted answer."
    assert _asked(server) == (1, 1)
