"""What a question makes us look for: content words, names, phrases, and how much each weighs."""

from __future__ import annotations

import pytest

from arbiter_rag.contract import Keyword
from arbiter_rag.question import parse_question


def found(question: str, **options: str) -> dict[str, Keyword]:
    return {keyword.text: keyword for keyword in parse_question(question, **options).keywords}


CONTENT = [
    ("en", "What voltage does the turbine need?", {"voltage", "turbine", "need"}),
    ("fr", "Quelle est la tension de l'éolienne ?", {"tension", "éolienne"}),
    ("fr", "Acceptez-vous la demande du locataire ?", {"Acceptez", "demande", "locataire"}),
    ("de", "Welche Spannung benötigt die Turbine?", {"Spannung", "benötigt", "Turbine"}),
    ("es", "¿Qué tensión necesita la turbina?", {"tensión", "necesita", "turbina"}),
    ("it", "Quale tensione richiede la turbina?", {"tensione", "richiede", "turbina"}),
    ("pt", "Qual é a tensão da turbina?", {"tensão", "turbina"}),
    ("nl", "Welke spanning heeft de turbine?", {"spanning", "turbine"}),
    ("ru", "Какое напряжение нужно турбине?", {"напряжение", "турбине"}),
    ("zh", "涡轮机的电压是多少？", {"涡轮机", "电压"}),
    ("ja", "タービンの電圧は何ボルトですか？", {"タービン", "電圧", "ボルト"}),
    ("ko", "터빈의 전압은 얼마입니까?", {"터빈", "전압"}),
]


@pytest.mark.parametrize(("language", "question", "words"), CONTENT)
def test_content_words_and_no_function_words(language: str, question: str, words: set[str]) -> None:
    assert parse_question(question).language == language
    assert set(found(question)) == words


VAGUE = [
    ("Which database does the paper use?", "database", "use"),
    ("Quelle base de données le document mentionne-t-il ?", "données", "document"),
    ("Welche Datenbank wird im Bericht erwähnt?", "Datenbank", "Bericht"),
    ("¿Qué base de datos menciona el informe?", "datos", "informe"),
    ("Quale database usa il documento?", "database", "documento"),
    ("Que turbina é usada pela empresa?", "turbina", "empresa"),
    ("Welke turbine gebruikt het bedrijf?", "turbine", "bedrijf"),
    ("Какую турбину использует компания?", "турбину", "компания"),
    ("この報告書のタービンは何ですか？", "タービン", "報告書"),
    ("보고서에서 사용하는 터빈은 무엇입니까?", "터빈", "보고서"),
]


@pytest.mark.parametrize(("question", "telling", "vague"), VAGUE)
def test_vague_words_weigh_less_and_are_kept(question: str, telling: str, vague: str) -> None:
    words = found(question)
    assert words[telling].weight == 1.0
    assert words[vague].weight < 0.5


NAMES = [
    ("What did Acme Rockets earn in FY2021?", {"Acme Rockets", "FY2021"}),
    ("Acme Rockets revenue 2021", {"Acme Rockets", "2021"}),
    ("How does the Bank of Ruritania rate it?", {"Bank of Ruritania"}),
    ("Did Acme's turbine pass ISO 9001?", {"Acme", "ISO 9001"}),
    ("Is max_depth documented?", {"max_depth"}),
    ("Does the iPhone need NFC?", {"iPhone", "NFC"}),
    ("What is shown in Table 3?", set()),
    ("Did sales fall between Q2 of FY2021 and FY2020?", {"FY2021", "FY2020"}),
    ("Is the FY2021 EBITDA audited?", {"FY2021"}),
    ("What is the 2nd or 3rd turbine?", set()),
    ("Where is the turbine?", set()),
    ("Installing the New Turbine", set()),
    ("WHAT IS THE REFUND POLICY OF THE SHOP?", set()),
    ("How many of the 12 turbines failed?", set()),
    ("Was it 1,250 or 99.5?", set()),
    ("Quel est le chiffre d'affaires d'Acme en 2021 ?", {"Acme", "2021"}),
    ("Wie hoch war der Umsatz der Gesellschaft im Jahr 2021?", {"2021"}),
    ("¿Qué hizo Acme Cohetes en 2021?", {"Acme Cohetes", "2021"}),
    ("Что сделала компания Ромашка в 2021 году?", {"Ромашка", "2021"}),
    ("Acme公司2021年的收入是多少？", {"Acme", "2021"}),
    ("BERTモデルの層は何個ですか？", {"BERT"}),
    ("GPT-4의 비용은 얼마인가요?", {"GPT-4"}),
]


