"""Who was judged and how: each candidate of a brief gets one ruling or stays unjudged; ids match exactly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import cast, get_args

from arbiter_rag.contract import Brief, Candidate, Fault, Role
from arbiter_rag.errors import InputError
from arbiter_rag.settle.reply import Reading, ReplyRow
from arbiter_rag.settle.wording import REASON_LIMIT, one_line, shown

_ROLES = frozenset(get_args(Role))

_FAULT_LIMIT = 20
"""Faults of one kind that are listed one by one; a hostile reply may hold a hundred thousand."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the judge said of one candidate; `place` is where in the reply it said so."""

    candidate: Candidate
    role: Role
    reason: str
    quote: str | None
    place: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every candidate of the brief, once.

    Attributes:
        rulings: Judged candidates, in the judge's order.
        unjudged: The others in incoming order, each with the reason why.
        faults: What was wrong with single rows.
        rejected_all: True when the judge ruled on every candidate and nowhere, not even in a row that could not be
            used, named a primary or supporting one.
    """

    rulings: tuple[Ruling, ...]
    unjudged: tuple[tuple[Candidate, str], ...]
    faults: tuple[Fault, ...]
    rejected_all: bool


def account(brief: Brief, reading: Reading, *, fallback: bool) -> Ledger:
    """Match a reading's rows with the brief's candidates.

    Args:
        fallback: The reply comes from the rules that stand in for a judge; what they leave out has no evidence, which
            is no fault of theirs.
    """
    known = {c.candidate_id: c for c in brief.candidates}
    if len(known) != len(brief.candidates):
        raise InputError("Expected candidates with ids of their own, got one id twice; make the ids unique.")
    rulings: dict[str, Ruling] = {}
    why: dict[str, str] = {}
    faults: list[Fault] = []
    rejected_all = True
    for place, row in enumerate(reading.rows):
        role = _role(row)
        rejected_all = rejected_all and role in ("tangential", "discarded")
        candidate_id = row.candidate_id if isinstance(row.candidate_id, str) else None
        candidate = known.get(candidate_id) if candidate_id is not None else None
        if candidate is None or candidate_id is None or "candidate_id" in row.clash:
            faults.append(_unknown(row))
        elif candidate_id in rulings:
            detail = f"The reply named {candidate_id} again; the first verdict counts."
            faults.append(Fault(kind="repeated_id", detail=detail, candidate_id=candidate_id))
        elif role is None:
            detail = _bad_role(row)
            why.setdefault(candidate_id, detail)
            faults.append(Fault(kind="bad_role", detail=detail, candidate_id=candidate_id))
        else:
            rulings[candidate_id], repairs = _ruling(candidate, role, row, place)
            faults.extend(repairs)
    silent = "The rules found no evidence in it." if fallback else "The reply gave no verdict on it."
    left = sorted((c for c in brief.candidates if c.candidate_id not in rulings), key=lambda c: c.incoming_rank)
    unjudged = tuple((c, why.get(c.candidate_id, silent)) for c in left)
    if not fallback:
        faults.extend(_omitted([c.candidate_id for c in left if c.candidate_id not in why], len(known)))
    return Ledger(tuple(rulings.values()), unjudged, bounded(faults), rejected_all and not left)


def _role(row: ReplyRow) -> Role | None:
    """One of the four roles; case and surrounding white space fold, nothing else is guessed."""
    if not isinstance(row.role, str) or "role" in row.clash:
        return None
    folded = row.role[:40].strip().lower()
    return cast(Role, folded) if folded in _ROLES else None


def _bad_role(row: ReplyRow) -> str:
    what = "two different ones" if "role" in row.clash else shown(row.role)
    return f"Expected primary, supporting, tangential or discarded, got {what}; the verdict was not used."


def _unknown(row: ReplyRow) -> Fault:
    if "candidate_id" in row.clash:
        return Fault(kind="unknown_id", detail="An entry of the reply had two different ids; it was not used.")
    return Fault(kind="unknown_id", detail=f"The reply named {shown(row.candidate_id)}, which is no candidate's id.")


def _omitted(ids: list[str], total: int) -> list[Fault]:
    if not ids:
        return []
    listed = ", ".join(ids[:_FAULT_LIMIT]) + (", ..." if len(ids) > _FAULT_LIMIT else "")
    return [Fault(kind="omitted", detail=f"The reply gave no verdict on {len(ids)} of {total} candidates: {listed}.")]


def _ruling(candidate: Candidate, role: Role, row: ReplyRow, place: int) -> tuple[Ruling, list[Fault]]:
    repairs: list[str] = []
    if row.role != role:
        repairs.append(f"The role {shown(row.role)} was read as {role}.")
    if not isinstance(row.reason, str):
        repairs.append(f"Expected a reason as text, got {shown(row.reason)}.")
    elif len(row.reason) > REASON_LIMIT:
        repairs.append(f"The reason had {len(row.reason)} characters and was cut.")
    if row.quote is not None and not isinstance(row.quote, str):
        repairs.append(f"Expected a quote as text, got {shown(row.quote)}; it was not used.")
    quote = row.quote if isinstance(row.quote, str) and row.quote.strip() else None
    reason = one_line(row.reason) if isinstance(row.reason, str) else ""
    faults = [Fault(kind="repaired", detail=d, candidate_id=candidate.candidate_id) for d in repairs]
    return Ruling(candidate, role, reason, quote, place), faults


def bounded(faults: list[Fault]) -> tuple[Fault, ...]:
    """At most so many faults of one kind one by one, and how many more there were."""
    counts: Counter[str] = Counter()
    kept: list[Fault] = []
    for fault in faults:
        counts[fault.kind] += 1
        if counts[fault.kind] <= _FAULT_LIMIT:
            kept.append(fault)
    for kind, count in counts.items():
        if count > _FAULT_LIMIT:
            kept.append(Fault(kind=kind, detail=f"{count - _FAULT_LIMIT} more faults of this kind."))
    return tuple(kept)
