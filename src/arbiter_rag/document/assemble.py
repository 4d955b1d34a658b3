"""Lines, pages and headings -> `ParsedDocument`: the one place where its tables are made. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.model import FRONT, DocumentProfile, ParsedDocument, Section
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
    notes: Sequence[str] = (),
) -> ParsedDocument:
    """Build a document; `line_df` has all columns but section_id and becomes the document's own."""
    sections = build_sections(headings, len(line_df))
    toc_pages = [h.page for h in sorted(headings, key=lambda h: h.row)]
    if sections and sections[0].section_id == FRONT:
        toc_pages.insert(0, int(line_df["page"].iloc[0]))
    sizes = np.asarray(page_sizes, dtype=np.float32).reshape(-1, 2)
    page_df, toc_df = tables(line_df, page_labels, sizes, sections, toc_pages)
    return ParsedDocument(
        doc_id=doc_id,
        name=name,
        sha256=sha256,
        line_df=line_df,
        page_df=page_df,
        toc_df=toc_df,
        sections=sections,
        profile=DocumentProfile(
            pages=len(page_df),
            pages_without_text=tuple((np.flatnonzero(page_df["lines"].to_numpy() == 0) + 1).tolist()),
            headings=source,
            notes=tuple(notes),
        ),
    )


def line_table(texts: Sequence[str], columns: Mapping[str, npt.NDArray[np.generic]]) -> pd.DataFrame:
    """All columns of `line_df` but section_id; `columns` holds those that are not text, page first."""
    numbers = dict(columns)
    page = numbers.pop("page")
    text = pd.Series(list(texts), dtype=object)
    return pd.DataFrame({"page": page, "line": line_numbers(page), "text": text, **numbers}, copy=False)


def tables(
    line_df: pd.DataFrame,
    page_labels: Sequence[str],
    page_sizes: npt.NDArray[np.float32],
    sections: tuple[Section, ...],
    toc_pages: Sequence[int],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`page_df` and `toc_df`; `line_df` gets its section_id.

    Args:
        line_df: The lines.
        page_labels: Label of each page.
        page_sizes: Width and height of each page.
        sections: All sections in reading order.
        toc_pages: Page of each section: a heading may point to a page that has no lines.
    """
    line_df["section_id"] = section_column(sections, len(line_df))
    pages = len(page_labels)
    counts = np.bincount(line_df["page"].to_numpy(), minlength=pages + 1)[1:]
    page_df = pd.DataFrame(
        {
            "page": np.arange(1, pages + 1, dtype=np.int32),
            "page_label": pd.Series(list(page_labels), dtype=object),
            "width": page_sizes[:, 0].astype(np.float32),
            "height": page_sizes[:, 1].astype(np.float32),
            "lines": counts.astype(np.int32),
        }
    )
    return page_df, toc_table(sections, line_df, toc_pages)


def line_numbers(pages: npt.NDArray[np.generic]) -> npt.NDArray[np.int32]:
    """1-based line within its page of each row; pages come in order."""
    if not len(pages):
        return np.empty(0, dtype=np.int32)
    first = np.flatnonzero(np.r_[True, pages[1:] != pages[:-1]])
    lengths = np.diff(np.r_[first, len(pages)])
    return (np.arange(len(pages)) - np.repeat(first, lengths) + 1).astype(np.int32)
