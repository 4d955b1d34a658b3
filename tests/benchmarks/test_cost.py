"""What the cost bench promises of the core, without its clocks: one request, every passage judged, short replies."""

from __future__ import annotations

import pytest

from benchmarks import cost


@pytest.mark.parametrize("count", [5, 30])
def test_one_request_judges_all(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "SECONDS_A_REQUEST", 0.0)
    monkeypatch.setattr(cost, "SECONDS_A_TOKEN", 0.0)
    core = next(s for s in cost.systems()[0] if s.name == "Arbiter (core)")
    with cost.Scene(core, count) as scene:
        call, _ = core.make(scene.server.base_url, count)
        row = scene.measure(call)
    assert (row["requests"], row["judged"]) == (1, count)
    assert float(row["a candidate"] or 0) <= 45
    assert float(row["prompt tokens"] or 0) < count * cost.PASSAGE_TOKENS


def test_passages_are_different_and_long_enough() -> None:
    made = cost.passages(30)
    assert len(set(made)) == 30
    assert all(500 <= len(text) / 4 <= 560 for text in made)
