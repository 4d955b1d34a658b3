"""Notices sections whose title says what the question asks: exact matches above partial ones, and section numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from arbiter_rag.contract import CandidateScope, Hit, ParsedQuestion, SectionHint
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.needs import Needs
from arbiter_rag.detectors.reading import reading_of
from arbiter_rag.document import ParsedDocument, Section


@dataclass(frozen=True, slots=True)
class _Titles:
    """Titles by term: which sections' titles hold it, and how rare that makes it among titles."""

    holders: dict[int, tuple[int, ...]]
    rarity: dict[int, float]


def _titles(document: ParsedDocument) -> _Titles:
    index = index_of(document)
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for position, title in enumerate(index.titles):
        for term in title.terms:
            holders[term].append(position)
    n = max(len(index.titles), 1)
    rarity = {t: math.log(1 + (n - len(h) + 0.5) / (len(h) + 0.5)) for t, h in holders.items()}
    return _Titles({t: tuple(h) for t, h in holders.items()}, rarity)


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
        found: dict[int, tuple[float, tuple[str, ...], str]] = {}
        for position in _numbered(question.sections, index):
            found[position] = (4.0, (document.sections[position].number,), "section number named in the question")
        for position, score, matched, note in self._by_title(reading_of(question, document).needs, index):
            if score > found.get(position, (0.0,))[0]:
                found[position] = (score, matched, note)
        best = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))[: self.limit]
        return tuple(
            Hit(
                method=self.name,
                scope=_scope(document, document.sections[p]),
                score=round(score, 6),
                rank=rank,
                matched=matched,
                note=note,
            )
            for rank, (p, (score, matched, note)) in enumerate(best, start=1)
            if document.sections[p].start < len(document)
        )

    def _by_title(self, needs: Needs, index: DocumentIndex) -> list[tuple[int, float, tuple[str, ...], str]]:
        titles = index.document.derived("titles", _titles)
        touched = {p for term in needs.terms for p in titles.holders.get(term, ())}
        rows: list[tuple[int, float, tuple[str, ...], str]] = []
        for position in sorted(touched):
            title = index.titles[position]
            shared = needs.terms & title.terms
            asked = needs.coverage(shared)
            if not asked or not title.content:
                continue
            own = sum(titles.rarity[t] for t in shared) / (sum(titles.rarity[t] for t in title.terms) or 1.0)
            exact = len(shared) >= title.content
            score = (2.0 if exact else 0.0) + asked * (0.5 + 0.5 * own) + 0.25 * own
            rows.append(
                (position, score, needs.matched(shared), "title matched exactly" if exact else "title matched in part")
            )
        return rows


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
