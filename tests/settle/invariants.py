"""What must hold of every result, whatever the reply was."""

from __future__ import annotations

import copy
import json
import unicodedata
from itertools import pairwise

from arbiter_rag.contract import Brief, RetrievalResult
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle import settle

_BANDS = {"primary": (0.75, 1.0), "supporting": (0.5, 0.75), "tangential": (0.25, 0.5), "unjudged": (0.0, 0.25)}
_ORDER = ("primary", "supporting", "tangential", "unjudged")


def check_reply(brief: Brief, raw: object) -> RetrievalResult | None:
    """Settle a reply and check everything that must hold; None when it was refused as unusable."""
    before, kept_raw = brief.model_dump_json(), copy.deepcopy(raw)
    try:
        result = settle(brief, JudgeReply(raw=raw), judge="fuzz")
    except JudgeError:
        return None
    assert brief.model_dump_json() == before
    assert repr(raw) == repr(kept_raw)  # NaN is not equal to itself
    assert settle(brief, JudgeReply(raw=raw), judge="fuzz").model_dump_json() == result.model_dump_json()
    check_result(brief, result)
    named = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    for verdict in (*result.candidates, *result.discarded):
        assert verdict.candidate_id in named, "a verdict on a candidate that the reply does not name"
    return result


def check_result(brief: Brief, result: RetrievalResult) -> None:
    """The ledger is total, order and scores fall, and what came from the reply can be shown."""
    placed = [c.candidate_id for c in (*result.candidates, *result.discarded, *result.unjudged)]
    assert sorted(placed) == sorted(c.candidate_id for c in brief.candidates)
    listed = (*result.candidates, *result.unjudged)
    assert [c.rank for c in listed] == list(range(1, len(listed) + 1))
    assert [_ORDER.index(c.role) for c in listed] == sorted(_ORDER.index(c.role) for c in listed)
    scores = [c.score for c in listed]
    assert all(a > b for a, b in pairwise(scores))
    assert all(_BANDS[c.role][0] < c.score <= _BANDS[c.role][1] for c in listed)
    assert all(c.score == 0.0 and c.rank == 0 and c.role == "discarded" for c in result.discarded)
    assert all(c.role == "unjudged" for c in result.unjudged)
    if result.not_found:
        assert not result.unjudged
        assert all(c.role == "tangential" for c in result.candidates)
        assert result.not_found_reason
    if result.unjudged or any(c.demoted_from for c in (*result.candidates, *result.discarded)):
        assert result.status != "ok"
    for text in (*(f.detail for f in result.faults), *(c.reason for c in (*listed, *result.discarded))):
        assert len(text) <= 2_000
        assert not any(unicodedata.category(ch) in ("Cc", "Cf", "Cs") for ch in text)
