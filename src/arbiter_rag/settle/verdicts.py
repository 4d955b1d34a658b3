"""Brief and reply in, verdicts out: a role stands only where quote and passage bear it, and nothing gets lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from arbiter_rag.contract import (
    Brief,
    Candidate,
    Fault,
    QuoteStatus,
    RetrievalResult,
    RetrievedCandidate,
    Role,
    Status,
    Usage,
    Verdict,
)
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.errors import JudgeError
from arbiter_rag.hostile import scan
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle.absence import not_found_reason
from arbiter_rag.settle.ledger import Ledger, Ruling, account, bounded
from arbiter_rag.settle.quotes import Found, QuoteBook, Spans
from arbiter_rag.settle.ranking import ranked
from arbiter_rag.settle.reasons import Ground, unsupported
from arbiter_rag.settle.reply import Reading, read
from arbiter_rag.settle.sides import settle_conflicts
from arbiter_rag.settle.wording import QUOTE_LIMIT, one_line, presentable

OnUnverified = Literal["demote", "flag", "discard"]
"""What becomes of a primary whose quote is not in its passage."""

SUPPORT = 0.2
"""Evidence (of the rows that nothing marks) from which detectors support a passage that addresses the judge; 0 is a
candidate whose evidence nobody measured."""

_ORDER: dict[Verdict, int] = {"primary": 0, "supporting": 1, "tangential": 2}


class Span(Protocol):
    """A stretch of a text that addresses the judge; `arbiter_rag.hostile.Suspicion` is one."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


SpansOf = Callable[[str], Sequence[Span]]


@dataclass(frozen=True, slots=True)
class _Settled:
    """One ruling after its quote and passage were checked."""

    ruling: Ruling
    role: Role
    found: Found | None
    suspicious: tuple[str, ...]
    faults: tuple[Fault, ...]
    unsupported: tuple[str, ...] = ()


def settle(
    brief: Brief,
    reply: JudgeReply,
    *,
    judge: str,
    documents: Mapping[str, ParsedDocument] | None = None,
    error: str | None = None,
    on_unverified: OnUnverified = "demote",
    spans_of: SpansOf = scan,
) -> RetrievalResult:
    """Turn a reply that nobody has checked into a result that accounts for every candidate.

    Args:
        brief: What was judged.
        reply: The judge's reply; trusted in nothing.
        judge: The judge's name.
        documents: By doc_id: they give quotes their lines, boxes and surroundings.
        error: Why the chosen judge did not decide, when this is the fallback's reply: the status is `degraded`,
            nothing is said to be not found, and no primary is discarded for its quote.
        on_unverified: What becomes of a primary whose quote is not verified: `demote` to supporting, `flag` (the role
            stays, a fault says so), or `discard`. A passage without any text cannot be quoted: a fault says that
            nothing verifies it, and unless flagged its primary is lowered to supporting, never discarded.
        spans_of: Finds stretches of a text that address the judge. A primary in a passage that holds any stands only
            if the detectors find evidence in its other lines and its verified quote lies outside them.

    Raises:
        JudgeError: No ranking can be read at all.
    """
    if not brief.candidates:
        return settle_empty(brief, judge=judge)
    try:
        reading = read(reply)
    except JudgeError:
        if error is None:
            raise
        reading = Reading((), (), ())  # the rules, standing in, name only what has evidence: here nothing has
    ledger = account(brief, reading, fallback=error is not None)
    book = _book(brief, documents or {}, spans_of)
    policy: OnUnverified = "demote" if error is not None and on_unverified == "discard" else on_unverified
    shown = _shown_to_judge(brief)
    settled = [_settle_one(r, book, policy, spans_of, shown, brief) for r in ledger.rulings]
    return _result(brief, reply, reading, ledger, settled, book, judge, error)


def settle_empty(brief: Brief, *, judge: str) -> RetrievalResult:
    """The result when nothing was proposed: not found, without asking anyone."""
    # A pool that was cut down to nothing was proposed, and nobody has judged it.
    not_found = not brief.cut
    return RetrievalResult(
        **_common(brief, judge),
        not_found=not_found,
        not_found_reason=not_found_reason(brief.coverage, ()) if not_found else None,
        status="ok" if not_found else "partial",
    )


