"""Hits become candidates: merged into structural units, each with an anchor, a context and its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbiter_rag.candidates.context import context_text, grow
from arbiter_rag.candidates.notes import evidence_notes
from arbiter_rag.candidates.snippet import pick_rows, shown
from arbiter_rag.contract import Candidate, Cut, Hit, ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence, measure, relevance, row_hits, strength
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.keyword import lexical_scores, wanted_terms
from arbiter_rag.detectors.needs import Needs, needs_of
from arbiter_rag.document import ParsedDocument
from arbiter_rag.fusion import reciprocal_rank_fusion
from arbiter_rag.hostile import scan

ANCHOR = 15
"""Most lines of an anchor."""

SPOTS = 2
"""Windows that a matching title may contribute: the best two of its section."""

PINNED = 20.0
"""What a page or section that the question names adds to a unit's relevance: more than anything else can."""

_METHOD_ORDER = {"page": 0, "toc": 1, "keyword": 2, "embedding": 3}


class Reading:
    """A question against one document: what its units, snippets and evidence are measured with."""

    def __init__(self, question: ParsedQuestion, document: ParsedDocument) -> None:
        self.question = question
        self.document = document
        self.index: DocumentIndex = index_of(document)
        self.needs: Needs = needs_of(question, self.index)
        self.wanted: NDArray[np.bool_] = wanted_terms(self.index, self.needs)
        self.lexical: NDArray[np.float64] = lexical_scores(self.index, self.needs)
        self._measured: dict[tuple[int, int], Evidence] = {}

    def measure(self, start: int, end: int) -> Evidence:
        """Evidence of rows `start` to `end`, exclusive."""
        key = (start, end)
        found = self._measured.get(key)
        if found is None:
            found = measure(self.index, self.needs, self.wanted, self.question.shape, start, end)
            self._measured[key] = found
        return found

    def windows_in(self, start: int, end: int) -> range:
        """Numbers of the windows that begin in rows `start` to `end`, exclusive."""
        low, high = np.searchsorted(self.index.starts, [start, end])
        return range(int(low), int(high))

    def rows_of(self, window: int) -> tuple[int, int]:
        """Rows of a window."""
        return int(self.index.starts[window]), int(self.index.ends[window])

    def lexical_of(self, start: int) -> float:
        """BM25 of the window that begins at or last before this row."""
        window = int(np.searchsorted(self.index.starts, start, side="right")) - 1
        return float(self.lexical[window]) if window >= 0 else 0.0


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
    readings = [Reading(question, d) for d in documents]
    units = _merged(list(_units(readings, hits)))
    fused = _fused_ranks(units, hits)
    units.sort(key=lambda u: (-u.order, u.at, u.start))
    kept, left = units[:limit], units[limit:]
    kept.sort(key=lambda u: (u.at, u.start))
    many = len(documents) > 1
    candidates = [_candidate(readings[u.at], u, fused[id(u)], many, context_tokens) for u in kept]
    why = f"below the {limit} best by evidence (max_candidates)"
    return candidates, [Cut(candidate_id=_id(readings[u.at].document, u, many), why=why) for u in left]


def _units(readings: Sequence[Reading], hits: Iterable[Hit]) -> Iterable[Unit]:
    at_of = {r.document.doc_id: i for i, r in enumerate(readings)}
    top = max((float(r.lexical.max(initial=0.0)) for r in readings), default=0.0) or 1.0
    for hit in hits:
        at = at_of[hit.scope.doc_id]
        reading = readings[at]
        for start, end in _spots(reading, hit):
            evidence = reading.measure(start, end)
            order = relevance(evidence, reading.lexical_of(start) / top)
            pinned = hit.method == "page" or hit.note.startswith("section number")
            yield Unit(at, start, end, [hit], evidence, order + (PINNED if pinned else 0.0))


def _spots(reading: Reading, hit: Hit) -> list[tuple[int, int]]:
    """Where in a hit's scope the anchor goes: the scope itself when it is short, else its best windows."""
    start, end = reading.document.rows(hit.scope)
    if end - start <= ANCHOR and hit.method != "toc":
        return [(start, end)]
    windows = reading.windows_in(start, end)
    if not windows:
        return [(start, min(end, start + ANCHOR))]
    ranked = sorted(windows, key=lambda w: (-float(reading.lexical[w]), w))
    wanted = len(ranked) if hit.method == "page" else SPOTS
    return [reading.rows_of(w) for w in ranked[:wanted]]


def _merged(units: list[Unit]) -> list[Unit]:
    """Units that overlap, or stand in one section on one page, become one: the best one's anchor, everybody's hits."""
    units.sort(key=lambda u: (-u.order, u.at, u.start, u.end))
    kept: list[Unit] = []
    by_place: dict[tuple[int, int], list[Unit]] = {}
    for unit in units:
        # Rows are looked up by tens, so that a wide pool does not compare everything with everything.
        cells = range(unit.start // 10 - 2, unit.end // 10 + 1)
        near = (k for cell in cells for k in by_place.get((unit.at, cell), ()))
        twin = next((k for k in near if unit.start < k.end and k.start < unit.end), None)
        if twin is None:
            kept.append(unit)
            by_place.setdefault((unit.at, unit.start // 10), []).append(unit)
        else:
            twin.hits += [h for h in unit.hits if h not in twin.hits]
            twin.order = max(twin.order, unit.order)
    return kept


def _fused_ranks(units: Sequence[Unit], hits: Sequence[Hit]) -> dict[int, int]:
    """1-based place of each unit (by identity) in the reciprocal rank fusion of the detectors' lists."""
    rankings: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for unit in units:
        for hit in unit.hits:
            rankings.setdefault((hit.method, hit.scope.doc_id), []).append((hit.rank, id(unit)))
    ranked = [list(dict.fromkeys(u for _, u in sorted(r))) for r in rankings.values()]
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
    low, high = grow(document, unit.start, unit.end, context_tokens, full=full)
    text = context_text(document, low, high)
    methods = sorted({h.method for h in unit.hits}, key=lambda m: (_METHOD_ORDER.get(m, 9), m))
    return Candidate(
        candidate_id=_id(document, unit, many),
        doc_id=document.doc_id,
        anchor=document.scope(unit.start, unit.end),
        context=document.scope(low, high),
        page=document.pages[unit.start],
        text=text,
        snippet_lines=shown(document, rows),
        methods=tuple(methods),
        matched_keywords=unit.evidence.matched,
        section_title=section.title or None,
        breadcrumb=section.breadcrumb or None,
        page_label=document.page_labels[document.pages[unit.start] - 1],
        evidence=strength(unit.evidence),
        relevance=round(unit.order, 6),
        evidence_notes=evidence_notes(unit.evidence, unit.hits, section.title),
        suspicious=tuple(s.text for s in scan(text)),
        hits=tuple(sorted(unit.hits, key=lambda h: (_METHOD_ORDER.get(h.method, 9), h.rank))),
        incoming_rank=fused,
    )
