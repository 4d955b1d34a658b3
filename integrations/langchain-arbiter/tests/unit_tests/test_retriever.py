"""The retriever from PDFs and from other retrievers: what is judged, what is handed on, and how runs are traced."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field

from arbiter_rag import (
    ConfigurationError,
    ParsedDocument,
    RetrievalResult,
    RuleJudge,
    samples,
)
from arbiter_rag.audit import AuditLog
from arbiter_rag.testing import ScriptedJudge, candidates_in
from langchain_arbiter import (
    ArbiterDocumentCompressor,
    ArbiterPdfLoader,
    ArbiterRetriever,
    KeywordRetriever,
    TocRetriever,
)

Serve = Callable[..., Any]
QUESTION = "What is the deductible for water damage?"
SILENT: dict[str, object] = {
    "rankings": [{"candidate_id": "none", "reason": "", "role": "discarded", "quote": None}],
    "conflicts": [],
}
PATH = samples.path("policy_en")


class Fixed(BaseRetriever):
    """Gives its documents, whatever the question."""

    found: list[Document] = Field(default_factory=list)
    wait: float = 0.0

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return list(self.found)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(self.wait)
        return list(self.found)


class Broken(BaseRetriever):
    """Fails."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise RuntimeError("index gone")


class Seen(BaseCallbackHandler):
    """Runs and results as a user's handler sees them."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, list[str]]] = []
        self.tokens: list[int] = []
        self.results: list[RetrievalResult] = []
        self.errors: list[BaseException] = []

    def on_retriever_start(self, serialized: Any, query: str, *, tags: Any = None, **kwargs: Any) -> None:
        self.runs.append((kwargs.get("name") or "", list(tags or ())))

    def on_retriever_error(self, error: BaseException, **kwargs: Any) -> None:
        self.errors.append(error)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, tags: Any = None, **kwargs: Any) -> None:
        self.runs.append(("model", list(tags or ())))

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self.tokens.append(response.generations[0][0].message.usage_metadata["total_tokens"])

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        self.results.append(data)


def test_from_pdf_gives_citable_documents(policy: ParsedDocument) -> None:
    documents = ArbiterRetriever.from_pdf(PATH, k=3).invoke(QUESTION)
    first = documents[0]
    page = first.metadata["page"]
    assert first.metadata["arbiter_role"] == "primary"
    assert first.metadata["source"] == str(PATH)
    assert first.metadata["arbiter_page"] == page + 1
    assert first.metadata["page_label"] == policy.page_labels[page]
    assert first.metadata["section"]
    assert first.metadata["breadcrumb"].endswith(first.metadata["section"])
    assert first.metadata["arbiter_quote"].split("\t")[0] in first.page_content
    assert len({d.id for d in documents}) == len(documents)


def test_texts_are_handed_on_once() -> None:
    documents = ArbiterRetriever.from_pdf(PATH, k=10).invoke("How much is the annual premium and when is it due?")
    lines = [line for d in documents for line in d.page_content.split("\n") if len(line) > 60]
    assert len(lines) == len(set(lines))
    assert all(d.page_content for d in documents)


def test_several_pdfs_and_parsed_ones(policy: ParsedDocument) -> None:
    other = samples.path("contract_amended_en")
    retriever = ArbiterRetriever.from_pdf([policy, other], k=8)
    assert {
        d.metadata["source"] for d in retriever.invoke("What is the notice period and what is the deductible?")
    } == {
        policy.name,
        str(other),
    }


def test_one_call_a_question_and_the_whole_result(serve: Serve) -> None:
    server, llm = serve()
    retriever = ArbiterRetriever.from_pdf(PATH, llm=llm, k=2)
    assert len(retriever.invoke(QUESTION)) == 2
    assert server.count() == 1
    result = retriever.retrieve_result(QUESTION)
    assert isinstance(result, RetrievalResult)
    assert len(result.candidates) > 2
    assert (result.usage.calls, result.usage.prompt_tokens) == (1, 100)
    assert server.count() == 2


async def test_async_forms_agree(serve: Serve) -> None:
    _, llm = serve()
    retriever = ArbiterRetriever.from_pdf(PATH, llm=llm)
    assert await retriever.ainvoke(QUESTION) == retriever.invoke(QUESTION)
    assert (await retriever.aretrieve_result(QUESTION)).candidates == retriever.retrieve_result(QUESTION).candidates


def test_k_beyond_ten_widens_the_pool(serve: Serve) -> None:
    server, llm = serve()
    assert len(ArbiterRetriever.from_pdf(PATH, llm=llm).invoke(QUESTION, k=14)) > 10
    assert len(candidates_in(server.requests[0]) or []) == 14


def test_not_found_is_empty_and_says_why() -> None:
    retriever = ArbiterRetriever.from_pdf(PATH, judge=RuleJudge())
    assert retriever.invoke("Who won the chess tournament in Reykjavik?") == []
    result = retriever.retrieve_result("Who won the chess tournament in Reykjavik?")
    assert result.not_found
    assert result.not_found_reason


def test_retrievers_are_judged_together(serve: Serve) -> None:
    shared = Document("The deductible for water damage is EUR 400.", id="x", metadata={"score": 0.9})
    vectors = Fixed(found=[Document("Glass breakage.", id="y"), shared])
    words = Fixed(found=[shared.model_copy(update={"metadata": {"score": 7.0}}), Document("Premium.", id="z")])
    server, llm = serve()
    retriever = ArbiterRetriever(retrievers={"vectors": vectors, "bm25": words}, llm=llm)
    documents = retriever.invoke(QUESTION)
    assert server.count() == 1
    assert sorted(d.id for d in documents) == ["x", "y", "z"]
    methods = {d.id: d.metadata["arbiter_methods"] for d in documents}
    assert methods == {"x": ["vectors", "bm25"], "y": ["vectors"], "z": ["bm25"]}
    assert shared.metadata == {"score": 0.9}


def test_a_document_that_only_one_store_gave_an_id_is_one(policy: ParsedDocument) -> None:
    plain = [Document(t, metadata={"source": "s"}) for t in ("Deductible EUR 400.", "Glass.", "Premium.")]
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents([d.model_copy() for d in plain])
    judge = ScriptedJudge(SILENT)
    retriever = ArbiterRetriever(retrievers=[Fixed(found=plain), store.as_retriever()], judge=judge, k=10)
    documents = retriever.invoke(QUESTION)
    assert len(documents) == 3
    assert all(d.id for d in documents), "the id that one of them knew is kept"
    assert documents[0].metadata["arbiter_methods"] == ["fixed", "vectorstore"]


def _own_ids(documents: list[Document]) -> InMemoryVectorStore:
    """A store of copies, each with an id that the store made."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents([d.model_copy(deep=True) for d in documents])
    return store


