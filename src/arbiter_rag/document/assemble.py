"""Lines, pages and headings -> `ParsedDocument`: the one place where its tables are made. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.model import FRONT, DocumentProfile, ParsedDocument
from arbiter_rag.document.sections import Heading, build_sections, section_column, toc_table


def assemble(
    *,
    doc_id: str,
    name: str,
    sha256: str | None,
    line_df: pd.DataFrame,
    page_labels: Sequence[str],
    page_sizes: Sequence[tuple[float, float]],
    headings: Sequence[Heading],
    source: HeadingSource,
    notes: Sequence[str],
) -> ParsedDocument:
    """Build the sections and every table; `line_df` has all columns but section_id and becomes the document's own."""
    pages = len(page_sizes)
    sections = build_sections(headings, len(line_df))
    line_df["section_id"] = section_column(sections, len(line_df))
    heading_pages = [h.page for h in sorted(headings, key=lambda h: h.row)]
    if sections and sections[0].section_id == FRONT:
        heading_pages.insert(0, int(line_df["page"].iloc[0]))
    counts = np.bincount(line_df["page"].to_numpy(), minlength=pages + 1)[1:]
    size = np.asarray(page_sizes, dtype=np.float32).reshape(-1, 2)
    page_df = pd.DataFrame(
        {
            "page": np.arange(1, pages + 1, dtype=np.int32),
            "page_label": list(page_labels),
            "width": size[:, 0],
            "height": size[:, 1],
            "lines": counts.astype(np.int32),
        }
    )
    return ParsedDocument(
        doc_id=doc_id,
        name=name,
        sha256=sha256,
        line_df=line_df,
        page_df=page_df,
        toc_df=toc_table(sections, line_df, heading_pages),
        sections=sections,
        profile=DocumentProfile(
            pages=pages,
            pages_without_text=tuple((np.flatnonzero(counts == 0) + 1).tolist()),
            headings=source,
            notes=tuple(notes),
        ),
    )


def line_numbers(pages: np.ndarray) -> np.ndarray:
    """1-based line within its page of each row; pages come in order."""
    if not len(pages):
        return np.empty(0, dtype=np.int32)
    first = np.flatnonzero(np.r_[True, pages[1:] != pages[:-1]])
    lengths = np.diff(np.r_[first, len(pages)])
    return (np.arange(len(pages)) - np.repeat(first, lengths) + 1).astype(np.int32)
