"""Settle under generated replies: `ARBITER_FUZZ=50000` runs the full number."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings

from arbiter_rag.contract import Brief
from tests.settle.invariants import check_reply
from tests.settle.replies import brief, cases, right

EXAMPLES = int(os.environ.get("ARBITER_FUZZ", "1000"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_no_reply_breaks_settle(case: tuple[Brief, object]) -> None:
    check_reply(*case)


def test_the_right_reply_is_settled_without_a_refusal() -> None:
    made = brief(20)
    result = check_reply(made, right(made))
    assert result is not None
    assert not result.unjudged
    assert not [f for f in result.faults if f.kind not in ("demoted", "unverified", "bad_conflict")]
