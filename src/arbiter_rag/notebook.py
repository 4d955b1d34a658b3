"""A result as a few lines of HTML, for notebooks: self-contained, every text escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arbiter_rag.contract import RetrievalResult, RetrievedCandidate

_MOST = 10
_CLIP = 240
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_CELL = "style='text-align:start;vertical-align:top'"


def short_html(result: RetrievalResult) -> str:
    """The question, what became of it, and a table of the kept candidates."""
    counts = {role: sum(c.role == role for c in result.candidates) for role in ("primary", "supporting", "tangential")}
    told = "Not found" if result.not_found else ", ".join(f"{n} {role}" for role, n in counts.items() if n) or "Nothing"
    others = f"{len(result.discarded)} discarded, {len(result.unjudged)} unjudged; judged by {_text(result.judge)}"
    record = f"; record {_text(result.record_id)}" if result.record_id else ""
    parts = [
        "<div>",
        f"<p dir='auto'><strong>{_text(result.question)}</strong></p>",
        f"<p>{told} ({others}; status {result.status}{record})</p>",
    ]
    if result.not_found_reason:
        parts.append(f"<p dir='auto'>{_text(result.not_found_reason)}</p>")
    if result.candidates:
        names = "".join(f"<th scope='col' {_CELL}>{n}</th>" for n in ("#", "Role", "Where", "Why", "Quote or snippet"))
        rows = "".join(_row(c) for c in result.candidates[:_MOST])
        parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>")
    if len(result.candidates) > _MOST:
        parts.append(f"<p>{len(result.candidates) - _MOST} more kept</p>")
    parts += [f"<p dir='auto'>Conflict: {_text(conflict.reason)}</p>" for conflict in result.conflicts]
    return "".join([*parts, "</div>"])


def _row(candidate: RetrievedCandidate) -> str:
    page = candidate.page_label or (str(candidate.page) if candidate.page else "")
    where = ", ".join(t for t in (f"page {page}" if page else "", candidate.section_title or "") if t)
    shown = f"“{candidate.quote}”" if candidate.quote else candidate.snippet
    if candidate.quote and candidate.quote_status not in ("exact", "folded"):
        shown += f" (quote {candidate.quote_status})"
    cells = (str(candidate.rank), candidate.role, where or candidate.candidate_id, candidate.reason, shown)
    return "<tr>" + "".join(f"<td dir='auto' {_CELL}>{_text(_clipped(cell))}</td>" for cell in cells) + "</tr>"


def _clipped(text: str) -> str:
    return text if len(text) <= _CLIP else text[: _CLIP - 1] + "…"


def _text(text: str | None) -> str:
    return escape(_UNSEEN.sub("\ufffd", text or ""))
