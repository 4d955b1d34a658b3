"""The page labels that a PDF defines ("iv", "A-3"); without any, a page's label is its number. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from arbiter_rag.document.strings import text_string

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def page_labels(rules: Sequence[Mapping[str, Any]], pages: int) -> list[str]:
    """Label of each page.

    Args:
        rules: As PyMuPDF's `get_page_labels` gives them: startpage, prefix, style, firstpagenum.
        pages: Number of pages.
    """
    labels = [""] * pages
    ordered = sorted(rules, key=lambda r: int(r.get("startpage", 0)))
    for rule, following in zip_longest(ordered, ordered[1:]):
        start = max(0, int(rule.get("startpage", 0)))
        end = min(pages, int(following.get("startpage", pages)) if following else pages)
        prefix = _prefix(str(rule.get("prefix", "")))
        style, number = str(rule.get("style", "")), int(rule.get("firstpagenum", 1) or 1)
        for page in range(start, end):
            labels[page] = prefix + _numeral(style, number + page - start)
    return [label or str(page) for page, label in enumerate(labels, start=1)]


def _prefix(source: str) -> str:
    """A label prefix as text: PyMuPDF hands it out as it stands in the file."""
    return "".join(c for c in text_string(source) if c.isprintable() or c == "\u200d")


def _numeral(style: str, number: int) -> str:
    if style == "D":
        return str(number)
    if style in ("r", "R"):
        return roman(number).upper() if style == "R" else roman(number)
    if style in ("a", "A") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if style == "A" else letter
    return ""


def roman(number: int) -> str:
    """A number from 1 up as a lower-case roman numeral."""
    out = ""
    for value, letters in _ROMAN:
        times, number = divmod(max(number, 0), value)
        out += letters * times
    return out


def roman_value(text: str) -> int | None:
    """The value of a well-formed roman numeral in either case, or None."""
    text = text.lower()
    if not text or text.strip("ivxlcdm"):
        return None
    total, rest = 0, text
    for value, letters in _ROMAN:
        while rest.startswith(letters):
            total += value
            rest = rest[len(letters) :]
    return total if text and not rest and roman(total) == text else None
