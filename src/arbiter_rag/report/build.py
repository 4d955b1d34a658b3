"""From a record or a result to the values that the page shows; the page itself is `page.html`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from arbiter_rag.audit import AuditRecord
from arbiter_rag.contract import Candidate, CandidateScope, RetrievalResult, RetrievedCandidate
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import ConfigurationError, InputError
from arbiter_rag.report.pages import MOST, Gallery

Documents = ParsedDocument | str | Path | Sequence[ParsedDocument | str | Path]

_ROLES = {
    "primary": ("Primary", "carries the answer"),
    "supporting": ("Supporting", "the answer needs it to make sense"),
    "tangential": ("Tangential", "related, kept at low priority"),
}
_QUOTES = {
    "exact": "verified: stands there word for word",
    "folded": "verified: stands there, but for typography or line breaks",
    "weak": "not verified: too short to tell anything, or torn from a negation",
    "elsewhere": "not verified: stands in another passage",
    "absent": "not verified: stands nowhere in the passage",
}
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "yi", "ps", "sd", "dv"})


def report(subject: AuditRecord | RetrievalResult, documents: Documents = (), *, password: str | None = None) -> str:
    """A decision as one HTML page that needs nothing else: no script, no request, readable on paper and aloud.

    Args:
        subject: A result, or its record (which also knows every hit).
        documents: What was searched, parsed or as paths of PDF files: their pages are drawn with boxes around what was
            found and quoted. Without them the page has the texts alone.
        password: Of encrypted files.

    Raises:
        ConfigurationError: The package jinja2 is missing (extra `audit`).
        InputError: The record holds no result, because the judge's failure was raised.
    """
    record = subject if isinstance(subject, AuditRecord) else None
    result = subject.result if isinstance(subject, AuditRecord) else subject
    if result is None:
        why = record.failure.message if record and record.failure else "nothing was decided"
        raise InputError(f"Expected a record with a result, got one of a failure ({why}); `audit show` prints it.")
    gallery = Gallery(_matched(result, _parsed(documents, password)), password)
    try:
        values = _values(result, record, gallery)
    finally:
        gallery.close()
    return str(template().render(**values))


def _parsed(documents: Documents, password: str | None) -> list[ParsedDocument]:
    given = [documents] if isinstance(documents, ParsedDocument | str | Path) else list(documents)
    return [d if isinstance(d, ParsedDocument) else ParsedDocument.from_pdf(d, password=password) for d in given]


def _matched(result: RetrievalResult, documents: Sequence[ParsedDocument]) -> dict[str, ParsedDocument]:
    """The documents under the ids that the result gives them."""
    found = {document.doc_id: document for document in documents}
    by_hash = {document.sha256: document for document in documents if document.sha256}
    for ref in result.documents:
        if ref.doc_id not in found and ref.sha256 in by_hash:
            found[ref.doc_id] = by_hash[ref.sha256]
    return found


@cache
def template() -> Any:
    """The page's template.

    Raises:
        ConfigurationError: The package jinja2 is missing (extra `audit`).
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise ConfigurationError("The report needs the package jinja2; pip install 'arbiter-rag[audit]'.") from None
    from arbiter_rag.report.texts import clean

    room = files("arbiter_rag.report")
    style = room.joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        autoescape=True, finalize=clean, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    from markupsafe import Markup

    environment.globals.update(style=Markup(style), style_hash=digest, quotes=_QUOTES)
    return environment.from_string(room.joinpath("page.html").read_text(encoding="utf-8"))


def _values(result: RetrievalResult, record: AuditRecord | None, gallery: Gallery) -> dict[str, Any]:
    from arbiter_rag.report.texts import marked

    spoken = result.coverage.document_languages
    language = spoken[0] if len(spoken) == 1 else "und"
    names = {ref.doc_id: ref.name for ref in result.documents}
    known = {c.candidate_id: c for c in record.brief.candidates} if record else {}
    show = partial(_candidate, names=names, known=known, language=language)
    drawn = {c.candidate_id: gallery.views(c) for c in result.candidates}
    groups = [
        {"role": role, "title": title, "about": about, "items": [show(c) for c in result.candidates if c.role == role]}
        for role, (title, about) in _ROLES.items()
    ]
    asked = result.coverage.question_language
    return {
        "result": result,
        "record": record,
        "headline": _headline(result),
        "groups": [group for group in groups if group["items"]],
        "discarded": [show(c) for c in result.discarded],
        "unjudged": [show(c) for c in result.unjudged],
        "views": drawn,
        "sheets": list(gallery.sheets.values()),
        "left_out": gallery.left_out,
        "most": MOST,
        "pictures": any(sheet.image for sheet in gallery.sheets.values()),
        "language": language,
        "asked": asked,
        "question_dir": "rtl" if asked in _RIGHT_TO_LEFT else "auto",
        "names": names,
        "hits": _hits(record),
        "marked": marked,
    }


def _headline(result: RetrievalResult) -> str:
    if result.not_found:
        return "Not found"
    counts = [(role, sum(c.role == role for c in result.candidates)) for role in _ROLES]
    told = ", ".join(f"{n} {role}" for role, n in counts if n)
    if result.unjudged:
        told += f"{', ' if told else ''}{len(result.unjudged)} unjudged"
    return f"Found: {told}" if told else "Nothing was kept"


def _candidate(
    candidate: RetrievedCandidate, *, names: Mapping[str, str], known: Mapping[str, Candidate], language: str
) -> dict[str, Any]:
    proposed = known.get(candidate.candidate_id)
    return {
        "it": candidate,
        "place": _place(candidate),
        "document": names.get(candidate.doc_id or "", candidate.doc_id) if len(names) > 1 else None,
        "language": language,
        "notes": proposed.evidence_notes if proposed else (),
        "hits": proposed.hits if proposed else (),
        "evidence": proposed.evidence if proposed else None,
    }


def _place(candidate: RetrievedCandidate) -> str:
    if candidate.anchor is None:
        page = f"page {candidate.page}" if candidate.page else "passage"
        return f"{page} ({candidate.original_id})" if candidate.original_id else page
    return place_of(candidate.anchor, candidate.page_label)


def place_of(scope: CandidateScope, label: str | None) -> str:
    """Pages and lines as a person says them."""
    first = str(scope.page_start)
    page = f"page {first}" if not label or label == first else f"page {label} (PDF page {first})"
    if scope.page_end != scope.page_start:
        return f"{page}, line {scope.line_start} to PDF page {scope.page_end}, line {scope.line_end}"
    if scope.line_end == scope.line_start:
        return f"{page}, line {scope.line_start}"
    return f"{page}, lines {scope.line_start} to {scope.line_end}"


def _hits(record: AuditRecord | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for hit in record.brief.hits if record else ():
        found[hit.method] = found.get(hit.method, 0) + 1
    return found
