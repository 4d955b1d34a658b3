"""Folding makes spellings of one word equal and is idempotent on any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbiter_rag.language import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Évènement", "evenement"),
        ("e\u0301te\u0301", "été"),
        ("ﬁnal", "final"),
        ("ŒUVRE", "oeuvre"),
        ("Straße", "STRASSE"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("l’article", "l'article"),
        ("long‑term", "long-term"),
        ("inter\u00adnational", "international"),
        ("Ёлка", "елка"),
        ("ｶﾞｽ", "ガス"),
        ("İstanbul", "istanbul"),
        ("①", "1"),
    ],
)
def test_spellings_of_one_word_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("が", "か"), ("1,5", "15"), ("한", "하")])
def test_letters_of_their_own_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_case_does_not_matter(text: str) -> None:
    assert fold(fold(text).upper()) == fold(fold(text).upper().lower())
