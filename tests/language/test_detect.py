"""The language of questions and documents, and the honest `und` where the text does not tell."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbiter_rag.language import LANGUAGES, detect_language

QUESTIONS = [
    ("en", "What does the contract cover?"),
    ("en", "Who signed it?"),
    ("en", "WHAT IS THE TERM OF THE LEASE?"),
    ("fr", "Quel optimiseur a été utilisé ?"),
    ("fr", "Que dit l'article 12 ?"),
    ("fr", "Peut-on résilier ?"),
    ("de", "Wie hoch ist die Prämie?"),
    ("de", "Kündigungsfrist"),
    ("es", "¿Cuál es el plazo de preaviso?"),
    ("it", "Qual è il termine di disdetta?"),
    ("pt", "Qual é o prazo de entrega?"),
    ("nl", "Wat is de opzegtermijn?"),
    ("ru", "Какой срок договора?"),
    ("zh", "保险费是多少？"),
    ("ja", "保険料はいくらですか。"),
    ("ja", "Transformerモデルの学習率は？"),
    ("ko", "보험료는 얼마입니까?"),
    ("ko", "GPU 메모리는 얼마나 필요한가요?"),
]

DOCUMENTS = {
    "en": "The insurer shall pay the benefit within thirty days after it has received all documents. ",
    "fr": "L'assureur verse la prestation dans les trente jours qui suivent la réception des documents. ",
    "de": "Der Versicherer zahlt die Leistung innerhalb von dreißig Tagen nach Eingang aller Unterlagen. ",
    "es": "El asegurador pagará la prestación en los treinta días siguientes a la recepción de los documentos. ",
    "it": "L'assicuratore paga la prestazione entro trenta giorni dal ricevimento di tutti i documenti. ",
    "pt": "O segurador paga a prestação nos trinta dias seguintes à receção de todos os documentos. ",
    "nl": "De verzekeraar betaalt de uitkering binnen dertig dagen na ontvangst van alle documenten. ",
    "ru": "Страховщик выплачивает возмещение в течение тридцати дней после получения всех документов. ",
    "zh": "保险人应当在收到全部单证之后三十日内支付保险金。",
    "ja": "保険者は、すべての書類を受け取った日から三十日以内に保険金を支払うものとします。",
    "ko": "보험자는 모든 서류를 받은 날부터 삼십일 이내에 보험금을 지급한다. ",
}


@pytest.mark.parametrize(("language", "text"), QUESTIONS)
def test_short_questions(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text", ["", " ", "warmup_steps", "1234", "EBITDA", "FY2022 Q3", "ISO 9001", "§ 7", "x", "http://a.b"]
)
def test_what_is_the_same_in_every_language_is_undetermined(text: str) -> None:
    assert detect_language(text) == "und"


def test_the_default_answers_where_nothing_tells() -> None:
    assert detect_language("warmup_steps", default="fr") == "fr"


@pytest.mark.parametrize(
    "text",
    [
        "Jaki jest termin płatności składki, jeżeli umowa została zawarta na czas nieokreślony, i kto ją płaci?",
        "Який термін дії договору страхування?",
    ],
)
def test_a_language_that_is_none_of_the_eleven_is_undetermined(text: str) -> None:
    assert detect_language(text) == "und"


@pytest.mark.parametrize("language", LANGUAGES)
def test_documents_are_sampled(language: str) -> None:
    assert detect_language("1.2.3 ......... 14\n" * 20 + DOCUMENTS[language] * 400) == language


def test_names_in_another_script_do_not_decide_a_document() -> None:
    assert detect_language(DOCUMENTS["en"] * 50 + "东京 株式会社") == "en"


def test_threads_agree() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda item: detect_language(item[1]), QUESTIONS * 5))
    assert found == [language for language, _ in QUESTIONS * 5]


@settings(deadline=None)
@given(st.text())
def test_any_text_gets_one_of_the_eleven_or_the_default(text: str) -> None:
    assert detect_language(text) in (*LANGUAGES, "und")


NOTHING_CAN_BE_WRITTEN = """
import tempfile

def refuse(*arguments, **options):
    raise FileNotFoundError("No usable temporary directory found")

tempfile.TemporaryFile = refuse
from arbiter_rag.language import detect_language

print(detect_language("Quel est le délai de préavis ?"), detect_language("Kündigungsfrist"))
"""


def test_where_the_identifier_cannot_load_function_words_decide() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_CAN_BE_WRITTEN], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["fr", "und"]


def test_importing_loads_no_model() -> None:
    code = (
        "import sys, arbiter_rag.question; print({'py3langid', 'snowballstemmer', 'stopwordsiso'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
