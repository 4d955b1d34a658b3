"""Passages that others propose become candidates: text without lines is read sentence by sentence, all are judged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from arbiter_rag.candidates.notes import evidence_notes
from arbiter_rag.candidates.suspicion import evidence_outside
from arbiter_rag.contract import Candidate, CandidateScope, Hit, ParsedQuestion, Passage, SnippetLine
from arbiter_rag.detectors.evidence import relevance, row_hits, strength
from arbiter_rag.detectors.reading import Reading, reading_of
from arbiter_rag.document import DocumentProfile, ParsedDocument, Section
from arbiter_rag.hostile import scan
from arbiter_rag.language import encodable
from arbiter_rag.prompt import estimate_tokens

WORDS = 40
"""Most words of a sentence; a longer one is cut into pieces of that many."""

LONGEST_REMEMBERED = 8_000
"""Characters of a passage whose sentences are remembered."""

CHARACTERS = 1_000
"""Most characters of a piece: a text without spaces (a long code, some scripts) is cut like any other."""

SNIPPET_TOKENS = 120
"""Most tokens of a passage's snippet; a shorter passage is shown whole."""

_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?](?!\s)[^.!?。！？\n]*)*[.!?。！？]*[\n\s]*")
_WORD = re.compile(rf"\S{{1,{CHARACTERS}}}\s*")


@dataclass(frozen=True, slots=True)
class _Piece:
    """One sentence of a passage: its text without surrounding space and where it starts in the passage."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def sentences(text: str) -> tuple[_Piece, ...]:
    """Cut a text into sentences of at most `WORDS` words; together they hold everything that is not white space."""
    # Retrievers hand in the same chunks question after question.
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _cut(text)


def _cut(text: str) -> tuple[_Piece, ...]:
    pieces: list[_Piece] = []
    at = 0
    while at < len(text):
        match = _SENTENCE.match(text, at)
        end = match.end() if match and match.end() > at else len(text)
        pieces.extend(_short(text, at, end))
        at = end
    return tuple(pieces)


_remembered = lru_cache(maxsize=2048)(_cut)


def _short(text: str, start: int, end: int) -> list[_Piece]:
    part = text[start:end]
    if len(part) <= CHARACTERS and part.count(" ") + part.count("\n") < WORDS and part.isprintable():
        stripped = part.strip()
        return [_Piece(stripped, start + len(part) - len(part.lstrip()))] if stripped else []
    pieces: list[_Piece] = []
    first, last, count = start, start, 0
    for word in _WORD.finditer(text, start, end):
        if count and (count == WORDS or word.end() - first > CHARACTERS):
            pieces.append(_Piece(text[first:last].rstrip(), first))
            count = 0
        first = first if count else word.start()
        last, count = word.end(), count + 1
    if count:
        pieces.append(_Piece(text[first:last].rstrip(), first))
    return pieces


def as_document(passages: Sequence[Passage]) -> tuple[ParsedDocument, list[tuple[_Piece, ...]]]:
    """Passages as one document, a page and a section each, so that the same evidence is measured as in a PDF."""
    cut = [sentences(p.text) for p in passages]
    rows = [(page, n, piece.text) for page, pieces in enumerate(cut, 1) for n, piece in enumerate(pieces, 1)]
    line_df = pd.DataFrame(rows, columns=["page", "line", "text"])
    line_df["furniture"] = False
    line_df["section_id"] = [f"s{page}" for page, _, _ in rows]
    sections: list[Section] = []
    row = 0
    for i, (passage, pieces) in enumerate(zip(passages, cut, strict=True), 1):
        title, end = passage.section or "", row + len(pieces)
        sections.append(Section(f"s{i}", 1, None, title, "", title, "frames", row, end, end))
        row = end
    document = ParsedDocument(
        doc_id="passages",
        name="passages",
        sha256=None,
        line_df=line_df,
        page_df=pd.DataFrame({"page_label": [p.page_label or "" for p in passages]}),
        toc_df=pd.DataFrame(),
        sections=tuple(sections),
        profile=DocumentProfile(pages=len(passages), headings="frames"),
    )
    return document, cut


def _encodable(passage: Passage) -> Passage:
    """The passage with U+FFFD for lone surrogates, which no JSON can carry; the caller's own is left as it is."""
    texts = {"text": passage.text, "section": passage.section, "page_label": passage.page_label}
    clean = {k: encodable(v) for k, v in texts.items() if v}
    return passage if all(texts[k] == v for k, v in clean.items()) else passage.model_copy(update=clean)


