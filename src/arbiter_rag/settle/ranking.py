"""Ranks, scores and texts of settled candidates: strictly falling scores in role bands, no line of text twice."""

from __future__ import annotations

from collections.abc import Iterable

from arbiter_rag.contract import CandidateScope, RetrievedCandidate

_BANDS = {"primary": 1.0, "supporting": 0.75, "tangential": 0.5, "unjudged": 0.25}
_WIDTH = 0.25


def ranked(ordered: Iterable[RetrievedCandidate]) -> list[RetrievedCandidate]:
    """The same candidates, already in order, with rank, score and each line of text emitted once.

    The best primary scores 1; the best of a lower role stays strictly below its band's upper end, so that a cutoff of
    0.75, 0.5 or 0.25 selects roles whether the caller keeps `>=` or `>`.
    """
    items = list(ordered)
    sizes = {role: sum(c.role == role for c in items) for role in _BANDS}
    seen = dict.fromkeys(_BANDS, 0)
    out: list[RetrievedCandidate] = []
    for rank, item in enumerate(items, start=1):
        place = seen[item.role]
        seen[item.role] += 1
        top = item.role == "primary"
        step = _WIDTH / (sizes[item.role] if top else sizes[item.role] + 1)
        score = _BANDS[item.role] - step * (place if top else place + 1)
        out.append(item.model_copy(update={"rank": rank, "score": score}))
    return _texts_once(out)


def _span(scope: CandidateScope) -> tuple[tuple[int, int], tuple[int, int]]:
    return (scope.page_start, scope.line_start), (scope.page_end, scope.line_end)


def _texts_once(items: list[RetrievedCandidate]) -> list[RetrievedCandidate]:
    """Drop a text that a better ranked candidate's text contains, and the lines that two share from the lower one.

    A lower context that merely overlaps loses the shared lines at its start or end, in `text` and in `context` alike.
    One that holds a better context in its middle stays whole: what is left would be no run of lines.
    """
    emitted: dict[str, list[RetrievedCandidate]] = {}
    out: list[RetrievedCandidate] = []
    for item in items:
        if item.context is None or not item.text:
            out.append(item)
            continue
        above = emitted.setdefault(item.context.doc_id, [])
        kept = item
        for better in above:
            kept = _without(kept, better)
            if kept.text_in is not None:
                break
        if kept.text_in is None:
            above.append(kept)
        out.append(kept)
    return out


def _without(item: RetrievedCandidate, better: RetrievedCandidate) -> RetrievedCandidate:
    if item.context is None or better.context is None:
        return item
    (start, end), (b_start, b_end) = _span(item.context), _span(better.context)
    if b_start <= start and end <= b_end:
        return item.model_copy(update={"text": "", "text_in": better.candidate_id})
    if end < b_start or b_end < start or (start < b_start and b_end < end):
        return item
    return _trimmed(item, item.context, b_start if start < b_start else None, b_end)


def _trimmed(
    item: RetrievedCandidate, scope: CandidateScope, before: tuple[int, int] | None, after: tuple[int, int]
) -> RetrievedCandidate:
    """The part of a context before or after a better one, where lines can be counted: within a single page."""
    lines = item.text.split("\n")
    if scope.page_start != scope.page_end or len(lines) != scope.line_end - scope.line_start + 1:
        return item
    if before is not None:
        last = before[1] - 1
        rest = lines[: last - scope.line_start + 1]
        return item.model_copy(update={"text": "\n".join(rest), "context": scope.model_copy(update={"line_end": last})})
    first = after[1] + 1
    return item.model_copy(
        update={
            "text": "\n".join(lines[first - scope.line_start :]),
            "context": scope.model_copy(update={"line_start": first}),
        }
    )