async def test_stores_with_ids_of_their_own_propose_the_same_documents() -> None:
    documents = [Document(t, metadata={"source": "s"}) for t in ("Deductible EUR 400.", "Glass.", "Premium.")]
    elsewhere = Document("Glass.", metadata={"source": "another contract"})
    first, second = _own_ids(documents), _own_ids([*documents, elsewhere])
    judge = ScriptedJudge(SILENT)
    retriever = ArbiterRetriever(
        retrievers={"first": first.as_retriever(), "second": second.as_retriever()}, judge=judge, k=10
    )
    for found in (retriever.invoke(QUESTION), await retriever.ainvoke(QUESTION)):
        assert len(found) == 4
        methods = {(d.page_content, d.metadata["source"]): d.metadata["arbiter_methods"] for d in found}
        assert methods.pop(("Glass.", "another contract")) == ["second"]
        assert all(m == ["first", "second"] for m in methods.values())
        known = {d.id for d in first.as_retriever().invoke(QUESTION)}
        assert {d.id for d in found if d.metadata["arbiter_methods"] == ["first", "second"]} == known


def test_what_stores_and_scorers_write_makes_no_second_document() -> None:
    own: list[dict[str, Any]] = [
        {},
        {"score": 0.5},
        {"relevance_score": 0.25, "arbiter_role": "primary"},
        {"_id": "1", "_collection_name": "c"},
        {"pk": 7},
    ]
    retrievers = [
        Fixed(found=[Document("Glass.", id=f"i{n}", metadata={"source": "s", **m})]) for n, m in enumerate(own)
    ]
    found = ArbiterRetriever(retrievers=retrievers, judge=ScriptedJudge(SILENT)).invoke(QUESTION)
    assert [d.id for d in found] == ["i0"]
    assert len(found[0].metadata["arbiter_methods"]) == len(own)


