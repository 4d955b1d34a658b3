"""Hits become candidates: merged into structural units, each with an anchor, a context and its evidence."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from arbiter_rag.candidates.context import context_text, grow
from arbiter_rag.candidates.notes import evidence_notes
from arbiter_rag.candidates.snippet import pick_rows, shown
from arbiter_rag.candidates.suspicion import evidence_outside, suspicions
from arbiter_rag.contract import Candidate, Cut, Hit, ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence, relevance, row_hits, strength
from arbiter_rag.detectors.reading import Reading, reading_of
from arbiter_rag.document import ParsedDocument
from arbiter_rag.fusion import reciprocal_rank_fusion

ANCHOR = 15
"""Most lines of an anchor."""

SPOTS = 2
"""Windows that a matching title may contribute: the best two of its section."""

PAGE_SPOTS = 4
"""Windows that a page named in the question may contribute: a labelled page may not be the one that was meant."""

PINNED = 20.0
"""What a page or section that the question names adds to a unit's relevance: more than anything else can."""

SAME_PAGE = 3.0
"""What each unit already taken from a page costs the next one of it, in relevance."""

WIDENED = "unseen page"
"""The method of a candidate that no detector proposed: a window of a page the pool had room for."""

CLOSE, FOREIGN_CLOSE, CLOSEST = 1.5, 8.0, 20
"""What the nearest passage by embedding gains in relevance, in the question's language and across languages; the gain
falls by rank to nothing at the 20th. Cosines themselves differ too much between models to be added."""

BRIDGED, BRIDGED_RANK = 0.3, 3
"""Evidence of the nearest passages across languages, whose words cannot vouch for them."""

_METHOD_ORDER = {"page": 0, "caption": 1, "toc": 2, "keyword": 3, "embedding": 4}


@dataclass(slots=True)
class Unit:
    """One structural unit while hits are merged into it; `order` is its relevance."""

    at: int
    start: int
    end: int
    hits: list[Hit]
    evidence: Evidence
    order: float


def gather(
    question: ParsedQuestion,
    documents: Sequence[ParsedDocument],
    hits: Sequence[Hit],
    *,
    limit: int,
    context_tokens: int,
) -> tuple[list[Candidate], list[Cut]]:
    """Merge hits into at most `limit` candidates, by position; what was left out is listed with the reason.

    Args:
        question: The parsed question.
        documents: In the order that numbers them (`d1-`, `d2-`).
        hits: Of all detectors in all documents.
        limit: Most candidates.
        context_tokens: Most tokens of a context.
    """
    readings = [reading_of(question, d) for d in documents]
    units = _merged(list(_units(readings, hits)), documents)
    fused = _fused_ranks(units)
    kept, left = _diverse(units, readings, limit)
    if kept:
        kept += _unseen_pages(kept, readings, limit - len(kept))
    kept.sort(key=lambda u: (u.at, u.start))
    many = len(documents) > 1
    candidates = [_candidate(readings[u.at], u, fused.get(id(u), len(fused) + 1), many, context_tokens) for u in kept]
    why = f"below the {limit} best by evidence (max_candidates)"
    return candidates, [Cut(candidate_id=_id(readings[u.at].document, u, many), why=why) for u in left]


def _units(readings: Sequence[Reading], hits: Iterable[Hit]) -> Iterable[Unit]:
    at_of = {r.document.doc_id: i for i, r in enumerate(readings)}
    top = max((float(r.lexical.max(initial=0.0)) for r in readings), default=0.0) or 1.0
    for hit in hits:
        at = at_of[hit.scope.doc_id]
        reading = readings[at]
        for start, end in _spots(reading, hit):
            evidence = reading.measure_whole(start, end)
            order = relevance(evidence, reading.lexical_of(start) / top) + _closeness(hit, reading)
            pinned = hit.method in ("page", "caption") or hit.note.startswith("section number")
            yield Unit(at, start, end, [hit], evidence, order + (PINNED if pinned else 0.0))


def _closeness(hit: Hit, reading: Reading) -> float:
    """What closeness in meaning adds to a unit's relevance: most of it where question and document share no words."""
    if hit.method != "embedding":
        return 0.0
    return (FOREIGN_CLOSE if reading.foreign else CLOSE) * max(0.0, 1.0 - (hit.rank - 1) / CLOSEST)


def _spots(reading: Reading, hit: Hit) -> list[tuple[int, int]]:
    """Where in a hit's scope the anchor goes: the scope itself when it is short, else its best windows."""
    start, end = reading.document.rows(hit.scope)
    if end - start <= ANCHOR and hit.method != "toc":
        return [(start, end)]
    windows = reading.windows_in(start, end)
    if not windows:
        return [(start, min(end, start + ANCHOR))]
    ranked = sorted(windows, key=lambda w: (-float(reading.lexical[w]), w))
    if hit.method == "toc":
        # Where a title matched, its first lines are a candidate whatever words they use.
        ranked = [windows[0], *(w for w in ranked if w != windows[0])]
    wanted = PAGE_SPOTS if hit.method == "page" else SPOTS
    return [reading.rows_of(w) for w in ranked[:wanted]]