def candidates_of(question: ParsedQuestion, passages: Sequence[Passage]) -> tuple[list[Candidate], ParsedDocument]:
    """One candidate a passage, in the order shown: by document and page where known, else by SHA-256 of the text.

    The order and the ids (`n1`, `n2`, ...) therefore say nothing about how the caller ranked them.
    """
    passages = [_encodable(p) for p in passages]
    document, cut = as_document(passages)
    reading = reading_of(question, document)
    top = float(reading.lexical.max(initial=0.0)) or 1.0
    order = sorted(range(len(passages)), key=lambda i: _place(passages[i], i))
    candidates = [_candidate(reading, passages[i], i, f"n{n}", cut[i], top) for n, i in enumerate(order, 1)]
    return candidates, document


def _place(passage: Passage, at: int) -> tuple[int, str, int, str, int]:
    digest = hashlib.sha256(passage.text.encode("utf-8", "surrogatepass")).hexdigest()
    if passage.page is not None:
        return 0, passage.doc_id or "", passage.page, digest, at
    return 1, "", 0, digest, at


def _candidate(
    reading: Reading, passage: Passage, at: int, candidate_id: str, pieces: Sequence[_Piece], top: float
) -> Candidate:
    start, end = reading.document.sections[at].start, reading.document.sections[at].own_end
    methods = passage.methods or ("retriever",)
    scope = CandidateScope(
        doc_id=passage.doc_id or "", page_start=passage.page or 1, page_end=passage.page or 1, line_start=1, line_end=1
    )
    hit = Hit(method=methods[0], scope=scope, score=passage.score or 0.0, rank=at + 1)
    spans = scan(passage.text)
    bare = Candidate(
        candidate_id=candidate_id,
        doc_id=passage.doc_id,
        page=passage.page,
        page_label=passage.page_label,
        text=passage.text,
        methods=methods,
        section_title=passage.section,
        breadcrumb=passage.section,
        incoming_rank=at + 1,
        original_id=passage.id,
        original_score=passage.score,
        suspicious=tuple(s.text for s in spans),
        evidence_notes=("no text to judge by",),
    )
    if end == start:
        return bare
    evidence = reading.measure_whole(start, end)
    marked = {start + i for i, p in enumerate(pieces) if any(p.start < s.end and s.start < p.end for s in spans)}
    lexical = max((float(reading.lexical[w]) for w in reading.windows_in(start, end)), default=0.0)
    return bare.model_copy(
        update={
            "snippet_lines": _snippet(reading, pieces, start, end),
            "matched_keywords": evidence.matched,
            "evidence": evidence_outside(reading, start, end, marked) if marked else strength(evidence),
            "relevance": round(relevance(evidence, lexical / top), 6),
            "evidence_notes": evidence_notes(evidence, (hit,), passage.section or ""),
        }
    )


def _snippet(reading: Reading, pieces: Sequence[_Piece], start: int, end: int) -> tuple[SnippetLine, ...]:
    """The sentences that hold most of the question, in reading order; without any, the beginning."""
    costs = [estimate_tokens(p.text) for p in pieces]
    if sum(costs) <= SNIPPET_TOKENS:
        return tuple(SnippetLine(text=p.text, start=p.start) for p in pieces)
    found = row_hits(reading.index, reading.wanted, start, end)
    mass = {
        row - start: reading.needs.coverage(frozenset(terms))
        for row, terms in zip(found.rows, found.terms, strict=True)
    }
    # A sentence is read with its neighbours: half of what they hold counts, so that a run beats scattered single words.
    weight = [mass.get(i, 0.0) + 0.5 * (mass.get(i - 1, 0.0) + mass.get(i + 1, 0.0)) for i in range(len(pieces))]
    chosen: list[int] = []
    spent = 0
    for i in sorted(range(len(pieces)), key=lambda i: (-weight[i], i)):
        if not chosen or spent + costs[i] <= SNIPPET_TOKENS:
            chosen.append(i)
            spent += costs[i]
    return tuple(SnippetLine(text=pieces[i].text, start=pieces[i].start) for i in sorted(chosen))
