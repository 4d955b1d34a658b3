"""Tables of anyone's own parser -> `ParsedDocument`; the caller's frames are never changed."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arbiter_rag.document.assemble import assemble
from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.lines import VisualLines
from arbiter_rag.document.locate import place
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.document.outline import Entry
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.strings import printable
from arbiter_rag.document.view import View
from arbiter_rag.errors import InputError

_COORDINATES = ("x0", "y0", "x1", "y1", "font_size")
_FLAGS = ("bold", "furniture")

_MOST = {"page": 1_000_000, "line": 1_000_000, "level": 100}
"""The highest number that a column may hold: beyond it stands a mistake or something else than a document."""

_MAX_UNMENTIONED = 100_000
"""Pages that neither table mentions: each takes a row of `page_df` and is reported as a page without text."""

_FARTHEST = 1e9
"""Coordinates are kept as 32-bit numbers; no page is that large."""


@dataclass(frozen=True, slots=True)
class _TocRow:
    """A row of `toc_df`; line and number are None where there is no such column."""

    level: int
    title: str
    page: int
    line: int | None
    number: str | None


def parse_frames(
    line_df: pd.DataFrame, toc_df: pd.DataFrame | None = None, *, doc_id: str | None = None, name: str | None = None
) -> ParsedDocument:
    """Build a document from tables; see `ParsedDocument.from_frames`."""
    lines = _lines(line_df)
    toc = [] if toc_df is None else _toc(toc_df)
    pages = _pages(lines, toc)
    found = _headings(toc, lines, _view(lines, pages)) if toc else []
    doc_id = doc_id or _digest(lines, toc)
    return assemble(
        doc_id=doc_id,
        name=name or doc_id,
        sha256=None,
        line_df=lines,
        page_labels=[str(p) for p in range(1, pages + 1)],
        page_sizes=[(np.nan, np.nan)] * pages,
        headings=found,
        source="frames" if found else "none",
        notes=_notes(toc, lines),
    )


def _digest(lines: pd.DataFrame, toc: Sequence[_TocRow]) -> str:
    """The same for the same lines on the same pages under the same headings, whatever the order and types of rows."""
    digest = hashlib.sha256(b"%d lines, %d headings\n" % (len(lines), len(toc)))
    for page, line, text in zip(lines["page"].tolist(), lines["line"].tolist(), lines["text"].tolist(), strict=True):
        raw = text.encode()
        digest.update(b"%d %d %d\n%b\n" % (page, line, len(raw), raw))
    for row in toc:
        digest.update(json.dumps(astuple(row)).encode() + b"\n")
    return digest.hexdigest()[:12]


def _pages(lines: pd.DataFrame, toc: Sequence[_TocRow]) -> int:
    """The last page that the tables mention, where they do not leave out too many before it."""
    mentioned = {*lines["page"].unique().tolist(), *(r.page for r in toc)}
    last = max(mentioned, default=0)
    if (unmentioned := last - len(mentioned)) > _MAX_UNMENTIONED:
        raise InputError(
            f"The tables mention page {last:,} but not {unmentioned:,} of the pages before it, and at most "
            f"{_MAX_UNMENTIONED:,} may be left out; number the pages from 1 without such gaps."
        )
    return last


def _notes(toc: Sequence[_TocRow], lines: pd.DataFrame) -> list[str]:
    """What is odd about the headings, each with the first row (counted from 0) where it is so."""
    if not toc:
        return []
    last = int(lines["page"].max()) if len(lines) else 0
    there = set(zip(lines["page"].tolist(), lines["line"].tolist(), strict=True))
    odd = {
        "have no title": [i for i, r in enumerate(toc) if not r.title],
        f"name a page behind the last page with lines ({last})": [i for i, r in enumerate(toc) if r.page > last],
        "name a line that line_df does not have; their sections start at the next line": [
            i for i, r in enumerate(toc) if r.line is not None and r.page <= last and (r.page, r.line) not in there
        ],
    }
    return [f"{len(at)} of {len(toc)} rows of toc_df (first: row {at[0]}) {what}." for what, at in odd.items() if at]


def _require(frame: pd.DataFrame, columns: tuple[str, ...], optional: tuple[str, ...], what: str) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{what} must be a pandas DataFrame, not {type(frame).__name__}.")
    names = list(frame.columns)
    if missing := [c for c in columns if c not in names]:
        raise InputError(f"{what} needs the columns {', '.join(columns)}; missing: {', '.join(missing)}.")
    if double := [c for c in (*columns, *optional) if names.count(c) > 1]:
        raise InputError(f"{what} has more than one column {', '.join(double)}; drop or rename all but one.")


def _wrong(frame: pd.DataFrame, column: str, what: str, wanted: str, wrong: Sequence[Any] | np.ndarray) -> InputError:
    """The error for a column's first wrong value."""
    row = int(np.flatnonzero(wrong)[0])
    held = f"{frame[column].iloc[row]!s:.40}"
    return InputError(f"Column {column!r} of {what} must hold {wanted}; row {row} (counted from 0) holds {held!r}.")


def _numbers(frame: pd.DataFrame, column: str, what: str) -> npt.NDArray[np.float64]:
    """A column as numbers, NaN for everything else."""
    try:
        values = pd.to_numeric(frame[column], errors="coerce")
        if pd.api.types.is_complex_dtype(values.dtype):
            raise TypeError("complex numbers")
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"Column {column!r} of {what} must hold numbers only ({error}).") from error


