"""The frozen attack corpora: what they hold, and that nobody has touched them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

CORPORA = Path(__file__).parent / "corpora"
FROZEN = {
    "own_dev": "3776098f2ad1a5170f7d93723d3c67b6d7356d65343b1d17927bb5d021619987",
    "own_held_out": "79453d1f50df0e0b4ec831beae1a37e0dad19a622e5a30cbb2d70b0c35367579",
    "foreign_dev": "1db56bc7d0d532de5eb3306b403a0dbf0824f1c9d67519e9191492580afaadea",
    "foreign_held_out": "c1737ad2a92f71cd40f9e53c2d29041db516bc1fd13da5aed0729f52f31f62b2",
    "own_late": "b19d2808d39672ac9e97fa95bd22bb3134f2645747a308e0cdbdc340f12a1b1d",
}


@pytest.mark.parametrize("name", FROZEN)
def test_corpus_is_as_frozen(name: str) -> None:
    assert hashlib.sha256((CORPORA / f"{name}.jsonl").read_bytes()).hexdigest() == FROZEN[name]


def test_every_row_names_its_source_and_licence() -> None:
    files = [(CORPORA / f"{name}.jsonl").read_text(encoding="utf-8") for name in FROZEN]
    rows = [json.loads(line) for file in files for line in file.splitlines()]
    assert len(rows) >= 600
    assert len({row["id"] for row in rows}) == len(rows)
    assert {row["licence"] for row in rows} == {"Apache-2.0", "MIT"}
    assert all(row["source"] and row["text"] and row["adapted"] for row in rows)
    assert sum(row["source"] != "own" for row in rows) >= 150
