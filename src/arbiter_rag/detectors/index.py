"""What is computed once a document so that a question costs milliseconds: terms by row, windows, pages, titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.detectors.bm25 import Bm25
from arbiter_rag.document import ParsedDocument
from arbiter_rag.language import Analyzer, analyzer, detect_language

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 12
STRIDE = 6
NAME_GAP = 3
"""Words of a name follow one another within this many terms ("Bank of the West")."""

SHORTEST = 4
"""Windows are 12 lines, one every 6, inside one section; a rest under 4 lines joins the window before it."""

_HYPHENS = ("-", "\u00ad", "\u2010")
_APPARATUS = re.compile(
    r"(?<!\.)(?:\.\s?){4,}+[0-9ivxlc]{0,6}\s*+$"  # dot leaders
    r"|\D\t\s*[0-9ivxlc]{1,5}\s*$"  # a title, a gap and a page number
    r"|\D, ?\d{1,3}(?:[-–]\d{1,3})?(?:, ?\d{1,3}(?:[-–]\d{1,3})?)*\s*$"  # entry, 12, 15-17
    r"|^\s*\[\d{1,3}\]\s+\D"  # [12] Author
    r"|\barXiv(?: preprint)?[: ]|\bdoi(?:\.org|:)|\bet al\.,? (?:19|20)\d\d\b|\bpp?\. ?\d+[-–]\d+"
    r"|\b(?:Proceedings|Conference|Journal|Transactions) (?:of|on)\b.*\b(?:19|20)\d\d\b"
)
# Each of these holds a figure, a cell or dots; most lines of prose hold none and need not be looked at closely.
_MARKED = re.compile(r"[0-9\t]|\.\s?\.")
_REFERENCE = re.compile(r"^\s*\[\d{1,3}\]\s+\D")
REFERENCE_LINES = 6
"""Most lines of one numbered reference."""

_FIRST_WORD = re.compile(r"^(\w+)")


@dataclass(frozen=True, slots=True)
class Title:
    """One section's title as terms: `terms` of the title itself, `path` of it and its parents, `number` folded."""

    terms: frozenset[int]
    path: frozenset[int]
    content: int
    number: str


