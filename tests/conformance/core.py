"""The core as a system of the conformance table."""

from __future__ import annotations

from arbiter_rag.contract import Brief, Candidate, ParsedQuestion, SnippetLine
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle import settle
from tests.conformance.table import PASSAGES, Case, Outcome, arbiter_json


def brief() -> Brief:
    """The table's passages as a brief."""
    candidates = tuple(
        Candidate(
            candidate_id=candidate_id,
            text=text,
            snippet_lines=(SnippetLine(text=text),),
            methods=("keyword",),
            incoming_rank=rank,
        )
        for rank, (candidate_id, text) in enumerate(PASSAGES, start=1)
    )
    return Brief(
        question=ParsedQuestion(text="What score did the base model reach?", language="en"), candidates=candidates
    )


def run_core(case: Case) -> Outcome:
    """Settle the case; an unusable reply is a typed error that the caller sees."""
    at = {candidate_id: i for i, (candidate_id, _) in enumerate(PASSAGES)}
    try:
        result = settle(brief(), JudgeReply(raw=arbiter_json(case)), judge="table")
        result.model_dump_json()
    except JudgeError as error:
        return Outcome(error=error.kind)
    except Exception as error:  # noqa: BLE001  # any other exception is what this table counts
        return Outcome(crash=type(error).__name__)
    return Outcome(
        kept=tuple(at[c.candidate_id] for c in result.candidates),
        dropped=tuple(at[c.candidate_id] for c in result.discarded),
        reported=tuple(at[c.candidate_id] for c in result.unjudged),
    )
