"""Folding: what makes two spellings of one word equal, for matching only and never in text given back."""

from __future__ import annotations

import unicodedata

_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŋ": "ng",
    "ё": "е",
    "’": "'", "‘": "'", "ʼ": "'", "＇": "'", "`": "'", "´": "'",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
}  # fmt: skip
_INVISIBLE = (0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)  # soft hyphen, zero-width spaces and joiners, BOM

_DROP_INVISIBLE = dict.fromkeys(_INVISIBLE)


def _folding_table() -> dict[int, str | None]:
    """Latin letters lose their accents; й keeps its breve, because it is a letter of its own and stemmers need it."""
    table: dict[int, str | None] = {ord(key): value for key, value in _LETTERS.items()}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base != chr(code) and base.isascii():
            table[code] = base
    table.update(dict.fromkeys(range(0x300, 0x370), None))
    table.update(dict.fromkeys(_INVISIBLE, None))
    return table


_TABLE = _folding_table()


def fold(text: str) -> str:
    """The text for matching: NFKC, casefolded, without accents, ligatures or invisible characters; idempotent.

    Apostrophes and hyphens get one form each. Lengths may change, so offsets of the result mean nothing.
    """
    if text.isascii():
        return text.replace("`", "'").lower()
    while True:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_TABLE).lower()
        if folded == text:
            return folded
        text = folded


def fold_case(text: str) -> str:
    """NFKC and casefold without invisible characters, accents kept: what a stemmer wants to see."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold().translate(_DROP_INVISIBLE))


def encodable(text: str) -> str:
    """Text that any encoder accepts: paired surrogates become their character, a lone one becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
