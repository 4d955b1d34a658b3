"""Text strings as they stand in a PDF's source (hexadecimal, escapes, byte-order marks) -> text. Pure."""

from __future__ import annotations

import re

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
