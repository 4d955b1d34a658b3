"""What a parsed document is: three tables, its sections and its profile. Values only, no file is opened here."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar, cast

import numpy as np
import pandas as pd

from arbiter_rag.contract import Box, CandidateScope, DocumentRef, HeadingSource
from arbiter_rag.errors import InputError
from arbiter_rag.progress import Progress

T = TypeVar("T")

FRONT = "front"
"""Section id of the text before the first heading."""


def _check_name(what: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{what} must be a string or None, not {type(value).__name__}; convert it with str.")


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and what stands under it. Rows index `line_df`; `own_end` and `full_end` are exclusive.

    Attributes:
        start: Row of the first line that belongs to it (its heading line, or where the outline points).
        own_end: Row behind its last line before the next heading of any level.
        full_end: Row behind its last line before the next heading of its own or a higher level.
        heading_rows: How many rows from `start` are the printed heading itself (0: it was not found in the text).
    """

    section_id: str
    level: int
    parent: str | None
    title: str
    number: str
    breadcrumb: str
    source: HeadingSource
    start: int
    own_end: int
    full_end: int
    heading_rows: int = 0


@dataclass(frozen=True, slots=True)
class DocumentProfile:
    """What is known about a document before any question.

    Attributes:
        pages: Number of PDF pages.
        pages_without_text: 1-based pages on which no text was found (scans, pictures, blank).
        headings: Where the sections came from.
        notes: Sentences about what was odd ("12 of 48 outline entries point nowhere").
    """

    pages: int
    pages_without_text: tuple[int, ...] = ()
    headings: HeadingSource = "none"
    notes: tuple[str, ...] = ()


