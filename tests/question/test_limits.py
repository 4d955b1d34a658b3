"""Odd questions: empty, endless, made to hang a pattern, or any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbiter_rag.errors import InputError
from arbiter_rag.language import LANGUAGES
from arbiter_rag.question import parse_question


@pytest.mark.parametrize("question", ["", " ", "\n\t\u3000"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(InputError, match="Expected a question"):
        parse_question(question)


def test_a_question_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="got int"):
        parse_question(3)  # type: ignore[arg-type]  # what the test is about


def test_a_long_question_is_kept_whole_and_searched_at_its_beginning() -> None:
    text = "What is the voltage of the turbine? " + "Lorem ipsum dolor sit amet. " * 4000 + "zebra"
    parsed = parse_question(text)
    assert parsed.text == text
    assert parsed.truncated
    words = {keyword.text for keyword in parsed.keywords}
    assert "voltage" in words
    assert "zebra" not in words


def test_a_short_question_is_not_truncated() -> None:
    assert not parse_question("x" * 2000).truncated


def test_a_long_word_is_not_cut_in_two() -> None:
    parsed = parse_question("a " * 999 + "turbine voltage")
    assert all(keyword.text in parsed.text.split() for keyword in parsed.keywords)


RUNAWAY = [
    *(piece * 100_000 for piece in ('"', "“", "«", "1", "§", "あ", "第", "一", "(", "\u0301")),
    *(piece * 50_000 for piece in ("'a", "1,", "a-", "a_", "的保", "e\u0301")),
    *(piece * 30_000 for piece in ("1.1", "A.B.", "what ", "page ", "Aa ", "가는 ", "Aa of ", "is there a ")),
    *(piece * 15_000 for piece in ("page 1, ", "section 1-", "§ 1(a)")),
    " " * 100_000 + "x",
    "page " + "i" * 100_000,
]


@pytest.mark.parametrize("language", [None, "ko"])
@pytest.mark.parametrize("question", RUNAWAY, ids=range(len(RUNAWAY)))
def test_no_text_makes_a_pattern_run_away(question: str, language: str | None) -> None:
    assert parse_question(question, language=language).text == question.strip()


@settings(deadline=None)
@given(st.text(min_size=1), st.sampled_from([None, *LANGUAGES, "und", "xx"]))
def test_any_text_is_parsed(question: str, language: str | None) -> None:
    if not question.strip():
        return
    parsed = parse_question(question, language=language)
    assert parsed == parse_question(question, language=language)
    assert all(keyword.text.strip() and 0 < keyword.weight <= 1 for keyword in parsed.keywords)


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "what",
                "page",
                "section",
                "§",
                "5.2",
                "pages",
                "3-5",
                "iv",
                "R.",
                "12-3",
                "A",
                "of",
                "and",
                "to",
                "bis",
                "à",
            ),
            *("«", "»", '"', "'", "“", "”", "「", "」", "(", ")", "-", "/", "?", "！", "%", "$", "1,000"),
            *(
                "Acme",
                "2021",
                "FY2021",
                "max_depth",
                "U.S.",
                "don't",
                "l'article",
                "annexe",
                "é",
                "how",
                "many",
                "days",
            ),
            *("第", "三", "章", "3", "ページ", "쪽", "wie", "lange", "quel", "多少", "いつ", "얼마"),
        ]
    ),
    max_size=25,
)


@settings(deadline=None)
@given(PIECES, st.sampled_from(["", " "]))
def test_any_mixture_of_what_patterns_look_for_is_parsed(pieces: list[str], glue: str) -> None:
    question = glue.join(pieces)
    if question.strip():
        assert parse_question(question).text == question.strip()


def test_a_lone_surrogate_does_not_stay() -> None:
    parsed = parse_question("What is the \ud800 fee, \ud83d\ude00 \udc00?")
    assert parsed.text == "What is the \ufffd fee, \U0001f600 \ufffd?"
    assert type(parsed).model_validate_json(parsed.model_dump_json()) == parsed
