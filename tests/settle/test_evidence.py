"""Quotes on real pages: evidence in several languages is accepted, mutations of it are not."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.quotes import MUTATIONS, accepted, evidence, reflowed

SOURCES = frozenset({"attention", "nist", "debian_faq"})


def test_evidence_is_accepted_and_its_mutations_are_not(data: Path) -> None:
    assert data.is_dir()
    dice = random.Random(7)
    items = evidence(60, 7, SOURCES)
    assert len({e.language for e in items}) >= 7
    assert not [e.text for e in items if accepted(e, reflowed(e.text)) not in ("exact", "folded")]
    mutants = [(e, m) for e in items for change in MUTATIONS.values() if (m := change(e, dice)) and m != e.text]
    passed = [(e.text, m) for e, m in mutants if accepted(e, m) in ("exact", "folded")]
    assert len(passed) <= 0.005 * len(mutants), passed
