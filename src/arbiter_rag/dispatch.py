"""Which detectors run for a question, and why: rules over the question and the documents, never a model."""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_rag.contract import DispatchPlan, ParsedQuestion, PlanStep
from arbiter_rag.detectors.caption import named_captions
from arbiter_rag.detectors.reading import foreign

FEW = 3
"""Fewer candidates than this with evidence make the words of the question suspect."""

HALF = 0.5
"""Evidence (see `Candidate.evidence`) from which a candidate counts as having some."""

DID_NOT_RUN, FAILED = "did not run", "failed: "
"""Outcomes of a step whose condition did not hold, and (with the reason behind it) of one whose service failed."""

CONDITION = f"fewer than {FEW} candidates hold half of the question"

_CONCEPTUAL = frozenset({"reason", "comparison", "open"})


def dispatch(
    question: ParsedQuestion,
    *,
    has_sections: bool,
    has_embedder: bool,
    document_languages: Sequence[str],
) -> DispatchPlan:
    """Plan the detectors for one question.

    Args:
        question: The parsed question.
        has_sections: Whether any document has headings.
        has_embedder: Whether an embedder is at hand.
        document_languages: ISO 639-1 codes of the documents' languages.
    """
    return DispatchPlan(
        steps=(
            _page(question),
            _caption(question),
            _toc(question, has_sections),
            _keyword(question),
            _embedding(question, has_embedder, document_languages),
        )
    )


def failed(step: PlanStep) -> bool:
    """Whether a detector was to run and its service failed."""
    return step.outcome is not None and step.outcome.startswith(FAILED)


def _page(question: ParsedQuestion) -> PlanStep:
    if question.pages:
        return PlanStep(detector="page", run=True, reason="the question names a page")
    return PlanStep(detector="page", run=False, reason="the question names no page")


def _caption(question: ParsedQuestion) -> PlanStep:
    if named_captions(question.text):
        return PlanStep(detector="caption", run=True, reason="the question names a figure or table")
    return PlanStep(detector="caption", run=False, reason="the question names no figure or table")


def _toc(question: ParsedQuestion, has_sections: bool) -> PlanStep:
    if not has_sections:
        return PlanStep(detector="toc", run=False, reason="the document has no headings")
    if question.sections:
        return PlanStep(detector="toc", run=True, reason="the question names a section")
    if not question.keywords:
        return PlanStep(detector="toc", run=False, reason="the question has no word to match a title with")
    return PlanStep(detector="toc", run=True, reason="a title that matches is the author's own pointer")


def _keyword(question: ParsedQuestion) -> PlanStep:
    if not question.keywords and not question.phrases:
        return PlanStep(detector="keyword", run=False, reason="the question has no content word")
    return PlanStep(detector="keyword", run=True, reason="the question's own words are the best first guess")


def _embedding(question: ParsedQuestion, has_embedder: bool, languages: Sequence[str]) -> PlanStep:
    if not has_embedder:
        return PlanStep(detector="embedding", run=False, reason="no embedder is configured")
    if foreign(question.language, languages):
        return PlanStep(detector="embedding", run=True, reason="question and document differ in language")
    if question.intent in _CONCEPTUAL:
        return PlanStep(detector="embedding", run=True, reason="the question is conceptual")
    return PlanStep(
        detector="embedding", run=True, reason="words may differ where meaning does not", condition=CONDITION
    )
