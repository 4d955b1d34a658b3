"""Each detector alone: what it finds, what it says matched, and what it leaves alone."""

from __future__ import annotations

import pandas as pd
import pytest

from arbiter_rag import parse_question
from arbiter_rag.contract import Hit
from arbiter_rag.detectors import CaptionDetector, EmbeddingDetector, KeywordDetector, PageDetector, TocDetector
from arbiter_rag.detectors.index import index_of
from arbiter_rag.document import ParsedDocument
from arbiter_rag.testing import HashEmbedder
from tests.policy import policy


def titles(hits: tuple[Hit, ...], document: ParsedDocument) -> list[str]:
    names = {s.section_id: s.title for s in document.sections}
    return [names[h.scope.section_id or ""] for h in hits]


def test_a_title_that_stands_in_the_question_is_exact_and_first() -> None:
    document = policy()
    hits = TocDetector().detect(parse_question("Which exclusions apply to storm damage?"), document)
    assert titles(hits, document)[0] == "Exclusions"
    assert hits[0].note == "title matched exactly"
    assert hits[0].score >= 2
    assert [h.rank for h in hits] == list(range(1, len(hits) + 1))


@pytest.mark.parametrize("question", ["Summarise section 4", "What does section 4. say?", "section 4"])
def test_a_section_number_in_the_question_finds_the_section(question: str) -> None:
    document = policy()
    hits = TocDetector().detect(parse_question(question), document)
    assert titles(hits, document)[0] == "Termination"
    assert hits[0].note == "section number named in the question"


def test_words_that_stand_together_come_first() -> None:
    document = policy()
    hits = KeywordDetector().detect(parse_question("What is the notice period after a claim?"), document)
    assert titles(hits, document)[0] == "Termination"
    assert {"notice", "period", "claim"} <= set(hits[0].matched)
    assert hits[0].score > hits[-1].score or len(hits) == 1


def test_a_word_that_does_not_occur_finds_nothing() -> None:
    assert KeywordDetector().detect(parse_question("Which spaceships are launched?"), policy()) == ()


def test_a_quoted_phrase_is_found_as_it_stands() -> None:
    document = policy()
    hits = KeywordDetector().detect(parse_question('Where does "wear and tear" stand?'), document)
    assert titles(hits, document)[0] == "Exclusions"
    assert hits[0].note == "quoted phrase stands here"


def test_keywords_never_hold_function_words() -> None:
    hits = KeywordDetector().detect(parse_question("What is the premium and when is it due?"), policy())
    assert not {"what", "is", "the", "and", "when", "it"} & {m.casefold() for h in hits for m in h.matched}


@pytest.mark.parametrize(("question", "pages"), [("on page 2", [2]), ("pages 2 to 3", [2, 3]), ("on page 9", [])])
def test_pages_that_the_question_names_are_pinned(question: str, pages: list[int]) -> None:
    hits = PageDetector().detect(parse_question(f"What is said {question}?"), policy())
    assert [h.scope.page_start for h in hits] == pages


async def test_embedding_ranks_by_cosine_and_embeds_a_document_once() -> None:
    document, embedder = policy(), HashEmbedder()
    detector = EmbeddingDetector(embedder)
    question = parse_question("either party may end the contract with notice")
    hits = detector.detect(question, document)
    assert titles(hits, document)[0] == "Termination"
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert await detector.adetect(question, document) == hits


def test_an_index_is_built_once_and_knows_hyphenated_line_ends() -> None:
    frame = pd.DataFrame({"page": [1, 1], "line": [1, 2], "text": ["the propor-", "tional share"]})
    document = ParsedDocument.from_frames(frame, doc_id="x")
    assert index_of(document) is index_of(document)
    assert KeywordDetector().detect(parse_question("What is proportional?"), document)[0].matched == ("proportional",)


@pytest.mark.parametrize("question", ["What does table 1 show?", "Was zeigt Tab. 1?", "Que montre le tableau 1 ?"])
def test_a_table_that_the_question_names_is_found_by_its_caption(question: str) -> None:
    hits = CaptionDetector().detect(parse_question(question), policy())
    assert [(h.scope.page_start, h.scope.line_start) for h in hits] == [(2, 1)]


def test_a_figure_that_is_not_there_is_not_found() -> None:
    assert CaptionDetector().detect(parse_question("What does figure 9 show?"), policy()) == ()


def test_references_are_told_from_text() -> None:
    lines = ["7 Conclusion", "We have shown the conclusion of it all."]
    lines += [
        "[1] A. Author. A study of conclusions.",
        "In the proceedings.",
        "[2] B. Author. More",
        "of it, 2019.",
        "[3] C",
    ]
    frame = pd.DataFrame({"page": 1, "line": range(1, len(lines) + 1), "text": lines})
    assert index_of(ParsedDocument.from_frames(frame, doc_id="r")).apparatus[2:6] == (True,) * 4
