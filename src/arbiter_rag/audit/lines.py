"""Which lines of a document a decision rests on, and a document made of nothing but these."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from arbiter_rag.audit.record import LineRun, RecordedLines
from arbiter_rag.contract import Box, Brief, CandidateScope, QuoteScope, RetrievalResult
from arbiter_rag.document import DocumentProfile, ParsedDocument, Section

REACH = 80
"""Characters around a context that settling may read."""

Place = tuple[int, int]


def read_lines(
    documents: Mapping[str, ParsedDocument], brief: Brief, result: RetrievalResult | None
) -> tuple[RecordedLines, ...]:
    """What settling read of each document."""
    scopes = _quote_scopes(result)
    return tuple(
        RecordedLines(
            doc_id=doc_id,
            headings=document.profile.headings,
            runs=tuple(_runs(document, _rows(document, brief))),
            boxes=_boxes(document, [s for s in scopes if s.doc_id == doc_id]),
        )
        for doc_id, document in documents.items()
    )


def _rows(document: ParsedDocument, brief: Brief) -> list[int]:
    rows: set[int] = set()
    for candidate in brief.candidates:
        if candidate.doc_id == document.doc_id and candidate.context is not None:
            rows.update(_around(document, *document.rows(candidate.context)))
            for line in candidate.snippet_lines:
                if line.page is not None and line.line is not None:
                    row = _row(document, line.page, line.line)
                    if row not in rows:
                        rows.update(_around(document, row, row + 1))
    return sorted(rows)


def _row(document: ParsedDocument, page: int, line: int) -> int:
    start, end = document.page_rows(page)
    return bisect_left(document.lines, line, start, end)


def _around(document: ParsedDocument, start: int, end: int) -> range:
    """The rows, and as many before and behind them as settling may look at."""
    texts = document.texts
    low, room = start, REACH
    while low > 0 and room > 0:
        low -= 1
        room -= len(texts[low]) + 1
    high, room = end, REACH
    while high < len(texts) and room > 0:
        room -= len(texts[high]) + 1
        high += 1
    return range(low, high)


def _runs(document: ParsedDocument, rows: Sequence[int]) -> Iterable[LineRun]:
    run: list[int] = []
    for row in rows:
        follows = run and row == run[-1] + 1 and document.pages[row] == document.pages[run[-1]]
        if follows and document.lines[row] == document.lines[run[-1]] + 1:
            run.append(row)
            continue
        if run:
            yield _run(document, run)
        run = [row]
    if run:
        yield _run(document, run)


def _run(document: ParsedDocument, rows: Sequence[int]) -> LineRun:
    return LineRun.model_construct(
        page=document.pages[rows[0]],
        line=document.lines[rows[0]],
        texts=document.texts[rows[0] : rows[-1] + 1],
        furniture=tuple(i for i, row in enumerate(rows) if document.furniture[row]),
    )


def _quote_scopes(result: RetrievalResult | None) -> list[QuoteScope]:
    if result is None:
        return []
    quoted = [c.quote_scope for c in (*result.candidates, *result.discarded, *result.unjudged)]
    quoted += [side.quote_scope for conflict in result.conflicts for side in conflict.sides]
    return [scope for scope in quoted if scope is not None]


def _boxes(
    document: ParsedDocument, scopes: Iterable[QuoteScope]
) -> tuple[tuple[int, int, float, float, float, float], ...]:
    found: dict[Place, Box] = {}
    for scope in scopes:
        if not scope.boxes or scope.page_start is None or scope.line_start is None:
            continue
        start = _row(document, scope.page_start, scope.line_start)
        end = _row(document, scope.page_end or scope.page_start, scope.line_end or scope.line_start) + 1
        # One box a line; a quote over lines that do not follow one another has fewer, and then all are looked up.
        boxes = scope.boxes if len(scope.boxes) == end - start else document.boxes(start, end)
        for row, box in zip(range(start, end), boxes, strict=False):
            found[document.pages[row], document.lines[row]] = box
    return tuple(
        (page, line, _short(b.x0), _short(b.y0), _short(b.x1), _short(b.y1))
        for (page, line), b in sorted(found.items())
    )


def _short(value: float) -> float:
    """A coordinate, which is a 32-bit float, in the fewest digits that mean the same one."""
    return float(str(np.float32(value)))


def text_of(lines: RecordedLines, scope: CandidateScope) -> str:
    """The text of a context: its lines without running headers and footers."""
    texts: list[str] = []
    for run in lines.runs:
        if not scope.page_start <= run.page <= scope.page_end:
            continue
        low = max(0, scope.line_start - run.line) if run.page == scope.page_start else 0
        high = max(0, scope.line_end + 1 - run.line) if run.page == scope.page_end else len(run.texts)
        if run.furniture:
            texts += [text for i, text in enumerate(run.texts[:high]) if i >= low and i not in run.furniture]
        else:
            texts += run.texts[low:high]
    return "\n".join(texts)


def document_of(lines: RecordedLines, name: str, pages: int) -> ParsedDocument:
    """A document that has these lines where they stand, and nothing else but empty lines before them on their pages."""
    rows: list[tuple[int, int, str, bool]] = []
    for run in lines.runs:
        at = rows[-1][1] if rows and rows[-1][0] == run.page else 0
        rows += [(run.page, line, "", False) for line in range(at + 1, run.line)]
        rows += [(run.page, run.line + i, text, i in run.furniture) for i, text in enumerate(run.texts)]
    boxes = {(page, line): values for page, line, *values in lines.boxes}
    nowhere = [float("nan")] * 4
    where = np.array([boxes.get((page, line), nowhere) for page, line, *_ in rows], dtype=np.float32).reshape(-1, 4)
    line_df = pd.DataFrame(rows, columns=["page", "line", "text", "furniture"])
    line_df[["x0", "y0", "x1", "y1"]] = where
    line_df["section_id"] = "front"
    return ParsedDocument(
        doc_id=lines.doc_id,
        name=name,
        sha256=None,
        line_df=line_df,
        page_df=pd.DataFrame({"page_label": [str(p) for p in range(1, pages + 1)]}),
        toc_df=pd.DataFrame(),
        sections=(Section("front", 0, None, "", "", "", "none", 0, len(rows), len(rows)),),
        profile=DocumentProfile(pages=pages),
    )
