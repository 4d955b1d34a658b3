"""The conformance table over the real client: no reply raises, selects a wrong document, doubles or loses one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.langchain import Wire, run_compressor, run_retriever, wire
from tests.conformance.table import CASES, RIGHT, Case, run_table

# LangChain hands a tool's arguments on as a parsed value: of two equal keys only the last is left, and nobody can tell.
KEY_TWICE = {"duplicate-role", "duplicate-list"}


@pytest.fixture(scope="module")
def line() -> Iterator[Wire]:
    with wire() as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_replies(line: Wire, case: Case) -> None:
    outcomes = {
        "compressor": run_compressor(line, case),
        "by tool": run_compressor(line, case, by_tool=True) if case.id not in KEY_TWICE else None,
        "retriever": run_retriever(line, case),
    }
    for name, outcome in outcomes.items():
        (row,) = run_table(lambda _, o=outcome: o, [case])  # type: ignore[misc]  # mypy takes no default in a lambda
        assert {key: row[key] for key in ("crash", "wrong", "doubled", "lost")} == {
            "crash": 0,
            "wrong": 0,
            "doubled": 0,
            "lost": 0,
        }, name


def test_the_right_reply_is_followed(line: Wire) -> None:
    right = next(case for case in CASES if case.id == "right")
    for outcome in (run_compressor(line, right), run_compressor(line, right, by_tool=True), run_retriever(line, right)):
        assert outcome is not None
        assert outcome.kept == tuple(entry.of for entry in RIGHT[:3])
        assert outcome.error is None