def _common(brief: Brief, judge: str) -> dict[str, Any]:
    methods = dict.fromkeys(m for c in brief.candidates for m in c.methods)
    return {
        "question": brief.question.text,
        "documents": brief.documents,
        "cut": brief.cut,
        "plan": brief.plan,
        "coverage": brief.coverage,
        "confidence": brief.confidence,
        "judge": judge,
        "methods_used": tuple(dict.fromkeys((*brief.coverage.detectors, *methods))),
    }


def _book(brief: Brief, documents: Mapping[str, ParsedDocument], spans_of: SpansOf) -> QuoteBook:
    found: dict[str, Spans] = {}

    def marks(candidate: Candidate, text: str) -> Spans:
        if text not in found:
            found[text] = [(s.start, s.end) for s in spans_of(text)]
        named = [(text.index(s), text.index(s) + len(s)) for s in candidate.suspicious if s and s in text]
        return [*found[text], *named]

    names = frozenset(k.text.lower() for k in brief.question.keywords if k.is_name and len(k.text) > 1)
    return QuoteBook(brief.candidates, documents, brief.coverage.document_languages, names, marks)


def _shown_to_judge(brief: Brief) -> Ground:
    """The question and everything the brief showed of all candidates."""
    parts = [brief.question.text, brief.instructions or ""]
    for entry in brief.entries:
        parts.extend((entry.candidate_id, entry.section or "", " ".join(entry.methods), entry.snippet))
        parts.append(" ".join(entry.matched_keywords))
    return Ground(tuple(parts))


def _own_ground(candidate: Candidate) -> Ground:
    place = candidate.anchor or candidate.context
    pages = f"{place.page_start} {place.page_end}" if place else ""
    return Ground((candidate.text, candidate.page_label or "", pages, candidate.breadcrumb or ""))


def _settle_one(
    ruling: Ruling, book: QuoteBook, policy: OnUnverified, spans_of: SpansOf, shown: Ground, brief: Brief
) -> _Settled:
    candidate = ruling.candidate
    best = ruling.role == "primary"
    suspicious = candidate.suspicious
    if best and not suspicious:
        # Only what was shown can have addressed the judge; a brief made by our own main path is marked already.
        suspicious = tuple(one_line(s.text) for s in spans_of(candidate.snippet))
    wary = best and bool(suspicious)
    found = book.check(candidate, ruling.quote, wary=wary) if ruling.quote is not None or best else None
    role, faults = ruling.role, list[Fault]()
    if best:
        role, faults = _bearing(candidate, found, bool(suspicious), policy)
    missing = unsupported(ruling.reason, (shown, _own_ground(candidate)), brief.question.language)
    return _Settled(ruling, role, found, suspicious, tuple(faults), missing)


def _bearing(
    candidate: Candidate, found: Found | None, suspicious: bool, policy: OnUnverified
) -> tuple[Role, list[Fault]]:
    """The role that a primary's quote and passage bear, and what is to be reported."""
    own = candidate.candidate_id
    if suspicious:
        why = _distrust(candidate, found)
        if why is not None:
            detail = f"{own} addresses the judge and {why}; lowered from primary to supporting."
            return "supporting", [Fault(kind="demoted", detail=detail, candidate_id=own)]
    if found is None:
        detail = f"{own} has no text that could be quoted; nothing verifies its verdict"
        # Whatever becomes of false quotes: nothing says that this passage is wrong, so it is not thrown away.
        role: Role = "primary" if policy == "flag" else "supporting"
        detail += "." if role == "primary" else "; lowered from primary to supporting."
        return role, [Fault(kind="unverified", detail=detail, candidate_id=own)]
    if found.status in ("exact", "folded"):
        return "primary", []
    what = _UNVERIFIED[found.status]
    if policy == "flag":
        return "primary", [Fault(kind="unverified", detail=f"The quote of {own} {what}.", candidate_id=own)]
    role = "supporting" if policy == "demote" else "discarded"
    detail = f"The quote of {own} {what}; lowered from primary to {role}."
    return role, [Fault(kind="demoted", detail=detail, candidate_id=own)]


