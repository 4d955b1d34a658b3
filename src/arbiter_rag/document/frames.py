"""Tables of anyone's own parser -> `ParsedDocument`; the caller's frames are never changed."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import replace

import numpy as np
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


def parse_frames(
    line_df: pd.DataFrame, toc_df: pd.DataFrame | None = None, *, doc_id: str | None = None, name: str | None = None
) -> ParsedDocument:
    """Build a document from tables; see `ParsedDocument.from_frames`."""
    lines = _lines(line_df)
    pages = int(lines["page"].max()) if len(lines) else 0
    found: list[Heading] = []
    if toc_df is not None:
        _require(toc_df, ("level", "title", "page"), "toc_df")
        if len(toc_df):
            pages = max(pages, int(_whole(toc_df, "page", "toc_df").max()))
        found = _headings(toc_df, lines, _view(lines, pages))
    doc_id = doc_id or hashlib.sha256("\n".join(lines["text"].tolist()).encode()).hexdigest()[:12]
    return assemble(
        doc_id=doc_id,
        name=name or doc_id,
        sha256=None,
        line_df=lines,
        page_labels=[str(p) for p in range(1, pages + 1)],
        page_sizes=[(np.nan, np.nan)] * pages,
        headings=found,
        source="frames" if found else "none",
    )


def _require(frame: pd.DataFrame, columns: tuple[str, ...], what: str) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{what} must be a pandas DataFrame, not {type(frame).__name__}.")
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        raise InputError(f"{what} needs the columns {', '.join(columns)}; missing: {', '.join(missing)}.")


def _whole(frame: pd.DataFrame, column: str, what: str) -> np.ndarray:
    values = pd.to_numeric(frame[column], errors="coerce")
    if values.isna().any() or (values % 1 != 0).any() or (values < 1).any():
        raise InputError(f"Column {column!r} of {what} must hold whole numbers from 1 up.")
    return values.to_numpy(dtype=np.int32)


def _lines(frame: pd.DataFrame) -> pd.DataFrame:
    _require(frame, ("page", "line", "text"), "line_df")
    if not all(isinstance(t, str) for t in frame["text"]):
        raise InputError("Column 'text' of line_df must hold strings; fill missing values with ''.")
    pages, numbers = _whole(frame, "page", "line_df"), _whole(frame, "line", "line_df")
    texts = pd.Series([printable(t) for t in frame["text"]], dtype=object)
    out = pd.DataFrame({"page": pages, "line": numbers, "text": texts})
    for column in _COORDINATES:
        given = pd.to_numeric(frame[column], errors="coerce").to_numpy() if column in frame.columns else np.nan
        out[column] = np.full(len(out), given, dtype=np.float32)
    for column in ("bold", "furniture"):
        out[column] = frame[column].to_numpy(dtype=bool) if column in frame.columns else np.zeros(len(out), dtype=bool)
    if out.duplicated(["page", "line"]).any():
        page, line = out.loc[out.duplicated(["page", "line"]), ["page", "line"]].iloc[0]
        raise InputError(f"line_df has more than one row for page {page}, line {line}.")
    return out.sort_values(["page", "line"], kind="stable", ignore_index=True)


def _view(lines: pd.DataFrame, pages: int) -> View:
    visual = VisualLines(
        page=lines["page"].tolist(),
        box=list(zip(*(lines[c].tolist() for c in _COORDINATES[:4]), strict=True)),
        size=lines["font_size"].fillna(10.0).tolist(),
        bold=lines["bold"].tolist(),
        text=lines["text"].tolist(),
        turned=[False] * len(lines),
    )
    starts = np.searchsorted(lines["page"].to_numpy(), np.arange(1, pages + 2)).tolist()
    return View(visual, lines["furniture"].tolist(), starts, [(0.0, 0.0)] * pages, [""] * pages)


def _headings(frame: pd.DataFrame, lines: pd.DataFrame, view: View) -> list[Heading]:
    """The headings at the lines given, or where their titles stand on the pages given."""
    levels, pages = _whole(frame, "level", "toc_df").tolist(), _whole(frame, "page", "toc_df").tolist()
    titles = [" ".join(printable(str(t)).split()) for t in frame["title"]]
    numbers = [printable(n) if isinstance(n, str) else "" for n in frame["number"]] if "number" in frame else None
    if "line" not in frame:
        entries = [Entry(*values) for values in zip(levels, titles, pages, strict=True)]
        placed, _ = place(entries, view, "frames")
        return [replace(h, number=n or h.number) for h, n in zip(placed, numbers or [""] * len(placed), strict=True)]
    at = _whole(frame, "line", "toc_df").tolist()
    keys = list(zip(lines["page"].tolist(), lines["line"].tolist(), strict=True))
    found = []
    for i, (level, title, page) in enumerate(zip(levels, titles, pages, strict=True)):
        row = bisect_left(keys, (page, at[i]))
        printed = row < len(view) and title and squash(view.texts[row]).endswith(squash(title))
        number = numbers[i] if numbers else split_number(view.texts[row])[0] if printed else ""
        found.append(Heading(row, level, title, number, "frames", int(bool(printed)), page))
    return found
