"""What OpenTelemetry is told of an arbitration, by GenAI and OpenInference conventions; nothing without a tracer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from arbiter_rag.contract import Brief, RetrievalResult, RetrievedCandidate

Kind = Literal["retrieve", "rank"]

_HIDE = ("OPENINFERENCE_HIDE_INPUTS", "OPENINFERENCE_HIDE_OUTPUTS")


class Trace:
    """The spans of one arbitration: a retriever's around everything, a reranker's around the judgement.

    `rank` gives the reranker's span alone, for the caller's own retriever has its own. Spans are made only where the
    process has set a tracer provider; the extra `tracing` brings the API that this needs, and no exporter.

    Args:
        kind: What was called.
        question: The question.
    """

    def __init__(self, kind: Kind, question: str) -> None:
        self._kind = kind
        self._question = question
        self._tracer: Any = None
        self._outer: Any = None
        self._judging: Any = None

    def start(self) -> None:
        """Open the retriever's span."""
        self._tracer = _tracer()
        if self._tracer is not None and self._kind == "retrieve":
            self._outer = self._tracer.start_span("retrieval", attributes=_asked(self._question))

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make the retriever's span the parent of whatever is traced inside."""
        if self._outer is None:
            yield
            return
        with _use(self._outer):
            yield

    @contextmanager
    def judging(self, brief: Brief, judge: str) -> Iterator[None]:
        """Open the reranker's span; it ends with the arbitration, because settling is a part of it."""
        if self._tracer is None:
            yield
            return
        self._judging = self._tracer.start_span("rerank", attributes=_judged(brief, judge, self._question))
        with _use(self._judging):
            yield

    def concluded(self, result: RetrievalResult) -> None:
        """Write the result on the spans."""
        if self._judging is not None:
            self._judging.set_attributes(_documents("reranker.output_documents", result))
            self._judging.set_attributes(_verdict(result) | _tokens(result))
        if self._outer is not None:
            self._outer.set_attributes(_documents("retrieval.documents", result) | _verdict(result))
            self._outer.set_attribute("gen_ai.retrieval.documents", _listed(result))

    def end(self, error: BaseException | None) -> None:
        """End the spans, with the error that ended the arbitration, if one did."""
        for span in (self._judging, self._outer):
            if span is None:
                continue
            if error is not None:
                from opentelemetry.trace import Status, StatusCode

                span.record_exception(error)
                span.set_status(Status(StatusCode.ERROR, str(error)))
                span.set_attribute("error.type", type(error).__qualname__)
            span.end()


def _tracer() -> Any:
    """A tracer, or None where nobody has configured one: whoever did has imported OpenTelemetry."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer("arbiter_rag")


def _use(span: Any) -> Any:
    from opentelemetry.trace import use_span

    return use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)


def _shown(which: int) -> bool:
    """Whether texts may be written: inputs (0) or outputs (1)."""
    return os.environ.get(_HIDE[which], "").lower() not in ("1", "true")


def _asked(question: str) -> dict[str, Any]:
    found: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval"}
    if _shown(0):
        found |= {"input.value": question, "input.mime_type": "text/plain", "gen_ai.retrieval.query.text": question}
    return found


def _judged(brief: Brief, judge: str, question: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "openinference.span.kind": "RERANKER",
        "reranker.model_name": judge,
        "reranker.top_k": len(brief.candidates),
    }
    if _shown(0):
        found |= {"reranker.query": question, "input.value": question, "input.mime_type": "text/plain"}
    for i, candidate in enumerate(brief.candidates):
        at = f"reranker.input_documents.{i}.document"
        found[f"{at}.id"] = candidate.candidate_id
        if candidate.original_score is not None:
            found[f"{at}.score"] = candidate.original_score
        if _shown(0):
            found[f"{at}.content"] = candidate.snippet
    return found


def _documents(prefix: str, result: RetrievalResult) -> dict[str, Any]:
    """Kept and unjudged candidates, best first, each with role and reason."""
    found: dict[str, Any] = {}
    for i, candidate in enumerate(_emitted(result)):
        at = f"{prefix}.{i}.document"
        found |= {f"{at}.id": candidate.candidate_id, f"{at}.score": candidate.score}
        about: dict[str, Any] = {"arbiter.role": candidate.role, "arbiter.quote_status": candidate.quote_status}
        about |= {"page": candidate.page, "doc_id": candidate.doc_id}
        found[f"{prefix}.{i}.arbiter.role"] = candidate.role
        if _shown(1):
            about["arbiter.reason"] = candidate.reason
            found |= {f"{prefix}.{i}.arbiter.reason": candidate.reason, f"{at}.content": candidate.text}
        found[f"{at}.metadata"] = json.dumps(about, ensure_ascii=False)
    return found


def _emitted(result: RetrievalResult) -> Sequence[RetrievedCandidate]:
    return (*result.candidates, *result.unjudged)


def _listed(result: RetrievalResult) -> str:
    shown = _shown(1)
    return json.dumps(
        [
            {"id": c.candidate_id, "score": c.score, "arbiter.role": c.role}
            | ({"arbiter.reason": c.reason} if shown else {})
            for c in _emitted(result)
        ],
        ensure_ascii=False,
    )


def _verdict(result: RetrievalResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "arbiter.status": result.status,
        "arbiter.judge": result.judge,
        "arbiter.not_found": result.not_found,
        "arbiter.confidence": result.confidence,
        "arbiter.discarded": len(result.discarded),
    }
    if result.record_id is not None:
        found["arbiter.record_id"] = result.record_id
    if result.not_found_reason and _shown(1):
        found["arbiter.not_found_reason"] = result.not_found_reason
    return found


def _tokens(result: RetrievalResult) -> dict[str, Any]:
    usage = result.usage
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    found: dict[str, Any] = {}
    if prompt is not None:
        found |= {"llm.token_count.prompt": prompt, "gen_ai.usage.input_tokens": prompt}
    if completion is not None:
        found |= {"llm.token_count.completion": completion, "gen_ai.usage.output_tokens": completion}
    return found
