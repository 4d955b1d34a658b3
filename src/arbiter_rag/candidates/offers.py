"""Sections offered to a model when the words of the question found too little: their titles may mean what it asks."""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_rag.candidates.context import context_text, grow
from arbiter_rag.candidates.snippet import shown
from arbiter_rag.candidates.suspicion import suspicions
from arbiter_rag.contract import Candidate, ParsedQuestion
from arbiter_rag.document import FRONT, ParsedDocument, Section

MOST = 30
"""Most sections offered: each costs some forty tokens of prompt and as many of reply."""

_ANCHOR = 6


def offer_sections(
    question: ParsedQuestion, documents: Sequence[ParsedDocument], candidates: Sequence[Candidate], context_tokens: int
) -> list[Candidate]:
    """The candidates and, as weak ones, sections none of them stands in: top levels first, by position."""
    taken = {(c.doc_id, c.anchor.section_id) for c in candidates if c.anchor}
    open_sections = [
        (section.level, at, section)
        for at, document in enumerate(documents)
        for section in document.sections
        if section.title
        and section.section_id != FRONT
        and section.own_end > section.start
        and (document.doc_id, section.section_id) not in taken
    ]
    open_sections.sort(key=lambda item: (item[0], item[1], item[2].start))
    many = len(documents) > 1
    offered = [_offer(documents[at], section, at, many, context_tokens) for _, at, section in open_sections[:MOST]]
    known = {c.candidate_id for c in candidates}
    places = {d.doc_id: i for i, d in enumerate(documents)}
    new = [o for o in offered if o.candidate_id not in known]
    behind = [o.model_copy(update={"incoming_rank": len(candidates) + n}) for n, o in enumerate(new, 1)]
    return sorted([*candidates, *behind], key=lambda c: _position(c, places))


def _position(candidate: Candidate, places: dict[str, int]) -> tuple[int, int, int]:
    anchor = candidate.anchor
    return (places[anchor.doc_id], anchor.page_start, anchor.line_start) if anchor else (0, 0, 0)


def _offer(document: ParsedDocument, section: Section, at: int, many: bool, context_tokens: int) -> Candidate:
    start, end = section.start, min(section.own_end, section.start + _ANCHOR)
    body = [r for r in range(start + section.heading_rows, end) if document.texts[r].strip()][:1] or [start]
    low, high = grow(document, start, end, context_tokens)
    text = context_text(document, low, high)
    prefix = f"d{at + 1}-" if many else ""
    return Candidate(
        candidate_id=f"{prefix}p{document.pages[start]}-l{document.lines[start]}",
        doc_id=document.doc_id,
        anchor=document.scope(start, end),
        context=document.scope(low, high),
        page=document.pages[start],
        text=text,
        snippet_lines=shown(document, body),
        methods=("section",),
        section_title=section.title,
        breadcrumb=section.breadcrumb,
        page_label=document.page_labels[document.pages[start] - 1],
        evidence_notes=("section offered, nothing found in it",),
        weak=True,
        suspicious=suspicions(document, low, high)[0],
    )
