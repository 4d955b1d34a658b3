"""Which three to five lines of a candidate the judge sees: the lines that answer, under what makes them readable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arbiter_rag.contract import AnswerShape, SnippetLine
from arbiter_rag.detectors.evidence import RowHits
from arbiter_rag.detectors.needs import Needs
from arbiter_rag.detectors.shapes import has_shape
from arbiter_rag.document import ParsedDocument

LINES = 5
GROUP_HEADS = 2
"""Lines without columns that may stand between two rows of one table ("Current assets:")."""

CAPTION_ABOVE = 6
"""Lines above a table in which its caption or statement title is looked for."""

WIDTH = 300
"""Most characters a line: a visual line of a page is far shorter, a line from someone's own parser may not be."""

_BULLET = re.compile(r"^\s*(?:[•‣◦▪●○■□–—*·-]|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s")
_CAPTION = re.compile(
    r"^\s*(?:table|tableau|tabelle|tabla|tabella|tabela|tabel|таблица|表|표|figure|fig\.|abb\.)"
    r"|^\W{0,9}+(?:\w++\W++){0,4}(?:statements? of|balance sheets?)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?:;。！？…]['\"»”)\]]*\s*$")


def pick_rows(
    document: ParsedDocument, needs: Needs, hits: RowHits, shape: AnswerShape, start: int, end: int
) -> list[int]:
    """Rows of `start` to `end` (exclusive) to show, ascending; a caption or lead-in of theirs may stand above."""
    section = document.section_of(start)
    heading = range(section.start, section.start + section.heading_rows)
    whole = [r for r in range(start, end) if not document.furniture[r] and document.texts[r].strip()]
    # The heading is shown as the candidate's section; a snippet of headings alone would say nothing.
    rows = [r for r in whole if r not in heading] or whole
    if len(rows) <= LINES:
        return rows
    weight = _weights(document, needs, hits, shape, rows)
    best = max(rows, key=lambda r: (weight[r], -r))
    if "\t" in document.texts[best]:
        return _table(document, rows, weight, best)
    block = _block(document, rows, weight)
    if _BULLET.match(document.texts[best]):
        lead = _lead_in(document, best, start)
        if lead is not None and lead not in block:
            block = [lead, *block[: LINES - 1]] if best in block[: LINES - 1] else [lead, *block[1:]]
    return sorted(set(block))


def _weights(
    document: ParsedDocument, needs: Needs, hits: RowHits, shape: AnswerShape, rows: Sequence[int]
) -> dict[int, float]:
    """How much of the question each row holds; the answer's shape counts as one more rare word beside a keyword."""
    held = dict(zip(hits.rows, hits.terms, strict=True))
    shaped = 0.35 * max((n.mass for n in needs.needs), default=1.0)
    return {
        row: needs.held(frozenset(held.get(row, ()))) + (shaped if has_shape(document.texts[row], shape) else 0.0)
        for row in rows
    }


def _block(document: ParsedDocument, rows: Sequence[int], weight: dict[int, float]) -> list[int]:
    """The best three lines in a row, then the two that add most, grown to where their sentence starts."""
    width = 3
    first = max(range(len(rows) - width + 1), key=lambda i: (sum(weight[r] for r in rows[i : i + width]), -i))
    low, high = first, first + width
    if low > 0 and not _SENTENCE_END.search(document.texts[rows[low - 1]]):
        low -= 1
    while high - low < LINES and high < len(rows) and not _SENTENCE_END.search(document.texts[rows[high - 1]]):
        high += 1
    chosen = list(rows[low:high])
    spare = LINES - len(chosen)
    others = sorted((r for r in rows if r not in chosen and weight[r] > 0), key=lambda r: (-weight[r], r))
    chosen += others[:spare]
    if len(chosen) < LINES:
        around = [r for r in (*rows[high:], *reversed(rows[:low])) if r not in chosen]
        chosen += around[: LINES - len(chosen)]
    return sorted(chosen)


def _table(document: ParsedDocument, rows: Sequence[int], weight: dict[int, float], best: int) -> list[int]:
    """Caption or statement title, column heads, matching rows."""
    texts = document.texts
    top = _table_top(document, best)
    low = max(document.section_of(best).start, top - CAPTION_ABOVE)
    above = [r for r in range(low, top) if texts[r].strip() and not document.furniture[r]]
    captions = [r for r in above if _CAPTION.match(texts[r])] or above[-1:]
    heads = [top] if top < best else []
    matching = sorted((r for r in rows if "\t" in texts[r] and weight[r] > 0), key=lambda r: (-weight[r], r))
    chosen = list(dict.fromkeys([best, *captions[-1:], *heads, *matching]))[:LINES]
    if len(chosen) < LINES:
        after = [r for r in rows if r > best and r not in chosen]
        chosen += after[: LINES - len(chosen)]
    return sorted(chosen)


def _table_top(document: ParsedDocument, row: int) -> int:
    """First row of the table on this page that `row` stands in; single lines between its rows are group heads."""
    section = document.section_of(row)
    low = max(document.page_rows(document.pages[row])[0], section.start + section.heading_rows)
    top = row
    for above in range(row - 1, low - 1, -1):
        if document.furniture[above]:
            continue
        if "\t" in document.texts[above]:
            top = above
        elif top - above > GROUP_HEADS or _CAPTION.match(document.texts[above]):
            break
    return top


def _lead_in(document: ParsedDocument, row: int, start: int) -> int | None:
    """The line that introduces the list a bullet belongs to."""
    low = max(document.section_of(start).start, row - 40)
    for r in range(row - 1, low - 1, -1):
        text = document.texts[r].rstrip()
        if document.furniture[r] or _BULLET.match(text):
            continue
        if text.endswith((":", "：")):
            return r
    return None


def shown(document: ParsedDocument, rows: Sequence[int], words: Sequence[str] = ()) -> tuple[SnippetLine, ...]:
    """Rows as snippet lines; a line over `WIDTH` characters is clipped around the first of `words` it holds."""
    lines: list[SnippetLine] = []
    for row in rows:
        text = document.texts[row]
        begin = 0
        if len(text) > WIDTH:
            lowered = text.casefold()
            at = min((i for w in words if (i := lowered.find(w.casefold())) >= 0), default=0)
            begin = max(0, min(at - WIDTH // 3, len(text) - WIDTH))
        part = text[begin : begin + WIDTH]
        lines.append(
            SnippetLine(
                text=part, page=document.pages[row], line=document.lines[row], start=begin, whole=len(part) == len(text)
            )
        )
    return tuple(lines)
