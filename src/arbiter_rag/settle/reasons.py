"""What a reason asserts that nothing shown supports: its numbers, currencies and names, looked up in what was shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

_NUMBER = re.compile(
    r"(?P<before>(?:[A-Z]{0,3}[$€£¥₩₽₹]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|INR)\b)\s?)?"
    r"(?P<number>(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)"
    r"(?P<after>\s?(?:[%‰$€£¥₩₽₹]|\b(?:percent|per cent|pour cent|Prozent|por ciento|por cento|per cento|procent|"
    r"dollars?|euros?|pounds?|yen|francs?|USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|INR)\b))?"
)
_UNITS = {
    "%": ("%", "percent", "per cent", "pour cent", "prozent", "por ciento", "por cento", "per cento", "procent"),
    "$": ("$", "usd", "dollar"),
    "€": ("€", "eur"),
    "£": ("£", "gbp", "pound"),
    "¥": ("¥", "jpy", "cny", "yen", "yuan", "円", "元"),
    "‰": ("‰",),
    "₽": ("₽", "rub", "руб"),
    "₹": ("₹", "inr", "rupee"),
    "₩": ("₩", "krw", "won", "원"),
    "chf": ("chf", "franc"),
}
"""Each unit and what it may be written as; a table names it once, so it need not stand beside the number."""

_SCALES = re.compile(r"(?i)^\s?(?:thousand|million|billion|mio|mrd|millions?|milliards?|millionen|milliarden|bn|m|k)\b")

_PART_OF_WORD = re.compile(r"[a-zA-Z\u00c0-\u052f](?:[-_]?)$|[^\W_][-_]$")
_WIDE = {0xFF01 + i: 0x21 + i for i in range(94)}
"""Full-width digits and signs: the same ones, and as long."""

_WORD = re.compile(r"[^\W_]+(?:[-&./'’][^\W_]+)*")

_NO_CAPITALS = frozenset({"de", "lb"})
"""Languages in which every noun has a capital."""

_NO_NAMES = """
primary supporting tangential discarded unjudged toc keyword keywords embedding embeddings page section
article table figure chapter annex annexe appendix clause part item note line title paragraph heading contents
i sezione artikel abschnitt kapitel tabelle seite tableau chapitre artículo tabla sección capítulo página
статья раздел глава таблица страница pdf faq yes no oui non ja nein da nee si sì sí não na ok the a an this
"""
_OWN = frozenset(_NO_NAMES.split())
"""Words of our own and of documents in general; a capital does not make them a name."""


def _folded(text: str) -> str:
    """Case, accents and typography folded."""
    joined = _BROKEN.sub("", text.lower())
    if joined.isascii():
        return joined
    return _MARKS.sub("", unicodedata.normalize("NFKD", joined)).replace("’", "'")


_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[^\W\d_])|[\u00ad\u200b-\u200f\u2060\ufeff]")
_MARKS = re.compile(r"[\u0300-\u036f]+")


def _value(number: str) -> str:
    """A number without its grouping: 1,234.50 and 1 234,5 are the same one."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", number)
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return plain.lstrip("0") or "0"
    marks = {c for c in plain if c in ".,"}
    decimals = len(plain) - last - 1
    grouped = len(marks) == 1 and decimals == 3 and plain[:last].lstrip("0") != ""
    if grouped or (len(marks) == 1 and plain.count(plain[last]) > 1):
        return re.sub(r"[.,]", "", plain).lstrip("0") or "0"
    whole = re.sub(r"[.,]", "", plain[:last]).lstrip("0") or "0"
    fraction = plain[last + 1 :].rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


@dataclass(frozen=True)
class Ground:
    """What a reason may rest on: the question, the brief, the candidate."""

    texts: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """All of it, folded."""
        return _folded("\n".join(self.texts))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Values of its numbers."""
        joined = "\n".join(self.texts).translate(_WIDE)
        whole = {_value(m.group("number")) for m in _NUMBER.finditer(joined)}
        # "1 100" may be one number or two, "2023-24" holds two: every reading supports.
        return frozenset(whole | {_value(d) for d in re.findall(r"\d+(?:[.,]\d+)*", joined)})

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words and the parts of its compound words."""
        return frozenset(re.findall(r"[^\W_]+", self.text))


