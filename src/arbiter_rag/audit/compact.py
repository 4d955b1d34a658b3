"""A record as JSON and back: each text stands once, and what follows from the rest is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from arbiter_rag.audit.canonical import canonical
from arbiter_rag.audit.chain import Sealed, short_id
from arbiter_rag.audit.lines import text_of
from arbiter_rag.audit.record import FORMAT, AuditRecord, RecordedLines
from arbiter_rag.audit.redact import Redact, redacted
from arbiter_rag.contract import Brief, CandidateScope, Passage, RetrievalResult, RetrievedCandidate
from arbiter_rag.errors import AuditError

_CHAIN = frozenset({"record_id", "hash", "prev", "seq"})
_FROM_BRIEF = ("documents", "cut", "plan", "coverage", "confidence")
_FROM_CANDIDATE = (
    "candidate_id", "doc_id", "anchor", "context", "page", "snippet", "text", "methods", "matched_keywords",
    "section_title", "breadcrumb", "page_label", "original_id", "original_score", "suspicious",
)  # fmt: skip
_LISTS = ("candidates", "discarded", "unjudged")


def encode(record: AuditRecord, redact: Redact | None = None) -> bytes:
    """A record as canonical JSON, without its place in the chain."""
    return canonical(body_of(record, redact))


def body_of(record: AuditRecord, redact: Redact | None = None) -> dict[str, Any]:
    """A record as the values that are written."""
    lines = {part.doc_id: part for part in record.lines}
    left_out = {*_CHAIN, "time", "brief", "result", "passages", "lines"}
    body = record.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    body |= {
        "format": FORMAT,
        "time": record.time.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "kind": record.kind,
        "settings": record.settings.model_dump(mode="json"),
        "brief": _brief(record.brief, lines, record.passages),
    }
    if record.lines:
        body["lines"] = [part.model_dump(mode="json", exclude_defaults=True) for part in record.lines]
    if record.passages:
        body["passages"] = [p.model_dump(mode="json", exclude_defaults=True) for p in record.passages]
    if record.result is not None:
        body["result"] = _result(record.result, record.brief, lines)
    return redacted(body, redact) if redact else body


def _brief(brief: Brief, lines: Mapping[str, RecordedLines], passages: tuple[Passage, ...]) -> dict[str, Any]:
    """The brief with each hit once and no text that the lines or the caller's passages hold."""
    dump = brief.model_dump(mode="json", exclude_defaults=True)
    place_of = {id(hit): i for i, hit in enumerate(brief.hits)}
    for candidate, shown in zip(brief.candidates, dump.get("candidates", ()), strict=True):
        hits = [place_of.get(id(hit)) for hit in candidate.hits]
        if hits and None not in hits:
            shown["hits"] = hits
        if passages or (candidate.text and _derived(candidate.context, lines) == candidate.text):
            shown.pop("text", None)
    return dump


def _derived(scope: CandidateScope | None, lines: Mapping[str, RecordedLines]) -> str | None:
    if scope is None or scope.doc_id not in lines:
        return None
    return text_of(lines[scope.doc_id], scope)


def _result(result: RetrievalResult, brief: Brief, lines: Mapping[str, RecordedLines]) -> dict[str, Any]:
    """The result without what it took over from the brief."""
    known = {c.candidate_id: c for c in brief.candidates}
    same = {name for name in _FROM_BRIEF if getattr(result, name) == getattr(brief, name)}
    # The id is made of the record's hash; a result that was read back from a log may already hold one.
    dump = result.model_dump(mode="json", exclude_defaults=True, exclude={*same, *_LISTS, "question", "record_id"})
    for name in _LISTS:
        listed = [_verdict(c, known.get(c.candidate_id), lines) for c in getattr(result, name)]
        if listed:
            dump[name] = listed
    told = {*(name for name in _FROM_BRIEF if name not in same), "status", "not_found", "judge"}
    return dump | result.model_dump(mode="json", include=told)


