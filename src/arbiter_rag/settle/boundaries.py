"""Where a quote may begin and end in its source: never inside a word or number, never cutting a negation off."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_NEGATIONS = {
    "en": "not no never neither nor without cannot",
    "fr": "ne pas jamais aucun aucune sans ni non",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals ohne weder",
    "es": "no nunca jamás sin ningún ninguna ninguno tampoco ni",
    "it": "non mai senza nessun nessuna nessuno né",
    "pt": "não nunca jamais sem nenhum nenhuma nem",
    "nl": "niet geen nooit zonder noch",
    "ru": "не нет ни без никогда",
    "uk": "не немає ні без ніколи",
    "pl": "nie nigdy bez ani żaden żadna żadne",
    "sv": "inte ej aldrig ingen inget inga utan",
    "da": "ikke aldrig ingen intet uden",
    "nb": "ikke aldri ingen intet uten",
    "cs": "ne nikdy bez ani žádný žádná žádné",
    "ro": "nu niciodată fără nici",
    "tr": "değil",
}
"""What turns a statement round, by language: `no` denies in English and means "in the" in Portuguese."""

_DENIES_ON = """
without nor neither sans ni ohne weder sin senza né sem nem zonder noch без ни ні bez ani utan uden uten fără
nici
"""
_LEADING_ONLY = frozenset(_DENIES_ON.split())
"""Words that deny what follows them; a quote that ends before one keeps its own meaning."""

_UNSPACED_BEFORE = tuple("不没沒未無无非勿")
_UNSPACED_AFTER = ("ない", "なかった", "なく", "ません", "ぬ", "않", "아니", "못하")
_PREFIX = re.compile(r"(?i)\b(?:non|un|anti|nicht|niet)$")
"""Parts that deny and that hyphenation seldom leaves at a line's end by chance, as it does `in-` and `im-`."""

_MONEY = "$€£¥₩₽₹₺₴₫฿¢₿"
_CURRENCY = rf"(?:[A-Z]{{0,3}}[{_MONEY}]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|RUB|KRW)\b)"
_PERCENT = r"(?:[%‰°℃℉％]|\b(?:percent|per\s?cent|pour\s?cent|Prozent|por\s?ciento|por\s?cento|per\s?cento|procent)\b)"
_SPACE = "[ \u00a0\u202f\u2009]"
_NUMBER = re.compile(
    rf"(?<![^\W_])(?:[<>≤≥≈~±]{_SPACE}?)?(?:[+\-\u2010-\u2012\u2212])?(?:{_CURRENCY}{_SPACE}?)?[+\-\u2212]?"
    rf"(?:\d{{1,3}}(?:{_SPACE}\d{{3}})+(?!\d)|[.,]?\d)(?:\d|[.,:/'’\u2010-\u2013\u2212·-](?=\d)|[²³¹⁰⁴-⁹½¼¾⅓⅔])*"
    rf"(?:{_SPACE}?(?:{_PERCENT}|{_CURRENCY}))?"
    rf"|\({_SPACE}?{_CURRENCY}?{_SPACE}?[\d.,]+{_SPACE}?%?{_SPACE}?\)"
)
"""A number with everything that makes it this number: comparison, sign, currency, groups, decimals, unit sign.

The second form is a negative amount of accounting, which its brackets make negative.
"""

_DIGITS = re.compile(r"\d+(?:[.,:/'’]\d+)*")
_WORD = re.compile(r"\w+(?:[-\u2010\u2011'’]\w+)*")
_UNSPACED = re.compile(r"[\u2e80-\u312f\u31a0-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f]")
_REACH = 48
"""Characters on either side that are looked at: longer than any number."""


def _inside(pattern: re.Pattern[str], text: str, at: int) -> bool:
    return any(m.start() < at < m.end() for m in pattern.finditer(text))


def _cuts_number(text: str, at: int, *, opening: bool) -> bool:
    """Whether a quote takes the digits of a number and leaves its sign, unit, currency or other digits."""
    for match in _NUMBER.finditer(text):
        if not match.start() < at < match.end():
            continue
        taken, left = text[at : match.end()], text[match.start() : at]
        if not opening:
            taken, left = left, taken
        # A closing bracket alone is no loss: the opening one says it all.
        if any(c.isdigit() for c in taken) and left.strip() != ")":
            return True
    return False


