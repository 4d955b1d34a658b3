"""Passages that say different things on one point: a judge's report settled, and the clear case found by rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from arbiter_rag.contract import (
    AnswerShape,
    Candidate,
    Conflict,
    ConflictReply,
    ConflictSide,
    Fault,
    ParsedQuestion,
    SettledSide,
    SnippetLine,
)
from arbiter_rag.settle.quotes import QuoteBook
from arbiter_rag.settle.reply import ReplyConflict
from arbiter_rag.settle.wording import QUOTE_LIMIT, one_line, presentable, shown

_SIDES = 12
"""Sides of one conflict that are settled; more is no statement about passages."""

_CONFLICTS = 50
"""Conflicts of one reply that are settled."""


def settle_conflicts(
    replies: Sequence[ReplyConflict], kept: Mapping[str, Candidate], book: QuoteBook
) -> tuple[tuple[Conflict, ...], list[Fault]]:
    """Conflicts with at least two different kept candidates, their quotes checked; the rest is reported.

    Args:
        replies: As read from the reply.
        kept: Kept candidates by id.
        book: Where quotes are looked up.
    """
    conflicts: list[Conflict] = []
    faults: list[Fault] = []
    for reply in replies[:_CONFLICTS]:
        sides: dict[str, SettledSide] = {}
        for candidate_id, quote in reply.sides[:_SIDES]:
            candidate = kept.get(candidate_id) if isinstance(candidate_id, str) else None
            if candidate is None:
                detail = f"A conflict named {shown(candidate_id)}, which is no kept candidate's id."
                faults.append(Fault(kind="bad_conflict", detail=detail))
            elif candidate.candidate_id in sides:
                detail = f"A conflict named {candidate.candidate_id} twice; the first quote counts."
                faults.append(Fault(kind="bad_conflict", detail=detail, candidate_id=candidate.candidate_id))
            else:
                sides[candidate.candidate_id] = _side(candidate, quote, book)
        if len(sides) < 2:
            detail = f"A conflict needs two kept candidates, got {len(sides)}; it was dropped."
            faults.append(Fault(kind="bad_conflict", detail=detail))
            continue
        reason = one_line(reply.reason) if isinstance(reply.reason, str) else ""
        conflicts.append(Conflict(reason=reason, sides=tuple(sides.values())))
    if len(replies) > _CONFLICTS:
        detail = f"{len(replies) - _CONFLICTS} conflicts beyond the first {_CONFLICTS} were dropped."
        faults.append(Fault(kind="bad_conflict", detail=detail))
    return tuple(conflicts), faults


def _side(candidate: Candidate, quote: object, book: QuoteBook) -> SettledSide:
    if not isinstance(quote, str) or not quote.strip():
        return SettledSide(candidate_id=candidate.candidate_id)
    found = book.check(candidate, quote)
    if found is None or found.scope is None:
        status = None if found is None else found.status
        return SettledSide(candidate_id=candidate.candidate_id, quote=one_line(quote, QUOTE_LIMIT), quote_status=status)
    return SettledSide(
        candidate_id=candidate.candidate_id,
        quote=presentable(quote),
        quote_status=found.status,
        quote_scope=found.scope,
    )


# --- the clear case, for judging without a model ----------------------------------------------------------------

_AMENDS = re.compile(
    r"(?i)\b(?:amend(?:ment|s|ed|ing)?|addend(?:um|a)|rider|endorsement|supersed\w*|is (?:hereby )?replaced|replaces|"
    r"avenant|modificatif|remplac(?:e|é|ée|ent)|nachtrag|änderungsvereinbarung|ersetzt|änderung|adenda|enmienda|"
    r"sustituye|modifica(?:ción)?|emendamento|sostituisce|appendice modificativa|aditamento|aditivo|substitui|"
    r"addendum|wijziging|vervangt|дополнительное соглашение|поправка|заменяется|изменени[ея])\b"
    r"|修正|変更契約|改定|修订|补充协议|변경|개정"
)
_IN_FORCE = re.compile(
    r"(?i)\b(?:in force|effective (?:from|as of|on)|as of|with effect from|en vigueur|à compter du|à partir du|"
    r"in kraft|gültig ab|mit wirkung|en vigor|a partir del?|in vigore|a decorrere|em vigor|van kracht|met ingang van|"
    r"вступает в силу|действует с)\b"
)
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f.,'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_TIME = (
    r"(?:days?|weeks?|months?|years?|hours?|jours?|semaines?|mois|ans?|années?|heures?|tagen?|wochen?|monaten?|jahren?|"
    r"días?|semanas?|meses|años?|giorni|settimane|mesi|anni|dias|anos|dagen|weken|maanden|jaar|дн\w+|недел\w+|месяц\w*|"
    r"лет|год\w*)\b|日|週|月|年|天|周|个月|일|주|개월|년"
)
_MONEY = r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?)\b"
_VALUES: dict[AnswerShape, re.Pattern[str]] = {
    "amount": re.compile(rf"(?i)(?:(?:{_MONEY})\s?(?:{_DIGITS})|(?:{_DIGITS})\s?(?:{_MONEY}))"),
    "percentage": re.compile(rf"(?i)(?:{_DIGITS})\s?(?:%|percent\b|per cent\b|pour cent\b|prozent\b|por ciento\b)"),
    "duration": re.compile(rf"(?i)(?:{_DIGITS})(?:\s*\([^)]{{1,20}}\))?[\s-]?(?:{_TIME})"),
}
"""Shapes whose values can be told apart from the numbers around them."""

_MOST = 40
"""Candidates that are compared: pairs grow with the square."""


def obvious_conflicts(question: ParsedQuestion, candidates: Sequence[Candidate]) -> tuple[ConflictReply, ...]:
    """The clear case only: the same keywords, one value of the answer's shape each, values that differ, and one section
    that amends the other (or both that state a term in force).

    Args:
        question: Its shape says what a value is; shapes other than amount, percentage and duration give nothing.
        candidates: Those a detector found something in.
    """
    pattern = _VALUES.get(question.shape)
    if pattern is None:
        return ()
    stated = []
    for candidate in candidates[:_MOST]:
        line = _telling_line(candidate, pattern)
        if line is not None and len(candidate.matched_keywords) >= 1 and not candidate.weak:
            stated.append((candidate, line, _value(pattern, line.text)))
    out: list[ConflictReply] = []
    for (a, line_a, value_a), (b, line_b, value_b) in combinations(stated, 2):
        if value_a == value_b or {*a.matched_keywords} != {*b.matched_keywords} or _same_place(a, b):
            continue
        if not _contradict(a, b):
            continue
        reason = f"They state different values: {value_a} and {value_b}."
        sides = (
            ConflictSide(candidate_id=a.candidate_id, quote=line_a.text),
            ConflictSide(candidate_id=b.candidate_id, quote=line_b.text),
        )
        out.append(ConflictReply(reason=reason, sides=sides))
    return tuple(out)


def _telling_line(candidate: Candidate, pattern: re.Pattern[str]) -> SnippetLine | None:
    """The one line that states a value beside a keyword; None when several values compete."""
    words = [w.lower() for w in candidate.matched_keywords]
    lines = [
        line
        for line in candidate.snippet_lines
        if pattern.search(line.text) and any(w in line.text.lower() for w in words)
    ]
    if len(lines) != 1 or len({m.group().lower() for m in pattern.finditer(lines[0].text)}) != 1:
        return None
    return lines[0]


def _value(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return " ".join(match.group().lower().split()) if match else ""


def _same_place(a: Candidate, b: Candidate) -> bool:
    """Whether two candidates come from one section, or from documents that cannot amend one another silently."""
    if a.context is None or b.context is None:
        return False
    return a.context.doc_id == b.context.doc_id and a.context.section_id == b.context.section_id


def _contradict(a: Candidate, b: Candidate) -> bool:
    heads = [f"{c.breadcrumb or ''} {c.section_title or ''} {c.snippet}" for c in (a, b)]
    amends = [bool(_AMENDS.search(head)) for head in heads]
    if amends[0] != amends[1]:
        return True
    titles = [bool(_AMENDS.search(f"{c.breadcrumb or ''} {c.section_title or ''}")) for c in (a, b)]
    return (all(amends) and any(titles)) or all(_IN_FORCE.search(head) for head in heads)
