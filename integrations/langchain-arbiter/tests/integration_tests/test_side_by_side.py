"""The side-by-side tables hold what they are made to show, and the README shows what the command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.harness import Row, markdown
from benchmarks.langchain import fusion, systems

README = Path(__file__).resolve().parents[2] / "README.md"
CHANGING = "prompt characters"


def _table(name: str) -> list[dict[str, str]]:
    """A table of the README, a dict a row."""
    text = README.read_text(encoding="utf-8")
    lines = text.split(f"<!-- {name} -->\n")[1].split("\n<!-- end -->")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def _same(name: str, rows: list[Row]) -> None:
    """Every column is as it stands in the README but the size of prompts, which may drift by a fifth."""
    header, _, *lines = markdown(rows).splitlines()
    columns = [cell.strip() for cell in header.strip("|").split("|")]
    for line, shown in zip(lines, _table(name), strict=True):
        made = dict(zip(columns, (cell.strip() for cell in line.strip("|").split("|")), strict=True))
        for column in columns:
            if column != CHANGING:
                assert made[column] == shown[column], (
                    f"{column} of {made}; `python -m benchmarks.langchain` renews the README"
                )
            elif made[column]:
                now, then = (int(value.replace(",", "")) for value in (made[column], shown[column]))
                assert abs(now - then) <= then / 5, "python -m benchmarks.langchain renews the README"


@pytest.mark.slow
def test_systems() -> None:
    rows = list(systems())
    ours, listwise, chain_filter = rows[0], rows[3], rows[4]
    assert (ours["requests"], listwise["requests"], chain_filter["requests"]) == (1, 1, 20)
    assert [ours[c] for c in ("query raises", "wrong documents", "doubled", "silently lost")] == [0, 0, 0, 0]
    _same("systems", rows)


def test_fusion() -> None:
    rows = list(fusion())
    assert (rows[1]["requests"], rows[1]["lost"], rows[1]["doubled"]) == (1, 0, 0)
    _same("fusion", rows)