def test_documents_that_a_third_one_links_are_one() -> None:
    known = Document("Glass.", id="a", metadata={"source": "s"})
    plain = Document("Glass.", metadata={"source": "s", "start": 0})
    both = Document("Glass.", id="a", metadata={"source": "s", "start": 0})
    for order in ([known, plain, both], [both, plain, known], [plain, known, both]):
        retriever = ArbiterRetriever(retrievers=[Fixed(found=[d]) for d in order], judge=ScriptedJudge(SILENT))
        assert [(d.id, d.metadata["arbiter_methods"]) for d in retriever.invoke(QUESTION)] == [
            ("a", ["fixed", "fixed 2", "fixed 3"])
        ]


async def test_documents_without_text_come_behind() -> None:
    found = [Document(" ", id="e"), Document("The deductible for water damage is EUR 400.", id="x")]
    judge = ScriptedJudge(SILENT)
    retriever = ArbiterRetriever(retrievers={"own": Fixed(found=found)}, judge=judge)
    for documents in (retriever.invoke(QUESTION), await retriever.ainvoke(QUESTION)):
        assert [d.id for d in documents] == ["x", "e"]
        assert documents[1].metadata["arbiter_methods"] == ["own"]
    assert all(len(brief.candidates) == 1 for brief in judge.briefs)
    alone = ArbiterRetriever(retrievers=[Fixed(found=found[:1])], judge=judge)
    assert not alone.retrieve_result(QUESTION).not_found
    assert not (await alone.aretrieve_result(QUESTION)).not_found
    assert len(judge.briefs) == 2


def test_detectors_and_a_store_of_the_loaders_documents_share_them(policy: ParsedDocument) -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents(ArbiterPdfLoader(PATH).load())
    judge = ScriptedJudge(SILENT)
    retriever = ArbiterRetriever(
        retrievers=[
            TocRetriever.from_pdf(PATH),
            KeywordRetriever.from_pdf(PATH),
            store.as_retriever(search_kwargs={"k": 50}),
        ],
        judge=judge,
        k=100,
    )
    documents = retriever.invoke(QUESTION)
    assert len({d.page_content for d in documents}) == len(documents)
    assert ["toc", "keyword", "vectorstore"] in [d.metadata["arbiter_methods"] for d in documents]


def test_names_of_retrievers_repeat_with_numbers() -> None:
    judge = ScriptedJudge(SILENT)
    retrievers = [
        Fixed(found=[Document("a", id="1")]),
        Fixed(found=[Document("b", id="2")]),
        Fixed(name="mine", found=[]),
    ]
    result = ArbiterRetriever(retrievers=retrievers, judge=judge).retrieve_result(QUESTION)
    assert {m for c in result.unjudged for m in c.methods} == {"fixed", "fixed 2"}


def test_any_runnable_proposes() -> None:
    proposer = RunnableLambda(lambda q: [Document(f"About {q}", id="1")])
    assert len(
        ArbiterRetriever(retrievers={"own": proposer}, on_not_found="keep").retrieve_result("deductible").candidates
    )


async def test_retrievers_are_asked_concurrently() -> None:
    slow = [Fixed(found=[Document(f"Deductible {n}", id=str(n))], wait=0.3) for n in range(5)]
    retriever = ArbiterRetriever(retrievers=slow)
    started = time.perf_counter()
    await retriever.aretrieve_result(QUESTION)
    assert time.perf_counter() - started < 5 * 0.3


async def test_a_failing_retriever_is_the_callers_to_see() -> None:
    retriever = ArbiterRetriever(retrievers=[Fixed(found=[]), Broken()])
    with pytest.raises(RuntimeError, match="index gone"):
        retriever.invoke(QUESTION)
    with pytest.raises(RuntimeError, match="index gone"):
        await retriever.ainvoke(QUESTION)


def test_nothing_proposed_costs_no_call(serve: Serve) -> None:
    server, llm = serve()
    result = ArbiterRetriever(retrievers=[Fixed()], llm=llm).retrieve_result(QUESTION)
    assert result.not_found
    assert server.count() == 0


