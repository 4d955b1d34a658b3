"""Notices sections whose title says what the question asks: exact matches above partial ones, and section numbers."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass

from arbiter_rag.contract import CandidateScope, Hit, ParsedQuestion, SectionHint
from arbiter_rag.detectors.index import DocumentIndex, Title, index_of
from arbiter_rag.detectors.needs import Needs
from arbiter_rag.detectors.reading import reading_of
from arbiter_rag.document import ParsedDocument, Section

_NUMBERED = 4.0
"""Score of a section whose number the question names: above what any title can reach."""


@dataclass(frozen=True, slots=True)
class _Titles:
    """Titles by term: which sections' titles hold it, how rare that makes it among titles, and each title's sum."""

    holders: dict[int, tuple[int, ...]]
    rarity: dict[int, float]
    whole: tuple[float, ...]


def _titles(document: ParsedDocument) -> _Titles:
    index = index_of(document)
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for position, title in enumerate(index.titles):
        for term in title.terms:
            holders[term].append(position)
    n = max(len(index.titles), 1)
    rarity = {t: math.log(1 + (n - len(h) + 0.5) / (len(h) + 0.5)) for t, h in holders.items()}
    whole = tuple(sum(rarity[t] for t in title.terms) or 1.0 for title in index.titles)
    return _Titles({t: tuple(h) for t, h in holders.items()}, rarity, whole)


class TocDetector:
    """Matches the question against section titles.

    A title all of whose content words stand in the question is an exact match and scores above every partial one; no
    statistic overrides the author's title. Partial matches weigh each word by its rarity among titles. A section
    number that the question names ("section 5.2") is an exact match of its own.

    Args:
        limit: Most hits given back.
    """

    name = "toc"

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """Hits best first; the scope is the section's own extent, the score 2 and more for exact matches."""
        index = index_of(document)
        needs = reading_of(question, document).needs
        scores = self._by_title(needs, index)
        numbered = {p for p in _numbered(question.sections, index) if scores.get(p, 0.0) <= _NUMBERED}
        scores.update(dict.fromkeys(numbered, _NUMBERED))
        best = heapq.nsmallest(self.limit, scores.items(), key=lambda item: (-item[1], item[0]))
        hits: list[Hit] = []
        for rank, (p, score) in enumerate(best, start=1):
            section, title = document.sections[p], index.titles[p]
            if section.start >= len(document):
                continue
            note = "title matched exactly" if _exact(needs, title) else "title matched in part"
            hits.append(
                Hit(
                    method=self.name,
                    scope=_scope(document, section),
                    score=round(score, 6),
                    rank=rank,
                    matched=(section.number,) if p in numbered else needs.matched(title.terms),
                    note="section number named in the question" if p in numbered else note,
                )
            )
        return tuple(hits)

    def _by_title(self, needs: Needs, index: DocumentIndex) -> dict[int, float]:
        """Scores by section, of those whose title holds something of the question."""
        titles = index.document.derived("titles", _titles)
        touched = {p for term in needs.terms for p in titles.holders.get(term, ())}
        scores: dict[int, float] = {}
        for position in touched:
            title = index.titles[position]
            shared = needs.terms & title.terms
            asked = needs.coverage(shared)
            if asked and title.content:
                own = sum([titles.rarity[t] for t in shared]) / titles.whole[position]
                exact = 2.0 if _exact(needs, title) else 0.0
                scores[position] = exact + asked * (0.5 + 0.5 * own) + 0.25 * own
        return scores


def _exact(needs: Needs, title: Title) -> bool:
    return len(needs.terms & title.terms) >= title.content


def _scope(document: ParsedDocument, section: Section) -> CandidateScope:
    """A section's own lines; of one that has none, the line at which the outline points."""
    return document.scope(section.start, max(section.own_end, section.start + 1))


def _numbered(hints: tuple[SectionHint, ...], index: DocumentIndex) -> list[int]:
    """Sections that a hint names: by number, and where kind matters ("Article 12") by the words of the title."""
    if not hints:
        return []
    wanted = {(h.kind, h.number.casefold().rstrip(".")) for h in hints}
    numbers = {n for _, n in wanted}
    found = [i for i, t in enumerate(index.titles) if t.number and t.number.rstrip(".") in numbers]
    named = [
        i
        for i, s in enumerate(index.document.sections)
        if any(s.title.casefold().startswith(f"{kind} {number}") for kind, number in wanted)
    ]
    return sorted(set(found) | set(named))
