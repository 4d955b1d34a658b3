"""Documents without outline: printed contents pages, fonts and numbering, the layout model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import ConfigurationError, InputError

CHAPTERS = ["What is insured", "What is not insured", "Claims", "Premiums and payment", "Ending the policy"]


def shown(doc: ParsedDocument) -> list[tuple[int, str, str, int]]:
    return [(s.level, s.number, s.title, doc.pages[s.start]) for s in doc.sections if s.level]


def report(prose: Any, first_number: int, dots: bool, front: int = 3) -> list[list[Any]]:
    """A contents page among `front` roman pages, then one chapter a page, numbered from `first_number`."""
    contents: list[Any] = [(72, 80, "Contents", 14, "hebo"), (72, 104, "Preface"), (500, 104, "iii")]
    for n, title in enumerate(CHAPTERS):
        y = 120 + 16 * n
        contents += [(72, y, f"{n + 1}  {title} {'.' * 40 if dots else ''}"), (500, y, str(first_number + n))]
    pages: list[list[Any]] = [[(72, 300, "A report", 24, "hebo")], contents]
    pages += [[(72, 80, "Preface", 12), *prose(110, 12), (290, 810, "iii")] for _ in range(front - 2)]
    for n, title in enumerate(CHAPTERS):
        heading = [(72, 300, f"{n + 1}", 10), (90, 300, title, 10)]  # nothing but the contents says it is one
        pages.append([*prose(100, 12), *heading, *prose(330, 12), (290, 810, str(first_number + n))])
    return pages


@pytest.mark.parametrize("dots", [True, False])
@pytest.mark.parametrize("first_number", [1, 41])
def test_printed_contents_with_roman_front_matter_and_an_offset(
    make_pdf: Any, prose: Any, first_number: int, dots: bool
) -> None:
    doc = ParsedDocument.from_pdf(make_pdf(report(prose, first_number, dots)))
    assert doc.profile.headings == "printed"
    listed = [(s.title, doc.pages[s.start], doc.texts[s.start]) for s in doc.sections if s.source == "printed"]
    assert listed == [
        ("Preface", 3, "Preface"),
        *((title, n + 3, f"{n}\t{title}") for n, title in enumerate(CHAPTERS, 1)),
    ]
    assert [s.number for s in doc.sections if s.source == "printed"] == ["", "1", "2", "3", "4", "5"]


def test_printed_contents_give_levels_and_what_they_leave_out_comes_below(make_pdf: Any, prose: Any) -> None:
    contents: list[Any] = [(72, 80, "Table of contents", 14, "hebo")]
    pages: list[list[Any]] = []
    y = 110
    for n, title in enumerate(CHAPTERS, 1):
        for number, name in ((f"{n}", title), (f"{n}.1", f"{title} in short")):
            contents += [(72 if number.isdigit() else 90, y, f"{number} {name}"), (500, y, str(n + 1))]
            y += 14
        pages.append(
            [(72, 80, f"{n} {title}", 14, "hebo"), *prose(110, 6), (72, 220, f"{n}.1 {title} in short", 12, "hebo"),
             *prose(240, 6), (72, 350, "Remark", 11, "hebo"), *prose(370, 6)]
        )  # fmt: skip
    doc = ParsedDocument.from_pdf(make_pdf([contents, *pages]))
    assert [(level, number) for level, number, _, page in shown(doc) if page == 2] == [(1, "1"), (2, "1.1"), (3, "")]
    assert {s.source for s in doc.sections if s.title == "Remark"} == {"fonts"}


def test_fonts_and_numbering_where_nothing_lists_the_headings(make_pdf: Any, prose: Any) -> None:
    pages = [
        [(72, 80, f"CHAPTER {n}", 16, "hebo"), *prose(110, 8), (72, 230, f"Article {2 * n - 1} - Scope", 11, "hebo"),
         *prose(250, 8), (72, 370, f"Article {2 * n} - Duties", 11, "hebo"), *prose(390, 8),
         (72, 520, "Table 4: not a heading", 11, "hebo"), *prose(540, 2), (72, 580, "• not one either"), *prose(592, 4)]
        for n in (1, 2, 3)
    ]  # fmt: skip
    doc = ParsedDocument.from_pdf(make_pdf(pages))
    assert doc.profile.headings == "fonts"
    assert [row[:3] for row in shown(doc)] == [
        (1, "CHAPTER 1", "CHAPTER 1"), (2, "Article 1", "Scope"), (2, "Article 2", "Duties"),
        (1, "CHAPTER 2", "CHAPTER 2"), (2, "Article 3", "Scope"), (2, "Article 4", "Duties"),
        (1, "CHAPTER 3", "CHAPTER 3"), (2, "Article 5", "Scope"), (2, "Article 6", "Duties"),
    ]  # fmt: skip


def test_capitals_that_stand_alone_are_headings_and_bold_table_rows_are_not(make_pdf: Any, prose: Any) -> None:
    table = [
        p
        for i, row in enumerate(["Sales", "Costs", "Total net"])
        for p in ((72, 300 + 14 * i, row, 10, "hebo"), (300, 300 + 14 * i, f"{i},100"), (400, 300 + 14 * i, f"{i},200"))
    ]
    page = [*prose(80, 6), (72, 190, "STATEMENT OF CASH FLOWS"), *prose(215, 5), *table, *prose(360, 10)]
    doc = ParsedDocument.from_pdf(make_pdf([page, prose(80, 40)]))
    assert [title for _, _, title, _ in shown(doc)] == ["STATEMENT OF CASH FLOWS"]


def test_plain_text_gets_no_headings(make_pdf: Any, prose: Any) -> None:
    assert shown(ParsedDocument.from_pdf(make_pdf([prose(80, 50), prose(80, 50)]))) == []


def test_an_outline_too_thin_is_helped_by_the_text(make_pdf: Any, prose: Any) -> None:
    pages = [[(72, 80, f"{n} {t}", 14, "hebo"), *prose(110, 40)] for n, t in enumerate(CHAPTERS * 4, 1)]
    data = make_pdf(pages, toc=[[1, "Policy booklet", 1]])
    doc = ParsedDocument.from_pdf(data)
    assert doc.profile.headings == "fonts"
    assert len(doc.sections) == 20
    assert any("only 1 entries for 20 pages" in note for note in doc.profile.notes)
    assert len(ParsedDocument.from_pdf(data, headings="outline").sections) == 1


def test_an_outline_of_file_names_gives_way(make_pdf: Any, prose: Any) -> None:
    pages = [[(72, 80, f"{n} {t}", 14, "hebo"), *prose(110, 40)] for n, t in enumerate(CHAPTERS, 1)]
    doc = ParsedDocument.from_pdf(make_pdf(pages, toc=[[1, f"scan_{n:03}.tif", n] for n in range(1, 6)]))
    assert [title for _, _, title, _ in shown(doc)] == CHAPTERS


def test_headings_can_be_asked_for_by_source(make_pdf: Any, prose: Any) -> None:
    pages = [[(72, 80, f"{n} {t}", 14, "hebo"), *prose(110, 40)] for n, t in enumerate(CHAPTERS, 1)]
    data = make_pdf(pages, toc=[[1, t, n] for n, t in enumerate(CHAPTERS, 1)])
    for source in ("outline", "fonts"):
        doc = ParsedDocument.from_pdf(data, headings=source)
        assert (doc.profile.headings, len(shown(doc))) == (source, 5)
    assert shown(ParsedDocument.from_pdf(data, headings="none")) == []
    assert shown(ParsedDocument.from_pdf(data, headings="printed")) == []
    with pytest.raises(InputError, match="headings='fancy' is not known; choose one of auto"):
        ParsedDocument.from_pdf(data, headings="fancy")  # type: ignore[arg-type]  # what a caller may type


def test_layout_model(make_pdf: Any, prose: Any, pymupdf: Any) -> None:
    pages = [[(72, 80, f"{n} {t}", 14, "hebo"), *prose(110, 40)] for n, t in enumerate(CHAPTERS[:2], 1)]
    data = make_pdf(pages)
    if int(pymupdf.__version__.split(".")[0]) < 2:
        with pytest.raises(ConfigurationError, match=r"pip install 'arbiter-rag\[layout\]'"):
            ParsedDocument.from_pdf(data, headings="layout")
        return
    doc = ParsedDocument.from_pdf(data, headings="layout")
    assert [(s.source, s.number, s.title) for s in doc.sections if s.level] == [
        ("layout", str(n), t) for n, t in enumerate(CHAPTERS[:2], 1)
    ]


def test_annual_report_without_outline(data: Path) -> None:
    doc = ParsedDocument.from_pdf(data / "dev" / "financebench" / "AMAZON_2017_10K.pdf")
    found = {(s.number, s.title): doc.pages[s.start] for s in doc.sections}
    assert found["Item 1A", "Risk Factors"] == 6
    assert found["", "CONSOLIDATED STATEMENTS OF CASH FLOWS"] == 37
    item = next(s for s in doc.sections if s.number == "Item 8")
    assert doc.pages[item.start] == 35
    assert doc.texts[item.full_end].startswith("Item 9.\tChanges in and Disagreements")


def test_french_statute_without_outline(data: Path) -> None:
    folder = data / "dev" / "ffe_reglements_fr"
    doc = ParsedDocument.from_pdf(folder / "2018_Reglement_Disciplinaire20180422.pdf")
    articles = [s for s in doc.sections if s.number.startswith("ARTICLE")]
    assert [s.number.split()[1].rstrip("ER") for s in articles] == [str(n) for n in range(1, 24)]
    assert all(doc.texts[s.start].startswith("ARTICLE") for s in articles)


def test_pages_without_any_headings_get_few(data: Path) -> None:
    for path in sorted((data / "dev" / "debian_faq_noheadings").glob("*.pdf")):
        doc = ParsedDocument.from_pdf(path)
        assert len(doc.sections) <= doc.profile.pages / 2
