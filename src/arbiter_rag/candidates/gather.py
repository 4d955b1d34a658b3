"""Hits become candidates: merged into structural units, each with an anchor, a context and its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arbiter_rag.candidates.context import context_text, grow
from arbiter_rag.candidates.snippet import pick_rows, shown
from arbiter_rag.contract import Candidate, Hit, ParsedQuestion
from arbiter_rag.detectors.evidence import Evidence, evidence_score, measure, notes_of, row_hits
from arbiter_rag.detectors.index import DocumentIndex, index_of
from arbiter_rag.detectors.keyword import lexical_scores, wanted_terms
from arbiter_rag.detectors.needs import Needs, needs_of
from arbiter_rag.document import ParsedDocument

ANCHOR = 15
"""Most lines of an anchor."""


@dataclass(slots=True)
class Unit:
    """One structural unit while hits are merged into it."""

    document: int
    start: int
    end: int
    hits: list[Hit] = field(default_factory=list)
    evidence: Evidence | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A question against one document: what both the units and the snippets of that document need."""

    document: ParsedDocument
    index: DocumentIndex
    needs: Needs
    wanted: NDArray[np.bool_]
    lexical: NDArray[np.float64]
    top: float

    @classmethod
    def of(cls, question: ParsedQuestion, document: ParsedDocument) -> Reading:
        """Read a question against a document."""
        index = index_of(document)
        needs = needs_of(question, index)
        lexical = lexical_scores(index, needs)
        return cls(document, index, needs, wanted_terms(index, needs), lexical, float(lexical.max(initial=0.0)))
