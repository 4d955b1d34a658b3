"""How strongly lines answer a question, as numbers that have names: coverage, closeness, title, phrase, shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.contract import AnswerShape
from arbiter_rag.detectors.index import DocumentIndex
from arbiter_rag.detectors.needs import Needs
from arbiter_rag.detectors.shapes import has_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 3
"""Lines within which keywords count as standing together."""


@dataclass(frozen=True, slots=True)
class RowHits:
    """The question's terms in a run of rows: for each row that has any, its number and the term ids in text order."""

    rows: tuple[int, ...]
    terms: tuple[tuple[int, ...], ...]
    adjacent: tuple[tuple[int, int], ...]

    @property
    def present(self) -> frozenset[int]:
        """Every term found."""
        return frozenset(t for row in self.terms for t in row)


def row_hits(index: DocumentIndex, wanted: NDArray[np.bool_], start: int, end: int) -> RowHits:
    """Find wanted terms (a bool array over the vocabulary) in rows `start` to `end`, exclusive."""
    first = int(index.row_ptr[start])
    part = index.row_terms[first : int(index.row_ptr[end])]
    at = np.flatnonzero(wanted[part])
    if not len(at):
        return RowHits((), (), ())
    owners = (np.searchsorted(index.row_ptr, at + first, side="right") - 1).tolist()
    found = part[at].tolist()
    rows: list[int] = []
    terms: list[list[int]] = []
    for owner, term in zip(owners, found, strict=True):
        if rows and rows[-1] == owner:
            terms[-1].append(term)
        else:
            rows.append(owner)
            terms.append([term])
    places = at.tolist()
    # Up to two function words may stand between ("rate of the model"), as they were left out of the question's pairs.
    adjacent = tuple((found[i], found[i + 1]) for i in range(len(found) - 1) if places[i + 1] - places[i] <= 3)
    return RowHits(tuple(rows), tuple(tuple(t) for t in terms), adjacent)


@dataclass(frozen=True)
class Evidence:
    """What speaks for a run of lines; every part is in [0, 1].

    Attributes:
        coverage: Share of the question's mass (weight times rarity) in the lines or the titles above them.
        near: The same share within the best three lines alone.
        title: Share of the question's mass in the section's own title, scaled by how much of the title that is.
        title_exact: Whether every content word of the title stands in the question, less the share of apparatus.
        pairs: Share of the question's neighbouring words that are neighbours here too.
        phrase: A phrase that the user quoted stands here.
        shape: Something of the answer's shape stands near the best lines.
        apparatus: Share of the lines that look like a table of contents, an index or references: they name, they do
            not answer.
        asked: How many things the question asks for.
        absent: Share of its content words that occur nowhere in the document.
        best: Row on which most of the question stands.
        held: Question terms found in the lines or the section's own title.
    """

    coverage: float
    near: float
    title: float
    title_exact: float
    pairs: float
    phrase: bool
    shape: bool
    apparatus: float
    asked: int
    absent: float
    best: int
    held: frozenset[int]
    needs: Needs

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """Keywords found, in the question's order; made when asked for, as most passages measured are not proposed."""
        return self.needs.matched(self.held)


def measure(index: DocumentIndex, needs: Needs, wanted: NDArray[np.bool_], start: int, end: int) -> Evidence:
    """Measure rows `start` to `end` (exclusive) of the index's document against a question."""
    hits = row_hits(index, wanted, start, end)
    title = index.titles[index.document.section_index[start]]
    present = hits.present
    near, best = _closest(needs, hits, start)
    # A list of references that the outline leaves under "Conclusion" is not what that title promises.
    apparatus = sum(index.apparatus[start:end]) / max(1, end - start)
    return Evidence(
        coverage=needs.coverage(present | index.governing(start, needs.terms)),
        near=near,
        title=_title_share(needs, title.terms, title.content) * (1.0 - apparatus),
        title_exact=_title_exact(needs, title.terms, title.content) * (1.0 - apparatus),
        pairs=sum(needs.pairs.get(pair, 0.0) for pair in set(hits.adjacent)),
        phrase=any(_contains(index, p, start, end) for p in needs.phrases),
        shape=False,
        apparatus=apparatus,
        asked=len(needs.needs),
        absent=needs.absent,
        best=best,
        held=present | (title.terms & needs.terms),
        needs=needs,
    )


def has_shape_near(index: DocumentIndex, shape: AnswerShape, best: int, start: int, end: int) -> bool:
    """Whether something of the answer's shape stands near row `best`, within rows `start` to `end`."""
    return has_shape("\n".join(index.document.texts[max(start, best - 1) : min(end, best + NEAR + 1)]), shape)


# Weights of `relevance`, learned on the development questions by a listwise logistic model with one source left out in
# turn, then rounded: only their order of magnitude carries over to other documents.
_BM25, _COVERAGE, _NEAR, _TITLE, _EXACT = 4.0, 1.5, 1.0, 3.5, 0.9
_PAIRS, _PHRASE, _SHAPE, _APPARATUS = 2.0, 4.0, 0.8, -2.0


def relevance(e: Evidence, lexical: float) -> float:
    """One number to order passages of one question by; `lexical` is the BM25 score relative to the question's best."""
    return (
        _BM25 * lexical
        + _COVERAGE * e.coverage
        + _NEAR * e.near
        + _TITLE * e.title
        + _EXACT * e.title_exact
        + _PAIRS * e.pairs
        + _PHRASE * e.phrase
        + _SHAPE * e.shape
        + _APPARATUS * e.apparatus
    )


def strength(e: Evidence) -> float:
    """How much of the question the passage holds, in [0, 1], on one scale for all questions and documents.

    A logistic model of "the document holds an answer", fitted on the development questions against questions put to
    the wrong document. The number of things asked for enters because a long question is never held whole: half of
    twelve words says more than half of two.
    """
    if not e.held:
        return 0.0
    z = (
        2.7 * e.coverage
        + 0.4 * e.near
        + 2.8 * e.pairs
        + 1.75 * e.title
        + 1.47 * math.log1p(e.asked)
        + (3.0 if e.phrase else 0.0)
        - 1.15 * e.absent
        - 2.0 * e.apparatus
        - 4.55
    )
    return round(1.0 / (1.0 + math.exp(-z)), 4)


def _closest(needs: Needs, hits: RowHits, start: int) -> tuple[float, int]:
    best_share, best_row = 0.0, start
    for i, row in enumerate(hits.rows):
        group: set[int] = set()
        for j in range(i, len(hits.rows)):
            if hits.rows[j] - row >= NEAR:
                break
            group.update(hits.terms[j])
        share = needs.coverage(group)
        if share > best_share:
            best_share, best_row = share, row
    return best_share, best_row


def _title_share(needs: Needs, terms: frozenset[int], content: int) -> float:
    held = needs.coverage(terms)
    if not held or not content:
        return 0.0
    return held * min(1.0, len(needs.terms & terms) / content)


def _title_exact(needs: Needs, terms: frozenset[int], content: int) -> bool:
    return content > 0 and len(needs.terms & terms) >= content


def _contains(index: DocumentIndex, phrase: Sequence[int], start: int, end: int) -> bool:
    part = index.row_terms[int(index.row_ptr[start]) : int(index.row_ptr[end])].tolist()
    n = len(phrase)
    return any(part[i : i + n] == list(phrase) for i in range(len(part) - n + 1))