def _whole(frame: pd.DataFrame, column: str, what: str) -> npt.NDArray[np.int32]:
    values = _numbers(frame, column, what)
    good = (values >= 1) & (values <= _MOST[column])
    good[good] = values[good] % 1 == 0
    if not good.all():
        raise _wrong(frame, column, what, f"whole numbers from 1 up to {_MOST[column]:,}", ~good)
    return values.astype(np.int32)


def _coordinates(frame: pd.DataFrame, column: str) -> npt.NDArray[np.float32]:
    values = _numbers(frame, column, "line_df")
    given = frame[column].notna().to_numpy(dtype=bool)
    if (wrong := given & ~(np.abs(values) <= _FARTHEST)).any():
        raise _wrong(frame, column, "line_df", "numbers, or NaN where unknown", wrong)
    return values.astype(np.float32)


def _flags(frame: pd.DataFrame, column: str) -> npt.NDArray[np.bool_]:
    values = frame[column].tolist()
    if any(wrong := [not (isinstance(v, Real | np.bool_) and v in (0, 1)) for v in values]):
        raise _wrong(frame, column, "line_df", "True or False (or 1 and 0)", wrong)
    return np.asarray(values, dtype=bool)


def _strings(frame: pd.DataFrame, column: str, what: str) -> list[str]:
    values = frame[column].tolist()
    if any(wrong := [not isinstance(v, str) for v in values]):
        raise _wrong(frame, column, what, "strings; fill missing values with '' and convert others with str", wrong)
    return [printable(v) for v in values]


def _lines(frame: pd.DataFrame) -> pd.DataFrame:
    _require(frame, ("page", "line", "text"), (*_COORDINATES, *_FLAGS), "line_df")
    texts = pd.Series(_strings(frame, "text", "line_df"), dtype=object)
    out = pd.DataFrame(
        {"page": _whole(frame, "page", "line_df"), "line": _whole(frame, "line", "line_df"), "text": texts}
    )
    for column in _COORDINATES:
        out[column] = _coordinates(frame, column) if column in frame else np.full(len(out), np.nan, dtype=np.float32)
    for column in _FLAGS:
        out[column] = _flags(frame, column) if column in frame else np.zeros(len(out), dtype=bool)
    if out.duplicated(["page", "line"]).any():
        page, line = out.loc[out.duplicated(["page", "line"]), ["page", "line"]].iloc[0]
        raise InputError(f"line_df has more than one row for page {page}, line {line}.")
    return out.sort_values(["page", "line"], kind="stable", ignore_index=True)


def _toc(frame: pd.DataFrame) -> list[_TocRow]:
    _require(frame, ("level", "title", "page"), ("line", "number"), "toc_df")
    levels, pages = _whole(frame, "level", "toc_df").tolist(), _whole(frame, "page", "toc_df").tolist()
    titles = [" ".join(t.split()) for t in _strings(frame, "title", "toc_df")]
    lines = _whole(frame, "line", "toc_df").tolist() if "line" in frame else [None] * len(frame)
    numbers = _heading_numbers(frame) if "number" in frame else [None] * len(frame)
    return [_TocRow(*values) for values in zip(levels, titles, pages, lines, numbers, strict=True)]


def _heading_numbers(frame: pd.DataFrame) -> list[str]:
    """Numbers as strings; a fraction could be 3.1 or 3.10, so nobody guesses."""
    given = frame["number"].notna().tolist()
    values = [v if there else "" for v, there in zip(frame["number"].tolist(), given, strict=True)]
    # pandas makes fractions of whole numbers where others are missing
    values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    if any(wrong := [isinstance(v, bool) or not isinstance(v, str | int) for v in values]):
        raise _wrong(frame, "number", "toc_df", "strings such as '3.1', or whole numbers", wrong)
    return [printable(str(v)) for v in values]


def _view(lines: pd.DataFrame, pages: int) -> View:
    visual = VisualLines(
        page=lines["page"].tolist(),
        box=list(zip(*(lines[c].tolist() for c in _COORDINATES[:4]), strict=True)),
        size=lines["font_size"].where(lines["font_size"] >= 1, 10.0).tolist(),  # 0 is how some say "unknown"
        bold=lines["bold"].tolist(),
        text=lines["text"].tolist(),
        turned=[False] * len(lines),
    )
    starts = np.searchsorted(lines["page"].to_numpy(), np.arange(1, pages + 2)).tolist()
    return View(visual, lines["furniture"].tolist(), starts, [(0.0, 0.0)] * pages, [""] * pages)


def _headings(toc: Sequence[_TocRow], lines: pd.DataFrame, view: View) -> list[Heading]:
    """The headings at the lines given, or where their titles stand on the pages given."""
    if toc[0].line is None:
        placed, _ = place([Entry(r.level, r.title, r.page) for r in toc], view, "frames")
        return [replace(h, number=r.number or h.number) for h, r in zip(placed, toc, strict=True)]
    keys = list(zip(lines["page"].tolist(), lines["line"].tolist(), strict=True))
    found = []
    for r in toc:
        row = bisect_left(keys, (r.page, r.line))
        printed = row < len(view) and r.title and squash(view.texts[row]).endswith(squash(r.title))
        number = r.number if r.number is not None else split_number(view.texts[row])[0] if printed else ""
        found.append(Heading(row, r.level, r.title, number, "frames", int(bool(printed)), r.page))
    return found
