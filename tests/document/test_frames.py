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
    ],
)
def test_a_clear_error_names_what_is_wrong(frame: Any, headings: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ParsedDocument.from_frames(frame, headings)


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
