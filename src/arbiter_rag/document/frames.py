"""Tables of anyone's own parser -> `ParsedDocument`; the caller's frames are never changed."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from arbiter_rag.document.assemble import assemble
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.document.sections import Heading
from arbiter_rag.errors import InputError

_COORDINATES = ("x0", "y0", "x1", "y1", "font_size")


def parse_frames(
    line_df: pd.DataFrame, toc_df: pd.DataFrame | None = None, *, doc_id: str | None = None, name: str | None = None
) -> ParsedDocument:
    """Build a document from tables; see `ParsedDocument.from_frames`."""
    lines = _lines(line_df)
    pages = int(lines["page"].max()) if len(lines) else 0
    found = _headings(toc_df, lines) if toc_df is not None else []
    if toc_df is not None and len(toc_df):
        pages = max(pages, max(h.page for h in found))
    doc_id = doc_id or hashlib.sha256("\n".join(lines["text"].tolist()).encode("utf-8", "replace")).hexdigest()[:12]
    return assemble(
        doc_id=doc_id,
        name=name or doc_id,
        sha256=None,
        line_df=lines,
        page_labels=[str(p) for p in range(1, pages + 1)],
        page_sizes=[(np.nan, np.nan)] * pages,
        headings=found,
        source="frames" if found else "none",
        notes=(),
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
    out = pd.DataFrame({"page": pages, "line": numbers, "text": pd.Series(list(frame["text"]), dtype=object)})
    for column in _COORDINATES:
        given = pd.to_numeric(frame[column], errors="coerce").to_numpy() if column in frame.columns else np.nan
        out[column] = np.full(len(out), given, dtype=np.float32)
    for column in ("bold", "furniture"):
        out[column] = frame[column].to_numpy(dtype=bool) if column in frame.columns else np.zeros(len(out), dtype=bool)
    if out.duplicated(["page", "line"]).any():
        page, line = out.loc[out.duplicated(["page", "line"]), ["page", "line"]].iloc[0]
        raise InputError(f"line_df has more than one row for page {page}, line {line}.")
    return out.sort_values(["page", "line"], kind="stable", ignore_index=True)


def _headings(frame: pd.DataFrame, lines: pd.DataFrame) -> list[Heading]:
    _require(frame, ("level", "title", "page"), "toc_df")
    levels, pages = _whole(frame, "level", "toc_df"), _whole(frame, "page", "toc_df")
    at = _whole(frame, "line", "toc_df") if "line" in frame.columns else np.ones(len(frame), dtype=np.int32)
    numbers = [str(n) if isinstance(n, str) else "" for n in frame["number"]] if "number" in frame.columns else None
    keys = lines["page"].to_numpy(dtype=np.int64) * 2**31 + lines["line"].to_numpy(dtype=np.int64)
    rows = np.searchsorted(keys, pages.astype(np.int64) * 2**31 + at)
    return [
        Heading(int(rows[i]), int(levels[i]), str(title), numbers[i] if numbers else "", "frames", 0, int(pages[i]))
        for i, title in enumerate(frame["title"])
    ]
