"""Text that came from a model, made fit to be shown: one line, bounded, without characters that hide or reorder."""

from __future__ import annotations

import unicodedata

from arbiter_rag.language import encodable

REASON_LIMIT = 400
"""Characters of a reason that are kept: the prompt asks for 12 words, and an audit page shows one line."""

QUOTE_LIMIT = 500
"""Characters of an unverified quote that are kept; a verified one is the document's own text and stays whole."""


def _hidden(char: str) -> bool:
    # Cc control, Cf format (zero-width, bidi, tags), Cs lone surrogate (would break UTF-8), Co/Cn without meaning.
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"}


def one_line(text: str, limit: int = REASON_LIMIT) -> str:
    """Text on one line without hidden characters, cut at `limit` characters with an ellipsis."""
    # A model may answer with megabytes; what cannot be shown need not be looked at.
    head = text[: limit * 4]
    kept = "".join(" " if c.isspace() else "" if _hidden(c) else c for c in head)
    line = " ".join(kept.split())
    if len(line) > limit or len(head) < len(text):
        return line[: limit - 1].rstrip() + "…"
    return line


def shown(value: object, limit: int = 60) -> str:
    """A value from a reply as a fault quotes it: hidden characters as `<U+200B>`, in quotation marks, clipped."""
    text = value if isinstance(value, str) else _plain(value)
    head = text[:limit]
    out = "".join(f"<U+{ord(c):04X}>" if _hidden(c) or (c.isspace() and c != " ") else c for c in head)
    return f"'{out}{'…' if len(text) > limit else ''}'"


def _plain(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**18):
        return str(value)
    # The repr of a number of 5,000 digits raises, that of a deep list overflows the stack: the type must do.
    return f"({type(value).__name__})"


def presentable(text: str) -> str:
    """A quote as the result carries it: as it came, but without lone surrogates, which no encoder accepts."""
    return encodable(text)
