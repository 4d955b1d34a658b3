"""Outlines: destinations that lie, headings found where they are printed, labels."""

from __future__ import annotations

from typing import Any

import pytest

from arbiter_rag.document import ParsedDocument

TITLES = ["Cover and premium", "What is not insured", "How to make a claim"]


def book(make_pdf: Any, prose: Any, change: Any = None, printed: Any = None, **more: Any) -> bytes:
    """Three pages, the heading in the middle of each."""
    printed = printed or [[(72, 300, f"{n}.2", 13, "hebo"), (110, 300, t, 13, "hebo")] for n, t in enumerate(TITLES, 1)]
    pages = [[*prose(100, 10), *heading, *prose(330, 10)] for heading in printed]
    return make_pdf(pages, toc=[[1, t, n] for n, t in enumerate(TITLES, 1)], change=change, **more)  # type: ignore[no-any-return]  # a fixture's callable


def starts(data: bytes, **options: Any) -> list[tuple[str, str, int, str]]:
    doc = ParsedDocument.from_pdf(data, **options)
    return [(s.number, s.title, doc.pages[s.start], doc.texts[s.start]) for s in doc.sections if s.level]


def wanted() -> list[tuple[str, str, int, str]]:
    return [(f"{n}.2", t, n, f"{n}.2\t{t}") for n, t in enumerate(TITLES, 1)]


def test_headings_in_the_middle_of_a_page_are_found_with_their_numbers(make_pdf: Any, prose: Any) -> None:
    doc = ParsedDocument.from_pdf(book(make_pdf, prose))
    assert starts(book(make_pdf, prose)) == wanted()
    assert [s.heading_rows for s in doc.sections if s.level] == [1, 1, 1]
    assert doc.section_of(doc.sections[2].start - 1).title == TITLES[0]


@pytest.mark.parametrize(
    "destination",
    ["[999 /Fit]", "[-5 /XYZ 0 0 0]", "[]", "null", "(nowhere)", "[null /Fit]", "/Nowhere", "<<>>", "[9999 0 R /Fit]"],
)
def test_one_bad_destination_costs_nothing(make_pdf: Any, prose: Any, destination: str) -> None:
    def spoil(doc: Any) -> None:
        xref = doc.get_toc(simple=False)[1][3]["xref"]
        doc.xref_set_key(xref, "A", "null")
        doc.xref_set_key(xref, "Dest", destination)

    assert starts(book(make_pdf, prose, change=spoil)) == wanted()


@pytest.mark.parametrize("y", [0, 842, 290, 552, 100000, -40])
def test_heights_are_not_trusted(make_pdf: Any, prose: Any, y: float) -> None:
    def move(doc: Any) -> None:
        for _, _, page, dest in doc.get_toc(simple=False):
            doc.xref_set_key(dest["xref"], "A", "null")
            doc.xref_set_key(dest["xref"], "Dest", f"[{doc.page_xref(page - 1)} 0 R /XYZ 72 {y} 0]")

    assert starts(book(make_pdf, prose, change=move)) == wanted()


@pytest.mark.parametrize("shift", [-1, 1])
def test_a_heading_on_the_neighbouring_page_is_found(make_pdf: Any, prose: Any, shift: int) -> None:
    def move(doc: Any) -> None:
        for _, _, page, dest in doc.get_toc(simple=False):
            target = min(max(page - 1 + shift, 0), 2)
            doc.xref_set_key(dest["xref"], "A", "null")
            doc.xref_set_key(dest["xref"], "Dest", f"[{doc.page_xref(target)} 0 R /Fit]")

    assert starts(book(make_pdf, prose, change=move)) == wanted()


def test_a_loop_in_the_outline_ends(make_pdf: Any, prose: Any) -> None:
    def loop(doc: Any) -> None:
        first, *_, last = (entry[3]["xref"] for entry in doc.get_toc(simple=False))
        doc.xref_set_key(last, "Next", f"{first} 0 R")
        doc.xref_set_key(last, "First", f"{first} 0 R")

    assert starts(book(make_pdf, prose, change=loop)) == wanted()


def test_named_destinations_are_followed(make_pdf: Any, prose: Any) -> None:
    def name(doc: Any) -> None:
        tree = " ".join(f"(sec.{n}) [{doc.page_xref(n - 1)} 0 R /XYZ 72 560 0]" for n in (1, 2, 3))
        xref = doc.get_new_xref()
        doc.update_object(xref, f"<< /Names [{tree}] >>")
        doc.xref_set_key(doc.pdf_catalog(), "Names", f"<< /Dests {xref} 0 R >>")
        for n, (*_, dest) in enumerate(doc.get_toc(simple=False), 1):
            doc.xref_set_key(dest["xref"], "A", f"<< /S /GoTo /D (sec.{n}) >>")

    assert starts(book(make_pdf, prose, change=name)) == wanted()


def test_where_the_title_is_not_printed_the_height_counts(make_pdf: Any, prose: Any) -> None:
    def point(doc: Any) -> None:
        for _, _, page, dest in doc.get_toc(simple=False):
            doc.xref_set_key(dest["xref"], "A", "null")
            doc.xref_set_key(dest["xref"], "Dest", f"[{doc.page_xref(page - 1)} 0 R /XYZ 72 {842 - 322} 0]")

    nothing = [[(72, 300, "Something else")]] * 3
    doc = ParsedDocument.from_pdf(book(make_pdf, prose, change=point, printed=nothing))
    assert [doc.texts[s.start] for s in doc.sections if s.level] == ["The line at 330 runs on in an even voice"] * 3
    assert [s.heading_rows for s in doc.sections if s.level] == [0, 0, 0]


