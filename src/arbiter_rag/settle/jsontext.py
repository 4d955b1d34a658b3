"""JSON values out of a text that should be JSON: strict, embedded, cut short, or broken; bounded in size and depth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import json_repair

_STRICT_LIMIT = 20_000_000
"""Characters that are read as strict JSON; beyond that no reply is a verdict."""

_LENIENT_LIMIT = 100_000
"""Characters that are read leniently: repairing takes about a microsecond a character, at its worst ten."""

_DEPTH_LIMIT = 64
"""Open brackets at once in what is read leniently: repair is recursive, and quadratic in depth."""

_STARTS = 64
"""Places at which an embedded JSON value is tried."""

Bytes = bytes | bytearray | memoryview
"""What a transport may hand over instead of text."""

CUT_SHORT = "it was cut short"
BROKEN = "its JSON was broken and was repaired"

_OPENING = re.compile(r"[{\[]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)


class JsonObject(dict[str, Any]):
    """A JSON object that remembers which keys came twice, and whether with different values; the first one counts."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.repeated: dict[str, bool] = {}
        for key, value in pairs:
            if key in self:
                self.repeated[key] = self.repeated.get(key, False) or self[key] != value
            else:
                self[key] = value


@dataclass(frozen=True, slots=True)
class Opened:
    """A value that was read; the wrapper tells JSON's null from nothing."""

    value: object


def decoded(raw: Bytes) -> tuple[str, str]:
    """The text of a reply's bytes and their encoding, told by a byte-order mark or by where its NUL bytes stand."""
    data = bytes(raw)
    encoding = json.detect_encoding(data)
    # The mark itself stays for `stages`, which reports it.
    plain = "utf-8" if encoding == "utf-8-sig" else encoding
    return data.decode(plain, "replace"), plain


def _integer(digits: str) -> object:
    return int(digits) if len(digits) < 1_000 else digits


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=JsonObject, parse_int=_integer)


def loads_strict(text: str) -> Opened | None:
    """The value of a text that is JSON from end to end."""
    if len(text) > _STRICT_LIMIT:
        return None
    try:
        return Opened(_decoder().decode(text))
    except (ValueError, RecursionError):
        return None


def stages(text: str) -> Iterator[tuple[tuple[str, ...], list[object]]]:
    """Readings of a text from the strictest to the most lenient: what was lenient about each, and its values."""
    bare = text.strip("\ufeff \t\r\n")
    mark = ("a byte-order mark stood before it",) if "\ufeff" in text[:8] else ()
    opened = loads_strict(bare)
    if opened:
        yield mark, [opened.value]
        return
    whole: list[object] = [v for v in _embedded(bare) if isinstance(v, dict | list) and v]
    around = (*mark, "text stood around the JSON")
    # A row inside a broken list is whole too: what names its rankings comes first, mere fragments come last.
    yield around, [v for v in whole if _names_rankings(v)]
    mended = _lenient(bare)
    if mended:
        yield (*mark, mended[0]), [mended[1]]
    yield around, whole


def _names_rankings(value: object) -> bool:
    if isinstance(value, dict):
        return any("rankings" in str(k).lower() or _names_rankings_below(v) for k, v in value.items())
    return False


def _names_rankings_below(value: object) -> bool:
    return isinstance(value, dict) and any("rankings" in str(k).lower() for k in value)


def _embedded(text: str) -> Iterator[object]:
    """Whole JSON values that stand in a text, in order."""
    if len(text) > _STRICT_LIMIT:
        return
    decoder = _decoder()
    at = 0
    for _ in range(_STARTS):
        match = _OPENING.search(text, at)
        if match is None:
            return
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.start() + 1
            continue
        yield value


def _closers(text: str) -> tuple[int, str, bool]:
    """Where the last bracket closed, what would close those still open there, and whether all is closed at the end.

    A reply that was cut short is read up to that place only: a half id may be another candidate's whole one
    (`p6-l1` of `p6-l14`), and a half quote may say something else.
    """
    open_: list[str] = []
    end, closing = 0, ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ("{", "["):
            if len(open_) >= _DEPTH_LIMIT:
                break
            open_.append("}" if token == "{" else "]")
        elif token in ("}", "]"):
            if not open_ or open_.pop() != token:
                return end, closing, False
            end, closing = match.end(), "".join(reversed(open_))
    return end, closing, not open_


def _lenient(text: str) -> tuple[str, object] | None:
    """What a broken text means, and how it was mended: cut back to its last whole entry and closed, then repaired."""
    first = _OPENING.search(text)
    if first is None:
        return None
    part = text[first.start() : first.start() + _LENIENT_LIMIT]
    clipped = len(part) < len(text) - first.start()
    end, closing, whole = _closers(part)
    how = BROKEN
    if clipped or not whole:
        how = CUT_SHORT
        part = part[:end] + closing
        opened = loads_strict(part)
        if opened:
            return how, opened.value
    if not part or _too_deep(part):
        return None
    try:
        return how, json_repair.loads(part, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError):
        # Third-party recursive descent over arbitrary text: what it trips over is an unusable reply, not a crash.
        return None


def _too_deep(text: str) -> bool:
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):
        depth += 1 if match.group() in "[{" else -1
        if depth > _DEPTH_LIMIT:
            return True
    return False
