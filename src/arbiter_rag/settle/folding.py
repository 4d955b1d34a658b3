"""Text folded for comparison: layout, ligatures and typography go, digits and signs stay, every offset is kept."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Hyphen = Literal["joined", "plain", "spaced", "line_end"]
"""What stands between two letters: nothing, a hyphen, a hyphen and a space, a hyphen at a line's end."""

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_DOUBLE = "\u201c\u201d\u201e\u201f\u301d\u301e\u301f\uff02"
_SINGLE = "\u2018\u2019\u201a\u201b\u00b4\u0060\uff07\u02bc"
_UNSPACED = "\u2e80-\u312f\u31a0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
"""Scripts in which a line break is no word break (in Korean it may be either), so white space proves nothing."""

_LETTER = r"[^\W\d_]"
_WHITE = rf"[{_INVISIBLE}]*\s[\s{_INVISIBLE}]*"
_SPECIAL = re.compile(
    rf"(?P<hyphen>(?<={_LETTER})(?:[{_DASHES}]\s*|\u00ad\s+)(?={_LETTER}))"
    rf"|(?P<wrapped>(?<=\w)[{_DASHES}][^\S\n]*\n\s*(?=\d))"
    rf"|(?P<guillemet>«\s*|\s*»)"
    rf"|(?P<unspaced>(?<=[{_UNSPACED}]){_WHITE}|{_WHITE}(?=[{_UNSPACED}]))"
    rf"|(?P<white>{_WHITE})"
    rf"|(?P<gone>[{_INVISIBLE}]+)"
    r"|(?P<jamo>[\u1100-\u11ff]+)"
    r"|(?P<other>[^\x00-\x7f][\u0300-\u036f\u3099\u309a\uff9e\uff9f]*|[A-Za-z][\u0300-\u036f]+)"
)

_SAME = {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys(_SINGLE, "'")}
_KEEP = ("<super>", "<sub>", "<fraction>", "<circle>")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Attributes:
        text: The characters that are compared.
        starts, ends: For each of them where its source begins and ends.
        hyphens: What stood between two letters, by the place in `text` of the letter behind it.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    hyphens: dict[int, Hyphen]


@lru_cache(maxsize=4096)
def _character(cluster: str) -> str:
    """NFKC without what changes a quantity: x² is not x2, ½ is not 1/2, ① is not 1."""
    if cluster in _SAME:
        return _SAME[cluster]
    if len(cluster) == 1:
        if unicodedata.decomposition(cluster).startswith(_KEEP):
            return cluster
        plain = unicodedata.normalize("NFKC", cluster)
        if any(c.isdigit() for c in plain) and unicodedata.category(cluster) != "Nd":
            return cluster
    else:
        plain = unicodedata.normalize("NFKC", cluster)
    return "".join(_SAME.get(c, c) for c in plain)


def _replacement(match: re.Match[str]) -> tuple[str, Hyphen | None]:
    kind, text = match.lastgroup, match.group()
    if kind == "hyphen":
        if "\n" in text or "\u00ad" in text:
            return "", "line_end"
        return "", "plain" if len(text) == 1 else "spaced"
    if kind == "wrapped":
        return "-", None
    if kind == "guillemet":
        return '"', None
    if kind == "white":
        return " ", None
    if kind in ("unspaced", "gone"):
        return "", None
    return _character(text), None


def fold(text: str) -> Folded:
    """Fold a text; see `Folded`."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    hyphens: dict[int, Hyphen] = {}
    at = 0
    for match in _SPECIAL.finditer(text):
        start, end = match.span()
        out.append(text[at:start])
        starts.extend(range(at, start))
        ends.extend(range(at + 1, start + 1))
        new, hyphen = _replacement(match)
        if hyphen is not None:
            hyphens[len(starts)] = hyphen
        out.append(new)
        starts.extend([start] * len(new))
        ends.extend([end] * len(new))
        at = end
    out.append(text[at:])
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return Folded("".join(out), tuple(starts), tuple(ends), hyphens)


_MAY_STAND_FOR: dict[Hyphen, frozenset[Hyphen]] = {
    "joined": frozenset({"joined", "line_end"}),
    "plain": frozenset({"plain", "line_end"}),
    "spaced": frozenset({"spaced", "line_end"}),
    "line_end": frozenset({"plain", "spaced", "line_end"}),
}
"""Which hyphen of a quote may stand for which of the source: only one at a line's end is open to reading."""


def same_hyphens(quote: Folded, source: Folded, at: int) -> bool:
    """Whether the hyphens of a quote agree with those of the source, where the quote was found at `at`."""
    length = len(quote.text)
    inside = {p - at for p in source.hyphens if at < p < at + length}
    return all(
        source.hyphens.get(at + p, "joined") in _MAY_STAND_FOR[quote.hyphens.get(p, "joined")]
        for p in inside | {p for p in quote.hyphens if 0 < p < length}
    )
