"""Tokens and terms: what is one word, what is found as a part, and what is a function word, in each language."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbiter_rag.language import LANGUAGES, Analyzer, analyzer, detect_language

SAME_TERM = [
    ("en", "policies", "policy"),
    ("en", "encoded", "encodings"),
    ("en", "company's", "companies"),
    ("en", "U.S.", "US"),
    ("fr", "utilisées", "utilisé"),
    ("fr", "L’ARTICLE", "articles"),
    ("fr", "donnees", "données"),
    ("fr", "reglement", "règlements"),
    ("de", "Verträge", "Vertrag"),
    ("de", "Straßen", "strasse"),
    ("es", "informacion", "información"),
    ("es", "pólizas", "poliza"),
    ("it", "dell'assicurazione", "assicurazioni"),
    ("it", "societa", "società"),
    ("pt", "indemnizacao", "indemnização"),
    ("pt", "seguros", "seguro"),
    ("nl", "verzekeringen", "verzekering"),
    ("ru", "договора", "договору"),
    ("ru", "учётный", "учетный"),
    ("ja", "ﾃﾞｰﾀ", "データ"),
]


@pytest.mark.parametrize(("language", "one", "other"), SAME_TERM)
def test_forms_of_one_word_share_a_term(language: str, one: str, other: str) -> None:
    assert set(analyzer(language).terms(one)) & set(analyzer(language).terms(other))


TERMS = [
    ("en", "warmup_steps", ["warmup_steps", "warmup", "step"]),
    ("en", "long-term debt", ["longterm", "long", "term", "debt"]),
    ("en", "e-mail", ["email", "mail"]),
    ("en", "don't", ["dont"]),
    ("en", "ISO 9001", ["iso", "9001"]),
    ("en", "A-12", ["a12", "12"]),
    ("en", "FY2022", ["fy2022", "2022"]),
    ("en", "10-K", ["10k", "10"]),
    ("en", "1,234 1,234.50 4.5", ["1234", "1234.50", "4.5"]),
    ("en", "3.2.1", ["3.2.1"]),
    ("en", "pages 3-5", ["page", "3", "5"]),
    ("en", "2021-22", ["2021", "22"]),
    ("en", "$5 5% § 5", ["$", "5", "5", "%", "§", "5"]),
    ("en", "R&D", ["rd"]),
    ("de", "1.234 1.234,56 12.05.2022", ["1234", "1234.56", "12.05.2022", "12", "05", "2022"]),
    ("fr", "1 500 1\u202f500,25", ["1500", "1500.25"]),
    ("fr", "qu'il d'une", ["il", "une"]),
    ("fr", "aujourd'hui", ["aujourdhui"]),
    ("zh", "保险费", ["保险", "险费"]),
    ("zh", "第3章GPT-4模型", ["第", "3", "章", "gpt4", "gpt", "4", "模型"]),
    ("ja", "保険料", ["保険", "険料"]),
    ("ja", "データ", ["デー", "ータ"]),
    ("ko", "보험금은 GPU", ["보험", "험금", "금은", "gpu"]),
    ("und", "Policies running", ["policies", "running"]),
]


@pytest.mark.parametrize(("language", "text", "terms"), TERMS)
def test_terms(language: str, text: str, terms: list[str]) -> None:
    assert analyzer(language).terms(text) == terms


STOPS = [
    ("en", ["what", "does", "The", "which", "don't", "would"], ["net", "home", "system", "insurance"]),
    ("fr", ["quelle", "été", "est-ce", "où", "dans"], ["valeur", "prime", "article"]),
    ("de", ["welche", "wird", "für", "über"], ["Ordnung", "Tag", "Jahr"]),
    ("es", ["qué", "cuál", "está", "los"], ["plazo", "trabajo"]),
    ("it", ["quale", "è", "della", "perché"], ["premio", "paese"]),
    ("pt", ["qual", "são", "você", "não"], ["prazo", "sistema"]),
    ("nl", ["welke", "wordt", "hoeveel", "het"], ["termijn", "recht"]),
    ("ru", ["какой", "является", "сколько", "что"], ["год", "вода", "договор"]),
    ("zh", ["什么", "多少", "的", "没有"], ["保险", "时间", "会议"]),
    ("ja", ["です", "何", "ください"], ["保険", "期間", "データ"]),
    ("ko", ["무엇", "얼마", "입니까"], ["보험", "기간"]),
]


@pytest.mark.parametrize(("language", "stops", "content"), STOPS)
def test_function_words(language: str, stops: list[str], content: list[str]) -> None:
    analysis = analyzer(language)
    assert [word for word in stops if not analysis.is_stop(word)] == []
    assert [word for word in content if analysis.is_stop(word)] == []


@pytest.mark.parametrize(("language", "stops", "content"), STOPS)
def test_a_function_word_is_one_as_a_term_too(language: str, stops: list[str], content: list[str]) -> None:
    analysis = analyzer(language)
    assert all(analysis.is_stop(analysis.terms(word)[0]) for word in stops)
    assert not any(analysis.is_stop(term) for word in content for term in analysis.terms(word))


def test_one_analyzer_per_language() -> None:
    assert analyzer("en") is analyzer("en")
    assert analyzer("zh_CN") is analyzer("zh")
    assert analyzer("pl") is analyzer("und")


@settings(deadline=None)
@given(st.text(max_size=80), st.sampled_from([*LANGUAGES, "und"]))
def test_offsets_point_at_surfaces_and_terms_agree_with_tokens(text: str, language: str) -> None:
    tokens = analyzer(language).tokens(text)
    assert all(text[token.start : token.end] == token.surface for token in tokens)
    assert all(token.term and token.start < token.end for token in tokens)
    assert [token.term for token in tokens] == analyzer(language).terms(text)


WORDS = st.from_regex(r"[A-Za-zé'_.,\-0-9 $%保险はん가]{0,40}", fullmatch=True)


@settings(deadline=None)
@given(WORDS, st.sampled_from([*LANGUAGES, "und"]))
def test_every_letter_and_digit_outside_elisions_is_in_a_token(text: str, language: str) -> None:
    covered = {at for token in analyzer(language).tokens(text) for at in range(token.start, token.end)}
    left = {at for at, character in enumerate(text) if character.isalnum()} - covered
    assert all("'" in text[at : at + 10] or "'" in text[max(0, at - 1) : at] for at in left)


@pytest.mark.parametrize(
    "text", ["a-" * 50_000, "a." * 50_000, "1," * 50_000, "'" * 100_000, "保" * 100_000, "e\u0301" * 50_000]
)
def test_runaway_text_ends(text: str) -> None:
    assert analyzer("fr").terms(text) is not None


def test_threads_share_an_analyzer() -> None:
    words = [f"walking{chr(97 + i % 26)}ed runners" for i in range(400)]
    fresh, shared = Analyzer("en"), Analyzer("en")
    expected = [fresh.terms(word) for word in words]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(shared.terms, words)) == expected


def test_the_language_of_a_text_chooses_its_analyzer() -> None:
    text = "Quelles sont les conditions de résiliation ?"
    assert "condit" in analyzer(detect_language(text)).terms(text)
