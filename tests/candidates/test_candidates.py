"""Hits become candidates: anchors, contexts, snippets, ids; and passages without lines likewise."""

from __future__ import annotations

import hashlib

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from arbiter_rag import Arbiter, ParsedDocument, Passage, parse_question
from arbiter_rag.candidates import candidates_of
from arbiter_rag.candidates.context import grow
from arbiter_rag.candidates.passages import WORDS, sentences
from arbiter_rag.prompt import estimate_tokens
from tests.policy import policy


def test_ids_name_page_and_line_and_with_several_documents_the_document() -> None:
    one = Arbiter().propose("What is the annual premium?", policy())
    assert {c.candidate_id for c in one.candidates} >= {"p1-l6"}
    two = Arbiter().propose("What is the annual premium?", [policy("a"), policy("b")])
    assert {"d1-p1-l6", "d2-p1-l6"} <= {c.candidate_id for c in two.candidates}


def test_candidates_stand_in_document_order() -> None:
    brief = Arbiter().propose("premium deductible notice exclusions", [policy("a"), policy("b")])
    places = [(c.doc_id, c.anchor.page_start, c.anchor.line_start) for c in brief.candidates if c.anchor]
    assert places == sorted(places)


def test_anchor_lies_in_context_and_context_in_the_section() -> None:
    document = policy()
    for candidate in Arbiter().propose("notice period after a claim", document).candidates:
        assert candidate.anchor
        assert candidate.context
        low, high = document.rows(candidate.anchor)
        start, end = document.rows(candidate.context)
        assert start <= low < high <= end
        assert high - low <= 15
        section = document.section_of(low)
        assert section.start <= start
        assert end <= max(section.own_end, high)


def test_a_table_row_is_shown_under_its_caption_and_column_heads() -> None:
    lines = [(1, 1, "2 Cover"), (1, 2, "Some words before the table."), (1, 3, "Table 4: Deductibles by peril")]
    lines += [(1, 4, "Peril\tDeductible\tLimit")]
    lines += [(1, 5 + i, f"Peril{i}\t{i}00\t{i},000") for i in range(9)]
    frame = pd.DataFrame(lines, columns=["page", "line", "text"])
    document = ParsedDocument.from_frames(frame, doc_id="t")
    brief = Arbiter().propose("What is the deductible for Peril7?", document)
    shown = brief.candidates[0].snippet.splitlines()
    assert "Table 4: Deductibles by peril" in shown
    assert "Peril\tDeductible\tLimit" in shown
    assert "Peril7\t700\t7,000" in shown
    assert len(shown) <= 5


def test_a_list_item_is_shown_under_its_lead_in() -> None:
    lines = ["3 Exclusions", "General remarks stand here first.", "More remarks.", "We do not pay for:"]
    lines += [f"• damage by thing number {i}" for i in range(8)] + ["• damage by vermin"]
    frame = pd.DataFrame({"page": 1, "line": range(1, len(lines) + 1), "text": lines})
    brief = Arbiter().propose("vermin", ParsedDocument.from_frames(frame, doc_id="l"))
    shown = brief.candidates[0].snippet.splitlines()
    assert "We do not pay for:" in shown
    assert "• damage by vermin" in shown


def test_snippet_lines_are_cut_from_the_lines_they_name() -> None:
    document = policy()
    for candidate in Arbiter().propose("premium notice fire deductible", document).candidates:
        for line in candidate.snippet_lines:
            row = document.page_rows(line.page or 0)[0] + (line.line or 0) - 1
            assert document.texts[row][line.start : line.start + len(line.text)] == line.text


def test_what_is_left_out_is_listed() -> None:
    brief = Arbiter(max_candidates=1).propose("premium deductible notice exclusions complaints", policy())
    assert len(brief.candidates) == 1
    assert brief.cut
    assert not {c.candidate_id for c in brief.cut} & {c.candidate_id for c in brief.candidates}


def test_contexts_keep_to_their_budget() -> None:
    frame = pd.DataFrame({"page": 1, "line": range(1, 401), "text": ["some words on a line"] * 400})
    document = ParsedDocument.from_frames(frame, doc_id="long")
    start, end = grow(document, 200, 205, 100)
    assert start <= 200
    assert end >= 205
    assert sum(estimate_tokens(t) + 1 for t in document.texts[start:end]) <= 100


@given(st.text(max_size=400))
def test_sentences_hold_every_word_and_know_their_place(text: str) -> None:
    pieces = sentences(text)
    assert "".join("".join(p.text.split()) for p in pieces) == "".join(text.split())
    for piece in pieces:
        assert text[piece.start : piece.start + len(piece.text)] == piece.text
        assert len(piece.text.split()) <= WORDS


def test_passages_are_all_candidates_in_an_order_that_hints_at_nothing() -> None:
    passages = [Passage(id=f"x{i}", text=f"Text number {i} about premiums.", score=1 - i / 10) for i in range(8)]
    candidates, _ = candidates_of(parse_question("premiums"), passages)
    assert {c.original_id for c in candidates} == {p.id for p in passages}
    assert [c.candidate_id for c in candidates] == [f"n{i}" for i in range(1, 9)]
    digests = [hashlib.sha256(c.text.encode()).hexdigest() for c in candidates]
    assert digests == sorted(digests)
    assert {c.original_id: c.original_score for c in candidates} == {p.id: p.score for p in passages}


def test_passages_with_pages_come_in_page_order() -> None:
    passages = [Passage(id=str(n), text=f"premium {n}", doc_id="d", page=n) for n in (9, 2, 5)]
    candidates, _ = candidates_of(parse_question("premium"), passages)
    assert [c.page for c in candidates] == [2, 5, 9]


def test_a_long_passage_shows_the_sentences_that_hold_the_question() -> None:
    filler = "Nothing of interest is said in this sentence at all. " * 60
    text = filler + "The deductible for water is 400 euros. " + filler
    candidates, _ = candidates_of(parse_question("What is the deductible for water?"), [Passage(id="a", text=text)])
    assert "The deductible for water is 400 euros." in candidates[0].snippet
    assert estimate_tokens(candidates[0].snippet) <= 160


def test_a_passage_without_text_is_a_candidate_too() -> None:
    candidates, _ = candidates_of(parse_question("premium"), [Passage(id="blank"), Passage(id="b", text="a premium")])
    assert {c.original_id for c in candidates} == {"blank", "b"}
