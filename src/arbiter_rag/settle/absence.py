"""Why an answer was not found, in three sentences: what was searched, what could not be, what the judge said."""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_rag.contract import Coverage
from arbiter_rag.settle.ledger import Ruling

_TERMS = 6
_REASONS = 2


def not_found_reason(coverage: Coverage, rulings: Sequence[Ruling], cut: int = 0) -> str:
    """One to three sentences a person can act on; `cut` candidates never reached the judge."""
    sentences = [_searched(coverage), _gaps(coverage), _judged(rulings, cut)]
    return " ".join(s for s in sentences if s)


def _searched(coverage: Coverage) -> str:
    how = f" by {' and '.join(coverage.detectors)}" if coverage.detectors else ""
    where = f" in {_count(coverage.pages, 'page')}" if coverage.pages else ""
    if not coverage.terms:
        return f"Nothing that answers the question was found{how}{where}."
    terms = ", ".join(f'"{t.text}" ({_count(t.lines, "line")})' for t in coverage.terms[:_TERMS])
    more = f" and {_count(len(coverage.terms) - _TERMS, 'more term')}" if len(coverage.terms) > _TERMS else ""
    return f"Nothing that answers the question was found{how}{where}; searched for {terms}{more}."


def _gaps(coverage: Coverage) -> str:
    """What makes the absence certain, or less certain, as one sentence."""
    clauses: list[str] = []
    if coverage.missing_names:
        clauses.append(f"{', '.join(coverage.missing_names[:_TERMS])} occurs nowhere in the text")
    if coverage.pages_without_text:
        hold = "holds" if len(coverage.pages_without_text) == 1 else "hold"
        pages = _count(len(coverage.pages_without_text), "page")
        clauses.append(f"{pages} {hold} no text and could not be searched")
    if not coverage.bridged:
        languages = "/".join(coverage.document_languages) or "another language"
        clauses.append(
            f"the question ({coverage.question_language}) and the document ({languages}) differ in language and no "
            "embedder was there to bridge them"
        )
    if not clauses:
        return ""
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _judged(rulings: Sequence[Ruling], cut: int) -> str:
    if not rulings:
        return ""
    best = sorted(rulings, key=lambda r: r.role == "discarded")
    reasons = [f"{r.candidate.candidate_id}: {r.reason.rstrip('.!?。')}" for r in best if r.reason][:_REASONS]
    said = f" ({'; '.join(reasons)})" if reasons else ""
    unseen = f"; {_count(cut, 'weaker passage')} left out of the call" if cut else ""
    return f"The judge read {_count(len(rulings), 'passage')} and found the answer in none of them{said}{unseen}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