@pytest.mark.parametrize(
    ("printed", "rows", "number"),
    [
        ([(72, 300, "W h a t   i s   n o t   i n s u r e d", 13, "hebo")], 1, ""),
        ([(72, 300, "2.  WHAT IS NOT INSURED", 13, "hebo")], 1, "2"),
        ([(72, 300, "2 What is", 13, "hebo"), (72, 316, "not insured", 13, "hebo")], 2, "2"),
        ([(72, 300, "What is not in-", 13, "hebo"), (72, 316, "sured", 13, "hebo")], 2, ""),
        ([(72, 300, "Chapter 2", 16, "hebo"), (72, 322, "What is not insured", 16, "hebo")], 2, "Chapter 2"),
        ([(72, 300, "What is not insured. This page says it", 10, "hebo")], 1, ""),
        ([(72, 300, "Whàt ïs nôt ínsured", 13, "hebo")], 1, ""),
    ],
    ids=["letter-spaced", "capitals", "wrapped", "hyphenated", "number above", "run-in", "accents"],
)
def test_other_ways_to_print_a_heading(make_pdf: Any, prose: Any, printed: Any, rows: int, number: str) -> None:
    others = [[(72, 300, t, 13, "hebo")] for t in TITLES]
    doc = ParsedDocument.from_pdf(book(make_pdf, prose, printed=[others[0], printed, others[2]]))
    section = next(s for s in doc.sections if s.title == TITLES[1])
    assert (doc.texts[section.start], section.heading_rows, section.number) == (printed[0][2], rows, number)


def test_the_heading_wins_over_a_mention_a_contents_line_and_a_running_header(make_pdf: Any, prose: Any) -> None:
    pages = [
        [(72, 100, "Contents", 14, "hebo"), (72, 130, "Exclusions"), (500, 130, "2"), (72, 144, "Claims"),
         (500, 144, "3"), *prose(200, 10)],
        *(
            [(72, 40, "Exclusions"), *prose(100, 6), (72, 180, "Exclusions are listed further down in this booklet"),
             *prose(200, 5), (72, 300, title, 12, "hebo"), *prose(330, 10)]
            for title in ("Exclusions", "Claims", "Law")
        ),
    ]  # fmt: skip
    doc = ParsedDocument.from_pdf(make_pdf(pages, toc=[[1, "Exclusions", 1], [1, "Claims", 3], [1, "Law", 3]]))
    found = [(doc.pages[s.start], round(doc.line_df["y1"][s.start])) for s in doc.sections if s.level]
    assert [page for page, _ in found] == [2, 3, 4]
    assert all(300 <= bottom <= 306 for _, bottom in found)


def test_equal_titles_each_find_their_own_heading(make_pdf: Any, prose: Any) -> None:
    page = [p for y in (100, 250, 400) for p in ((72, y, "Overview", 12, "hebo"), *prose(y + 20, 6))]
    doc = ParsedDocument.from_pdf(make_pdf([page], toc=[[1, "Overview", 1]] * 3))
    assert [doc.lines[s.start] for s in doc.sections if s.level] == [1, 8, 15]


def test_levels_that_jump_still_give_parents(make_pdf: Any, prose: Any) -> None:
    def nest(doc: Any) -> None:
        xrefs = [entry[3]["xref"] for entry in doc.get_toc(simple=False)]
        doc.xref_set_key(xrefs[0], "Next", "null")
        doc.xref_set_key(xrefs[0], "First", f"{xrefs[1]} 0 R")

    doc = ParsedDocument.from_pdf(book(make_pdf, prose, change=nest))
    assert [(s.level, s.parent) for s in doc.sections if s.level] == [(1, None), (2, "s1"), (2, "s1")]


def test_entries_nested_into_one_another_by_mistake_come_back_to_one_level(make_pdf: Any, prose: Any) -> None:
    titles = ["Preface", "Acronyms", "Summary", "Rules"]
    pages = [[(72, 80, title, 14, "hebo"), *prose(110, 12)] for title in titles]
    toc = [[level, title, page] for page, (level, title) in enumerate(zip((1, 2, 3, 1), titles, strict=True), 1)]
    doc = ParsedDocument.from_pdf(make_pdf(pages, toc=toc))
    assert [s.level for s in doc.sections] == [1, 1, 1, 1]
    assert doc.profile.notes == ("3 outline entries from page 1 on were nested into one another.",)


def test_page_labels(make_pdf: Any) -> None:
    rules = [
        {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
        {"startpage": 3, "prefix": "A-", "style": "D", "firstpagenum": 5},
        {"startpage": 5, "prefix": "", "style": "a", "firstpagenum": 26},
    ]
    doc = ParsedDocument.from_pdf(make_pdf([[(72, 100, "x")]] * 7, labels=rules))
    assert list(doc.page_labels) == ["i", "ii", "iii", "A-5", "A-6", "z", "aa"]
    assert list(ParsedDocument.from_pdf(make_pdf([[(72, 100, "x")]] * 2)).page_labels) == ["1", "2"]


def test_byte_order_marks_in_labels_are_decoded(hardpdfs: Any) -> None:
    labels = ParsedDocument.from_pdf(hardpdfs / "test-3820.pdf").page_labels
    assert labels[:3] == ("C1", "i", "ii")
    assert labels[25] == "1"
    assert ParsedDocument.from_pdf(hardpdfs / "lshort.pdf").page_labels[1] == "ب"
