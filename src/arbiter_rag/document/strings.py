"""Strings as documents hold them -> text: how PDF writes them, and characters that nothing can carry. Pure."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]+")
_BREAK = re.compile("[\n\r\u2028\u2029]+")
_SPACE = re.compile("[\t\n\r\xa0\u2000-\u200a\u2028\u2029\u202f\u205f]")
"""White space that is not an ordinary or an ideographic space: a tab means a cell here, the rest breaks searching."""

_HEX = re.compile(r"<([0-9A-Fa-f\s]*)>")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|[\s\S])")
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"\n": b"", b"\r": b"", b"\r\n": b""}
_SPECIAL = dict(
    zip(
        range(0x80, 0xA1),
        "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\ufffd€",
        strict=False,
    )
)


def text_string(source: str) -> str:
    """Decode `<FEFF0043>`, `(Sch\\366n)` or a string with its byte-order mark; other text comes back as is."""
    source = source.strip()
    if found := _HEX.fullmatch(source):
        digits = re.sub(r"\s", "", found[1])
        return decode(bytes.fromhex(digits + "0" * (len(digits) % 2)))
    if source.startswith("(") and source.endswith(")"):
        return decode(_ESCAPE.sub(_unescaped, source[1:-1].encode("latin-1", "replace")))
    if source.startswith(("\xfe\xff", "\xff\xfe", "\xef\xbb\xbf")):
        return decode(source.encode("latin-1", "replace"))
    return source


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    if what[:1].isdigit():
        return bytes([int(what, 8) & 0xFF])
    return _NAMED.get(what, what)


def decode(raw: bytes) -> str:
    """Bytes of a text string: UTF-16 or UTF-8 with a byte-order mark, else PDFDocEncoding."""
    if raw[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return raw.decode("utf-16", "replace")
    if raw[:3] == b"\xef\xbb\xbf":
        return raw[3:].decode("utf-8", "replace")
    return raw.decode("latin-1").translate(_SPECIAL)


def printable(text: str) -> str:
    """Drop what JSON, terminals and databases cannot carry, and keep a line one line; all else stays as it is."""
    return _UNPRINTABLE.sub("", _BREAK.sub(" ", text))


def clean(text: str) -> str:
    """`printable` text of a PDF, its white space made ordinary."""
    return _UNPRINTABLE.sub("", _SPACE.sub(" ", text)).strip()
