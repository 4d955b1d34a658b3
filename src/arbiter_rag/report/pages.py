"""Pictures of pages with boxes on them: PyMuPDF renders where the file is at hand, else the lines are drawn as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from arbiter_rag.contract import Box, RetrievedCandidate
from arbiter_rag.document import ParsedDocument
from arbiter_rag.document.mupdf import pymupdf as library
from arbiter_rag.errors import ConfigurationError

DPI = 90
MOST = 12
"""Pages that are drawn: a report is read, and sent by mail."""

_PAD = 1.5


@dataclass(frozen=True, slots=True)
class Rect:
    """A box on a page as drawn, in points."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line drawn as text where there is no picture."""

    text: str
    x: float
    y: float
    width: float
    size: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its picture as a data URI, or its lines."""

    key: str
    width: float
    height: float
    image: str | None = None
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """One candidate's page with its boxes."""

    sheet: Sheet
    page: int
    label: str
    document: str
    anchor: tuple[Rect, ...]
    quote: tuple[Rect, ...]


@dataclass(slots=True)
class Gallery:
    """The pages of a report, each drawn once.

    Attributes:
        documents: By doc_id.
        password: Of encrypted files.
        sheets: What was drawn.
        left_out: How many views there was no room for.
    """

    documents: Mapping[str, ParsedDocument]
    password: str | None = None
    sheets: dict[tuple[str, int], Sheet] = field(default_factory=dict)
    left_out: int = 0
    _files: dict[str, Any] = field(default_factory=dict)
    _turns: dict[tuple[str, int], Any] = field(default_factory=dict)

    def views(self, candidate: RetrievedCandidate) -> list[View]:
        """The page where the candidate's anchor begins and, where it is another one, the page of its quote."""
        document = self.documents.get(candidate.doc_id or "")
        if document is None or candidate.anchor is None:
            return []
        start, end = document.rows(candidate.anchor)
        anchor = document.boxes(start, end)
        quote = candidate.quote_scope.boxes if candidate.quote_scope else ()
        pages = dict.fromkeys([candidate.anchor.page_start, *(box.page for box in quote)])
        return [view for page in pages if (view := self._view(document, page, anchor, quote)) is not None]

    def _view(self, document: ParsedDocument, page: int, anchor: Iterable[Box], quote: Iterable[Box]) -> View | None:
        sheet = self.sheets.get((document.doc_id, page))
        if sheet is None:
            if len(self.sheets) >= MOST:
                self.left_out += 1
                return None
            sheet = self._sheet(document, page)
            if sheet is None:
                return None
            self.sheets[document.doc_id, page] = sheet
        turn = self._turns.get((document.doc_id, page))
        return View(
            sheet=sheet,
            page=page,
            label=document.page_labels[page - 1],
            document=document.name,
            anchor=_outline([b for b in anchor if b.page == page], turn),
            quote=tuple(_rect(b, turn) for b in quote if b.page == page),
        )

    def _sheet(self, document: ParsedDocument, page: int) -> Sheet | None:
        key = f"sheet-{len(self.sheets) + 1}"
        file = self._file(document)
        if file is not None:
            shown = file[page - 1]
            self._turns[document.doc_id, page] = shown.rotation_matrix if shown.rotation else None
            picture = shown.get_pixmap(dpi=DPI, alpha=False)
            forms = {"png": picture.tobytes("png"), "jpeg": picture.tobytes("jpeg", jpg_quality=70)}
            form = min(forms, key=lambda name: len(forms[name]))
            data = base64.b64encode(forms[form]).decode()
            return Sheet(key, shown.rect.width, shown.rect.height, image=f"data:image/{form};base64,{data}")
        return _drawn(document, page, key)

    def _file(self, document: ParsedDocument) -> Any:
        """The document's open file, or None: it is not known, cannot be opened, or is not what was parsed."""
        if document.doc_id not in self._files:
            self._files[document.doc_id] = _opened(document, self.password)
        return self._files[document.doc_id]

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            if file is not None:
                file.close()


def _opened(document: ParsedDocument, password: str | None) -> Any:
    path: Path | None = document.source
    if path is None or document.sha256 is None:
        return None
    try:
        pymupdf = library()
    except ConfigurationError:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != document.sha256:
        return None
    file = pymupdf.open(stream=data, filetype="pdf")
    if file.needs_pass and not file.authenticate(password or ""):
        file.close()
        return None
    return file


def _drawn(document: ParsedDocument, page: int, key: str) -> Sheet | None:
    """A page made of its lines, where these have coordinates."""
    start, end = document.page_rows(page)
    boxes = document.boxes(start, end)
    if not boxes:
        return None
    row = document.page_df.iloc[page - 1]
    right, bottom = max(b.x1 for b in boxes), max(b.y1 for b in boxes)
    width, height = (float(row.get(name, 0.0)) for name in ("width", "height"))
    lines = tuple(
        Line(text.replace("\t", "   "), b.x0, b.y1 - 0.2 * (b.y1 - b.y0), b.x1 - b.x0, 0.8 * (b.y1 - b.y0))
        for text, b in zip(document.texts[start:end], boxes, strict=True)
    )
    return Sheet(key, width if width > 0 else right + 36, height if height > 0 else bottom + 36, lines=lines)


def _rect(box: Box, turn: Any) -> Rect:
    x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    if turn is not None:  # coordinates are those of the page before it was turned
        x0, y0, x1, y1 = library().Rect(x0, y0, x1, y1) * turn
    return Rect(round(x0, 2), round(y0, 2), round(x1 - x0, 2), round(y1 - y0, 2))


def _outline(boxes: list[Box], turn: Any) -> tuple[Rect, ...]:
    """One frame around lines that stand under one another; a new one where a column ends."""
    if not boxes:
        return ()
    groups: list[list[Box]] = [[boxes[0]]]
    for before, box in pairwise(boxes):
        if box.y0 >= before.y0 - 1 and box.x0 < before.x1 + 40 and before.x0 < box.x1 + 40:
            groups[-1].append(box)
        else:
            groups.append([box])
    return tuple(
        _rect(
            Box(
                page=group[0].page,
                x0=min(b.x0 for b in group) - _PAD,
                y0=min(b.y0 for b in group) - _PAD,
                x1=max(b.x1 for b in group) + _PAD,
                y1=max(b.y1 for b in group) + _PAD,
            ),
            turn,
        )
        for group in groups
    )