def _verdict(candidate: RetrievedCandidate, known: Any, lines: Mapping[str, RecordedLines]) -> dict[str, Any]:
    dump = candidate.model_dump(mode="json", exclude_defaults=True)
    if known is None:
        return dump
    for name in _FROM_CANDIDATE:
        value = getattr(candidate, name)
        if name == "text":
            if candidate.text_in is None and value == _text(candidate.context, known.text, known.context, lines):
                dump.pop("text", None)
            elif not value:
                dump["text"] = ""
        elif value == getattr(known, name):
            dump.pop(name, None)
        elif name not in dump:
            dump[name] = candidate.model_dump(mode="json", include={name})[name]
    return dump | {"candidate_id": candidate.candidate_id}


def _text(
    scope: CandidateScope | None, text: str, whole: CandidateScope | None, lines: Mapping[str, RecordedLines]
) -> str:
    """The text of a verdict's context, which may be a part of the candidate's."""
    if scope == whole:
        return text
    derived = _derived(scope, lines)
    return text if derived is None else derived


def decode(sealed: Sealed) -> AuditRecord:
    """A line's record.

    Raises:
        AuditError: A later version of this library wrote it.
    """
    body = json.loads(sealed.payload)
    form = body.pop("format", None)
    if not isinstance(form, int) or form > FORMAT:
        raise AuditError(
            f"Expected a record of format {FORMAT} or earlier, got {form!r}: a later version wrote it; upgrade."
        )
    try:
        return _record(body).sealed(short_id(sealed.hash), sealed.hash, sealed.prev, sealed.seq)
    except (ValidationError, KeyError, IndexError, TypeError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
        raise AuditError(
            f"Expected a record of this library, got one that cannot be read: record {short_id(sealed.hash)}, number "
            f"{sealed.seq} ({what})."
        ) from error


def _record(body: dict[str, Any]) -> AuditRecord:
    redacted_as = body.get("redacted")
    parts = tuple(RecordedLines.model_validate(part) for part in body.pop("lines", ()))
    lines = {} if redacted_as else {part.doc_id: part for part in parts}
    passages = tuple(Passage.model_validate(p) for p in body.pop("passages", ()))
    brief = _read_brief(body.pop("brief"), lines, passages)
    result = body.pop("result", None)
    time = datetime.fromisoformat(body.pop("time").replace("Z", "+00:00"))
    return AuditRecord.model_validate(
        {
            **body,
            "time": time,
            "brief": brief,
            "passages": passages,
            "lines": parts,
            "result": None if result is None else _read_result(result, brief, lines),
        }
    )


def _read_brief(dump: dict[str, Any], lines: Mapping[str, RecordedLines], passages: tuple[Passage, ...]) -> Brief:
    hits = dump.get("hits", ())
    for shown in dump.get("candidates", ()):
        shown["hits"] = [hits[hit] if isinstance(hit, int) else hit for hit in shown.get("hits", ())]
        if "text" not in shown and passages:
            shown["text"] = passages[shown.get("incoming_rank", 1) - 1].text
        elif "text" not in shown and "context" in shown:
            shown["text"] = _derived(CandidateScope.model_validate(shown["context"]), lines) or ""
    brief = Brief.model_validate(dump)
    # A candidate's hits are the brief's own: the same objects, as they were when the decision was made.
    index = {hit.model_dump_json(): hit for hit in brief.hits}
    candidates = tuple(
        c.model_copy(update={"hits": tuple(index.get(h.model_dump_json(), h) for h in c.hits)})
        for c in brief.candidates
    )
    return brief.model_copy(update={"candidates": candidates})


def _read_result(dump: dict[str, Any], brief: Brief, lines: Mapping[str, RecordedLines]) -> RetrievalResult:
    known = {c.candidate_id: c for c in brief.candidates}
    for name in _LISTS:
        verdicts = dump.get(name, ())
        dump[name] = [_read_verdict(v, known.get(v["candidate_id"]), lines) for v in verdicts]
    shared = {name: getattr(brief, name) for name in _FROM_BRIEF}
    return RetrievalResult.model_validate({**shared, "question": brief.question.text, **dump})


def _read_verdict(dump: dict[str, Any], known: Any, lines: Mapping[str, RecordedLines]) -> dict[str, Any]:
    if known is None:
        return dump
    shared = {name: getattr(known, name) for name in _FROM_CANDIDATE if name not in ("text", *dump)}
    merged = {**shared, **dump}
    if "text" not in merged:
        context = merged["context"]
        scope = CandidateScope.model_validate(context) if isinstance(context, dict) else context
        merged["text"] = _text(scope, known.text, known.context, lines)
    return merged
