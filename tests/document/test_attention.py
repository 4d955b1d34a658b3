"""The running example: every line of pages 3 to 10 against a table written from the rendered pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from arbiter_rag.document import ParsedDocument

# Page, how the last line before the heading ends, the heading as printed, and how the next line begins; read off the
# rendered pages. The outline has no entry for "References": those lines stay with the conclusion.
BY_EYE = [
    (3, "respectively.", "3.1 Encoder and Decoder Stacks", "Encoder: The encoder is composed"),
    (3, "predictions for position i can depend only on the known outputs at positions less than i.",
     "3.2 Attention", "An attention function can be described"),
    (4, "query with the corresponding key.", "3.2.1 Scaled Dot-Product Attention", "We call our particular attention"),
    (4, "√dk .", "3.2.2 Multi-Head Attention", "Instead of performing a single attention function"),
    (5, "is similar to that of single-head attention with full dimensionality.",
     "3.2.3 Applications of Attention in our Model", "The Transformer uses multi-head attention"),
    (5, "of the softmax which correspond to illegal connections. See Figure 2.",
     "3.3 Position-wise Feed-Forward Networks", "In addition to attention sub-layers"),
    (5, "dff = 2048.", "3.4 Embeddings and Softmax", "Similarly to other sequence transduction models"),
    (6, "O(n/r)", "3.5 Positional Encoding", "Since our model contains no recurrence"),
    (6, "during training.", "4 Why Self-Attention", "In this section we compare"),
    (7, "and semantic structure of the sentences.", "5 Training", "This section describes the training regime"),
    (7, "This section describes the training regime for our models.",
     "5.1 Training Data and Batching", "We trained on the standard WMT 2014"),
    (7, "target tokens.", "5.2 Hardware and Schedule", "We trained our models on one machine"),
    (7, "(3.5 days).", "5.3 Optimizer", "We used the Adam optimizer"),
    (7, "warmup_steps = 4000.", "5.4 Regularization", "We employ three types of regularization"),
    (8, "hurts perplexity, as the model learns to be more unsure, but improves accuracy and BLEU score.",
     "6 Results", "6.1 Machine Translation"),
    (8, "6 Results", "6.1 Machine Translation", "On the WMT 2014 English-to-German translation task"),
    (8, "single-precision floating-point capacity of each GPU 5.",
     "6.2 Model Variations", "To evaluate the importance of different components"),
    (9, "results to the base model.", "6.3 English Constituency Parsing", "To evaluate if the Transformer"),
    (10, "Parser [29] even when training only on the WSJ training set of 40K sentences.",
     "7 Conclusion", "In this work, we presented the Transformer"),
]  # fmt: skip


@pytest.fixture(scope="module")
def paper(attention_pdf: Path) -> ParsedDocument:
    return ParsedDocument.from_pdf(attention_pdf)


def plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


def test_every_line_of_pages_3_to_10_is_in_the_section_seen_there(paper: ParsedDocument) -> None:
    wanted, current, left = [], "3 Model Architecture", list(BY_EYE)
    first, last = paper.page_rows(3)[0], paper.page_rows(10)[1]
    for row in range(first, last):
        if left and paper.pages[row] == left[0][0] and plain(paper.texts[row]) == left[0][2]:
            current = left.pop(0)[2]
        wanted.append(current)
    assert not left
    found = [f"{paper.section_of(r).number} {paper.section_of(r).title}" for r in range(first, last)]
    assert found == wanted


@pytest.mark.parametrize(("page", "before", "heading", "after"), BY_EYE, ids=[h for _, _, h, _ in BY_EYE])
def test_section_starts_between_these_lines(
    paper: ParsedDocument, page: int, before: str, heading: str, after: str
) -> None:
    section = next(s for s in paper.sections if f"{s.number} {s.title}" == heading)
    rows = [r for r in range(*paper.page_rows(page)) if not paper.furniture[r]]
    at = rows.index(section.start)
    assert plain(paper.texts[section.start]) == heading
    assert plain(paper.texts[rows[at - 1]]).endswith(before)
    assert plain(paper.texts[section.start + section.heading_rows]).startswith(after)
    assert paper.section_of(rows[at - 1]) is not section


def test_outline_keeps_its_three_levels_and_gets_the_printed_numbers(paper: ParsedDocument) -> None:
    assert paper.profile.headings == "outline"
    assert len(paper.toc_df) == 23  # 22 entries and the front
    assert paper.toc_df["level"].max() == 3
    row = paper.toc_df[paper.toc_df["title"] == "Positional Encoding"].iloc[0]
    assert (row["number"], row["page"]) == ("3.5", 6)
    assert row["breadcrumb"] == "3 Model Architecture > 3.5 Positional Encoding"
    whole = next(s for s in paper.sections if s.number == "3")
    assert paper.texts[whole.full_end] == "4\tWhy Self-Attention"


def test_table_rows_are_one_line_with_tabs(paper: ParsedDocument) -> None:
    rows = [paper.texts[r] for r in range(*paper.page_rows(6))]
    assert "Layer Type\tComplexity per Layer\tSequential\tMaximum Path Length" in rows
    assert "Self-Attention (restricted)\tO(r · n · d)\tO(1)\tO(n/r)" in rows


def test_page_numbers_are_furniture_and_side_stamp_is_a_line_of_its_own(paper: ParsedDocument) -> None:
    for page in range(2, 16):
        first, last = paper.page_rows(page)
        assert [paper.texts[r] for r in range(first, last) if paper.furniture[r]] == [str(page)]
    assert any(t.startswith("arXiv:1706.03762") and "\t" not in t for t in paper.texts)
