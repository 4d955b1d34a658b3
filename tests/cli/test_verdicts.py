"""A result as text for a person."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from arbiter_rag.cli.verdicts import show
from arbiter_rag.contract import (
    CandidateScope,
    Conflict,
    Coverage,
    Cut,
    DocumentRef,
    Fault,
    NearMiss,
    RetrievalResult,
    RetrievedCandidate,
    SettledSide,
)


def _candidate(**changes: Any) -> RetrievedCandidate:
    scope = CandidateScope(doc_id="d", page_start=6, page_end=6, line_start=14, line_end=20)
    fields: dict[str, Any] = {
        "candidate_id": "p6-l14",
        "doc_id": "d",
        "anchor": scope,
        "role": "primary",
        "reason": "names the deductible",
        "rank": 1,
        "page_label": "4",
        "breadcrumb": "Premium > Annual premium",
        "quote": "EUR 400",
        "quote_status": "exact",
    }
    return RetrievedCandidate(**(fields | changes))


def _result(**changes: Any) -> RetrievalResult:
    fields: dict[str, Any] = {
        "question": "q",
        "documents": (DocumentRef(doc_id="d", name="policy.pdf"),),
        "candidates": (_candidate(),),
        "methods_used": ("toc", "keyword"),
        "coverage": Coverage(pages=7),
        "judge": "rules",
    }
    return RetrievalResult(**(fields | changes))


def _shown(result: RetrievalResult, *, terminal: bool = False, hidden: int = 0) -> str:
    out = io.StringIO()
    show(
        result,
        Console(file=out, force_terminal=terminal, width=120, color_system="standard" if terminal else None),
        hidden=hidden,
    )
    return out.getvalue()


def test_a_verdict_shows_role_place_reason_and_quote() -> None:
    text = _shown(_result())
    for part in (
        "primary",
        "page 4 (PDF 6)",
        "lines 14-20",
        "Premium > Annual premium",
        "names the deductible",
        '"EUR 400"',
    ):
        assert part in text
    assert "\x1b" not in text


def test_roles_are_coloured_on_a_terminal() -> None:
    assert "\x1b[1;32mprimary" in _shown(_result(), terminal=True)


def test_several_documents_are_named() -> None:
    documents = (DocumentRef(doc_id="d", name="policy.pdf"), DocumentRef(doc_id="e", name="other.pdf"))
    assert "policy.pdf" in _shown(_result(documents=documents))
    assert "policy.pdf" not in _shown(_result())


@pytest.mark.parametrize("field", ["reason", "breadcrumb", "quote", "page_label"])
def test_text_from_elsewhere_cannot_drive_the_terminal(field: str) -> None:
    text = _shown(_result(candidates=(_candidate(**{field: "x\x1b]0;title\x07\x1b[2Jy\u202ez"}),)))
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "\\x1b" in text


def test_markup_is_text() -> None:
    assert "[red]not markup[/red] :smile:" in _shown(
        _result(candidates=(_candidate(reason="[red]not markup[/red] :smile:"),))
    )


def test_not_found_says_why_and_what_was_near() -> None:
    coverage = Coverage(pages=7, near_misses=(NearMiss(page=3, section="Glass", why="only one word matched"),))
    text = _shown(_result(candidates=(), not_found=True, not_found_reason="no word occurs", coverage=coverage))
    assert "Not found. no word occurs" in text
    assert "near miss: page 3, Glass: only one word matched" in text


def test_what_makes_a_result_less_than_it_seems_is_shown() -> None:
    result = _result(
        status="partial",
        candidates=(
            _candidate(role="tangential", demoted_from="primary", quote_status="absent", unsupported=("2031",)),
        ),
        unjudged=(_candidate(candidate_id="p7-l1", role="unjudged", rank=2, quote=None, snippet="one\ntwo"),),
        faults=(Fault(kind="demoted", detail="the quote of p6-l14 is not in it"), Fault(kind="other", detail="x")),
        cut=(Cut(candidate_id="p9-l1", why="the prompt was full"),),
        coverage=Coverage(pages=7, pages_without_text=(("d", 2),), notes=("nothing bridges the languages",)),
        conflicts=(Conflict(reason="two amounts", sides=(SettledSide(candidate_id="p6-l14", quote="EUR 400"),)),),
    )
    text = _shown(result, hidden=3)
    for part in (
        "(the judge said primary)",
        "(quote absent)",
        "not in the passage: 2031",
        "unjudged",
        "Status partial: the quote of p6-l14 is not in it (and 1 more)",
        "1 candidates never reached the judge: the prompt was full",
        "1 pages hold no text",
        "nothing bridges the languages",
        "Conflict: two amounts",
        "3 more kept",
    ):
        assert part in text


def test_a_degraded_result_names_the_error() -> None:
    assert "Status degraded: the server timed out" in _shown(_result(status="degraded", error="the server timed out"))
