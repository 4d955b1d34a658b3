"""Leaving texts out of a record: every string goes unless its name is known to hold no text of anyone."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

Redact = Literal["drop", "hash"]

DROPPED = "[redacted]"

_KEPT = frozenset(
    {
        "candidate_id", "demoted_from", "detectors", "doc_id", "document_languages", "embedder", "form", "headings",
        "intent", "judge", "kind", "language", "library", "method", "methods", "methods_used", "model", "name",
        "on_error", "on_unverified", "original_id", "page_label", "question_language", "quote_status", "role",
        "section_id", "sha256", "shape", "status", "text_in", "time", "truncated",
    }
)  # fmt: skip
"""Fields whose strings are ids, names of methods and the library's own words."""

_WHOLE = frozenset({"plan", "cut", "parameters", "timings"})
"""What holds no text of document, question or model at all."""

_TEXTS = frozenset({"lexicon"})
"""What is text to the last field."""


def redacted(body: dict[str, Any], how: Redact) -> dict[str, Any]:
    """The values of a record without texts; with `drop` the documents' lines go as a whole."""
    kept = {key: value for key, value in body.items() if not (how == "drop" and key == "lines")}
    return {**{key: _walk(value, key, how) for key, value in kept.items()}, "redacted": how}


def _walk(value: Any, name: str, how: Redact) -> Any:
    if name in _WHOLE:
        return value
    if isinstance(value, str):
        return value if name in _KEPT else _hidden(value, how)
    if isinstance(value, dict):
        return {key: _walk(item, "text" if name in _TEXTS else key, how) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, name, how) for item in value]
    return value


def _hidden(text: str, how: Redact) -> str:
    if not text:
        return text
    if how == "drop":
        return DROPPED
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
