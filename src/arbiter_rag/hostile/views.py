"""Readings of a text with its disguises taken off; every character of a reading knows where it stands in the text."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u2800\u3164\ufeff\uffa0"
)
_CYRILLIC = dict(zip("авеѕіјкмнорсԁтухһӏԛԝпг", "abesijkmhopcdtyxhlqwnr", strict=True))
_GREEK = dict(zip("αβγεηικνορτυχωζμ", "abyenikvoptuxwzm", strict=True))
_LATIN = dict(zip("ɑɡıɩʟɴʀʏᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "agiilnryacdejkmoptuvwz", strict=True))
_LOOKALIKE = str.maketrans(_CYRILLIC | _GREEK | _LATIN)
_LEET = str.maketrans("013457@$!|", "oieastasil")

_MIXED = re.compile(r"[a-z]['’]?[α-ωа-яѐ-ӿԛԝ]|[α-ωа-яѐ-ӿԛԝ]['’]?[a-z]")
_LEETED = re.compile(
    r"(?<![^\W\d_])(?=[\w@$!|]{0,24}[^\W\d_])(?:[^\W\d_]{1,16}[0134578@$!|]{1,4}){1,16}[^\W\d_]{0,16}"
    r"|(?<!\w)[0134578@$]{1,8}[^\W\d_]{2,}"
)
_FOREIGN = re.compile("[α-ωа-яѐ-ӿԛԝ]")
_NEAR_LETTER = re.compile(r"[0134578@$!|](?:(?<=[^\W\d_].)|(?=[^\W\d_]))")
"""Without one of these there is no word with digits for letters; much cheaper to look for."""
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:[ .\-_*·|]{1,6}[^\W\d_](?!\w)){5,}")
_ESCAPED = re.compile(
    r"\\{1,4}u([0-9a-fA-F]{4})|\\{1,4}x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})"
    r"|&#(\d{1,7});|&#[xX]([0-9a-fA-F]{1,6});|&[a-zA-Z]{2,8};"
)
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}(?![A-Za-z0-9+/=])")
_BASE32 = re.compile(r"(?<![A-Z0-9])[A-Z2-7]{32,}={0,6}(?![A-Z0-9])")
_BINARY = re.compile(r"(?<![01])(?:[01]{8} ?){8,}(?![01])")
_BACKWARDS = ("eht", "snoitcurtsni", "egassap", "yramirp", "erongi")
_ROT13 = ("gur", "vafgehpgvbaf", "cnffntr", "cevznel", "vtaber")
_ROTATED = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_BASE85 = re.compile(r"(?<!\S)(?:<~)?(?=\S{0,40}[!-/:-@\[-`{-~])[!-~]{24,}(?!\S)")
_MORSE = re.compile(r"(?:[.-]{1,5}(?: / | {1,3})){15,}[.-]{1,5}(?![.-])")
_MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_LETTERS = dict(zip(_MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[ :]?){16,}(?![0-9a-fA-F])")
_SHORTEST_BLOB = 24
"""Characters of the shortest blob that base64, base32 and base85 are looked for in."""

_LEGIBLE = 0.35
"""Letters and spaces a byte, at least, in what counts as text: three bytes may make one character."""


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Attributes:
        text: What it says, folded: lower case, compatibility forms and accents undone, nothing invisible.
        at: Offset in the given text of each character and, last, of the end; None when both run in step.
        decoded: True when the reading came out of an encoding, so that hiding it was the point.
    """

    text: str
    at: tuple[int, ...] | None
    decoded: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the given text of a non-empty stretch of the reading."""
        if self.at is None:
            return start, end
        return self.at[start], max(self.at[end - 1] + 1, self.at[start] + 1)


@lru_cache(maxsize=16384)
def fold_char(char: str) -> str:
    """One character as readings write it; empty when a reader would not see it."""
    if char in INVISIBLE or "\U000e0000" <= char <= "\U000e0fff" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if char in "’‘ʼ`´":
        return "'"
    if char in "“”„«»″":
        return '"'
    out = unicodedata.normalize("NFKC", char).casefold()
    if len(out) == 1 and ("\u3040" <= out <= "\u30ff" or "\u3400" <= out <= "\u9fff" or "\uac00" <= out <= "\ud7a3"):
        return out
    kept = "".join(c for c in unicodedata.normalize("NFD", out) if unicodedata.category(c) not in ("Mn", "Me"))
    return kept.replace("ı", "i").replace("ł", "l").replace("ø", "o")


class _Folded(dict[str, str]):
    """Fold of every character met so far: a dictionary look-up is what makes a long text cheap."""

    def __missing__(self, char: str) -> str:
        folded = fold_char(char)
        if len(self) < 20000:
            self[char] = folded
        return folded


_FOLDED = _Folded()


def fold(text: str) -> View:
    """The plain reading of a text."""
    if text.isascii():
        return View(text.lower(), None)
    table = _FOLDED
    parts = [table[char] for char in text]
    folded = "".join(parts)
    if len(folded) == len(text) and all(parts):
        return View(folded, None)
    at = [i for i, part in enumerate(parts) for _ in part]
    at.append(len(text))
    return View(folded, tuple(at))


def views(text: str) -> Iterator[View]:
    """The plain reading first, then one for each disguise that the text shows signs of."""
    plain = fold(text)
    yield plain
    yield from _disguises(plain)
    if "\\" in text or "&" in text or "%" in text:
        unescaped = _unescape(text)
        if unescaped is not None:
            yield unescaped
            yield from _disguises(unescaped)
    if _has_word(_ROT13, plain.text):
        yield View(plain.text.translate(_ROTATED), plain.at, decoded=True)
    if "\u202e" in text or "\u202d" in text or _has_word(_BACKWARDS, plain.text):
        yield View(plain.text[::-1], _reversed(plain), decoded=True)
    yield from _encoded(text)


def _has_word(words: tuple[str, ...], text: str) -> bool:
    return any(word in text and re.search(rf"\b{word}\b", text) for word in words)


def _disguises(plain: View) -> Iterator[View]:
    if not plain.text.isascii() and _FOREIGN.search(plain.text) and _MIXED.search(plain.text):
        yield View(plain.text.translate(_LOOKALIKE), plain.at, plain.decoded)
    leeted = list(_LEETED.finditer(plain.text)) if _NEAR_LETTER.search(plain.text) else []
    if len(leeted) > 1:
        yield View(_rewritten(plain.text, leeted), plain.at, plain.decoded)
    spaced = [_closed_up(plain, match) for match in _SPACED.finditer(plain.text)]
    if spaced:
        yield _joined(spaced)


def _rewritten(text: str, words: list[re.Match[str]]) -> str:
    """The text with digits read as letters in the given words; lengths do not change."""
    out, last = [], 0
    for word in words:
        out += [text[last : word.start()], word.group().translate(_LEET)]
        last = word.end()
    return "".join([*out, text[last:]])


def _closed_up(view: View, match: re.Match[str]) -> View:
    """A spaced-out stretch without the spacing; a wider gap, or a space among other marks, parts its words."""
    raw = match.group()
    dotted = any(mark in raw for mark in ".-_*·|")
    letters: list[str] = []
    places: list[int] = []
    for piece in re.finditer(r"[^\W\d_]|[^\w]+|_+", raw):
        gap = piece.group()
        if gap.isalpha() or len(gap) > 1 or (dotted and gap == " "):
            letters.append(gap if gap.isalpha() else " ")
            places.append(match.start() + piece.start())
    at = view.at or range(len(view.text) + 1)
    return View("".join(letters), (*(at[place] for place in places), at[match.end()]), decoded=True)


def _joined(parts: list[View]) -> View:
    """Several readings as one, a full stop between them so that no sentence reaches across."""
    text: list[str] = []
    at: list[int] = []
    for part in parts:
        places = part.at or ()
        text.append(part.text + ". ")
        at += [*places[:-1], places[-1] - 1, places[-1] - 1]
    return View("".join(text), (*at, at[-1] + 1), decoded=True)


def _reversed(view: View) -> tuple[int, ...]:
    """Offsets of the mirrored reading."""
    at = view.at or tuple(range(len(view.text) + 1))
    return (*reversed(at[:-1]), at[-1])


def _unescape(text: str) -> View | None:
    """The text with \\u, \\x, percent and HTML escapes undone, or None when fewer than four are in it."""
    escapes = list(_ESCAPED.finditer(text))
    if len(escapes) < 4:
        return None
    parts: list[tuple[int, str]] = []
    last = 0
    for escape in escapes:
        parts += enumerate(text[last : escape.start()], last)
        parts.append((escape.start(), _unescaped(escape)))
        last = escape.end()
    parts += enumerate(text[last:], last)
    folded = [(place, piece) for place, char in parts for piece in "".join(map(fold_char, char))]
    return View("".join(p for _, p in folded), (*(i for i, _ in folded), len(text)), decoded=True)


def _unescaped(escape: re.Match[str]) -> str:
    u, x, percent, decimal, hexadecimal = escape.groups()
    digits = u or x or percent or hexadecimal
    if digits or decimal:
        code = int(digits, 16) if digits else int(decimal)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
    return html.unescape(escape.group())


def _encoded(text: str) -> Iterator[View]:
    """What base64 and hexadecimal blobs say, where they say something readable."""
    # Counting is a hundred times cheaper than the patterns; most passages have nothing that could be a blob.
    if max(map(len, text.split()), default=0) >= _SHORTEST_BLOB:
        yield from _words_encoded(text)
    if text.count("0") + text.count("1") >= 64:
        for blob in _BINARY.finditer(text):
            yield from _readable(blob, bytes(int(byte, 2) for byte in re.findall("[01]{8}", blob.group())))
    # Without a dash it is the leader dots of a table of contents.
    if "-" in text and text.count(".") + text.count("-") >= 16:
        for blob in _MORSE.finditer(text):
            if "-" not in blob.group():
                continue
            said = "".join(_MORSE_LETTERS.get(sign, " ") for sign in re.findall(r"[.-]+|/|\s{2,}", blob.group()))
            yield from _readable(blob, said.encode())
    for blob in _HEX.finditer(text):
        yield from _readable(blob, binascii.unhexlify(re.sub("[ :]", "", blob.group())))


def _words_encoded(text: str) -> Iterator[View]:
    """Blobs without a space."""
    for blob in _BASE64.finditer(text):
        yield from _readable(blob, _debase64(blob.group()))
    for blob in _BASE32.finditer(text):
        body = blob.group().rstrip("=")
        with suppress(binascii.Error):
            body = body[: len(body) - len(body) % 8]
            yield from _readable(blob, base64.b32decode(body))
    for blob in _BASE85.finditer(text):
        for decode in (base64.a85decode, base64.b85decode):
            with suppress(ValueError):
                yield from _readable(blob, decode(blob.group().removeprefix("<~").removesuffix("~>")))


def _debase64(blob: str) -> bytes:
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return b""


def _readable(blob: re.Match[str], raw: bytes) -> Iterator[View]:
    said = raw.decode("utf-8", "ignore")
    if len(said) < 12 or sum(c.isalpha() or c.isspace() for c in said) < _LEGIBLE * len(raw):
        return
    folded = "".join(map(fold_char, said))
    if not folded:
        return
    # Every character points at the whole blob: half a blob says nothing.
    at = (blob.start(), *([blob.end() - 1] * (len(folded) - 1)), blob.end())
    yield View(folded, at, decoded=True)
