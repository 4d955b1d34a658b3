"""A question in one document's terms: what to look for, how rare each thing is there, what does not occur at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass
from itertools import pairwise

from arbiter_rag.contract import Keyword, ParsedQuestion
from arbiter_rag.detectors.index import DocumentIndex

MOST = 0.6
"""A keyword of several terms counts from this share of them on: both of two, two of three."""

NAME_SHARE = 0.5
"""A name counts, in part, from half of its terms on: documents shorten names ("Globex" for "Globex Corporation")."""


@dataclass(frozen=True, slots=True)
class Need:
    """One concept of the question.

    Attributes:
        concept: Its name: the question's own word, or the lexicon's concept.
        variants: Alternatives, each a surface form with its weight and the ids of its parts (-1: not in the document).
        weight: The user's or parser's weight (1.0 content word, less for vague ones).
        rarity: Inverse document frequency over windows, > 0; of a concept that does not occur, the highest possible.
        is_name: Whether its absence is telling.
        single: The term, when the need is one variant of one term; None for any other.
    """

    concept: str
    variants: tuple[tuple[str, float, tuple[int, ...]], ...]
    weight: float
    rarity: float
    is_name: bool
    single: int | None

    @property
    def mass(self) -> float:
        """How much of the question it carries."""
        return self.weight * self.rarity

    @property
    def occurs(self) -> bool:
        """Whether enough of some variant's terms stand in the document."""
        return any(self._held(ids, frozenset(i for i in ids if i >= 0)) > 0 for _, _, ids in self.variants)

    def degree(self, present: Set[int]) -> float:
        """How far these terms hold the concept, in [0, 1]: secondary variants count by their weight."""
        return max((w * self._held(ids, present) for _, w, ids in self.variants), default=0.0)

    def found(self, present: Set[int]) -> str | None:
        """The surface form of the variant that is best held, None when none is."""
        term = self.single
        if term is not None:
            return self.variants[0][0] if term in present else None
        best = max(self.variants, key=lambda v: v[1] * self._held(v[2], present))
        return best[0] if self._held(best[2], present) > 0 else None

    def _held(self, ids: tuple[int, ...], present: Set[int]) -> float:
        share = sum([i in present for i in ids]) / len(ids)
        return share if share >= (NAME_SHARE if self.is_name else MOST) else 0.0


class Needs:
    """All needs of one question in one document.

    Attributes:
        needs: One a concept.
        query: Weighted term ids for BM25.
        phrases: The user's quoted phrases as term ids.
        pairs: Terms that are neighbours in the question (below 0: not in the document), each with its share of all
            pairs' weight; a pair weighs as much as the commoner of its two terms is rare.
        terms: Every term id that any variant asks for.
        mass: The whole question's mass; 0 when it has no keyword.
        absent: Share of the content words (those of full weight) that occur nowhere in the document.
    """

    def __init__(
        self,
        needs: tuple[Need, ...],
        query: tuple[tuple[int, float], ...],
        phrases: tuple[tuple[int, ...], ...],
        pairs: dict[tuple[int, int], float],
    ) -> None:
        self.needs = needs
        self.query = query
        self.phrases = phrases
        self.pairs = pairs
        self.terms = frozenset(i for n in needs for _, _, ids in n.variants for i in ids if i >= 0)
        self.mass = sum(n.mass for n in needs)
        content = [n for n in needs if n.weight >= 1]
        self.absent = sum(not n.occurs for n in content) / len(content) if content else 0.0
        # Asked for hundreds of times a question, of the few combinations in which its terms stand together.
        self._held: dict[frozenset[int], float] = {}
        self._matched: dict[frozenset[int], tuple[str, ...]] = {}

    def coverage(self, present: Set[int]) -> float:
        """Share of the question's mass that these terms hold, in [0, 1]."""
        return self.held(present) / self.mass if self.mass else 0.0

    def held(self, present: Set[int]) -> float:
        """The mass that these terms hold."""
        held = self.terms & present
        known = self._held.get(held)
        if known is None:
            known = self._held[held] = sum(n.mass * n.degree(held) for n in self.needs)
        return known

    def matched(self, present: Set[int]) -> tuple[str, ...]:
        """Surface forms that these terms hold, in the question's order."""
        held = self.terms & present
        known = self._matched.get(held)
        if known is None:
            known = self._matched[held] = tuple(f for n in self.needs if (f := n.found(held)) is not None)
        return known


def needs_of(question: ParsedQuestion, index: DocumentIndex) -> Needs:
    """Put a question into a document's terms."""
    grouped: dict[str, list[Keyword]] = {}
    for keyword in question.keywords:
        grouped.setdefault(keyword.concept or keyword.text, []).append(keyword)
    needs = tuple(n for concept, words in grouped.items() if (n := _need(concept, words, index)).variants)
    query: dict[int, float] = {}
    for need in needs:
        for text, weight, _ in need.variants:
            known = {i for i in index.ids(text) if i >= 0}
            for i in known:
                # Variants of one concept must not outvote the other words: the strongest use of a term counts.
                query[i] = max(query.get(i, 0.0), need.weight * weight / math.sqrt(len(known)))
    phrases = tuple(p for text in question.phrases if (p := tuple(index.ids(text))) and -1 not in p)
    return Needs(needs, tuple(query.items()), phrases, _pairs(question, index))


def _need(concept: str, words: Iterable[Keyword], index: DocumentIndex) -> Need:
    words = list(words)
    top = max(w.weight for w in words)
    variants = tuple((w.text, w.weight / top, ids) for w in words if (ids := tuple(dict.fromkeys(index.parts(w.text)))))
    rarity = max((_rarity(ids, index) for _, _, ids in variants), default=0.0)
    if len(variants) > 1:
        occurring = [_rarity(ids, index) for _, _, ids in variants if -1 not in ids]
        rarity = min(occurring, default=rarity)
    single = variants[0][2][0] if len(variants) == 1 and len(variants[0][2]) == 1 else None
    return Need(concept, variants, top, rarity, any(w.is_name for w in words), single)


def _rarity(ids: tuple[int, ...], index: DocumentIndex) -> float:
    n = max(index.windows.n_passages, 1)
    frequency = min(int(index.windows.document_frequency[i]) if i >= 0 else 0 for i in ids)
    return math.log(1 + (n - frequency + 0.5) / (frequency + 0.5))


def _pairs(question: ParsedQuestion, index: DocumentIndex) -> dict[tuple[int, int], float]:
    """Terms that stand side by side in the question ("path length"), function words left out.

    A term that does not occur in the document is a number below 0 of its own, so that its pairs are asked for too.
    """
    kept = [
        index.vocabulary.get(t.term, -1 - at)
        for at, t in enumerate(index.analyzer.tokens(question.text[:2000]))
        if not index.analyzer.is_stop(t.term) and not index.analyzer.is_stop(t.surface)
    ]
    weights = {(a, b): min(_rarity((a,), index), _rarity((b,), index)) for a, b in pairwise(kept) if a != b}
    whole = sum(weights.values())
    return {pair: weight / whole for pair, weight in weights.items()} if whole else {}
