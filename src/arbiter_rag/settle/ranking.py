"""Ranks, scores and texts of settled candidates: strictly falling scores in role bands, no line of text twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arbiter_rag.contract import CandidateScope, RetrievedCandidate
from arbiter_rag.document.model import ParsedDocument

Place = tuple[int, int]
"""Page and line."""

_BANDS = {"primary": 1.0, "supporting": 0.75, "tangential": 0.5, "unjudged": 0.25}
_WIDTH = 0.25


def ranked(ordered: Iterable[RetrievedCandidate], documents: Mapping[str, ParsedDocument]) -> list[RetrievedCandidate]:
    """The same candidates, already in order, with rank, score and each line of text emitted once.

    The best primary scores 1; the best of a lower role stays strictly below its band's upper end, so that a cutoff of
    0.75, 0.5 or 0.25 selects roles whether the caller keeps `>=` or `>`.

    Args:
        ordered: Kept candidates by role and the judge's order, then unjudged ones.
        documents: By doc_id, to count the lines of contexts that run over pages.
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
    return _texts_once(out, documents)


def _span(scope: CandidateScope) -> tuple[Place, Place]:
    return (scope.page_start, scope.line_start), (scope.page_end, scope.line_end)


def _texts_once(items: list[RetrievedCandidate], documents: Mapping[str, ParsedDocument]) -> list[RetrievedCandidate]:
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
            kept = _without(kept, better, documents)
            if kept.text_in is not None:
                break
        if kept.text_in is None:
            above.append(kept)
        out.append(kept)
    return out


def _without(
    item: RetrievedCandidate, better: RetrievedCandidate, documents: Mapping[str, ParsedDocument]
) -> RetrievedCandidate:
    if item.context is None or better.context is None:
        return item
    (start, end), (b_start, b_end) = _span(item.context), _span(better.context)
    if b_start <= start and end <= b_end:
        return item.model_copy(update={"text": "", "text_in": better.candidate_id})
    if end < b_start or b_end < start or (start < b_start and b_end < end):
        return item
    return _trimmed(item, item.context, (b_start, b_end), documents)


def _trimmed(
    item: RetrievedCandidate, scope: CandidateScope, span: tuple[Place, Place], documents: Mapping[str, ParsedDocument]
) -> RetrievedCandidate:
    """A context without the lines at its start or end that a better one holds; whole where lines cannot be counted."""
    lines, places = item.text.split("\n"), _places(scope, documents)
    if len(lines) != len(places):
        return item
    rest = [i for i, place in enumerate(places) if not span[0] <= place <= span[1]]
    if not rest:
        return item
    (page_start, line_start), (page_end, line_end) = places[rest[0]], places[rest[-1]]
    bounds = {"page_start": page_start, "line_start": line_start, "page_end": page_end, "line_end": line_end}
    text = "\n".join(lines[i] for i in rest)
    return item.model_copy(update={"text": text, "context": scope.model_copy(update=bounds)})


def _places(scope: CandidateScope, documents: Mapping[str, ParsedDocument]) -> list[Place]:
    """(page, line) of each line of a scope; without its document only a scope within one page can be counted."""
    document = documents.get(scope.doc_id)
    if document is not None:
        start, end = document.rows(scope)
        # A context's text leaves running headers and footers out.
        rows = [r for r in range(start, end) if not document.furniture[r]]
        return [(document.pages[r], document.lines[r]) for r in rows]
    if scope.page_start == scope.page_end:
        return [(scope.page_start, line) for line in range(scope.line_start, scope.line_end + 1)]
    return []
