"""A question that names a concept looks for all its variants, and its own words join that concept."""

from __future__ import annotations

import pytest

from arbiter_rag.contract import Keyword
from arbiter_rag.lexicon import Concept, Lexicon, Variant
from arbiter_rag.question import parse_question


def concept(name: str, *variants: tuple[str, str, float]) -> Concept:
    return Concept(name=name, variants=tuple(Variant(text=t, language=lang, weight=w) for t, lang, w in variants))


LEXICON = Lexicon(
    concepts=(
        concept("notice", ("notice period", "en", 1.0), ("préavis", "fr", 1.0), ("advance warning", "en", 0.5)),
        concept("income", ("income", "en", 1.0), ("revenu", "fr", 1.0)),
        concept("net_income", ("net income", "en", 1.0), ("résultat net", "fr", 1.0), ("纯利润", "zh", 1.0)),
        concept("debt", ("short-term debt", "en", 1.0), ("Schulden", "de", 1.0)),
    )
)


def named(question: str) -> dict[str, list[Keyword]]:
    groups: dict[str, list[Keyword]] = {}
    for keyword in parse_question(question, LEXICON).keywords:
        groups.setdefault(keyword.concept, []).append(keyword)
    return groups


def test_all_variants_come_with_weight_and_source() -> None:
    group = named("How long is the notice period?")["notice"]
    assert [(k.text, k.weight, k.source) for k in group] == [
        ("notice period", 1.0, "question"),
        ("préavis", 1.0, "lexicon:notice"),
        ("advance warning", 0.5, "lexicon:notice"),
    ]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What notice periods apply?", "notice"),
        ("Quels sont les préavis ?", "notice"),
        ("Combien de preavis faut-il ?", "notice"),
        ("Is there an advance warning?", "notice"),
        ("How much short term debt is there?", "debt"),
        ("How much short-term debt is there?", "debt"),
        ("Welche Schuld besteht?", "debt"),
        ("公司的纯利润是多少？", "net_income"),
    ],
)
def test_any_variant_in_any_form_names_the_concept(question: str, name: str) -> None:
    assert name in named(question)


def test_the_longest_of_overlapping_concepts_is_meant() -> None:
    groups = named("What was the net income?")
    assert "net_income" in groups
    assert "income" not in groups


def test_own_words_of_a_named_concept_do_not_stand_for_themselves() -> None:
    assert set(named("What was the net income of Ruritania?")) == {"net_income", "ruritania"}


def test_words_of_no_concept_stay_as_they_are() -> None:
    plain = parse_question("What voltage does the turbine need?")
    assert parse_question("What voltage does the turbine need?", LEXICON) == plain


def test_a_quoted_phrase_stays_a_phrase() -> None:
    parsed = parse_question('What does "net income" mean?', LEXICON)
    assert parsed.phrases == ("net income",)
    assert next(k for k in parsed.keywords if k.source == "phrase").concept == "net_income"


def test_a_shipped_lexicon_bridges_english_and_french() -> None:
    parsed = parse_question("Quelle est la franchise en cas de vol ?", Lexicon.shipped("insurance"))
    assert {"deductible", "theft"} <= {keyword.text for keyword in parsed.keywords}