def cuts_token(before: str, after: str, *, opening: bool) -> bool:
    """Whether the place between two texts lies inside a word or a number.

    Args:
        before: What stands before the place.
        after: What stands behind it.
        opening: True when a quote begins here, False when it ends here.
    """
    left, right = before[-_REACH:], after[:_REACH]
    if not left or not right:
        return False
    text, at = left + right, len(left)
    if _cuts_number(text, at, opening=opening) or _inside(_DIGITS, text, at):
        return True
    if opening and right[0] in ".,;:)]%" and left[-1].isalnum():
        return True  # the punctuation of the token before it
    if _UNSPACED.match(right) or _UNSPACED.match(left[-1]):
        return False
    if opening and re.search(rf"\w[-\u2010]{_SPACE}*\n\s*$", left):
        return bool(right[:1].isdigit() or _PREFIX.search(left.rstrip().rstrip("-\u2010")))
    if not opening and re.match(r"[-\u2010][^\S\n]*\n\s*\w", right):
        return True
    if opening and _elided(left, right):
        return False
    return _inside(_WORD, text, at)


def _elided(left: str, right: str) -> bool:
    """Whether an elided article or the like ends here (l'assuré, dell'assicurato); n' is a negation."""
    match = re.search(r"(?<!\w)(\w{1,8})['’]$", left)
    if match is None or match.group(1).isdigit() or match.group(1).lower() == "n":
        return False
    return re.match(r"[^\W\d_]{3}", right) is not None


@lru_cache(maxsize=64)
def negations(languages: tuple[str, ...]) -> frozenset[str]:
    """Negations of these languages; of all known ones when none of these is known."""
    chosen: Iterable[str] = [_NEGATIONS[code] for code in languages if code in _NEGATIONS] or _NEGATIONS.values()
    return frozenset(word for words in chosen for word in words.split())


_FIRST_HALVES = frozenset({"ne", "n'", "n’"})
"""French denies with two words; a quote that holds one of them keeps the negation."""


def _second_half(text: str) -> bool:
    return re.search(r"(?i)\b(?:pas|plus|jamais|que|aucun|aucune|rien|personne|ni|guère)\b", text) is not None


def _new_clause(text: str, before: str = "\n") -> bool:
    """Whether a text begins on a new line with a capital."""
    broken = re.match(r"[^\S\n]*\n", text) is not None if before == "\n" else before.rstrip(" ").endswith("\n")
    return broken and text.lstrip()[:1].isupper()


def cuts_negation(before: str, quoted: str, after: str, words: frozenset[str]) -> tuple[bool, bool]:
    """Whether a quote leaves out a negation just before it, and just behind it, in the same clause.

    Args:
        before: What stands before the quote.
        quoted: The quote, as its source writes it.
        after: What stands behind it.
        words: Negations of the document's languages.
    """
    if quoted[-1:] in ".!?;:。！？" or _new_clause(after):
        after = ""
    if _new_clause(quoted, before) and "nicht" not in words:  # German nouns have capitals amid a clause
        before = ""
    head = re.search(r"(\w+(?:['’]t)?|n['’])[^\S\t]*$", before[-_REACH:])
    tail = re.match(r"[^\S\t]*(\w+)", after[:_REACH])
    first = head.group(1).lower() if head else ""
    last = tail.group(1).lower() if tail else ""
    if first in _FIRST_HALVES and _second_half(quoted[:_REACH]):
        first = ""
    if re.search(r"(?i)\b(?:ne\s|n['’])", quoted[-_REACH:]):
        last = ""
    leading = first in words or first.endswith(("n't", "n’t")) or first in _FIRST_HALVES
    leading = leading or before.rstrip().endswith(_UNSPACED_BEFORE)
    trailing = (last in words and last not in _LEADING_ONLY) or after.lstrip().startswith(_UNSPACED_AFTER)
    return leading, trailing


def holds_negation(text: str, words: frozenset[str]) -> bool:
    """Whether a text says a negation."""
    if any(mark in text for mark in (*_UNSPACED_BEFORE, *_UNSPACED_AFTER)):
        return True
    found = re.findall(r"\w+(?:['’]\w+)?", text.lower())
    return any(w in words or w.endswith(("n't", "n’t")) or w.startswith(("n'", "n’")) for w in found)


def word_count(text: str) -> int:
    """Words of a text; where words are not spaced, two characters count as one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", _UNSPACED.sub(" ", text))) + (unspaced + 1) // 2
