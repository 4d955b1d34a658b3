"""Passages that say different things on one point, as a judge reports it: ids and quotes checked, the rest dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arbiter_rag.contract import (
    Candidate,
    Conflict,
    Fault,
    SettledSide,
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