class DocumentIndex:
    """A document's terms, as arrays.

    Attributes:
        document: The document.
        language: Its main language, ISO 639-1 or `und`.
        analyzer: What made the terms; questions must be analysed with the same.
        vocabulary: Term -> id.
        row_ptr, row_terms: Terms of row r are `row_terms[row_ptr[r]:row_ptr[r + 1]]` (none for furniture).
        row_frequency: On how many rows each term stands, a page's headers counted as one row, shape (terms,).
        starts, ends: Rows of each window, `ends` exclusive.
        window_pages: 0-based page on which each window begins.
        headers: Terms of each page's running header and footer, which often name the chapter; never shown.
        windows: BM25 over windows; a window also holds the terms of its section's path and of its page's headers, as
            a heading stands for all that is under it.
        by_page: BM25 over whole pages with their headers.
        apparatus: Whether each row looks like a line of a table of contents, an index or a list of references: such
            lines name what stands elsewhere.
        titles: One `Title` a section, in the document's order.
    """

    def __init__(self, document: ParsedDocument) -> None:
        self.document = document
        self.language = detect_language(_sample(document))
        self.analyzer: Analyzer = analyzer(self.language)
        self.vocabulary: dict[str, int] = {}
        self.row_ptr, self.row_terms = self._row_terms()
        self.titles = tuple(self._title(i) for i in range(len(document.sections)))
        self.headers = self._headers()
        self.starts, self.ends = _windows(document)
        owners = np.repeat(np.arange(len(document)), np.diff(self.row_ptr))
        pairs = np.unique(self.row_terms * max(len(document), 1) + owners)
        in_headers = [t for header in self.headers for t in header]
        self.row_frequency = np.bincount(pairs // max(len(document), 1), minlength=len(self.vocabulary))
        self.row_frequency += np.bincount(np.asarray(in_headers, dtype=np.int64), minlength=len(self.vocabulary))
        self.apparatus = _apparatus(document.texts)
        self.window_pages = np.asarray(document.pages, dtype=np.int64)[self.starts] - 1
        self.windows = self._window_model()
        self.by_page = self._page_model()

    def ids(self, text: str) -> list[int]:
        """Ids of the text's terms that occur in the document, in order; a term that does not occur gives -1."""
        return [self.vocabulary.get(term, -1) for term in self.analyzer.terms(text)]

    def parts(self, text: str) -> list[int]:
        """Like `ids`, without a compound whose parts follow it: "long-term" is "long" and "term", as "long term" is."""
        tokens = self.analyzer.tokens(text)
        return [
            self.vocabulary.get(token.term, -1)
            for token, following in zip(tokens, [*tokens[1:], None], strict=True)
            if following is None or following.start >= token.end
        ]

    def rows_naming(self, name: str, ids: Sequence[int]) -> int:
        """On how many rows a name stands: its terms one after the other or, shortened, its first word as a name."""
        if len(ids) == 1:
            return int(self.row_frequency[ids[0]]) if ids[0] >= 0 else 0
        if -1 not in ids:
            rarest = min(ids, key=lambda i: int(self.row_frequency[i]))
            whole = sum(_in_order(ids, self._terms_around(row)) for row in self._rows_of(rarest))
            whole += sum(header.issuperset(ids) for header in self.headers)
            if whole:
                return whole
        return sum(_as_name(name.split()[0], self.document.texts[row]) for row in self._rows_of(ids[0]))

    def _rows_of(self, term: int) -> list[int]:
        at = np.flatnonzero(self.row_terms == term)
        rows: list[int] = np.unique(np.searchsorted(self.row_ptr, at, side="right") - 1).tolist()
        return rows

    def _terms_around(self, row: int) -> list[int]:
        """Terms of a row and, as a name may break over a line's end, of the next one."""
        end = min(row + 2, len(self.row_ptr) - 1)
        terms: list[int] = self.row_terms[self.row_ptr[max(0, row - 1)] : self.row_ptr[end]].tolist()
        return terms

    def _intern(self, text: str) -> list[int]:
        vocabulary = self.vocabulary
        return [vocabulary.setdefault(term, len(vocabulary)) for term in self.analyzer.terms(text)]

    def _row_terms(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        flat: list[int] = []
        ptr = [0]
        texts, furniture = self.document.texts, self.document.furniture
        for row, text in enumerate(texts):
            if not furniture[row]:
                flat.extend(self._intern(text))
                joined = _joined_word(text, texts[row + 1]) if row + 1 < len(texts) else None
                if joined:
                    flat.extend(self._intern(joined))
            ptr.append(len(flat))
        return np.asarray(ptr, dtype=np.int64), np.asarray(flat, dtype=np.int64)

    def _headers(self) -> tuple[frozenset[int], ...]:
        document = self.document
        found: list[set[int]] = [set() for _ in range(document.profile.pages)]
        for row in np.flatnonzero(document.furniture).tolist():
            words = (t for t in self.analyzer.tokens(document.texts[row]) if not t.surface.isdecimal())
            found[document.pages[row] - 1].update(
                self.vocabulary.setdefault(t.term, len(self.vocabulary)) for t in words
            )
        return tuple(frozenset(terms) for terms in found)

    def governing(self, row: int, wanted: frozenset[int] | None = None) -> frozenset[int]:
        """Terms (of `wanted`, when given) of what stands over a row: its section's path and its page's header."""
        path = self.titles[self.document.section_index[row]].path
        header = self.headers[self.document.pages[row] - 1]
        return path | header if wanted is None else (wanted & path) | (wanted & header)

    def _title(self, position: int) -> Title:
        section = self.document.sections[position]
        terms = frozenset(self._intern(section.title))
        content = sum(1 for t in self.analyzer.tokens(section.title) if not self.analyzer.is_stop(t.term))
        return Title(terms, frozenset(self._intern(section.breadcrumb)) | terms, content, section.number.casefold())

    def _window_model(self) -> Bm25:
        lengths = self.row_ptr[self.ends] - self.row_ptr[self.starts]
        total = int(lengths.sum())
        # Token t of window w sits at row_ptr[starts[w]] + (t - first token of w): all windows' tokens without a loop.
        owner = np.repeat(np.arange(len(self.starts)), lengths)
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat(self.row_ptr[self.starts], lengths) + (np.arange(total) - first)
        paths = [self.governing(s) for s in self.starts.tolist()]
        path_terms = [t for path in paths for t in sorted(path)]
        path_owner = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
        terms = np.concatenate([self.row_terms[at], np.asarray(path_terms, dtype=np.int64)])
        return Bm25(terms, np.concatenate([owner, path_owner]), len(self.vocabulary), len(self.starts))

    def _page_model(self) -> Bm25:
        pages = np.asarray(self.document.pages, dtype=np.int64) - 1
        owner = np.repeat(pages, np.diff(self.row_ptr)) if len(pages) else np.empty(0, dtype=np.int64)
        headers = np.asarray([t for terms in self.headers for t in sorted(terms)], dtype=np.int64)
        header_owner = np.repeat(np.arange(len(self.headers)), [len(terms) for terms in self.headers])
        terms, owners = np.concatenate([self.row_terms, headers]), np.concatenate([owner, header_owner])
        return Bm25(terms, owners, len(self.vocabulary), self.document.profile.pages)


def _apparatus(texts: Sequence[str]) -> tuple[bool, ...]:
    flags = [_MARKED.search(text) is not None and _APPARATUS.search(text) is not None for text in texts]
    before = None
    for row, text in enumerate(texts):
        if _REFERENCE.match(text):
            # What stands between two numbered references belongs to the first of them.
            if before is not None and row - before <= REFERENCE_LINES:
                flags[before:row] = [True] * (row - before)
            before = row
    return tuple(flags)


def _as_name(word: str, text: str) -> bool:
    """Whether a word stands in a line as a name does: with a capital, though nothing begins there."""
    return any(m.group()[0].isupper() for m in re.finditer(rf"(?<=\S )\b{re.escape(word)}\b", text, re.IGNORECASE))


def _in_order(ids: Sequence[int], terms: Sequence[int]) -> bool:
    starts = (i for i, term in enumerate(terms) if term == ids[0])
    return any(_follows(ids, terms, start) for start in starts)


def _follows(ids: Sequence[int], terms: Sequence[int], start: int) -> bool:
    at = start
    for wanted in ids[1:]:
        window = terms[at + 1 : at + 1 + NAME_GAP]
        if wanted not in window:
            return False
        at += 1 + window.index(wanted)
    return True


def _joined_word(text: str, following: str) -> str | None:
    """The word that a hyphen at the line's end splits, put together again."""
    line = text.rstrip()
    if not line.endswith(_HYPHENS):
        return None
    # Backwards, character by character: a search for the word would begin anew at each letter of a very long one.
    start = end = len(line) - 1
    while start and _is_word(line[start - 1]):
        start -= 1
    tail = _FIRST_WORD.match(following) if start < end else None
    return line[start:end] + tail.group(1) if tail else None


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _sample(document: ParsedDocument, rows: int = 400) -> str:
    """Text from all over the document, enough to tell its language."""
    kept = [i for i, f in enumerate(document.furniture) if not f]
    step = max(1, len(kept) // rows)
    return "\n".join(document.texts[i] for i in kept[::step])


def _windows(document: ParsedDocument) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts: list[int] = []
    ends: list[int] = []
    for section in document.sections:
        start, stop = section.start, section.own_end
        while start < stop:
            # At most one page break: what stands three slides apart is no passage.
            _, over = document.page_rows(min(document.pages[start] + 1, document.profile.pages))
            end = min(start + WINDOW, stop)
            if stop - end < SHORTEST:
                end = stop
            end = min(end, max(over, start + 1))
            starts.append(start)
            ends.append(end)
            if end == stop:
                break
            start = min(start + STRIDE, end)
    order = np.lexsort((np.asarray(ends), np.asarray(starts))) if starts else np.empty(0, dtype=np.int64)
    return np.asarray(starts, dtype=np.int64)[order], np.asarray(ends, dtype=np.int64)[order]


def index_of(document: ParsedDocument) -> DocumentIndex:
    """The document's index, built at most once, whichever threads ask."""
    return document.derived("index", DocumentIndex)
