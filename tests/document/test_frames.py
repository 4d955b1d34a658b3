"""Tables of anyone's own parser, and what holds for the sections of every document."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import InputError


def lines(*rows: tuple[int, int, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["page", "line", "text"])


def toc(*rows: tuple[int, str, int], **more: Any) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["level", "title", "page"]).assign(**more)


POLICY = lines((1, 1, "Policy"), (1, 2, "1 Cover"), (1, 3, "We pay."), (2, 1, "2 Exit"), (2, 2, "You may leave."))


def test_sections_start_at_the_lines_given() -> None:
    doc = ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1), (1, "Exit", 2), line=[2, 1]), doc_id="p", name="P")
    assert [(s.section_id, s.start, s.own_end) for s in doc.sections] == [("front", 0, 1), ("s1", 1, 3), ("s2", 3, 5)]
    assert doc.line_df["section_id"].tolist() == ["front", "s1", "s1", "s2", "s2"]
    assert (doc.doc_id, doc.name, doc.sha256, doc.profile.headings) == ("p", "P", None, "frames")
    assert doc.boxes(0, 2) == ()


def test_without_line_the_heading_is_looked_for_on_its_page() -> None:
    doc = ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1), (1, "Exit", 2)))
    assert [(s.number, s.start, s.heading_rows) for s in doc.sections[1:]] == [("1", 1, 1), ("2", 3, 1)]


def test_without_toc_everything_is_front() -> None:
    doc = ParsedDocument.from_frames(POLICY)
    assert [s.section_id for s in doc.sections] == ["front"]
    assert len(doc.toc_df) == 1


def test_unsorted_rows_are_put_in_order_and_the_callers_frames_stay_as_they_were() -> None:
    mixed = POLICY.iloc[[4, 2, 0, 3, 1]]
    before = mixed.copy(deep=True)
    doc = ParsedDocument.from_frames(mixed)
    assert doc.texts == tuple(POLICY["text"])
    pd.testing.assert_frame_equal(mixed, before)


@pytest.mark.parametrize(
    ("frame", "headings", "says"),
    [
        (POLICY.drop(columns="text"), None, "missing: text"),
        (POLICY.drop(columns=["page", "line"]), None, "missing: page, line"),
        ([("1", 1, "x")], None, "must be a pandas DataFrame, not list"),
        (POLICY.assign(page=["one"] * 5), None, "'page' of line_df must hold whole numbers"),
        (POLICY.assign(line=0), None, "'line' of line_df must hold whole numbers from 1"),
        (POLICY.assign(page=1.5), None, "'page' of line_df"),
        (POLICY.assign(text=[1, 2, 3, 4, 5]), None, "'text' of line_df must hold strings"),
        (POLICY.assign(text=[None] * 5), None, "'text' of line_df must hold strings"),
        (POLICY.assign(page=1, line=1), None, "more than one row for page 1, line 1"),
        (POLICY, toc((1, "Cover", 1)).drop(columns="level"), "toc_df needs the columns .* missing: level"),
        (POLICY, toc((0, "Cover", 1)), "'level' of toc_df"),
        (POLICY, toc((3_000_000_000, "Cover", 1)), "'level' of toc_df"),
        (POLICY.assign(page=3e9), None, r"'page' .* up to 1,000,000; row 0 \(counted from 0\) holds '3000000000.0'"),
        (POLICY.assign(line=[1, 2, 3, 1, 3e9]), None, "'line' .* up to 1,000,000; row 4"),
        (POLICY.assign(line=[1, 2, 3, 1, float("inf")]), None, "'line' of line_df .* row 4"),
        (POLICY.assign(page=[1, 1, 1, 2, None]), None, "'page' of line_df .* row 4"),
        (POLICY.assign(page=pd.array([1, 1, 1, 2, None], dtype="Int64")), None, "'page' of line_df .* row 4"),
        (POLICY.assign(page=[10**30] * 5), None, "'page' of line_df"),
        (POLICY.assign(page=[[1]] * 5), None, "'page' of line_df"),
        (POLICY, toc((1, "Cover", 10**7)), "'page' of toc_df .* up to 1,000,000"),
        (POLICY, toc((1, "Cover", 1), line=3e9), "'line' of toc_df"),
        (POLICY, toc((1, "Cover", 900_000)), "mention page 900,000 but not 899,997 of the pages before it"),
        (lines((900_000, 1, "far")), None, "number the pages from 1"),
        (POLICY.assign(furniture=["False"] * 5), None, "'furniture' .* True or False .* row 0 .* 'False'"),
        (POLICY.assign(bold=[True, 0, 1.0, False, 2]), None, "'bold' .* row 4 .* holds '2'"),
        (POLICY.assign(bold=[True, True, None, True, True]), None, "'bold' .* row 2"),
        (POLICY.assign(bold=pd.array([True, None, True, True, True], dtype="boolean")), None, "'bold' .* row 1"),
        (POLICY.assign(furniture=[float("nan")] * 5), None, "'furniture'"),
        (POLICY.assign(x0=["1", "2", "left", "3", "4"]), None, "'x0' of line_df must hold numbers, .* row 2"),
        (POLICY.assign(font_size=float("inf")), None, "'font_size' of line_df must hold numbers"),
        (POLICY.assign(y1=1e300), None, "'y1' of line_df must hold numbers"),
        (POLICY, toc((1, "Cover", 1), (1, None, 2)), "'title' of toc_df must hold strings; .* row 1"),  # type: ignore[arg-type]  # is what is tested
        (POLICY, toc((1, float("nan"), 1)), "'title' of toc_df must hold strings; .* row 0"),  # type: ignore[arg-type]  # is what is tested
        (POLICY, toc((1, "Cover", 1), number=3.1), "'number' of toc_df must hold strings"),
        (pd.concat([POLICY, POLICY["text"]], axis=1), None, "line_df has more than one column text"),
        (POLICY.assign(a=1.0, b=1.0).rename(columns={"a": "x0", "b": "x0"}), None, "more than one column x0"),
        (POLICY, pd.concat([toc((1, "A", 1)), toc((1, "A", 1))[["page"]]], axis=1), "toc_df has more than one column"),
    ],
)
def test_a_clear_error_names_what_is_wrong(frame: Any, headings: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ParsedDocument.from_frames(frame, headings)


@pytest.mark.parametrize("wrong", [7, b"id", ("a",), 0])
def test_an_id_or_a_name_is_a_string(wrong: Any) -> None:
    with pytest.raises(InputError, match="doc_id must be a string or None, not"):
        ParsedDocument.from_frames(POLICY, doc_id=wrong)
    with pytest.raises(InputError, match="name must be a string or None, not"):
        ParsedDocument.from_frames(POLICY, name=wrong)
    with pytest.raises(InputError, match="doc_id must be a string or None, not"):
        ParsedDocument.from_pdf("no such file.pdf", doc_id=wrong)


def test_the_same_content_has_the_same_id() -> None:
    headings = toc((1, "Cover", 1), (1, "Exit", 2))
    wanted = ParsedDocument.from_frames(POLICY, headings).doc_id
    for frame in (POLICY.iloc[::-1], POLICY.astype({"page": "float64", "line": "Int64"}), POLICY.assign(other=1)):
        assert ParsedDocument.from_frames(frame, headings.assign(other="x")).doc_id == wanted
    assert ParsedDocument.from_frames(POLICY).doc_id == ParsedDocument.from_frames(POLICY, headings.iloc[:0]).doc_id


def test_other_content_has_another_id() -> None:
    headings = toc((1, "Cover", 1), (1, "Exit", 2))
    documents = [
        (POLICY, headings),
        (POLICY, None),
        (POLICY, headings.assign(line=[2, 1])),
        (POLICY, headings.assign(level=[1, 2])),
        (POLICY, headings.assign(number=["1", "2"])),
        (POLICY, headings.assign(title=["Cover", "Leave"])),
        (POLICY.assign(page=1, line=range(1, 6)), None),
        (POLICY.assign(line=POLICY["line"] + 1), None),
        (lines((1, 1, "a\nb")), None),
        (lines((1, 1, "a"), (1, 2, "b")), None),
        (lines((1, 1, "a"), (2, 1, "b")), None),
        (lines((1, 1, "ab"), (1, 2, "")), None),
        (lines((1, 1, ""), (1, 2, "ab")), None),
        (lines((1, 1, "a 1 2 1 b")), None),
    ]
    assert len({ParsedDocument.from_frames(*d).doc_id for d in documents}) == len(documents)


def test_equal_titles_on_one_page_each_find_their_own_line() -> None:
    rows = [(1, 2 * n + k, text) for n in range(400) for k, text in ((1, "Overview"), (2, f"Text {n} of it."))]
    doc = ParsedDocument.from_frames(lines(*rows), toc(*[(1, "Overview", 1)] * 400))
    assert [s.start for s in doc.sections] == list(range(0, 800, 2))


def test_equal_titles_that_stand_out_are_taken_before_the_same_words_in_the_text() -> None:
    texts = [t for n in range(100) for t in ("Overview", "Text.", "Overview", "Overview", f"End {n}.")]
    frame = lines(*((1, i, t) for i, t in enumerate(texts, start=1))).assign(bold=[True, *[False] * 4] * 100)
    doc = ParsedDocument.from_frames(frame, toc(*[(1, "Overview", 1)] * 100))
    assert [s.start for s in doc.sections] == list(range(0, 500, 5))


def test_misprinted_equal_titles_each_find_their_own_line() -> None:
    frame = lines(
        *((1, i, ("Text that runs on and on in an even voice.", "Overview of rnatters")[i % 2]) for i in range(1, 301))
    )
    doc = ParsedDocument.from_frames(
        frame.assign(bold=[True, False] * 150), toc(*[(1, "Overview of matters", 1)] * 150)
    )
    assert [s.start for s in doc.sections] == list(range(0, 300, 2))


@pytest.mark.parametrize(
    ("titled", "printed", "bold"),
    [
        ("Section {n}", "Section {n}", False),
        ("Rules for case {n}", "{n} Rules for case {n}", False),
        ("Limits of cover {n}", "{n}\tLimits of cover {n}", False),
        ("Limits of cover {n}", "Lirnits of cover {n}", True),
    ],
)
def test_many_titles_on_one_page_each_find_their_own_line(titled: str, printed: str, bold: bool) -> None:
    texts = [t for n in range(1, 91) for t in (printed.format(n=n), "Text that runs on and on in an even voice.")]
    frame = lines(*((1, i, t) for i, t in enumerate(texts, start=1))).assign(bold=[bold, False] * 90)
    doc = ParsedDocument.from_frames(frame, toc(*((1, titled.format(n=n), 1) for n in range(1, 91))))
    assert [(s.start, s.heading_rows) for s in doc.sections] == [(row, 1) for row in range(0, 180, 2)]


def test_more_equal_titles_than_lines_that_say_them_keep_their_order() -> None:
    doc = ParsedDocument.from_frames(
        lines(*((1, n, "Overview") for n in range(1, 51))), toc(*[(1, "Overview", 1)] * 200)
    )
    starts = [s.start for s in doc.sections]
    assert len(starts) == 200
    assert starts == sorted(starts)


def test_flags_may_be_numbers_and_font_sizes_unknown() -> None:
    frame = POLICY.assign(bold=[1, 0, 1.0, False, True], furniture=pd.array([False] * 5, dtype="boolean"), font_size=0)
    doc = ParsedDocument.from_frames(frame, toc((1, "Cover", 1)))
    assert doc.line_df["bold"].tolist() == [True, False, True, False, True]
    assert not any(doc.furniture)
    assert doc.sections[-1].start == 1


def test_pages_that_are_left_out_within_reason_have_no_text() -> None:
    doc = ParsedDocument.from_frames(lines((2, 1, "two"), (90_000, 1_000_000, "far")))
    assert doc.profile.pages == 90_000
    assert len(doc.profile.pages_without_text) == 89_998
    assert doc.rows(doc.scope(1, 2)) == (1, 2)


def test_odd_headings_are_noted_with_their_row() -> None:
    doc = ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1), (1, " \x00", 1), (1, "Annex", 5)))
    assert doc.profile.notes == (
        "1 of 3 rows of toc_df (first: row 1) have no title.",
        "1 of 3 rows of toc_df (first: row 2) name a page behind the last page with lines (2).",
    )
    assert (doc.profile.pages, doc.profile.pages_without_text) == (5, (3, 4, 5))
    doc = ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1), (1, "Exit", 2), line=[2, 9]))
    (note,) = doc.profile.notes
    assert note.startswith("1 of 2 rows of toc_df (first: row 1) name a line that line_df does not have")
    assert ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1))).profile.notes == ()


def test_a_title_without_letters_is_found_nowhere() -> None:
    frame = lines((1, 1, "Policy"), (1, 2, "1"), (1, 3, "***"), (2, 1, "Text."))
    doc = ParsedDocument.from_frames(frame, toc((1, "***", 1), (1, "", 2)))
    assert [(s.start, s.heading_rows) for s in doc.sections] == [(0, 0), (3, 0)]


def test_numbers_of_headings_may_be_whole_or_missing() -> None:
    doc = ParsedDocument.from_frames(POLICY, toc((1, "Cover", 1), (1, "Exit", 2), line=[2, 1], number=[7, None]))
    assert [s.number for s in doc.sections[1:]] == ["7", ""]


def test_headings_without_any_line() -> None:
    doc = ParsedDocument.from_frames(POLICY.iloc[:0], toc((1, "Cover", 1), (2, "Exit", 2)))
    assert (len(doc), doc.profile.pages, len(doc.toc_df)) == (0, 2, 2)


def test_odd_characters_never_break_json() -> None:
    doc = ParsedDocument.from_frames(lines((1, 1, "a\x00b\ud800c\x1b[0m")))
    doc.texts[0].encode()
    assert doc.texts[0] == "abc[0m"


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    per_page = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6))
    step = draw(st.integers(1, 3))  # a caller's line numbers may have gaps
    rows = [(p, n * step, f"line {p}.{n}") for p, count in enumerate(per_page, start=1) for n in range(1, count + 1)]
    if not rows:
        rows = [(1, 1, "only")]
    pages = max(p for p, _, _ in rows)
    entries = draw(st.lists(st.tuples(st.integers(1, 5), st.integers(1, pages), st.integers(1, 7)), max_size=12))
    frame = pd.DataFrame(
        [(level, f"title {i}", page, line) for i, (level, page, line) in enumerate(entries)],
        columns=["level", "title", "page", "line"],
    )
    return ParsedDocument.from_frames(lines(*rows), frame)


@given(documents())
def test_every_row_is_in_exactly_one_section_and_extents_nest(doc: ParsedDocument) -> None:
    covered = [0] * len(doc)
    for section in doc.sections:
        for row in range(section.start, section.own_end):
            covered[row] += 1
            assert doc.section_of(row) is section
    assert covered == [1] * len(doc)
    starts = [s.start for s in doc.sections]
    assert starts == sorted(starts)
    by_id = {s.section_id: s for s in doc.sections}
    assert len(by_id) == len(doc.sections) == len(doc.toc_df)
    for s in doc.sections:
        assert 0 <= s.start <= s.own_end <= s.full_end <= len(doc)
        if s.parent:
            parent = by_id[s.parent]
            assert parent.level < s.level
            assert parent.start <= s.start
            assert s.full_end <= parent.full_end


@given(documents())
def test_scopes_and_rows_are_each_others_inverse(doc: ParsedDocument) -> None:
    for section in doc.sections:
        if section.own_end > section.start:
            assert doc.rows(doc.scope(section.start, section.own_end)) == (section.start, section.own_end)
