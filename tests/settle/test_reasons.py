"""Reasons: what nothing shown supports is listed."""

from __future__ import annotations

import pytest

from arbiter_rag.settle import settle
from arbiter_rag.settle.reasons import Ground, unsupported
from tests.settle.build import brief, passage, reply

GROUND = (
    Ground(
        ("What does Adam cost in 2023?", "The premium is 5 % or EUR 1 250,50; Newton's method, 5,000 (in thousands).")
    ),
    Ground(("Der Selbstbehalt der GmbH beträgt 150 €. 保険料は20％です。",)),
)


@pytest.mark.parametrize(
    ("reason", "language", "expected"),
    [
        ("States 5% and €1,250.50 for 2023", "en", ()),
        ("States 6%", "en", ("6%",)),
        ("States 5% for 2024", "en", ("2024",)),
        ("States $1,250.50", "en", ("$1,250.50",)),
        ("Names Adam and Leibniz", "en", ("Leibniz",)),
        ("Leibniz opens the sentence", "en", ()),
        ("Adam's and Newtons methods", "en", ()),
        ("BLEU opens the sentence", "en", ("BLEU",)),
        ("Gives 5 million", "en", ()),
        ("Gives 7 million", "en", ("7",)),
        ("Nennt Prämie und Selbstbehalt der GmbH", "de", ()),
        ("Nennt die AG", "de", ("AG",)),
        ("Primary by TOC and Keyword", "en", ()),
        ("保険料は２０％", "ja", ()),
        ("保険料は30％", "ja", ("30%",)),
        ("Dit l'Adam de 2023", "fr", ()),
    ],
)
def test_unsupported(reason: str, language: str, expected: tuple[str, ...]) -> None:
    assert unsupported(reason, GROUND, language) == expected


def test_a_result_lists_it_and_stays_ok() -> None:
    made = brief(passage("n1", "The fee is 5 euros in total.", page=7))
    row = reply(("n1", "tangential", None))
    assert isinstance(row.raw, dict)
    row.raw["rankings"][0]["reason"] = "n1 gives 6 euros"
    result = settle(made, row, judge="m")
    assert result.candidates[0].unsupported == ("6 euros",)
    assert result.status == "ok"
