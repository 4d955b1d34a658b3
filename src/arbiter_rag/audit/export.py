"""Records as pandas tables: one row a decision, or one row a candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from arbiter_rag.audit.record import AuditRecord
from arbiter_rag.errors import ConfigurationError

Table = Literal["records", "candidates"]

_RECORDS = {
    "record_id": "str", "seq": "int64", "time": "time", "library": "str", "kind": "str", "question": "str",
    "language": "str", "documents": "str", "document_sha256": "str", "judge": "str", "model": "str", "status": "str",
    "not_found": "bool", "not_found_reason": "str", "confidence": "float64", "primary": "int64",
    "supporting": "int64", "tangential": "int64", "discarded": "int64", "unjudged": "int64", "conflicts": "int64",
    "faults": "int64", "cut": "int64", "error": "str", "attempts": "int64", "prompt_tokens": "float64",
    "completion_tokens": "float64", "milliseconds": "float64", "hash": "str",
}  # fmt: skip
_CANDIDATES = {
    "record_id": "str", "time": "time", "question": "str", "candidate_id": "str", "doc_id": "str", "page": "float64",
    "page_label": "str", "section": "str", "role": "str", "rank": "int64", "score": "float64", "reason": "str",
    "quote": "str", "quote_status": "str", "methods": "str", "matched_keywords": "str", "demoted_from": "str",
    "original_id": "str", "original_score": "float64", "snippet": "str",
}  # fmt: skip


def frame(records: Iterable[AuditRecord], table: Table = "records") -> pd.DataFrame:
    """Records as a table; lists are joined by `; `, times are UTC."""
    columns = _RECORDS if table == "records" else _CANDIDATES
    rows = [row for record in records for row in ([_record(record)] if table == "records" else _candidates(record))]
    out = pd.DataFrame(rows, columns=list(columns))
    for name, kind in columns.items():
        if kind == "time":
            out[name] = pd.to_datetime(out[name], utc=True)
        elif kind == "bool":
            out[name] = out[name].astype("bool")
        elif kind != "str":
            out[name] = out[name].astype("int64" if kind == "int64" else "float64")
    return out


def write(frame: pd.DataFrame, path: Path, form: Literal["csv", "parquet"]) -> None:
    """Write a table.

    Raises:
        ConfigurationError: Parquet needs a package that is not there.
    """
    if form == "csv":
        # Spreadsheets run cells that begin so; a document's text must not become a formula.
        text = frame.select_dtypes(include=["object", "string"]).columns
        safe = frame.assign(**{name: frame[name].map(_harmless) for name in text})
        safe.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
        return
    try:
        frame.to_parquet(path, index=False)
    except ImportError:
        raise ConfigurationError("Parquet needs the package pyarrow; pip install pyarrow, or export CSV.") from None


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _record(record: AuditRecord) -> dict[str, Any]:
    result = record.result
    kept = [c.role for c in result.candidates] if result else []
    usage = result.usage if result else None
    failure = record.failure
    return {
        "record_id": record.record_id,
        "seq": record.seq,
        "time": record.time,
        "library": record.library,
        "kind": record.kind,
        "question": record.question,
        "language": record.brief.question.language,
        "documents": "; ".join(ref.name for ref in record.brief.documents),
        "document_sha256": "; ".join(ref.sha256 or "" for ref in record.brief.documents),
        "judge": result.judge if result else record.settings.judge,
        "model": record.request.model if record.request else None,
        "status": record.status,
        "not_found": bool(result and result.not_found),
        "not_found_reason": result.not_found_reason if result else None,
        "confidence": record.brief.confidence,
        **{role: kept.count(role) for role in ("primary", "supporting", "tangential")},
        "discarded": len(result.discarded) if result else 0,
        "unjudged": len(result.unjudged) if result else 0,
        "conflicts": len(result.conflicts) if result else 0,
        "faults": len(result.faults) if result else 0,
        "cut": len(record.brief.cut),
        "error": failure.message if failure else None,
        "attempts": usage.attempts if usage else failure.attempts if failure else 0,
        "prompt_tokens": usage.prompt_tokens if usage else None,
        "completion_tokens": usage.completion_tokens if usage else None,
        "milliseconds": record.timings.get("total"),
        "hash": record.hash,
    }


def _candidates(record: AuditRecord) -> Iterator[dict[str, Any]]:
    if record.result is None:
        return
    for candidate in (*record.result.candidates, *record.result.unjudged, *record.result.discarded):
        yield {
            "record_id": record.record_id,
            "time": record.time,
            "question": record.question,
            "candidate_id": candidate.candidate_id,
            "doc_id": candidate.doc_id,
            "page": candidate.page,
            "page_label": candidate.page_label,
            "section": candidate.breadcrumb or candidate.section_title,
            "role": candidate.role,
            "rank": candidate.rank,
            "score": candidate.score,
            "reason": candidate.reason,
            "quote": candidate.quote,
            "quote_status": candidate.quote_status,
            "methods": "; ".join(candidate.methods),
            "matched_keywords": "; ".join(candidate.matched_keywords),
            "demoted_from": candidate.demoted_from,
            "original_id": candidate.original_id,
            "original_score": candidate.original_score,
            "snippet": candidate.snippet,
        }
