"""Replies that come as bytes, in whatever encoding, and text that no encoder accepts."""

from __future__ import annotations

import json

import pytest

from arbiter_rag.contract import Candidate, CandidateScope, Hit, Passage
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle import settle
from tests.settle.build import brief, passage

MADE = brief(passage("n1", "Die Gebühr beträgt 5 €."))
TEXT = json.dumps(
    {"rankings": [{"candidate_id": "n1", "reason": "sagt es", "role": "primary", "quote": "Die Gebühr beträgt 5 €"}],
     "conflicts": []},
    ensure_ascii=False,
)  # fmt: skip


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_are_read_in_their_encoding(encoding: str, kind: type) -> None:
    result = settle(MADE, JudgeReply(raw=kind(TEXT.encode(encoding))), judge="m")
    assert result.candidates[0].role == "primary"
    assert result.candidates[0].quote_status == "exact"
    assert (result.status == "ok") == (encoding == "utf-8")


@pytest.mark.parametrize(
    "raw", [b"", b"\x00" * 50, b"\xff\xfe", b"\xfe\xff\x00", ("é" + TEXT).encode("utf-16-le")[1:], memoryview(b"\x00{")]
)
def test_bytes_that_are_no_text_are_unusable(raw: object) -> None:
    with pytest.raises(JudgeError, match="Expected JSON"):
        settle(MADE, JudgeReply(raw=raw), judge="m")


def test_a_quote_with_a_lone_surrogate_can_be_written() -> None:
    raw = {"rankings": [{"candidate_id": "n1", "reason": "\ud800", "role": "primary", "quote": "a \udc00 b c"}]}
    result = settle(MADE, JudgeReply(raw=raw), judge="m")
    assert json.loads(result.model_dump_json())["candidates"][0]["candidate_id"] == "n1"


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), None])
def test_a_score_that_is_no_number_is_none(score: float | None) -> None:
    assert Passage(id="x", score=score).score is None
    assert Candidate(candidate_id="n1", original_score=score).original_score is None
    assert Passage(id="x", score=-0.5).score == -0.5
    scope = CandidateScope(doc_id="d", page_start=1, page_end=1, line_start=1, line_end=1)
    hit = Hit(method="own", scope=scope, score=float("nan") if score is None else score, rank=1)
    assert Hit.model_validate_json(hit.model_dump_json()).score == 0.0