class ParsedDocument:
    """A document as three pandas tables; build it with `from_pdf` or `from_frames`, and treat the tables as read-only.

    Attributes:
        doc_id: Stable id: by default the first 12 hex digits of the SHA-256 of the bytes.
        name: For a person: the file's name.
        sha256: SHA-256 of the bytes, None when there were none.
        line_df: One row a visual line in reading order. Columns: page, line (int32, 1-based, line counts within its
            page), text (str; the cells of a table row are joined by a tab), x0, y0, x1, y1 (float32, points, origin
            top left; NaN when unknown), font_size (float32, NaN when unknown), bold (bool), furniture (bool: a
            running header, footer or page number), section_id (str).
        page_df: One row a page. Columns: page, page_label (str), width, height (float32), lines (int32).
        toc_df: One row a section. Columns: section_id, level, parent, title, number, page, line, breadcrumb, source,
            own_page_end, own_line_end, full_page_end, full_line_end (inclusive ends).
        sections: The same as typed values; `front` comes first where text stands before the first heading.
        profile: See `DocumentProfile`.
        source: The file it was read from, where it was one; it may have changed since.

    Inside the library a line is named by its *row*: its 0-based position in `line_df`.
    """

    def __init__(
        self,
        *,
        doc_id: str,
        name: str,
        sha256: str | None,
        line_df: pd.DataFrame,
        page_df: pd.DataFrame,
        toc_df: pd.DataFrame,
        sections: tuple[Section, ...],
        profile: DocumentProfile,
    ) -> None:
        self.doc_id = doc_id
        self.name = name
        self.sha256 = sha256
        self.line_df = line_df
        self.page_df = page_df
        self.toc_df = toc_df
        self.sections = sections
        self.profile = profile
        self.source: Path | None = None
        self._derived: dict[str, Any] = {}
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        # What is derived can be made again; a lock cannot travel.
        return {k: v for k, v in self.__dict__.items() if k not in ("_derived", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _derived={}, _lock=threading.RLock())

    def peek(self, name: str) -> Any:
        """What was derived under this name, or None."""
        return self._derived.get(name)

    def derived(self, name: str, build: Callable[[ParsedDocument], T]) -> T:
        """What `build` makes of this document, made at most once whichever threads ask, and freed with it."""
        found = self._derived.get(name)
        if found is None:
            with self._lock:
                found = self._derived.get(name)
                if found is None:
                    found = self._derived[name] = build(self)
        return cast("T", found)

    @classmethod
    def from_pdf(
        cls,
        source: str | Path | bytes | BinaryIO,
        password: str | None = None,
        headings: Literal["auto", "outline", "printed", "fonts", "layout", "none"] = "auto",
        doc_id: str | None = None,
        cache_dir: str | Path | None = None,
        progress: Progress | None = None,
    ) -> ParsedDocument:
        """Read a PDF with PyMuPDF (extra `pdf`).

        Args:
            source: Path, bytes, or a file opened in binary mode; a file that can be rewound is read from its
                beginning, wherever it stands.
            password: For an encrypted file.
            headings: Where sections come from: `auto` takes the outline, without one the printed contents page, then
                fonts and numbering; `layout` asks PyMuPDF 2's layout model (about 5 pages a second).
            doc_id: Instead of the first 12 hex digits of the SHA-256 of the bytes.
            cache_dir: Folder in which the parsed document is kept; nothing is written without it.
            progress: Called with the pages read and the pages in all; not at all when the cache has the document.

        Raises:
            DocumentError: No such file, a folder, not a PDF, encrypted, damaged, without pages.
            ConfigurationError: PyMuPDF (or, for `layout`, its layout model) is not installed.
            InputError: `source`, `headings` or `doc_id` is none of what they may be.
        """
        _check_name("doc_id", doc_id)
        from arbiter_rag.document.pdf import parse_pdf

        document = parse_pdf(
            source, password=password, headings=headings, doc_id=doc_id, cache_dir=cache_dir, progress=progress
        )
        document.source = Path(source) if isinstance(source, str | Path) else None
        return document

    @classmethod
    def from_frames(
        cls,
        line_df: pd.DataFrame,
        toc_df: pd.DataFrame | None = None,
        doc_id: str | None = None,
        name: str | None = None,
    ) -> ParsedDocument:
        """Take the tables of anyone's own parser; they are copied, never changed.

        Args:
            line_df: One row a line: page, line (1-based, at most 1,000,000 each), text; optional x0, y0, x1, y1,
                font_size (NaN: unknown), bold, furniture (True or False). At most 100,000 pages may be left out.
            toc_df: One row a heading: level (1 is the top), title, page; optional line (of the heading) and number.
            doc_id: By default made from pages, lines, texts and `toc_df`: the same content has the same id.
            name: For a person; by default the `doc_id`.

        Raises:
            InputError: A column is missing, doubled or holds the wrong values.
        """
        _check_name("doc_id", doc_id)
        _check_name("name", name)
        from arbiter_rag.document.frames import parse_frames

        return parse_frames(line_df, toc_df, doc_id=doc_id, name=name)

    def __repr__(self) -> str:
        return (
            f"ParsedDocument({self.name!r}, pages={self.profile.pages}, lines={len(self.line_df)}, "
            f"sections={len(self.sections)}, headings={self.profile.headings!r})"
        )

    def __len__(self) -> int:
        """Number of lines."""
        return len(self.line_df)

    # Plain tuples and arrays: pandas row access is a thousand times slower, and every question walks these.

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Text of each row."""
        return tuple(self.line_df["text"].tolist())

    @cached_property
    def pages(self) -> tuple[int, ...]:
        """1-based page of each row."""
        return tuple(self.line_df["page"].tolist())

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """1-based line within its page of each row."""
        return tuple(self.line_df["line"].tolist())

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Page and line of each row; the lines of a caller's frames may have gaps."""
        return tuple(zip(self.pages, self.lines, strict=True))

    @cached_property
    def furniture(self) -> tuple[bool, ...]:
        """Whether each row is a running header, footer or page number."""
        return tuple(self.line_df["furniture"].tolist())

    @cached_property
    def _page_starts(self) -> np.ndarray:
        pages = self.line_df["page"].to_numpy()
        return np.searchsorted(pages, np.arange(1, self.profile.pages + 2))

    def page_rows(self, page: int) -> tuple[int, int]:
        """Rows (start, end) of a 1-based page; end is exclusive, both are equal for a page without lines."""
        return int(self._page_starts[page - 1]), int(self._page_starts[page])

    @cached_property
    def section_index(self) -> tuple[int, ...]:
        """Position in `sections` of the section each row belongs to (the deepest whose heading stands above it)."""
        at = {s.section_id: i for i, s in enumerate(self.sections)}
        return tuple(at[s] for s in self.line_df["section_id"].tolist())

    def section_of(self, row: int) -> Section:
        """The section a row belongs to."""
        return self.sections[self.section_index[row]]

    @cached_property
    def page_labels(self) -> tuple[str, ...]:
        """Printed label of each page, in order."""
        return tuple(self.page_df["page_label"].tolist())

    def scope(self, start: int, end: int) -> CandidateScope:
        """The rows from `start` up to and without `end` as pages and lines."""
        last = max(start, end - 1)
        return CandidateScope(
            doc_id=self.doc_id,
            page_start=self.pages[start],
            page_end=self.pages[last],
            line_start=self.lines[start],
            line_end=self.lines[last],
            section_id=self.section_of(start).section_id,
        )

    def rows(self, scope: CandidateScope) -> tuple[int, int]:
        """Rows (start, exclusive end) of a scope of this document."""
        return (
            bisect_left(self._places, (scope.page_start, scope.line_start)),
            bisect_right(self._places, (scope.page_end, scope.line_end)),
        )

    def text(self, start: int, end: int) -> str:
        """Text of the rows from `start` up to and without `end`, a line each."""
        return "\n".join(self.texts[start:end])

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """One box a row; empty when the document has no coordinates."""
        part = self.coordinates[start:end]
        if np.isnan(part).any():
            return ()
        return tuple(
            Box(page=page, x0=x0, y0=y0, x1=x1, y1=y1)
            for page, (x0, y0, x1, y1) in zip(self.pages[start:end], part.tolist(), strict=True)
        )

    @cached_property
    def coordinates(self) -> np.ndarray:
        """x0, y0, x1, y1 of each row: a table is slow to be asked for single rows."""
        return self.line_df[["x0", "y0", "x1", "y1"]].to_numpy(dtype=np.float64)

    @property
    def ref(self) -> DocumentRef:
        """What results say about this document."""
        return DocumentRef(doc_id=self.doc_id, name=self.name, sha256=self.sha256, pages=self.profile.pages)
