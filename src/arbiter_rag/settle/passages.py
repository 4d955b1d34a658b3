"""The texts a quote is looked for in: what was shown and the context behind it, each character tied to its line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from arbiter_rag.contract import Box, Candidate, QuoteScope, SnippetLine
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.settle.folding import Folded, fold

_REACH = 200
"""Characters around a place that decide whether a quote may begin or end there: a long clause."""


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of one origin: a document's rows, a context's lines, or a passage's text as a single line.

    Attributes:
        doc_id: The document, where there is one.
        texts: The lines.
        places: (page, line) of each; empty when they have none. None where a page is unknown.
        document: For boxes.
    """

    doc_id: str | None
    texts: Sequence[str]
    pages: Sequence[int | None] = ()
    lines: Sequence[int | None] = ()
    document: ParsedDocument | None = None

    def before(self, line: int, offset: int) -> str:
        """The text just before a place, reaching into earlier lines."""
        text = self.texts[line][max(0, offset - _REACH) : offset]
        while len(text) < _REACH and line > 0:
            line -= 1
            text = self.texts[line][-_REACH:] + "\n" + text
        return text

    def after(self, line: int, offset: int) -> str:
        """The text just behind a place, reaching into later lines."""
        text = self.texts[line][offset : offset + _REACH]
        while len(text) < _REACH and line + 1 < len(self.texts):
            line += 1
            text += "\n" + self.texts[line][:_REACH]
        return text

    def boxes(self, lines: Sequence[int]) -> tuple[Box, ...]:
        """One box a line, where the document has coordinates."""
        if self.document is None:
            return ()
        return tuple(box for line in lines for box in self.document.boxes(line, line + 1))


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one source line."""

    source: Source
    line: int
    start: int
    text: str


@dataclass(frozen=True)
class SearchText:
    """Pieces joined by line breaks; built once, folded when first needed."""

    pieces: tuple[Piece, ...]
    offsets: tuple[int, ...] = field(init=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        at, offsets = 0, []
        for piece in self.pieces:
            offsets.append(at)
            at += len(piece.text) + 1
        object.__setattr__(self, "offsets", tuple(offsets))
        object.__setattr__(self, "text", "\n".join(p.text for p in self.pieces))

    @cached_property
    def folded(self) -> Folded:
        """The text folded for comparison."""
        return fold(self.text)

    def around(self, start: int, end: int) -> tuple[str, str]:
        """What stands in the source just before `start` and just behind `end`."""
        first, last = self._piece(start), self._piece(end - 1)
        p, q = self.pieces[first], self.pieces[last]
        before = p.source.before(p.line, p.start + start - self.offsets[first])
        after = q.source.after(q.line, q.start + end - self.offsets[last])
        return before, after

    def scope(self, start: int, end: int) -> QuoteScope:
        """Where the characters from `start` up to and without `end` stand."""
        first, last = self._piece(start), self._piece(end - 1)
        p, q = self.pieces[first], self.pieces[last]
        source = p.source
        rows = [piece.line for piece in self.pieces[first : last + 1]]
        return QuoteScope(
            doc_id=source.doc_id,
            page_start=source.pages[p.line] if source.pages else None,
            page_end=source.pages[q.line] if source.pages else None,
            line_start=source.lines[p.line] if source.lines else None,
            line_end=source.lines[q.line] if source.lines else None,
            char_start=p.start + start - self.offsets[first],
            char_end=q.start + end - self.offsets[last],
            boxes=source.boxes(rows),
        )

    def _piece(self, at: int) -> int:
        return bisect_right(self.offsets, at) - 1


def search_texts(candidate: Candidate, documents: Mapping[str, ParsedDocument]) -> tuple[SearchText, ...]:
    """The snippet as shown and the context of a candidate; empty for one without any text."""
    document = documents.get(candidate.doc_id) if candidate.doc_id is not None else None
    context = _context(candidate, document)
    texts = (SearchText(_shown(candidate, document, context)), SearchText(context))
    return tuple(t for t in texts if t.text.strip())


def _context(candidate: Candidate, document: ParsedDocument | None) -> tuple[Piece, ...]:
    scope = candidate.context
    if document is not None and scope is not None:
        source = Source(document.doc_id, document.texts, document.pages, document.lines, document)
        start, end = document.rows(scope)
        return tuple(Piece(source, row, 0, document.texts[row]) for row in range(start, end))
    if scope is None:
        source = Source(candidate.doc_id, (candidate.text,))
        return (Piece(source, 0, 0, candidate.text),) if candidate.text else ()
    texts = candidate.text.split("\n")
    # Without the document only a context within one page says which line is which.
    known = scope.page_start == scope.page_end
    source = Source(
        candidate.doc_id,
        texts,
        [scope.page_start if known else None] * len(texts),
        [scope.line_start + i if known else None for i in range(len(texts))],
    )
    return tuple(Piece(source, i, 0, text) for i, text in enumerate(texts))


def _shown(candidate: Candidate, document: ParsedDocument | None, context: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The snippet's lines tied to their source; a line that is not where it says it is stands for itself."""
    own = Source(
        candidate.doc_id,
        [line.text for line in candidate.snippet_lines],
        [line.page for line in candidate.snippet_lines],
        [line.line for line in candidate.snippet_lines],
    )
    pieces: list[Piece] = []
    for i, line in enumerate(candidate.snippet_lines):
        source, row = own, i
        row_in_document = _row(document, line)
        if document is not None and row_in_document is not None:
            source = Source(document.doc_id, document.texts, document.pages, document.lines, document)
            row = row_in_document
        elif line.page is None and context and candidate.context is None:
            source, row = context[0].source, 0
        start, text = line.start, line.text
        if source is not own and source.texts[row][start : start + len(text)] != text:
            source, row, start = own, i, 0
        pieces.append(Piece(source, row, start, text))
    return tuple(pieces)


def _row(document: ParsedDocument | None, line: SnippetLine) -> int | None:
    if document is None or line.page is None or line.line is None or not 1 <= line.page <= document.profile.pages:
        return None
    start, end = document.page_rows(line.page)
    row = start + line.line - 1
    return row if start <= row < end else None
