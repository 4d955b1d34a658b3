"""What an answer of each shape looks like in text: patterns of figures, dates and lists, in any of the languages."""

from __future__ import annotations

import re

from arbiter_rag.contract import AnswerShape

# Possessive and bounded: a number is read once, from its first digit, whatever stands behind it.
_NUMBER = r"(?<!\d)\d[\d.,\u00a0\u202f' ]{0,24}+"
_CURRENCY = r"(?:[$€£¥₩₽]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|KRW|RUB|CAD|AUD)\b|\beuros?\b|\bdollars?\b|руб|円|元|원)"
_SCALE = r"(?:[kKmM]illi|billion|Mio|Mrd|млн|億|万|억)"
_PERCENT = r"(?:[%％‰]|percent|per cent|pour ?cent|prozent|por ciento|per cento|por cento|procent|процент|퍼센트)"
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|janv|févr|fevr|avr|mai|juin|juil|août|aout|déc|okt|dez|"
    r"ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out|mrt|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)"
)
_TIME_UNIT = (
    r"(?:second|minute|hour|day|week|month|quarter|year|heure|jour|semaine|mois|an(?:s|née|nées)?\b|sekunde|minut|stunde|"
    r"tag|woche|monat|jahr|segundo|hora|día|dia|semana|mes|año|ano|ora\b|ore\b|giorn|settiman|mese|mesi|ann[oi]|mês|"
    r"uur|uren|dag|maand|jaar|jaren|секунд|минут|час|дн|день|недел|месяц|год|лет)"
)
_COUNT_WORD = (
    r"\b(?:one|two|three|four|five|six|seven|ten|twelve|thirty|une?|deux|trois|dix|douze|trente|eine?|zwei|drei)\b"
)
_CJK_TIME = r"\d\s?(?:[年月日時分秒周週]|時間|小时|년|월|일|시간|분|초|주)"

_PATTERNS: dict[AnswerShape, re.Pattern[str]] = {
    "amount": re.compile(rf"{_CURRENCY}\s?{_NUMBER}|{_NUMBER}\s?(?:{_CURRENCY}|{_SCALE})|\t\(?\d", re.IGNORECASE),
    "percentage": re.compile(rf"{_NUMBER}\s?{_PERCENT}", re.IGNORECASE),
    "date": re.compile(
        r"\b(?:19|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\d\s?[年月日년월일]"
        rf"|\b\d{{1,2}}(?:st|nd|rd|th|er|\.)?\s{_MONTH}|\b{_MONTH}\w*\.?\s\d",
        re.IGNORECASE,
    ),
    "duration": re.compile(rf"(?:\d|{_COUNT_WORD})[\w.,\s-]{{0,12}}?\b{_TIME_UNIT}|{_CJK_TIME}", re.IGNORECASE),
    "number": re.compile(r"\d"),
    "name": re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+"),
    "list": re.compile(
        r"^[^\S\n]{0,40}+(?:[•‣◦▪●○–—*-]|\(?[a-z0-9ivx]{1,4}[.)])\s|[,;][^,;]{1,200}[,;]|、[^、]{1,60}、",
        re.IGNORECASE | re.MULTILINE,
    ),
}


def has_shape(text: str, shape: AnswerShape) -> bool:
    """Whether the text holds something of this shape; `open` and `yes_no` ask for nothing special and are never met."""
    pattern = _PATTERNS.get(shape)
    return pattern is not None and pattern.search(text[:4000]) is not None
