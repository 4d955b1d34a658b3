"""Small briefs, documents and replies for the tests of settle."""

from __future__ import annotations

from typing import Any

import pandas as pd

from arbiter_rag.contract import Brief, Candidate, Coverage, ParsedQuestion, SnippetLine
from arbiter_rag.document import ParsedDocument
from arbiter_rag.judges.base import JudgeReply


def document(*pages: list[str]) -> ParsedDocument:
    """A document of these pages and lines, each line with a box of its own."""
    rows = [
        {"page": p, "line": n, "text": text, "x0": 10.0, "y0": 20.0 * n, "x1": 200.0, "y1": 20.0 * n + 12}
        for p, lines in enumerate(pages, start=1)
        for n, text in enumerate(lines, start=1)
    ]
    return ParsedDocument.from_frames(pd.DataFrame(rows), doc_id="doc")


def lined(doc: ParsedDocument, start: int, end: int, shown: tuple[int, ...] | None = None, **fields: Any) -> Candidate:
    """A candidate over rows of a document; `shown` are the rows of its snippet."""
    rows = shown if shown is not None else tuple(range(start, min(end, start + 4)))
    lines = tuple(SnippetLine(text=doc.texts[r], page=doc.pages[r], line=doc.lines[r]) for r in rows)
    return Candidate(
        candidate_id=f"p{doc.pages[start]}-l{doc.lines[start]}",
        doc_id=doc.doc_id,
        anchor=doc.scope(start, start + 1),
        context=doc.scope(start, end),
        text=doc.text(start, end),
        snippet_lines=lines,
        methods=("keyword",),
        **fields,
    )


def passage(candidate_id: str, text: str, **fields: Any) -> Candidate:
    """A candidate that is a text without lines."""
    shown = (SnippetLine(text=text),) if text else ()
    return Candidate(candidate_id=candidate_id, text=text, snippet_lines=shown, methods=("vector",), **fields)


def brief(*candidates: Candidate, question: str = "What is covered?", language: str = "en", **fields: Any) -> Brief:
    """A brief of these candidates about documents in one language."""
    coverage = fields.pop("coverage", Coverage(document_languages=(language,), detectors=("keyword",)))
    parsed = ParsedQuestion(text=question, language=language)
    return Brief(question=parsed, candidates=candidates, coverage=coverage, **fields)


def reply(*rows: tuple[str, str, str | None], conflicts: list[dict[str, Any]] | None = None) -> JudgeReply:
    """A reply of (id, role, quote) rows."""
    rankings = [{"candidate_id": i, "reason": "says so", "role": role, "quote": quote} for i, role, quote in rows]
    return JudgeReply(raw={"rankings": rankings, "conflicts": conflicts or []})
