"""The integration's column of the conformance table, beside the framework's own rerankers."""

from __future__ import annotations

import pytest

from benchmarks.llama_index import OURS, SYSTEMS, WIDE, Stage, System, chunks, conformance, measured, run_case
from tests.conformance.table import CASES


@pytest.mark.parametrize("system", OURS, ids=lambda s: s.name)
def test_no_reply_crashes_misleads_doubles_or_loses(system: System) -> None:
    rows = conformance(system)
    bad = [row for row in rows if row["crash"] or row["wrong"] or row["doubled"] or row["lost"]]
    assert bad == []
    assert all(row["ran"] for row in rows)


@pytest.mark.parametrize("system", OURS, ids=lambda s: s.name)
def test_the_right_reply_is_followed(system: System) -> None:
    with Stage(system, 6) as stage:
        outcome = run_case(stage, system, CASES[0])
    assert outcome is not None
    assert outcome.kept == (0, 1, 4)
    assert outcome.dropped == (2, 3, 5)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_every_system_understands_its_own_right_reply(system: System) -> None:
    (row,) = conformance(system, CASES[:1])
    assert row == {"id": "right", "ran": True, "crash": 0, "wrong": 0, "doubled": 0, "lost": 0}


@pytest.mark.parametrize("system", OURS, ids=lambda s: s.name)
def test_one_request_whatever_the_number_of_nodes(system: System) -> None:
    requests, characters, out = measured(system, chunks())
    assert (requests, out) == (1, WIDE)
    assert characters < 60_000  # snippets, not whole chunks