@pytest.mark.parametrize(("question", "names"), NAMES)
def test_names(question: str, names: set[str]) -> None:
    assert {text for text, keyword in found(question).items() if keyword.is_name} == names


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ('What does "net zero" mean?', "net zero"),
        ("What does “net zero” mean?", "net zero"),
        ("What does 'net zero' mean?", "net zero"),
        ("What does ‘net zero’ mean?", "net zero"),
        ("Que veut dire « zéro net » ?", "zéro net"),
        ("Was heißt „netto null“?", "netto null"),
        ("Was heißt »netto null«?", "netto null"),
        ("「実質ゼロ」とは何ですか？", "実質ゼロ"),
        ("『実質ゼロ』とは何ですか？", "実質ゼロ"),
        ("《章程》是什么？", "章程"),
    ],
)
def test_quoted_phrases(question: str, phrase: str) -> None:
    parsed = parse_question(question)
    assert parsed.phrases == (phrase,)
    assert next(keyword for keyword in parsed.keywords if keyword.text == phrase).source == "phrase"


def test_an_apostrophe_is_no_quote() -> None:
    assert parse_question("What's the tenant's and the owners' duty?").phrases == ()


def test_a_word_is_looked_for_once() -> None:
    words = [keyword.text for keyword in parse_question("Which turbine, the old turbine or new turbines?").keywords]
    assert len([word for word in words if word.startswith("turbine")]) == 1


def test_every_own_word_is_its_own_concept() -> None:
    keywords = parse_question("Which Voltage does the turbine need?").keywords
    assert len({keyword.concept for keyword in keywords}) == len(keywords)
    assert all(keyword.source == "question" for keyword in keywords)


def test_a_question_of_function_words_only_is_still_looked_for() -> None:
    keywords = parse_question("to be or not to be").keywords
    assert [keyword.text for keyword in keywords] == ["to", "be", "or", "not"]
    assert {keyword.source for keyword in keywords} == {"function_word"}
    assert all(keyword.weight < 0.3 for keyword in keywords)


@pytest.mark.parametrize(("given", "language"), [("de", "de"), ("zh_CN", "zh"), ("pt-BR", "pt"), ("pl", "und")])
def test_the_language_may_be_given(given: str, language: str) -> None:
    assert parse_question("Turbine", language=given).language == language


def test_names_of_the_story_before_the_question_are_anybody() -> None:
    story = "Rosa asked Milan for a refund in 2019. Does Globex Insurance pay in 2024?"
    assert {k.text for k in parse_question(story).keywords if k.is_name} == {"Globex Insurance", "2024"}


@pytest.mark.parametrize(
    ("language", "question", "telling"),
    [
        ("fr", "Qui a présenté et proposé la turbine ?", "turbine"),
        ("de", "Wer hat die Turbine vorgestellt und vorgeschlagen?", "Turbine"),
        ("es", "¿Quién presentó, propuesto y escrito, la turbina?", "turbina"),
        ("it", "Chi ha scritto, presentato e proposto la turbina?", "turbina"),
        ("pt", "Quem tinha escrito, apresentado e proposto a turbina?", "turbina"),
        ("nl", "Wie heeft de turbine geschreven, gepresenteerd en voorgesteld?", "turbine"),
    ],
)
def test_what_documents_do_with_a_thing_tells_little(language: str, question: str, telling: str) -> None:
    weights = {keyword.text: keyword.weight for keyword in parse_question(question, language=language).keywords}
    assert weights.pop(telling) == 1.0
    assert weights
    assert max(weights.values()) <= 0.5
