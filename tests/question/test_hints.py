"""Page and section hints in all eleven languages; what is hinted at is no keyword."""

from __future__ import annotations

import pytest

from arbiter_rag.question import parse_question

PAGES = [
    ("What is on page 3?", [("3", None)]),
    ("Summarise pages 3-5.", [("3", "5")]),
    ("Summarise pages 3 to 5 and 9.", [("3", "5"), ("9", None)]),
    ("What does p. 12 say?", [("12", None)]),
    ("See pp. 12–14 for the fees", [("12", "14")]),
    ("What is on page iv?", [("iv", None)]),
    ("Who is named on page A-3?", [("A-3", None)]),
    ("Que trouve-t-on à la page 7 ?", [("7", None)]),
    ("Résumez les pages 3 à 5.", [("3", "5")]),
    ("Was steht auf Seite 12?", [("12", None)]),
    ("Was steht auf S. 12?", [("12", None)]),
    ("Fassen Sie die Seiten 3 bis 5 zusammen.", [("3", "5")]),
    ("¿Qué dice la página 3?", [("3", None)]),
    ("¿Qué dicen las págs. 3 y 4?", [("3", None), ("4", None)]),
    ("Che cosa c'è a pagina 3?", [("3", None)]),
    ("O que está na página 3?", [("3", None)]),
    ("Wat staat er op bladzijde 8?", [("8", None)]),
    ("Wat staat er op blz. 8?", [("8", None)]),
    ("Что написано на странице 5?", [("5", None)]),
    ("Что написано на стр. 5?", [("5", None)]),
    ("第3页讲了什么？", [("3", None)]),
    ("第十二页的图表是什么？", [("12", None)]),
    ("第3页到第5页讲了什么？", [("3", "5")]),
    ("3ページには何が書いてありますか？", [("3", None)]),
    ("3〜5ページの内容は？", [("3", "5")]),
    ("3쪽에는 무엇이 있나요?", [("3", None)]),
    ("페이지 7의 내용은 무엇인가요?", [("7", None)]),
    ("Who is named on the first page?", [("1", None)]),
    ("Qui est cité à la première page ?", [("1", None)]),
    ("Wer steht auf der ersten Seite?", [("1", None)]),
    ("Что написано на первой странице?", [("1", None)]),
    ("첫 페이지에는 무엇이 있나요?", [("1", None)]),
]


@pytest.mark.parametrize(("question", "pages"), PAGES)
def test_pages(question: str, pages: list[tuple[str, str | None]]) -> None:
    assert [(hint.label, hint.last_label) for hint in parse_question(question).pages] == pages


NO_PAGES = [
    "How many pages does the report have?",
    "Quelle est la page d'accueil ?",
    "Was kostet eine Seite?",
    "这份文件有多少页？",
    "全部で何ページありますか？",
    "Which page mentions the premium?",
    "Voir ci-dessous la page ci-jointe",
]


@pytest.mark.parametrize("question", NO_PAGES)
def test_the_word_page_alone_is_no_hint(question: str) -> None:
    assert parse_question(question).pages == ()


