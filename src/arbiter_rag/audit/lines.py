"""Which lines of a document a decision rests on, and a document made of nothing but these."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from arbiter_rag.audit.record import LineRun, RecordedLines
from arbiter_rag.contract import Brief, CandidateScope, QuoteScope, RetrievalResult
from arbiter_rag.document import DocumentProfile, ParsedDocument, Section

REACH = 80
"""Characters around a context that settling may read."""


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


def _rows(document: ParsedDocument, brief: Brief) -> list[tuple[int, int]]:
    """Rows (start, exclusive end) in order, none twice."""
    wanted: list[tuple[int, int]] = []
    for candidate in brief.candidates:
        if candidate.doc_id != document.doc_id or candidate.context is None:
            continue
        context = document.rows(candidate.context)
        wanted.append(_around(document, *context))
        for line in candidate.snippet_lines:
            if line.page is not None and line.line is not None:
                row = _row(document, line.page, line.line)
                if not context[0] <= row < context[1]:
                    wanted.append(_around(document, row, row + 1))
    joined: list[tuple[int, int]] = []
    for start, end in sorted(wanted):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _row(document: ParsedDocument, page: int, line: int) -> int:
    start, end = document.page_rows(page)
    return bisect_left(document.lines, line, start, end)


def _around(document: ParsedDocument, start: int, end: int) -> tuple[int, int]:
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
    return low, high


def _runs(document: ParsedDocument, rows: Iterable[tuple[int, int]]) -> Iterable[LineRun]:
    for start, end in rows:
        while start < end:
            stop = min(end, document.page_rows(document.pages[start])[1])
            # The numbers of a caller's lines may have gaps; a run has none.
            while document.lines[stop - 1] - document.lines[start] != stop - 1 - start:
                stop -= 1
            yield _run(document, start, stop)
            start = stop


def _run(document: ParsedDocument, start: int, end: int) -> LineRun:
    return LineRun.model_construct(
        page=document.pages[start],
        line=document.lines[start],
        text="\n".join(document.texts[start:end]),
        furniture=tuple(i for i, furniture in enumerate(document.furniture[start:end]) if furniture),
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
    """Coordinates of the lines that quotes stand in; none where the document has none."""
    rows: set[int] = set()
    for scope in scopes:
        if scope.boxes and scope.page_start is not None and scope.line_start is not None:
            start = _row(document, scope.page_start, scope.line_start)
            end = _row(document, scope.page_end or scope.page_start, scope.line_end or scope.line_start)
            rows.update(range(start, end + 1))
    ordered = sorted(rows)
    pages, lines = document.pages, document.lines
    where = document.coordinates[ordered].tolist() if ordered else []
    return tuple(
        (pages[row], lines[row], x0, y0, x1, y1)
        for row, (x0, y0, x1, y1) in zip(ordered, where, strict=True)
        if x0 == x0  # a line without coordinates has NaN
    )


def text_of(lines: RecordedLines, scope: CandidateScope) -> str:
    """The text of a context: its lines without running headers and footers."""
    found: list[str] = []
    for run in lines.runs:
        if not scope.page_start <= run.page <= scope.page_end:
            continue
        texts = run.texts
        low = max(0, scope.line_start - run.line) if run.page == scope.page_start else 0
        high = max(0, scope.line_end + 1 - run.line) if run.page == scope.page_end else len(texts)
        if run.furniture:
            found += [text for i, text in enumerate(texts[:high]) if i >= low and i not in run.furniture]
        else:
            found += texts[low:high]
    return "\n".join(found)


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