def unsupported(reason: str, grounds: Iterable[Ground], language: str) -> tuple[str, ...]:
    """Numbers, currencies, percentages and names of a reason that stand in none of the grounds.

    Args:
        reason: The judge's reason.
        grounds: What it may rest on, the likeliest first.
        language: The reason's language: where every noun has a capital, only other signs make a name.

    Returns:
        Each as the reason writes it, in its order, once.
    """
    known = tuple(grounds)
    reason = reason.translate(_WIDE)
    found: dict[str, None] = {}
    taken: list[tuple[int, int]] = []
    for match in _NUMBER.finditer(reason):
        before = reason[: match.start()]
        if _PART_OF_WORD.search(before):
            continue  # part of a word or an id such as p6-l14: looked up as a name below
        taken.append(match.span())
        if not _number_supported(match, reason[match.end() :], known):
            found[match.group().strip()] = None
    for start, word in _names(reason, language):
        if not any(a <= start < b for a, b in taken) and not any(_name_supported(word, g) for g in known):
            found[word] = None
    return tuple(found)


def _number_supported(match: re.Match[str], rest: str, grounds: tuple[Ground, ...]) -> bool:
    value = _value(match.group("number"))
    if not any(value in g.numbers for g in grounds):  # ground by ground: the last one is long and seldom needed
        if not _SCALES.match(rest):
            return False
        digits = value.replace(".", "").strip("0")
        if not digits or not any(digits == n.replace(".", "").strip("0") for g in grounds for n in g.numbers):
            return False
    # What follows "$ 5 " may be the sign of the next number.
    unit = (match.group("before") or match.group("after") or "").strip().lower()
    if not unit:
        return True
    spellings = next((s for s in _UNITS.values() if any(unit.startswith(x) or unit.endswith(x) for x in s)), (unit,))
    return any(_says_unit(spelling, g) for g in grounds for spelling in spellings)


def _says_unit(spelling: str, ground: Ground) -> bool:
    if not spelling.isascii() or not spelling.isalpha():  # a sign, two words, or a script without spaces
        return spelling in ground.text
    return spelling in ground.words or f"{spelling}s" in ground.words  # not the "eur" of "Europe"


def _names(reason: str, language: str) -> Iterable[tuple[int, str]]:
    """Words whose form marks a name: a capital where that means something, inner capitals, letters with digits."""
    for match in _WORD.finditer(reason):
        word = re.sub(r"['’]s$", "", match.group())
        word = re.sub(r"^[^\W\d_]{1,2}['’](?=\w)", "", word)
        if word.lower() in _OWN or len(word) < 2 or word.isdigit():
            continue
        mixed = any(c.isdigit() for c in word) and word.lower() != word.upper()  # letters with cases: no CJK
        if mixed or any(c.isupper() for c in word[1:]):
            yield match.start(), word
            continue
        initial = not reason[: match.start()].strip() or re.search(r"[.!?:;\"“«(—–]\s*$", reason[: match.start()])
        if word[:1].isupper() and not initial and language not in _NO_CAPITALS:
            yield match.start(), word


def _name_supported(word: str, ground: Ground) -> bool:
    """Whether a name, each part of it, stands in a ground; a plural or case ending may differ."""
    folded = _folded(word)
    if folded in ground.text:
        parts = re.findall(r"[^\W_]+", folded)
        if all(p in ground.words for p in parts):
            return True
    parts = [p for p in re.findall(r"[^\W_]+", folded) if len(p) > 1]
    return bool(parts) and all(p in ground.words or _inflected(p, ground) for p in parts)


def _inflected(part: str, ground: Ground) -> bool:
    if len(part) < 5 or any(c.isdigit() for c in part):
        return False
    stem = part[: max(4, len(part) - 2)]
    return any(w.startswith(stem) and abs(len(w) - len(part)) <= 2 for w in ground.words)
