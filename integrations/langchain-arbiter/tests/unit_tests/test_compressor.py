"""The compressor: everything given is judged once, copies are handed on, the caller's documents stay as they were."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.load import dumps, loads
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from pydantic import ValidationError

from arbiter_rag import ConfigurationError, JudgeError, RetrievalResult, RuleJudge
from arbiter_rag.testing import Reply, ScriptedJudge, answering, candidates_in
from langchain_arbiter import ArbiterDocumentCompressor

Serve = Callable[..., Any]
QUESTION = "What is the deductible for water damage?"
SILENT: dict[str, object] = {
    "rankings": [{"candidate_id": "none", "reason": "", "role": "discarded", "quote": None}],
    "conflicts": [],
}
ARBITER_KEYS = {
    "arbiter_role", "arbiter_reason", "arbiter_rank", "arbiter_methods", "arbiter_matched_keywords", "arbiter_quote",
    "arbiter_quote_status", "arbiter_page", "arbiter_candidate_id", "arbiter_original_score", "arbiter_status",
    "arbiter_record_id",
}  # fmt: skip


def roles_by_text(**roles: str) -> Callable[[Any], Any]:
    """A script that gives each candidate the role of the first word that its snippet holds, else `discarded`."""

    def verdicts(candidates: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            c["candidate_id"]: next((role for word, role in roles.items() if word in c.get("snippet", "")), "discarded")
            for c in candidates
        }

    return answering(verdicts)


def test_documents_come_back_judged_as_copies(serve: Serve, documents: list[Document]) -> None:
    before = copy.deepcopy(documents)
    server, llm = serve(roles_by_text(EUR="primary", Glass="supporting", premium="tangential"))
    out = ArbiterDocumentCompressor(llm=llm).compress_documents(documents, QUESTION)
    assert documents == before
    assert [d.id for d in out] == ["doc-0", "doc-1", "doc-2"]
    assert [d.metadata["arbiter_role"] for d in out] == ["primary", "supporting", "tangential"]
    assert [d.metadata["arbiter_rank"] for d in out] == [1, 2, 3]
    scores = [d.metadata["relevance_score"] for d in out]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    for document, original in zip(out, documents, strict=False):
        added = document.metadata.keys() - original.metadata.keys()
        assert added == ARBITER_KEYS | {"relevance_score"}
        assert document.page_content == original.page_content
        assert document.metadata["arbiter_page"] == original.metadata["page"] + 1
        document.metadata["tags"][1]["b"] = "mine"
    assert documents == before
    assert server.count() == 1


class AsyncOnly(ScriptedJudge):
    """A judge that must not be asked in the sync way."""

    def judge(self, brief: Any) -> Any:
        raise AssertionError("the sync form was called")

    async def ajudge(self, brief: Any) -> Any:
        return super().judge(brief)


async def test_async_form_is_native(documents: list[Document]) -> None:
    compressor = ArbiterDocumentCompressor(judge=AsyncOnly(SILENT))
    out = await compressor.acompress_documents(documents, QUESTION)
    result = await compressor.acompress_result(documents, QUESTION)
    assert [d.id for d in out] == [c.original_id for c in result.unjudged]


def test_every_document_is_judged_and_top_n_bounds_what_is_handed_on(serve: Serve) -> None:
    documents = [Document(f"Passage number {n} about deductibles.") for n in range(60)]
    server, llm = serve()
    compressor = ArbiterDocumentCompressor(llm=llm, top_n=7)
    assert len(compressor.compress_documents(documents, QUESTION)) == 7
    assert len(candidates_in(server.requests[0]) or []) == 60
    result = compressor.compress_result(documents, QUESTION)
    assert len(result.candidates) + len(result.discarded) + len(result.unjudged) == 60
    everything = ArbiterDocumentCompressor(llm=llm, top_n=None)
    assert len(everything.compress_documents(documents, QUESTION)) == 60


def test_not_found_hands_on_nothing_unless_asked(
    serve: Serve, documents: list[Document], caplog: pytest.LogCaptureFixture
) -> None:
    _, llm = serve(roles_by_text(Glass="tangential"))
    with caplog.at_level(logging.INFO, logger="langchain_arbiter"):
        assert ArbiterDocumentCompressor(llm=llm).compress_documents(documents, QUESTION) == []
    assert "Not found" in caplog.text
    kept = ArbiterDocumentCompressor(llm=llm, on_not_found="keep").compress_documents(documents, QUESTION)
    assert [d.id for d in kept] == ["doc-1"]


def test_roles_select(serve: Serve, documents: list[Document]) -> None:
    _, llm = serve(roles_by_text(EUR="primary", Glass="supporting", premium="tangential"))
    out = ArbiterDocumentCompressor(llm=llm, roles=("primary", "supporting")).compress_documents(documents, QUESTION)
    assert [d.id for d in out] == ["doc-0", "doc-1"]


def test_numbers_titles_and_strangers_select_nothing(documents: list[Document]) -> None:
    wrong: list[Any] = [0, -1, 1, 99, "0", "p6", "doc-0", "Glass", None, True]
    rows = [{"candidate_id": i, "reason": "r", "role": "primary", "quote": "EUR 400"} for i in wrong]
    judge = ScriptedJudge({"rankings": rows, "conflicts": []})
    compressor = ArbiterDocumentCompressor(judge=judge, top_n=None)
    result = compressor.compress_result(documents, QUESTION)
    assert result.candidates == ()
    assert len(result.unjudged) == len(documents)
    out = compressor.compress_documents(documents, QUESTION)
    assert [d.id for d in out] == [d.id for d in documents], "unjudged, in incoming order"
    assert {d.metadata["arbiter_role"] for d in out} == {"unjudged"}


def test_a_failing_model_degrades_or_raises(serve: Serve, documents: list[Document]) -> None:
    server, llm = serve(lambda _: 503)
    out = ArbiterDocumentCompressor(llm=llm, top_n=None).compress_documents(documents, QUESTION)
    assert {d.id for d in out} == {d.id for d in documents}, "a failure drops nothing"
    assert {d.metadata["arbiter_status"] for d in out} == {"degraded"}
    with pytest.raises(JudgeError):
        ArbiterDocumentCompressor(llm=llm, on_error="raise").compress_documents(documents, QUESTION)
    assert server.count() == 2
    _, refused = serve([401])
    with pytest.raises(ConfigurationError):
        ArbiterDocumentCompressor(llm=refused).compress_documents(documents, QUESTION)


def test_doubled_documents_are_judged_once(serve: Serve) -> None:
    once = Document("The deductible is EUR 400.", metadata={"source": "a"})
    same_id = [Document("Glass has none.", id="g", metadata={"score": s}) for s in (0.5, 0.25)]
    differing = [Document("Same words.", metadata={"source": s}) for s in "ab"]
    clashing = [Document("One text.", id="c"), Document("Another text.", id="c")]
    given = [once, once.model_copy(), *same_id, *differing, *clashing]
    server, llm = serve(answering(lambda cs: {c["candidate_id"]: "primary" for c in cs}))
    out = ArbiterDocumentCompressor(llm=llm, top_n=None, on_unverified="flag").compress_documents(given, QUESTION)
    assert len(candidates_in(server.requests[0]) or []) == 6
    assert len(out) == 6
    assert {d.page_content for d in out} == {d.page_content for d in given}
    assert [d.id for d in out].count("c") == 2


def test_scores_pages_and_sections_of_others_are_read() -> None:
    judge = ScriptedJudge(SILENT)
    documents = [
        Document("One.", metadata={"relevance_score": 0.5, "page": 0, "page_label": "iii"}),
        Document("Two.", metadata={"page_number": 4, "Header 1": "A", "Header 2": "B"}),
        Document("Three.", metadata={"page": True, "page_label": 3, "score": "high"}),
    ]
    ArbiterDocumentCompressor(judge=judge).compress_result(documents, QUESTION)
    shown = {c.text: c for c in judge.briefs[0].candidates}
    assert (shown["One."].page, shown["One."].page_label, shown["One."].original_score) == (1, "iii", 0.5)
    assert (shown["Two."].page, shown["Two."].section_title) == (4, "A > B")
    assert (shown["Three."].page, shown["Three."].page_label, shown["Three."].original_score) == (None, "3", None)


def test_who_proposed_is_read_from_the_documents(documents: list[Document]) -> None:
    judge = ScriptedJudge(SILENT)
    found: list[Any] = [["vectors", "bm25"], ("toc",), "vectors", None, []]
    for document, methods in zip(documents, found, strict=True):
        document.metadata["arbiter_methods"] = methods
    out = ArbiterDocumentCompressor(judge=judge).compress_documents(documents, QUESTION)
    expected = [["vectors", "bm25"], ["toc"], ["retriever"], ["retriever"], ["retriever"]]
    assert [d.metadata["arbiter_methods"] for d in out] == expected
    assert {c.methods for c in judge.briefs[0].candidates} == {("vectors", "bm25"), ("toc",), ("retriever",)}


EMPTY = ["", " \n\t", "\u200b\ufeff"]


@pytest.mark.parametrize("form", ["sync", "async"])
async def test_documents_without_text_are_not_shown_and_come_behind(serve: Serve, form: str) -> None:
    server, llm = serve(answering(lambda cs: {c["candidate_id"]: "primary" for c in cs}))
    empty = [Document(text, id=f"e{n}", metadata={"page": n}) for n, text in enumerate(EMPTY)]
    given = [*empty, Document("The deductible is EUR 400.", id="x")]
    compressor = ArbiterDocumentCompressor(llm=llm)
    if form == "sync":
        out, result = compressor.compress_documents(given, QUESTION), compressor.compress_result(given, QUESTION)
    else:
        out = await compressor.acompress_documents(given, QUESTION)
        result = await compressor.acompress_result(given, QUESTION)
    assert len(candidates_in(server.requests[0]) or []) == 1
    assert [d.id for d in out] == ["x", "e0", "e1", "e2"]
    assert [d.metadata["arbiter_role"] for d in out] == ["primary", *["unjudged"] * 3]
    scores = [d.metadata["relevance_score"] for d in out]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[1] <= 0.25
    assert [c.original_id for c in result.unjudged] == ["e0", "e1", "e2"]
    assert len({c.candidate_id for c in (*result.candidates, *result.unjudged)}) == 4
    assert result.status == "partial"


def test_documents_without_text_are_never_not_found(serve: Serve) -> None:
    server, llm = serve(roles_by_text())
    compressor = ArbiterDocumentCompressor(llm=llm)
    assert [d.id for d in compressor.compress_documents([Document("", id="e")], QUESTION)] == ["e"]
    assert server.count() == 0
    result = compressor.compress_result([Document("", id="e"), Document("Of glass.", id="g")], QUESTION)
    assert not result.not_found
    assert [c.original_id for c in result.unjudged] == ["e"]
    assert [c.original_id for c in result.discarded] == ["g"]


def test_top_n_bounds_documents_without_text_too(serve: Serve, documents: list[Document]) -> None:
    _, llm = serve(answering(lambda cs: {c["candidate_id"]: "primary" for c in cs}))
    compressor = ArbiterDocumentCompressor(llm=llm, top_n=2, on_unverified="flag")
    out = compressor.compress_documents([Document("", id="e"), *documents], QUESTION)
    assert "e" not in [d.id for d in out]
    assert len(out) == 2


def test_odd_documents_are_handed_on(serve: Serve) -> None:
    lock = threading.Lock()
    documents = [
        Document(""),
        Document("word " * 10_000),
        Document("\ud800 half", metadata={"n": {1: "a", "b": 2}}),
        Document("x", metadata={"lock": lock}),
    ]
    _, llm = serve(answering(lambda cs: {c["candidate_id"]: "primary" for c in cs}))
    out = ArbiterDocumentCompressor(llm=llm, top_n=None, on_unverified="flag").compress_documents(documents, QUESTION)
    assert len(out) == 4
    assert next(d for d in out if d.page_content == "x").metadata["lock"] is lock


def test_no_documents_cost_no_call(serve: Serve) -> None:
    server, llm = serve()
    assert ArbiterDocumentCompressor(llm=llm).compress_documents([], QUESTION) == []
    assert server.count() == 0


class Seen(BaseCallbackHandler):
    """What a user's handler sees."""

    def __init__(self) -> None:
        self.starts: list[list[str]] = []
        self.tokens: list[int] = []
        self.results: list[RetrievalResult] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, *, tags: Any = None, **kwargs: Any) -> None:
        self.starts.append(tags)

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        usage = response.generations[0][0].message.usage_metadata
        self.tokens.append(usage["total_tokens"])

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        assert name == "arbiter_result"
        self.results.append(data)


