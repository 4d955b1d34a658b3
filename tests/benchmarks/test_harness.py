"""The benchmark harness: tables, JSON, and what happens when an entry cannot run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.__main__ import run
from benchmarks.harness import Entry, Row, SkippedError, markdown, side_by_side

ROOT = Path(__file__).resolve().parents[2]


def test_rows_become_a_markdown_table() -> None:
    rows: list[Row] = [{"name": "a|b", "n": 12345, "s": 0.12345}, {"name": "c", "n": None, "s": 4321.7, "ok": True}]
    assert markdown(rows).splitlines() == [
        "| name |      n |     s |  ok |",
        "| ---- | -----: | ----: | --: |",
        "| a\\|b | 12,345 | 0.123 |     |",
        "| c    |        | 4,322 | yes |",
    ]


def test_functions_are_timed_in_turn() -> None:
    calls: list[str] = []
    timings = side_by_side([lambda: calls.append("a"), lambda: calls.append("b")], repeat=3)
    assert calls == ["a", "b"] * 3
    assert all(0 <= t.best <= t.median for t in timings)


def test_a_failing_entry_is_told_and_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> Iterator[Row]:
        yield {"row": 1}
        raise RuntimeError("no luck")

    def absent() -> Iterator[Row]:
        raise SkippedError("nothing to measure on")

    assert run(Entry("x", "X", broken))["error"] == "RuntimeError: no luck"
    assert run(Entry("y", "Y", absent))["skipped"] == "nothing to measure on"
    out, err = capsys.readouterr()
    assert "no luck" in err
    assert "skipped: nothing to measure on" in out


def test_a_run_writes_json(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks", "import", "--json", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    rows = json.loads(target.read_text(encoding="utf-8"))["entries"]["import"]["rows"]
    assert {row["import"] for row in rows} == {"arbiter_rag", "pandas and pydantic"}
