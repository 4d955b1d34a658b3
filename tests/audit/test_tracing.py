"""Tracing: nothing without a tracer; with one, a retriever's and a reranker's span that name roles and reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from arbiter_rag import Arbiter, JudgeError, ParsedDocument, Passage
from arbiter_rag.audit import AuditLog
from arbiter_rag.testing import FirstJudge, ScriptedJudge

QUESTION = "What is the deductible for water damage?"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A configured tracer for one test: OpenTelemetry lets a process set its provider only once."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def _by_kind(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {str((s.attributes or {})["openinference.span.kind"]): s for s in exporter.get_finished_spans()}


async def test_a_retrieval(spans: InMemorySpanExporter, policy: ParsedDocument, log: AuditLog) -> None:
    arbiter = Arbiter(FirstJudge(), audit=log)
    for waits in (False, True):
        spans.clear()
        result = await arbiter.aretrieve(QUESTION, policy) if waits else arbiter.retrieve(QUESTION, policy)
        found = _by_kind(spans)
        assert set(found) == {"RETRIEVER", "RERANKER"}
        outer, inner = found["RETRIEVER"], found["RERANKER"]
        assert inner.parent is not None
        assert outer.context is not None
        assert inner.parent.span_id == outer.context.span_id
        told = dict(outer.attributes or {})
        assert told["input.value"] == QUESTION
        assert told["gen_ai.operation.name"] == "retrieval"
        assert told["arbiter.record_id"] == result.record_id
        for i, candidate in enumerate((*result.candidates, *result.unjudged)):
            at = f"retrieval.documents.{i}"
            assert told[f"{at}.document.id"] == candidate.candidate_id
            assert told[f"{at}.document.score"] == candidate.score
            assert told[f"{at}.arbiter.role"] == candidate.role
            assert told[f"{at}.arbiter.reason"] == candidate.reason
            about = json.loads(str(told[f"{at}.document.metadata"]))
            assert about["arbiter.role"] == candidate.role
        judged = dict(inner.attributes or {})
        assert judged["reranker.model_name"] == result.judge
        assert judged["reranker.input_documents.0.document.id"]
        assert judged["reranker.output_documents.0.document.id"] == result.candidates[0].candidate_id


def test_a_judgement_of_passages_is_a_rerankers_span(spans: InMemorySpanExporter) -> None:
    Arbiter(FirstJudge()).rank(QUESTION, [Passage(id="a", text="The deductible is 150.", score=0.5)])
    assert set(_by_kind(spans)) == {"RERANKER"}


def test_texts_may_be_hidden(
    spans: InMemorySpanExporter, policy: ParsedDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
    monkeypatch.setenv("OPENINFERENCE_HIDE_OUTPUTS", "true")
    Arbiter(FirstJudge()).retrieve(QUESTION, policy)
    told = json.dumps([dict(span.attributes or {}) for span in spans.get_finished_spans()])
    assert QUESTION not in told
    assert "document.content" not in told


def test_an_error_ends_the_spans(spans: InMemorySpanExporter, policy: ParsedDocument) -> None:
    judge = ScriptedJudge(JudgeError("down", kind="server"))
    with pytest.raises(JudgeError):
        Arbiter(judge, on_error="raise").retrieve(QUESTION, policy)
    found = _by_kind(spans)
    assert {span.status.status_code for span in found.values()} == {trace.StatusCode.ERROR}


def test_without_a_tracer_there_is_no_span(policy: ParsedDocument) -> None:
    from arbiter_rag.tracing import _tracer

    assert _tracer() is None
    assert Arbiter().retrieve(QUESTION, policy).candidates