def test_callbacks_reach_the_model(serve: Serve, documents: list[Document]) -> None:
    _, llm = serve()
    compressor = ArbiterDocumentCompressor(llm=llm)
    seen = Seen()
    compressor.compress_documents(documents, QUESTION, callbacks=[seen])
    assert len(seen.starts) == 1
    assert "arbiter" in seen.starts[0]
    assert seen.tokens == [120]
    assert seen.results[0].candidates[0].role == "primary"


async def test_callbacks_of_the_surrounding_run_reach_the_model(serve: Serve, documents: list[Document]) -> None:
    _, llm = serve()
    compressor = ArbiterDocumentCompressor(llm=llm)
    seen = Seen()

    async def arerank(question: str) -> Any:
        return await compressor.acompress_documents(documents, question)

    chain = RunnableLambda(lambda q: compressor.compress_documents(documents, q), afunc=arerank)
    chain.invoke(QUESTION, {"callbacks": [seen], "tags": ["mine"]})
    await chain.ainvoke(QUESTION, {"callbacks": [seen], "tags": ["mine"]})
    assert len(seen.starts) == len(seen.results) == 2
    assert all("mine" in tags for tags in seen.starts)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_configuration_is_serialisable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    given = ArbiterDocumentCompressor(llm=ChatOpenAI(model="gpt-5-mini"), top_n=3, roles=("primary",))
    text = dumps(given)
    assert '"k"' not in text
    again = loads(
        text, allowed_objects=[ArbiterDocumentCompressor, ChatOpenAI], valid_namespaces=["langchain_arbiter"],
        secrets_map={"OPENAI_API_KEY": "k"},
    )  # fmt: skip
    assert (again.top_n, again.roles, again.llm.model_name) == (3, ("primary",), "gpt-5-mini")
    assert pickle.loads(pickle.dumps(ArbiterDocumentCompressor(top_n=2))).top_n == 2


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_rules_are_serialised_by_name() -> None:
    text = dumps(ArbiterDocumentCompressor(judge=RuleJudge(), top_n=3))
    again = loads(text, allowed_objects=[ArbiterDocumentCompressor], valid_namespaces=["langchain_arbiter"])
    assert isinstance(again.judge, RuleJudge)
    assert again.top_n == 3
    with pytest.raises(ValidationError):
        ArbiterDocumentCompressor(judge="another")


def test_settings_that_cannot_be_meant() -> None:
    with pytest.raises(ConfigurationError):
        ArbiterDocumentCompressor(llm=ChatOpenAI(model="m", api_key="k"), judge=RuleJudge())  # type: ignore[arg-type]  # a plain key
    with pytest.raises(ValidationError):
        ArbiterDocumentCompressor(topn=3)  # type: ignore[call-arg]  # the mistake that is tested
    with pytest.raises(ValidationError):
        ArbiterDocumentCompressor(top_n=0)


def test_refused_and_cut_replies_are_told(serve: Serve, documents: list[Document]) -> None:
    _, llm = serve([Reply(refusal="No.")])
    result = ArbiterDocumentCompressor(llm=llm).compress_result(documents, QUESTION)
    assert result.status == "degraded"
    assert "refused" in (result.error or "")
