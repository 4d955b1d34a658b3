"""Where a quote may begin and end in its source: never inside a word or number."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"(?i)\b(?:non|un|anti|nicht|niet)$")
"""Parts that deny and that hyphenation seldom leaves at a line's end by chance, as it does `in-` and `im-`."""

_MONEY = "$€£¥₩₽₹₺₴₫฿¢₿"
_CURRENCY = rf"(?:[A-Z]{{0,3}}[{_MONEY}]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|RMB|INR|RUB|KRW)\b)"
_PERCENT = r"(?:[%‰°℃℉％]|\b(?:percent|per\s?cent|pour\s?cent|Prozent|por\s?ciento|por\s?cento|per\s?cento|procent)\b)"
_SPACE = "[ \u00a0\u202f\u2009]"
_SCALES = """
hundred thousand million millions billion billions trillion trillions dozen lakh crore k m mn mm bn tn
tausend hundert million millionen milliarde milliarden billion billionen tsd mio mrd
mille milliers millier million millions milliard milliards cent
mil millón millones millardo millardos billón billones mila milione milioni miliardo miliardi
milhão milhões bilhão bilhões duizend honderd miljoen miljard mln mld
тыс млн млрд трлн тысяча тысячи тысяч миллион миллиона миллионов миллиард миллиарда миллиардов
tys tusen tusind miljon miljoner miljard miljarder
"""
_SCALE_WORD = "|".join(sorted(set(_SCALES.split()), key=lambda word: (-len(word), word)))
_SCALE = rf"(?:(?:{_SPACE}|-)?\n?(?i:{_SCALE_WORD})(?!\w)|{_SPACE}?[万萬億亿兆千百만억조천])"
"""What multiplies the number before it; a line may break between the two."""

_IDEOGRAPH = "\u2e80-\u312f\u31a0-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_NUMBER = re.compile(
    rf"(?<![^\W_{_IDEOGRAPH}])(?:[<>≤≥≈~±]{_SPACE}?)?(?:[+\-\u2010-\u2012\u2212])?(?:{_CURRENCY}{_SPACE}?)?[+\-\u2212]?"
    rf"(?:\d{{1,3}}(?:{_SPACE}\d{{3}})+(?!\d)|[.,]?\d)(?:\d|[.,:/'’\u2010-\u2013\u2212·-](?=\d)|[²³¹⁰⁴-⁹½¼¾⅓⅔])*"
    rf"{_SCALE}{{0,2}}(?:{_SPACE}?(?:{_PERCENT}|{_CURRENCY}))?"
    rf"|\({_SPACE}?{_CURRENCY}?{_SPACE}?[\d.,]+{_SPACE}?%?{_SPACE}?\)"
)
"""A number with everything that makes it this number: comparison, sign, currency, groups, decimals, scale, unit sign.

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


def word_count(text: str) -> int:
    """Words of a text; where words are not spaced, two characters count as one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", _UNSPACED.sub(" ", text))) + (unspaced + 1) // 2
