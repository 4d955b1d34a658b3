"""The clear case of a conflict, found by rule: two passages give the answer's value differently, and one amends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from arbiter_rag.contract import (
    AnswerShape,
    Candidate,
    ConflictReply,
    ConflictSide,
    ParsedQuestion,
)

_AMENDS = re.compile(
    r"(?i)\b(?:amend(?:ment|s|ed|ing)?|addend(?:um|a)|rider|endorsement|supersed\w*|is (?:hereby )?replaced|replaces|"
    r"avenant|modificatif|remplac(?:e|é|ée|ent)|nachtrag|änderungsvereinbarung|ersetzt|änderung|adenda|enmienda|"
    r"sustituye|modifica(?:ción)?|emendamento|sostituisce|appendice modificativa|aditamento|aditivo|substitui|"
    r"addendum|wijziging|vervangt|дополнительное соглашение|поправка|заменяется|изменени[ея])\b"
    r"|修正|変更契約|改定|修订|补充协议|변경|개정"
)
_IN_FORCE = re.compile(
    r"(?i)\b(?:in force|effective (?:from|as of|on)|as of|with effect from|en vigueur|à compter du|à partir du|"
    r"in kraft|gültig ab|mit wirkung|en vigor|a partir del?|in vigore|a decorrere|em vigor|van kracht|met ingang van|"
    r"вступает в силу|действует с)\b"
)
_REPLACED_BY = re.compile(
    r"(?i)\b(?:replaced (?:by|with)|remplacée?s? par|ersetzt durch|sustituid[oa]s? por|sostituit[oaie] d[ao]l?|"
    r"substituíd[oa]s? por|vervangen door|заменяется на|заменить на)\b|durch .{1,60} ersetzt|を.{1,40}に改め|改为"
)
_COUNTED = {
    1: "one un une eine einem einen uno una um uma een один одного",
    2: "two deux zwei dos due dois duas twee два двух",
    3: "three trois drei tres tre três drie три трёх трех",
    4: "four quatre vier cuatro quattro quatro четыре четырёх четырех",
    5: "five cinq fünf cinco cinque vijf пять пяти",
    6: "six sechs seis sei zes шесть шести",
    7: "seven sept sieben siete sette sete zeven семь семи",
    8: "eight huit acht ocho otto oito восемь восьми",
    9: "nine neuf neun nueve nove negen девять девяти",
    10: "ten dix zehn diez dieci dez tien десять десяти",
    12: "twelve douze zwölf doce dodici doze twaalf двенадцать двенадцати",
    14: "fourteen quatorze vierzehn catorce quattordici veertien четырнадцать",
    15: "fifteen quinze fünfzehn quince quindici vijftien пятнадцать",
    18: "eighteen achtzehn dieciocho diciotto dezoito achttien восемнадцать",
    20: "twenty vingt zwanzig veinte venti vinte twintig двадцать",
    24: "twenty-four vingt-quatre vierundzwanzig veinticuatro ventiquattro двадцать четыре",
    30: "thirty trente dreißig treinta trenta trinta dertig тридцать",
    60: "sixty soixante sechzig sesenta sessanta sessenta zestig шестьдесят",
    90: "ninety neunzig noventa novanta negentig девяносто",
}
"""Numbers that contracts write out."""

_WRITTEN = {word: str(number) for number, words in _COUNTED.items() for word in words.split()}
# A run of digits is tried at its first one only, and never shortened: a long one would take its square.
_DIGITS = r"(?<!\d)(?:\d{1,3}(?:[ \u00a0\u202f.,'’]\d{3}){1,8}+(?!\d)(?:[.,]\d++)?|\d++(?:[.,]\d++)?)"
_TIME = (
    r"(?:days?|weeks?|months?|years?|hours?|jours?|semaines?|mois|ans?|années?|heures?|tagen?|wochen?|monaten?|jahren?|"
    r"días?|semanas?|meses|años?|giorni|settimane|mesi|anni|dias|anos|dagen|weken|maanden|jaar|дн\w+|недел\w+|месяц\w*|"
    r"лет|год\w*)\b|日|週|月|年|天|周|个月|일|주|개월|년"
)
_MONEY = r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?)\b"
_VALUES: dict[AnswerShape, re.Pattern[str]] = {
    "amount": re.compile(rf"(?i)(?:(?:{_MONEY})\s?(?:{_DIGITS})|(?:{_DIGITS})\s?(?:{_MONEY}))"),
    "percentage": re.compile(rf"(?i)(?:{_DIGITS})\s?(?:%|percent\b|per cent\b|pour cent\b|prozent\b|por ciento\b)"),
    "duration": re.compile(
        rf"(?i)(?:{_DIGITS}|\b(?:{'|'.join(_WRITTEN)})\b)(?:\s{{0,4}}\([^)]{{1,20}}\))?[\s-]?(?:{_TIME})"
    ),
}
"""Shapes whose values can be told apart from the numbers around them."""

_SENTENCE_END = re.compile(r"\n|(?<=[.!?;。])\s+(?=\W{0,8}[A-ZÀ-ÝА-Я])")

_MOST = 40
"""Candidates that are compared: pairs grow with the square."""


def obvious_conflicts(question: ParsedQuestion, candidates: Sequence[Candidate]) -> tuple[ConflictReply, ...]:
    """The clear case only: the same keywords, one value of the answer's shape each, values that differ, and one section
    that amends the other (or both that state a term in force).

    Args:
        question: Its shape says what a value is; shapes other than amount, percentage and duration give nothing.
        candidates: Those a detector found something in.
    """
    pattern = _VALUES.get(question.shape)
    if pattern is None:
        return ()
    stated = []
    for candidate in candidates[:_MOST]:
        sentence = None if candidate.weak else _telling_sentence(candidate, pattern)
        if sentence is not None:
            stated.append((candidate, sentence, _value(pattern, sentence)))
    out: list[ConflictReply] = []
    for (a, said_a, value_a), (b, said_b, value_b) in combinations(stated, 2):
        if value_a == value_b or {*a.matched_keywords} != {*b.matched_keywords} or _same_place(a, b):
            continue
        if not _contradict(a, b):
            continue
        reason = f"They state different values: {value_a} and {value_b}."
        sides = (
            ConflictSide(candidate_id=a.candidate_id, quote=said_a),
            ConflictSide(candidate_id=b.candidate_id, quote=said_b),
        )
        out.append(ConflictReply(reason=reason, sides=sides))
    return tuple(out)


def _telling_sentence(candidate: Candidate, pattern: re.Pattern[str]) -> str | None:
    """The one shown sentence that states a value beside a keyword; None when several compete."""
    words = [w.lower() for w in candidate.matched_keywords]
    telling = [t for t in _sentences(candidate) if pattern.search(t) and any(w in t.lower() for w in words)]
    if len(telling) != 1 or len({m.group().lower() for m in pattern.finditer(_stated(telling[0]))}) != 1:
        return None
    return telling[0]


def _sentences(candidate: Candidate) -> list[str]:
    """The shown sentences: lines run on, but a line that begins with a capital begins anew (headings have no stop)."""
    text = ""
    for line in candidate.snippet_lines:
        text += ("\n" if line.text[:1].isupper() else " ") + line.text.strip()
    return [s.strip() for s in _SENTENCE_END.split(text) if s.strip()]


def _stated(text: str) -> str:
    """What a line puts in force: of "X is replaced by Y" only Y."""
    match = _REPLACED_BY.search(text)
    return text[match.end() :] if match else text


def _value(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(_stated(text))
    words = match.group().lower().split() if match else []
    return " ".join(_WRITTEN.get(word, word) for word in words)


def _same_place(a: Candidate, b: Candidate) -> bool:
    """Whether two candidates come from one section, or from documents that cannot amend one another silently."""
    if a.context is None or b.context is None:
        return False
    return a.context.doc_id == b.context.doc_id and a.context.section_id == b.context.section_id


def _contradict(a: Candidate, b: Candidate) -> bool:
    heads = [f"{c.breadcrumb or ''} {c.section_title or ''} {c.snippet}" for c in (a, b)]
    amends = [bool(_AMENDS.search(head)) for head in heads]
    if amends[0] != amends[1]:
        return True
    titles = [bool(_AMENDS.search(f"{c.breadcrumb or ''} {c.section_title or ''}")) for c in (a, b)]
    return (all(amends) and any(titles)) or all(_IN_FORCE.search(head) for head in heads)
