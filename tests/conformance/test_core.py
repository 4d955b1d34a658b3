"""The core over the conformance table: nothing crashes, nothing wrong is handed on, nothing is doubled or lost."""

from __future__ import annotations

import pytest

from tests.conformance.core import run_core
from tests.conformance.table import CASES, RIGHT, Case, run_table, summary


def test_the_table_is_wide_enough_and_its_ids_are_unique() -> None:
    assert len(CASES) >= 60
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_core(case: Case) -> None:
    (row,) = run_table(run_core, [case])
    assert row == {"id": case.id, "ran": True, "crash": 0, "wrong": 0, "doubled": 0, "lost": 0}


def test_the_right_reply_is_followed() -> None:
    outcome = run_core(next(case for case in CASES if case.id == "right"))
    assert outcome.kept == (0, 1, 4)
    assert set(outcome.dropped) == {2, 3, 5}


@pytest.mark.parametrize(
    "case_id",
    [
        "fenced", "prose-before", "prose-after", "prose-braces", "thinking", "byte-order-mark", "twice-whole",
        "single-quotes", "trailing-comma", "missing-comma", "unclosed", "raw-newlines", "wrapped", "wrapped-text",
        "text-of-text", "parsed", "list-on-top", "field-case", "extra-fields", "role-case", "role-space", "nan",
        "ten-megabytes", "nested-deep", "two-thousand", "twice",
    ],
)  # fmt: skip
def test_what_was_meant_is_understood(case_id: str) -> None:
    outcome = run_core(next(case for case in CASES if case.id == case_id))
    assert outcome.kept == tuple(entry.of for entry in RIGHT[:3])


def test_summary_counts_cases() -> None:
    rows = run_table(run_core)
    assert summary("core", rows) == {
        "system": "core", "replies": len(CASES), "crashes": 0, "wrong passages": 0, "doubled": 0, "silently lost": 0,
    }  # fmt: skip
