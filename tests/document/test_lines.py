"""Visual lines: rows of cells, columns side by side, marks, drop caps, what is printed twice, turned text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arbiter_rag.document import ParsedDocument


def texts(data: bytes, page: int = 1) -> list[str]:
    doc = ParsedDocument.from_pdf(data)
    return [doc.texts[r] for r in range(*doc.page_rows(page))]


def test_cells_of_a_row_are_joined_by_a_tab_whatever_the_drawing_order(make_pdf: Any) -> None:
    labels = ["Total revenue", "Cost of sales", "Operating income"]
    by_column = [(72, 100 + 14 * i, label) for i, label in enumerate(labels)]
    by_column += [(300, 100 + 14 * i, f"1,{i}00") for i in range(3)]
    by_column += [(400, 100 + 14 * i, f"2,{i}00") for i in range(3)]
    assert texts(make_pdf([by_column])) == [f"{label}\t1,{i}00\t2,{i}00" for i, label in enumerate(labels)]


def test_currency_signs_and_closing_brackets_stay_with_their_figure(make_pdf: Any) -> None:
    row = [(72, 100, "Net income"), (300, 100, "$"), (330, 100, "596"), (400, 100, "(1,425"), (434, 100, ")")]
    assert texts(make_pdf([row])) == ["Net income\t$ 596\t(1,425 )"]


def test_lines_of_two_columns_stay_apart_and_in_order(make_pdf: Any, prose: Any) -> None:
    page = [(72, 60, "A title that stands across both of the columns of this page", 14)]
    page += prose(100, 12, x=50, words="stands in the left column of two")
    page += prose(100, 12, x=310, words="stands in the right column of two")
    found = texts(make_pdf([page]))
    assert len(found) == 25
    assert not any("\t" in t for t in found)
    assert [("left" in t) for t in found[1:]] == [True] * 12 + [False] * 12


def test_a_short_heading_beside_running_text_is_a_line_of_its_own(make_pdf: Any, prose: Any) -> None:
    left = prose(100, 6, x=50, words="stands in the left column of two")
    left += [(50, 184, "2 Method", 10, "hebo"), *prose(208, 6, x=50, words="stands in the left column of two")]
    right = prose(100, 15, x=310, words="stands in the right column of two")
    assert "2 Method" in texts(make_pdf([left + right]))


def test_a_table_above_two_columns_keeps_its_rows(make_pdf: Any, prose: Any) -> None:
    table = [(60, 60 + 14 * i, f"Row number {i}") for i in range(3)] + [(350, 60 + 14 * i, f"{i}.5") for i in range(3)]
    caption = [(50, 110, "Table 1: a caption that runs across both of the columns of this page, as captions do here")]
    left = prose(150, 10, x=50, words="stands in the left column of two")
    right = prose(150, 10, x=310, words="stands in the right column of two")
    found = texts(make_pdf([table + caption + left + right]))
    assert found[:3] == [f"Row number {i}\t{i}.5" for i in range(3)]
    assert not any("\t" in t for t in found[3:])


def test_footnote_marks_and_drop_caps_belong_to_their_line(make_pdf: Any, prose: Any, pymupdf: Any) -> None:
    end = 72 + pymupdf.get_text_length("The fee is due in May", fontsize=10)
    page = [(72, 100, "The fee is due in May"), (end, 96, "3", 6), *prose(112, 4)]
    page += [(72, 220, "T", 36), (95, 202, "he policy begins at noon"), (95, 214, "on the day after it is paid")]
    found = texts(make_pdf([page]))
    assert found[0] == "The fee is due in May3"
    assert "The policy begins at noon" in found
    assert "on the day after it is paid" in found


def test_what_is_printed_twice_for_boldness_is_read_once(make_pdf: Any) -> None:
    assert texts(make_pdf([[(72, 100, "Cancellation"), (72.3, 100, "Cancellation")]])) == ["Cancellation"]


def test_turned_text_is_never_mixed_with_upright_lines(make_pdf: Any, prose: Any) -> None:
    def stamp(doc: Any) -> None:
        doc[0].insert_text((30, 400), "arXiv:0000.00000v1 stamp", rotate=90)

    found = texts(make_pdf([prose(100, 30)], change=stamp))
    assert len(found) == 31
    assert "arXiv:0000.00000v1 stamp" in found


def test_a_turned_page_reads_as_an_upright_one(make_pdf: Any, prose: Any) -> None:
    def turn(doc: Any) -> None:
        for k in range(3):
            doc[0].insert_text((100 + 14 * k, 700), f"Row {k}", rotate=90)
            doc[0].insert_text((100 + 14 * k, 300), f"{k}00", rotate=90)

    assert texts(make_pdf([[]], change=turn)) == ["Row 0\t000", "Row 1\t100", "Row 2\t200"]


def test_lines_drawn_out_of_order_are_read_from_top_to_bottom(make_pdf: Any, prose: Any) -> None:
    first, second = prose(100, 5), prose(300, 5)
    assert texts(make_pdf([second + first])) == [t for _, _, t in first + second]


def test_furniture_is_what_comes_back_at_one_height(make_pdf: Any, prose: Any) -> None:
    pages = [
        [(72, 40, f"Policy 2024 - part {n // 3}"), *prose(100, 20, words=f"of page {n}"), (290, 810, str(n))]
        for n in range(1, 8)
    ]
    doc = ParsedDocument.from_pdf(make_pdf(pages))
    furniture = [t for t, f in zip(doc.texts, doc.furniture, strict=True) if f]
    assert len(furniture) == 14
    assert all(t.isdigit() or t.startswith("Policy") for t in furniture)


def test_page_numbers_are_furniture_at_any_height(make_pdf: Any, prose: Any) -> None:
    pages = [[*prose(100, 5 * n, words=f"of page {n}"), (290, 120 + 60 * n, str(n + 2))] for n in range(1, 8)]
    doc = ParsedDocument.from_pdf(make_pdf(pages))
    assert [t for t, f in zip(doc.texts, doc.furniture, strict=True) if f] == [str(n + 2) for n in range(1, 8)]


def test_short_documents_and_headings_that_come_back_once_lose_nothing(make_pdf: Any, prose: Any) -> None:
    pages = [[(72, 60, "Overview", 14, "hebo"), *prose(100, 3, words=f"of page {n}")] for n in range(2)]
    assert not any(ParsedDocument.from_pdf(make_pdf(pages)).furniture)
    single = [[(72, 60, f"Slide {n}")] for n in range(9)]
    assert not any(ParsedDocument.from_pdf(make_pdf(single)).furniture)


@pytest.mark.parametrize("name", ["2018_Reglement_Disciplinaire20180422.pdf"])
def test_headers_and_footers_of_a_real_document(data: Path, name: str) -> None:
    doc = ParsedDocument.from_pdf(data / "dev" / "ffe_reglements_fr" / name)
    assert sum(doc.furniture) == 2 * doc.profile.pages


def test_every_text_survives_json(hardpdfs: Path) -> None:
    for name in ("issue5874.pdf", "lshort.pdf", "issue-71-duplicate-chars.pdf"):
        doc = ParsedDocument.from_pdf(hardpdfs / name)
        assert json.loads(json.dumps(doc.texts, ensure_ascii=False).encode()) == list(doc.texts)
        assert not any("\x00" in t or "\n" in t for t in doc.texts)
