"""What was searched and what was not: the certificate behind "not found", and the confidence before any judge."""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_rag.contract import Candidate, Coverage, NearMiss, ParsedQuestion, TermCoverage
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.needs import Need, Needs
from arbiter_rag.detectors.reading import foreign, reading_of
from arbiter_rag.document import ParsedDocument

FOUND = 0.22
"""Evidence from which a passage holds enough of a question to be taken for an answer by rules."""

MISSING = 0.2
"""Factor on the confidence for each named thing of the question that occurs nowhere in the documents."""

FUNCTION_WORD = "function_word"
"""`Keyword.source` of the words of a question that has no content word."""

_NEAR_MISSES = 3


def survey(
    question: ParsedQuestion,
    documents: Sequence[ParsedDocument],
    candidates: Sequence[Candidate],
    detectors: Sequence[str],
) -> Coverage:
    """Account for a search over documents."""
    indexes = [index_of(d) for d in documents]
    needs = [reading_of(question, d).needs for d in documents]
    languages = tuple(dict.fromkeys(i.language for i in indexes))
    terms = _terms(question, needs, indexes)
    bridged = not foreign(question.language, languages) or "embedding" in detectors
    blank = tuple((d.doc_id, p) for d in documents for p in d.profile.pages_without_text)
    return Coverage(
        detectors=tuple(detectors),
        terms=terms,
        missing_names=tuple(t.text for t in terms if t.is_name and t.lines == 0),
        near_misses=_near_misses(candidates, terms),
        pages=sum(d.profile.pages for d in documents),
        pages_without_text=blank,
        question_language=question.language,
        document_languages=languages,
        bridged=bridged,
        notes=(*_unmet(question, candidates), *_notes(question, languages, bridged, len(blank))),
    )


def confidence(question: ParsedQuestion, coverage: Coverage, candidates: Sequence[Candidate]) -> float:
    """Retrieval evidence in [0, 1] that the documents hold an answer: a function of evidence, before any judge.

    The best candidate's evidence, times `MISSING` for each named thing of the question that occurs nowhere; nothing
    for a question of function words alone ("the of and").
    """
    if all(k.source == FUNCTION_WORD for k in question.keywords) and not question.phrases:
        return 0.0
    best = max((c.evidence for c in candidates if not c.weak), default=0.0)
    return round(best * MISSING ** len(coverage.missing_names), 4)


def _terms(
    question: ParsedQuestion, needs: Sequence[Needs], indexes: Sequence[DocumentIndex]
) -> tuple[TermCoverage, ...]:
    """Count each concept over all documents; a name's words must follow one another (or its first word stand
    as a name), other words of several terms stand on no more lines than their rarest term."""
    words: dict[str, list[str]] = {}
    names: dict[str, bool] = {}
    for keyword in question.keywords:
        concept = keyword.concept or keyword.text
        words.setdefault(concept, []).append(keyword.text)
        names[concept] = names.get(concept, False) or keyword.is_name
    counts = dict.fromkeys(words, 0)
    for part, index in zip(needs, indexes, strict=True):
        for need in part.needs:
            counts[need.concept] += _lines(need, index)
    return tuple(
        TermCoverage(text=variants[0], lines=counts[concept], variants=tuple(variants[1:]), is_name=names[concept])
        for concept, variants in words.items()
    )


def _lines(need: Need, index: DocumentIndex) -> int:
    if need.is_name:
        return max(index.rows_naming(text, ids) for text, _, ids in need.variants)
    if not need.occurs:
        return 0
    return max(min((int(index.row_frequency[i]) for i in ids if i >= 0), default=0) for _, _, ids in need.variants)


def _near_misses(candidates: Sequence[Candidate], terms: Sequence[TermCoverage]) -> tuple[NearMiss, ...]:
    """The best candidates, when none of them holds enough: what they hold and what they lack."""
    ranked = sorted(candidates, key=lambda c: (-c.evidence, c.candidate_id))
    if not ranked or ranked[0].evidence >= FOUND:
        return ()
    misses: list[NearMiss] = []
    for c in ranked[:_NEAR_MISSES]:
        lacking = [t.text for t in terms if t.text not in c.matched_keywords]
        held = ", ".join(c.matched_keywords[:3]) or "none of the words"
        why = f"holds {held}" + (f"; lacks {', '.join(lacking[:3])}" if lacking else "")
        misses.append(NearMiss(page=c.page, section=c.section_title, score=c.evidence, why=why))
    return tuple(misses)


def _unmet(question: ParsedQuestion, candidates: Sequence[Candidate]) -> list[str]:
    """Pages and sections that the question names and the documents do not have."""
    hits = [h for c in candidates for h in c.hits]
    notes = [f"There is no page {p.label} with text." for p in question.pages if all(h.method != "page" for h in hits)]
    if all(not h.note.startswith("section number") for h in hits):
        notes += [f"No heading has the number {s.number}." for s in question.sections]
    return notes


def _notes(question: ParsedQuestion, languages: Sequence[str], bridged: bool, blank: int) -> tuple[str, ...]:
    notes: list[str] = []
    if not bridged:
        asked, spoken = question.language, ", ".join(languages)
        notes.append(
            f"Question ({asked}) and documents ({spoken}) differ in language: without an embedder nothing bridges them."
        )
    if blank:
        notes.append(f"{blank} page{'s hold' if blank > 1 else ' holds'} no text and could not be searched.")
    if question.truncated:
        notes.append("The question is very long; only its beginning was searched for.")
    return tuple(notes)
