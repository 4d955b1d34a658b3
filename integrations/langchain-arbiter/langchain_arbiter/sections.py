"""A parsed document as LangChain documents: one an own section, long ones split at the ends of paragraphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from arbiter_rag import ParsedDocument

MAX_CHARS = 4_000

_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "；")
_GAP = 0.6
"""White space between two lines, in line heights, from which a new paragraph begins."""


@dataclass(frozen=True, slots=True)
class Part:
    """A section, or a part of one: its document, and the rows that it covers (`end` exclusive)."""

    document: Document
    start: int
    end: int


def parts_of(parsed: ParsedDocument, source: str, max_chars: int = MAX_CHARS) -> list[Part]:
    """Every line of the document that is no running header or footer, once, in reading order."""
    parts: list[Part] = []
    bounds = parsed.line_df[["y0", "y1"]].to_numpy(dtype=np.float64)
    for section in parsed.sections:
        pieces = _pieces(parsed, bounds, section.start, section.own_end, max_chars)
        for n, (text, start, end) in enumerate(pieces, 1):
            page = parsed.pages[start]
            document = Document(
                page_content=text,
                id=f"{parsed.doc_id}:{section.section_id}" + (f".{n}" if len(pieces) > 1 else ""),
                metadata={
                    "source": source,
                    "page": page - 1,
                    "page_label": parsed.page_labels[page - 1],
                    "section": section.title,
                    "breadcrumb": section.breadcrumb,
                    "part": n,
                    "parts": len(pieces),
                },
            )
            parts.append(Part(document, start, end))
    return parts


def _pieces(
    parsed: ParsedDocument, bounds: NDArray[np.float64], start: int, end: int, max_chars: int
) -> list[tuple[str, int, int]]:
    """(text, first row, row behind the last) of a section's pieces, each of at most `max_chars` characters."""
    rows = [row for row in range(start, end) if not parsed.furniture[row] and parsed.texts[row].strip()]
    pieces: list[tuple[str, int, int]] = []
    while rows:
        take, size = 0, -1
        while take < len(rows) and size + 1 + len(parsed.texts[rows[take]]) <= max_chars:
            size += 1 + len(parsed.texts[rows[take]])
            take += 1
        if take == 0:  # one line longer than a part may be: tables of others' parsers hold such
            pieces += [(piece, rows[0], rows[0] + 1) for piece in _cut(parsed.texts[rows[0]], max_chars)]
            rows = rows[1:]
            continue
        if take < len(rows):
            take = _paragraph_end(parsed, bounds, rows, take)
        pieces.append(("\n".join(parsed.texts[row] for row in rows[:take]), rows[0], rows[take - 1] + 1))
        rows = rows[take:]
    return pieces


def _paragraph_end(parsed: ParsedDocument, bounds: NDArray[np.float64], rows: list[int], most: int) -> int:
    """How many rows to take: up to the last end of a paragraph in the second half, else of a sentence, else `most`."""
    half = range(most, most // 2, -1)
    for take in half:
        row, following = rows[take - 1], rows[take]
        height, gap = bounds[row, 1] - bounds[row, 0], bounds[following, 0] - bounds[row, 1]
        if parsed.pages[row] == parsed.pages[following] and gap > _GAP * height:
            return take
    return next((take for take in half if parsed.texts[rows[take - 1]].rstrip().endswith(_ENDS)), most)


def _cut(text: str, max_chars: int) -> list[str]:
    """A single line in pieces, at spaces where there are any."""
    pieces: list[str] = []
    while len(text) > max_chars:
        at = text.rfind(" ", max_chars // 2, max_chars) + 1 or max_chars
        pieces.append(text[:at].rstrip())
        text = text[at:]
    return [*pieces, text] if text.strip() else pieces