@pytest.mark.parametrize("form", ["invoke", "ainvoke"])
async def test_callbacks_tags_and_usage_are_seen(serve: Serve, form: str) -> None:
    _, llm = serve()
    retriever = ArbiterRetriever(
        retrievers={"one": Fixed(found=[Document("Deductible EUR 400.", id="1")])}, llm=llm, tags=["own"]
    )
    seen = Seen()
    config: Any = {"callbacks": [seen], "tags": ["asked"]}
    if form == "invoke":
        retriever.invoke(QUESTION, config)
    else:
        await retriever.ainvoke(QUESTION, config)
    assert [name for name, _ in seen.runs] == ["ArbiterRetriever", "Fixed", "model"]
    tags = {name: set(tags) for name, tags in seen.runs}
    assert tags["ArbiterRetriever"] == {"own", "asked"}
    assert {"one", "asked"} <= tags["Fixed"]
    assert {"arbiter", "nostream", "asked"} <= tags["model"]
    assert seen.tokens == [120]
    assert seen.results[0].usage.calls == 1


def test_failures_are_seen_by_handlers(serve: Serve) -> None:
    _, llm = serve([401])
    seen = Seen()
    with pytest.raises(ConfigurationError):
        ArbiterRetriever.from_pdf(PATH, llm=llm).invoke(QUESTION, {"callbacks": [seen]})
    assert [type(e) for e in seen.errors] == [ConfigurationError]


async def test_batch_and_abatch(serve: Serve) -> None:
    server, llm = serve()
    retriever = ArbiterRetriever.from_pdf(PATH, llm=llm, k=2)
    questions = [QUESTION, "When is the premium due?", "How are claims reported?"]
    assert [len(d) for d in retriever.batch(questions, {"max_concurrency": 2})] == [2, 2, 2]
    assert [len(d) for d in await retriever.abatch(questions, k=1)] == [1, 1, 1]
    assert server.count() == 6


async def test_as_a_tool() -> None:
    tool = create_retriever_tool(
        ArbiterRetriever.from_pdf(PATH, k=2), "policy", "Searches the policy.", response_format="content_and_artifact"
    )
    message = tool.invoke({"type": "tool_call", "id": "1", "name": "policy", "args": {"query": QUESTION}})
    assert "EUR 400" in message.content
    assert message.artifact[0].metadata["arbiter_role"] == "primary"
    assert "EUR 400" in str(await tool.ainvoke({"query": QUESTION}))


def test_embeddings_join_the_detectors() -> None:
    retriever = ArbiterRetriever.from_pdf(PATH, embeddings=DeterministicFakeEmbedding(size=32))
    result = retriever.retrieve_result("Why would the insurer refuse?")
    step = next(s for s in result.plan.steps if s.detector == "embedding")
    assert step.run


def test_events_reach_astream_events(serve: Serve) -> None:
    _, llm = serve()
    retriever = ArbiterRetriever.from_pdf(PATH, llm=llm)

    async def names() -> list[str]:
        return [
            e["name"] async for e in retriever.astream_events(QUESTION, version="v2") if e["event"] == "on_custom_event"
        ]

    assert asyncio.run(names()) == ["arbiter_result"]


def test_a_judgement_that_is_streamed_is_read_too(serve: Serve) -> None:
    server, llm = serve(streaming=True)
    result = ArbiterRetriever.from_pdf(PATH, llm=llm).retrieve_result(QUESTION)
    assert (result.status, server.count()) == ("ok", 1)
    assert server.requests[0].body["stream"]


async def test_decisions_are_recorded(serve: Serve, tmp_path: Path) -> None:
    _, llm = serve()
    log = AuditLog(tmp_path / "audit.jsonl")
    found = ArbiterRetriever.from_pdf(PATH, llm=llm, audit=log).invoke(QUESTION)
    compressor = ArbiterDocumentCompressor(llm=llm, audit=log)
    judged = await compressor.acompress_documents([Document("The deductible is EUR 400.", id="x")], QUESTION)
    ids = {d.metadata["arbiter_record_id"] for d in (*found, *judged)}
    assert len(ids) == 2
    assert None not in ids
    assert log.verify().ok
    for record in log.records():
        assert record.request is not None
        assert (record.request.model, record.request.sent) == ("scripted-model", True)