SECTIONS = [
    ("What does section 5.2 require?", [("section", "5.2")]),
    ("Explain Article 12.", [("article", "12")]),
    ("What is in Appendix A?", [("appendix", "A")]),
    ("What does Item 7A disclose?", [("item", "7A")]),
    ("Compare clauses 4.1 and 4.3.", [("clauses", "4.1"), ("clauses", "4.3")]),
    ("Summarize chapter IV.", [("chapter", "IV")]),
    ("Summarize sections 3 to 5.", [("sections", "3"), ("sections", "4"), ("sections", "5")]),
    ("Is § 7 still in force?", [("§", "7")]),
    ("What does section 7(a) say?", [("section", "7(a)")]),
    ("Que prévoit l'article R. 12-3 ?", [("article", "R. 12-3")]),
    ("Que prévoit l'art. L113-2 ?", [("art", "L113-2")]),
    ("Que contient l'annexe B ?", [("annexe", "B")]),
    ("Que dit l'article 5, alinéa 2 ?", [("article", "5")]),
    ("Worum geht es in Kapitel 4?", [("kapitel", "4")]),
    ("Was regelt § 12 Abs. 2?", [("§", "12")]),
    ("Was steht in Anhang C?", [("anhang", "C")]),
    ("¿Qué establece el artículo 9?", [("articulo", "9")]),
    ("¿Qué contiene la sección 2.1?", [("seccion", "2.1")]),
    ("Che cosa prevede l'articolo 9?", [("articolo", "9")]),
    ("Che cosa contiene l'allegato B?", [("allegato", "B")]),
    ("O que diz a cláusula 4.1?", [("clausula", "4.1")]),
    ("O que contém o anexo II?", [("anexo", "II")]),
    ("Wat staat er in hoofdstuk 4?", [("hoofdstuk", "4")]),
    ("Wat regelt artikel 6, lid 2?", [("artikel", "6")]),
    ("Что говорится в разделе 5.2?", [("разделе", "5.2")]),
    ("Что предусматривает статья 12?", [("статья", "12")]),
    ("Что предусматривает ст. 12?", [("ст", "12")]),
    ("第3章的内容是什么？", [("章", "3")]),
    ("第三章的内容是什么？", [("章", "三"), ("章", "3")]),
    ("附录A列出了什么？", [("附录", "A")]),
    ("第5条第2項の内容は何ですか？", [("条", "5")]),
    ("5.2節では何を説明していますか？", [("節", "5.2")]),
    ("3장의 내용은 무엇인가요?", [("장", "3")]),
    ("제12조에 따르면 언제 해지할 수 있나요?", [("조", "12")]),
    ("부록 B에는 무엇이 있나요?", [("부록", "B")]),
]


@pytest.mark.parametrize(("question", "sections"), SECTIONS)
def test_sections(question: str, sections: list[tuple[str, str]]) -> None:
    assert [(hint.kind, hint.number) for hint in parse_question(question).sections] == sections


@pytest.mark.parametrize(
    ("question", "number"),
    [("Kapitel 4", "4"), ("annexe B", "B"), ("artículo 9", "9"), ("clause 2.1", "2.1"), ("第3章", "3")],
)
def test_a_hint_alone_needs_no_language(question: str, number: str) -> None:
    assert parse_question(question).sections[-1].number == number


NO_SECTIONS = [
    "What is the most important part of the deal?",
    "Which section covers theft?",
    "Welche Art von Anwendungen gibt es?",
    "Quelle partie à payer ?",
    "3조원의 매출은 어디에 있나요?",
    "Is there an item in the list?",
]


@pytest.mark.parametrize("question", NO_SECTIONS)
def test_a_section_word_without_number_is_no_hint(question: str) -> None:
    assert parse_question(question).sections == ()


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What fee is named on page 3?", ["fee", "named"]),
        ("Quel tarif figure à l'article R. 12-3 ?", ["tarif", "figure"]),
        ("第3页的保险费是多少？", ["保险费"]),
        ("제12조의 보험료는 얼마입니까?", ["보험료"]),
    ],
)
def test_hinted_words_are_no_keywords(question: str, left: list[str]) -> None:
    assert [keyword.text for keyword in parse_question(question).keywords] == left


@pytest.mark.parametrize(
    "question", ["What is on page -1?", "Seite −1", "pages -1", "p. -1", "page n° -1", "第-1页", "-1ページ"]
)
def test_a_page_with_a_sign_is_no_page_of_its_digits(question: str) -> None:
    assert [hint.label for hint in parse_question(question).pages] == ["-1"]


def test_a_dash_between_pages_is_no_sign() -> None:
    for question in ("pages 3-5", "pages 3 - 5", "pages 3 -5", "pages 3–5"):
        (hint,) = parse_question(question).pages
        assert (hint.label, hint.last_label) == ("3", "5")
