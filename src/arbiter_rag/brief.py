"""Candidates become a brief: ordered without a ranking hint, within a token budget, nothing dropped in silence."""

from __future__ import annotations

import random
from collections.abc import Sequence

from arbiter_rag.contract import OVER_BUDGET, Brief, Candidate, Cut, SnippetLine
from arbiter_rag.language import fold
from arbiter_rag.prompt import TokenCounter, candidate_json, estimate_tokens, forecast

_WIDTHS = (300, 160, 100, 60)
_LINES = (5, 4, 3, 2, 1)


def fit(brief: Brief, budget: int, count: TokenCounter | None = None) -> Brief:
    """Shrink a brief until its forecast is within `budget` tokens.

    Snippets shrink evenly, around the lines that hold the keywords, before any candidate is dropped; then candidates
    go from the end of RRF (or the caller's) order. What was shortened is in `truncated`, what was dropped in `cut`.
    """
    brief = brief.model_copy(update={"forecast_tokens": forecast(brief, count)})
    if brief.forecast_tokens <= budget or not brief.candidates:
        return brief
    empty = brief.model_copy(update={"candidates": ()})
    room = budget - forecast(empty, count)
    steps = [(lines, width) for width in _WIDTHS for lines in _LINES]
    shrunk = list(brief.candidates)
    for lines, width in steps:
        shrunk = [_shrink(c, lines, width) for c in brief.candidates]
        if sum(_cost(c, count) for c in shrunk) <= room:
            break
    kept, dropped = _within(shrunk, room, count)
    before = {c.candidate_id: c.snippet for c in brief.candidates}
    original = {c.candidate_id: c.original_id for c in brief.candidates}
    why = f"{OVER_BUDGET} ({budget})"
    fitted = brief.model_copy(
        update={
            "candidates": tuple(kept),
            "truncated": tuple(c.candidate_id for c in kept if c.snippet != before[c.candidate_id]),
            "cut": (*brief.cut, *(Cut(candidate_id=i, why=why, original_id=original[i]) for i in dropped)),
        }
    )
    return fitted.model_copy(update={"forecast_tokens": forecast(fitted, count)})


def shuffled(brief: Brief, seed: int | None) -> Brief:
    """The brief with its candidates in the order that a seed gives; None keeps the document's order."""
    if seed is None:
        return brief
    candidates = list(brief.candidates)
    random.Random(seed).shuffle(candidates)
    return brief.model_copy(update={"candidates": tuple(candidates), "shuffle_seed": seed})


def _within(
    candidates: Sequence[Candidate], room: int, count: TokenCounter | None
) -> tuple[list[Candidate], list[str]]:
    costs = {c.candidate_id: _cost(c, count) for c in candidates}
    total = sum(costs.values())
    dropped: list[str] = []
    for candidate in sorted(candidates, key=lambda c: -c.incoming_rank):
        if total <= room:
            break
        total -= costs[candidate.candidate_id]
        dropped.append(candidate.candidate_id)
    gone = set(dropped)
    return [c for c in candidates if c.candidate_id not in gone], dropped


def _cost(candidate: Candidate, count: TokenCounter | None) -> int:
    one = Brief.model_construct(candidates=(candidate,), documents=())
    return estimate_tokens(candidate_json(one.entries[0], suspicious=bool(candidate.suspicious)), count) + 1


def _shrink(candidate: Candidate, lines: int, width: int) -> Candidate:
    """At most `lines` lines of `width` characters, those that hold most of the matched keywords, in reading order."""
    words = [fold(k) for k in candidate.matched_keywords]
    ranked = sorted(
        enumerate(candidate.snippet_lines), key=lambda item: (-sum(w in fold(item[1].text) for w in words), item[0])
    )
    kept = [line for _, line in sorted(ranked[:lines])]
    return candidate.model_copy(update={"snippet_lines": tuple(_clip(line, words, width) for line in kept)})


def _clip(line: SnippetLine, words: Sequence[str], width: int) -> SnippetLine:
    if len(line.text) <= width:
        return line
    lowered = line.text.casefold()
    at = min((i for w in words if (i := lowered.find(w)) >= 0), default=0)
    begin = max(0, min(at - width // 3, len(line.text) - width))
    return line.model_copy(
        update={"text": line.text[begin : begin + width], "start": line.start + begin, "whole": False}
    )
