"""What generation gets of a candidate: rows grown from the anchor inside its section, up to a token budget."""

from __future__ import annotations

from arbiter_rag.document import ParsedDocument
from arbiter_rag.prompt import estimate_tokens


def grow(document: ParsedDocument, start: int, end: int, budget: int, *, full: bool = False) -> tuple[int, int]:
    """Rows (start, exclusive end) of the context around an anchor.

    Args:
        document: The document.
        start, end: The anchor's rows, `end` exclusive; they are always inside the context.
        budget: Most tokens, estimated; the anchor itself may exceed it.
        full: Use the section's full extent (with its subsections) instead of its own text.
    """
    section = document.section_of(start)
    low = min(section.start, start)
    high = max(section.full_end if full else section.own_end, end)
    left, right = start, end
    spent = sum(_cost(document, row) for row in range(start, end))
    # Text is read downwards: what follows the anchor explains it more often than what precedes it, so two rows down
    # for one up, until the section or the budget ends.
    blocked_up = blocked_down = False
    turn = 0
    while not (blocked_up and blocked_down):
        down = (turn % 3 != 2 or blocked_up) and not blocked_down
        turn += 1
        row = right if down else left - 1
        inside = row < high if down else row >= low
        cost = _cost(document, row) if inside else 0
        if not inside or spent + cost > budget:
            blocked_down, blocked_up = (True, blocked_up) if down else (blocked_down, True)
            continue
        spent += cost
        left, right = (left, right + 1) if down else (left - 1, right)
    return left, right


def context_text(document: ParsedDocument, start: int, end: int) -> str:
    """The rows' text without running headers and footers."""
    return "\n".join(document.texts[r] for r in range(start, end) if not document.furniture[r])


def _cost(document: ParsedDocument, row: int) -> int:
    return 0 if document.furniture[row] else estimate_tokens(document.texts[row]) + 1