def _merged(units: list[Unit], documents: Sequence[ParsedDocument]) -> list[Unit]:
    """Units that overlap become one: the best one's anchor, everybody's hits."""
    units.sort(key=lambda u: (-u.order, u.at, u.start, u.end))
    kept: list[Unit] = []
    by_place: dict[tuple[int, int], list[Unit]] = {}
    for unit in units:
        # Rows are looked up by tens, so that a wide pool does not compare everything with everything.
        cells = range(unit.start // 10 - 2, unit.end // 10 + 1)
        near = (k for cell in cells for k in by_place.get((unit.at, cell), ()))
        twin = next((k for k in near if _same_place(documents[unit.at].pages, unit, k)), None)
        if twin is None:
            kept.append(unit)
            by_place.setdefault((unit.at, unit.start // 10), []).append(unit)
        else:
            twin.hits += [h for h in unit.hits if h not in twin.hits]
            twin.order = max(twin.order, unit.order)
    return kept


def _same_place(pages: Sequence[int], a: Unit, b: Unit) -> bool:
    """Whether two units overlap, by more than half when they begin on different pages."""
    shared = min(a.end, b.end) - max(a.start, b.start)
    if pages[a.start] == pages[b.start]:
        return shared > 0
    return 2 * shared > min(a.end - a.start, b.end - b.start)


def _diverse(units: Sequence[Unit], readings: Sequence[Reading], limit: int) -> tuple[list[Unit], list[Unit]]:
    """The best units, each further one of the same page at a discount: ten views of one page are a narrow pool."""
    waiting = sorted(units, key=lambda u: (-u.order, u.at, u.start))
    kept: list[Unit] = []
    on_page: dict[tuple[int, int], int] = {}
    while waiting and len(kept) < limit:
        # The list is sorted by undiscounted order, so no unit behind the first undiscounted one can win.
        best, best_order = 0, -1e9
        for i, unit in enumerate(waiting):
            if unit.order <= best_order:
                break
            order = unit.order - SAME_PAGE * on_page.get((unit.at, readings[unit.at].document.pages[unit.start]), 0)
            if order > best_order:
                best, best_order = i, order
        chosen = waiting.pop(best)
        page = (chosen.at, readings[chosen.at].document.pages[chosen.start])
        on_page[page] = on_page.get(page, 0) + 1
        kept.append(chosen)
    return kept, waiting


def _unseen_pages(kept: Sequence[Unit], readings: Sequence[Reading], room: int) -> list[Unit]:
    """Where the pool has room, one window each of pages that nobody proposed, those with most of the question first."""
    if room < 1:
        return []
    seen = {(u.at, p) for u in kept for p in readings[u.at].document.pages[u.start : u.end]}
    open_pages = [
        (-float(score), at, page)
        for at, reading in enumerate(readings)
        for page, score in enumerate(reading.by_page.tolist())
        if (at, page + 1) not in seen
    ]
    units: list[Unit] = []
    for _, at, page in heapq.nsmallest(room, open_pages):
        reading = readings[at]
        windows = np.flatnonzero(reading.index.window_pages == page)
        if len(windows):
            start, end = reading.rows_of(int(windows[np.argmax(reading.lexical[windows])]))
            units.append(Unit(at, start, end, [], reading.measure_whole(start, end), 0.0))
    return units


def _fused_ranks(units: Sequence[Unit]) -> dict[int, int]:
    """1-based place of each unit (by identity) in the reciprocal rank fusion of the detectors' lists."""
    rankings: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for unit in units:
        for hit in unit.hits:
            rankings.setdefault((hit.method, hit.scope.doc_id), []).append((hit.rank, id(unit)))
    # By rank alone: of two units of one rank the better one comes first, and not the one at the lower address.
    ranked = [list(dict.fromkeys(u for _, u in sorted(r, key=lambda item: item[0]))) for r in rankings.values()]
    fused = reciprocal_rank_fusion(ranked)
    return {unit: place for place, (unit, _) in enumerate(fused, start=1)}


def _id(document: ParsedDocument, unit: Unit, many: bool) -> str:
    prefix = f"d{unit.at + 1}-" if many else ""
    return f"{prefix}p{document.pages[unit.start]}-l{document.lines[unit.start]}"


def _candidate(reading: Reading, unit: Unit, fused: int, many: bool, context_tokens: int) -> Candidate:
    document, question = reading.document, reading.question
    section = document.section_of(unit.start)
    found = row_hits(reading.index, reading.wanted, unit.start, unit.end)
    rows = pick_rows(document, reading.needs, found, question.shape, unit.start, unit.end)
    full = any(h.note.startswith("section number") for h in unit.hits)
    # A caption or lead-in that is shown belongs to the context too, or a quote of it would stand outside.
    first, last = min([unit.start, *rows]), max([unit.end - 1, *rows])
    low, high = grow(document, first, last + 1, context_tokens, full=full)
    text = context_text(document, low, high)
    suspicious, marked = suspicions(document, low, high)
    evidence = evidence_outside(reading, unit.start, unit.end, marked) if marked else strength(unit.evidence)
    if reading.foreign and any(h.method == "embedding" and h.rank <= BRIDGED_RANK for h in unit.hits) and not marked:
        evidence = max(evidence, BRIDGED)
    methods = sorted({h.method for h in unit.hits}, key=lambda m: (_METHOD_ORDER.get(m, 9), m))
    return Candidate(
        candidate_id=_id(document, unit, many),
        doc_id=document.doc_id,
        weak=not unit.hits,
        anchor=document.scope(unit.start, unit.end),
        context=document.scope(low, high),
        page=document.pages[unit.start],
        text=text,
        snippet_lines=shown(document, rows, unit.evidence.matched),
        methods=tuple(methods) or (WIDENED,),
        matched_keywords=unit.evidence.matched,
        section_title=section.title or None,
        breadcrumb=section.breadcrumb or None,
        page_label=document.page_labels[document.pages[unit.start] - 1],
        evidence=evidence,
        relevance=round(unit.order, 6),
        evidence_notes=evidence_notes(unit.evidence, unit.hits, section.title),
        suspicious=suspicious,
        hits=tuple(sorted(unit.hits, key=lambda h: (_METHOD_ORDER.get(h.method, 9), h.rank))),
        incoming_rank=fused,
    )