_UNVERIFIED: dict[QuoteStatus, str] = {
    "weak": "is too short to tell anything, or leaves out a negation beside it",
    "elsewhere": "stands in another candidate",
    "absent": "is missing or does not stand in its passage",
}


def _distrust(candidate: Candidate, found: Found | None) -> str | None:
    """Why a verdict of primary on a passage that addresses the judge does not stand; None when it does."""
    measured = candidate.evidence > 0
    if candidate.weak or not (candidate.hits or candidate.methods) or (measured and candidate.evidence < SUPPORT):
        return "no detector supports it"
    if found is None or found.status not in ("exact", "folded"):
        return "no verified quote supports it"
    return "its quote lies in what addresses the judge" if found.tainted else None


def _retrieved(candidate: Candidate, role: Verdict, **verdict: Any) -> RetrievedCandidate:
    return RetrievedCandidate(
        candidate_id=candidate.candidate_id,
        doc_id=candidate.doc_id,
        anchor=candidate.anchor,
        context=candidate.context,
        page=candidate.page,
        snippet=candidate.snippet,
        text=candidate.text,
        methods=candidate.methods,
        matched_keywords=candidate.matched_keywords,
        section_title=candidate.section_title,
        breadcrumb=candidate.breadcrumb,
        page_label=candidate.page_label,
        original_id=candidate.original_id,
        original_score=candidate.original_score,
        role=role,
        **{"suspicious": candidate.suspicious, **verdict},
    )


def _verdict(settled: _Settled) -> RetrievedCandidate:
    ruling, found = settled.ruling, settled.found
    quote = ruling.quote
    if quote is not None:
        quote = presentable(quote) if found and found.scope else one_line(quote, QUOTE_LIMIT)
    return _retrieved(
        ruling.candidate,
        settled.role,
        reason=ruling.reason,
        quote=quote,
        quote_status=found.status if found else None,
        quote_scope=found.scope if found else None,
        unsupported=settled.unsupported,
        suspicious=settled.suspicious,
        demoted_from=ruling.role if settled.role != ruling.role else None,
    )


def _result(
    brief: Brief,
    reply: JudgeReply,
    reading: Reading,
    ledger: Ledger,
    settled: Sequence[_Settled],
    book: QuoteBook,
    judge: str,
    error: str | None,
) -> RetrievalResult:
    kept = sorted((s for s in settled if s.role != "discarded"), key=lambda s: (_ORDER[s.role], s.ruling.place))
    kept_by_id = {s.ruling.candidate.candidate_id: s.ruling.candidate for s in kept}
    conflicts, bad_conflicts = settle_conflicts(reading.conflicts, kept_by_id, book)
    unjudged = [_retrieved(c, "unjudged", reason=why) for c, why in ledger.unjudged]
    listed = ranked([*(_verdict(s) for s in kept), *unjudged], book.documents)
    found_wrong = [*reading.faults, *ledger.faults, *bounded([f for s in settled for f in s.faults])]
    found_wrong.extend(bounded(bad_conflicts))
    faults = (*found_wrong, *_shortened(brief))
    # What the prompt had no room for was proposed and nobody judged it: the answer may stand there.
    unread = any(cut.over_budget for cut in brief.cut)
    not_found = ledger.rejected_all and error is None and not unread
    partial = bool(found_wrong or unjudged or unread)
    status: Status = "degraded" if error is not None else "partial" if partial else "ok"
    return RetrievalResult(
        **_common(brief, judge),
        candidates=tuple(listed[: len(kept)]),
        discarded=tuple(_verdict(s) for s in settled if s.role == "discarded"),
        unjudged=tuple(listed[len(kept) :]),
        conflicts=conflicts,
        faults=faults,
        not_found=not_found,
        not_found_reason=not_found_reason(brief.coverage, ledger.rulings, len(brief.cut)) if not_found else None,
        status=status,
        error=error,
        usage=Usage(
            attempts=reply.attempts,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            forecast=brief.forecast_tokens,
        ),
    )


def _shortened(brief: Brief) -> tuple[Fault, ...]:
    """Snippets that were shortened to fit: known before the call, so no fault of the reply."""
    what = "The snippet of {} was shortened to fit the prompt."
    return bounded([Fault(kind="truncated_snippet", detail=what.format(i), candidate_id=i) for i in brief.truncated])
