"""Where the user says to look: page and section hints, in the words of all eleven languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from arbiter_rag.contract import PageHint, SectionHint
from arbiter_rag.language import LANGUAGES, fold
from arbiter_rag.question.tables import UNSPACED, Table, table

_ROMAN = re.compile(r"(?=[ivxl])(?:x[lx]|l?x{0,3})(?:ix|iv|v?i{0,3})", re.I)
_RANGE_LIMIT = 20
_DASH = r"[-–—~〜～‐‑]"
# A page with a sign is none that a document has; its digits alone would be another page.
_PAGE_LABEL = r"(?:(?:(?<= )[-−+])?\d{1,5}|[A-Za-z]{1,2}-?\d{1,4}|[ivxl]{1,8}|[IVXL]{1,8})(?![\w'’])"
_SECTION_NUMBER = (
    r"(?:[A-Z]{1,2}\.? ?(?:\* ?)?)?\d{1,4}[a-zA-Z]?(?:[.-][A-Z]?\d{1,4}[a-z]?)*(?:\([a-z0-9]{1,3}\))*(?!\w)"
    r"|[A-Z](?:[.-]?\d{1,3})+(?!\w)|(?:[IVXL]{1,6}|[ivxl]{2,6})(?![\w'’])|[A-Z](?![\w'’])"
)
_NUMERAL_WORD = r"(?:n[o°º]\.? ?|n\. ?|nr\.? ?|number |#|№ ?)?"

_HAN_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_NUMBER = "[〇零一二三四五六七八九十百两兩]{1,7}"
_ASIAN_NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,3}}){{0,8}}|{_HAN_NUMBER})"
_TO = rf"(?:{_DASH}|到|至|から|부터|에서)"
_ORDINAL = r"(?:第|제) ?"
_ASIAN_PAGE = re.compile(
    rf"{_ORDINAL}(?P<a>[-−]?{_ASIAN_NUMBER}) ?(?:页|頁|ページ|쪽|페이지)?"
    rf"(?: ?{_TO} ?(?:{_ORDINAL})?(?P<b>{_ASIAN_NUMBER}))? ?"
    r"(?:页|頁|ページ|쪽|페이지)"
    rf"|(?P<c>(?:(?<!\S)[-−])?\d{{1,4}}) ?(?:ページ|頁|쪽|페이지)?(?: ?{_TO} ?(?P<d>\d{{1,4}}))? ?"
    r"(?:ページ|頁|쪽|페이지)"
    rf"|(?:页|頁|ページ|페이지|쪽) ?(?P<e>\d{{1,4}}|[ivxl]{{1,8}}(?![a-z]))(?: ?{_TO} ?(?P<f>\d{{1,4}}))?",
    re.I,
)
_ASIAN_SECTION = re.compile(
    rf"{_ORDINAL}(?P<a>{_ASIAN_NUMBER}) ?(?P<ka>章|节|節|条款|条|條|款|项|項|号|编|編|部分|部|장|절|조|항|호|편|부)"
    r"|(?P<b>\d{1,4}(?:\.\d{1,3}){0,8}) ?(?P<kb>章|节|節|条|條|장|절|조(?! ?(?:원|달러|엔)))"
    rf"|(?P<kc>附录|附錄|附件|附表|付録|附録|別表|別紙|附則|セクション|부록|별표|별지|섹션) ?"
    rf"(?P<c>[A-Z](?![A-Za-z])(?:[.-]?\d{{1,3}})*|{_ASIAN_NUMBER})"
)


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints of one question, and the spans of its text that they take up."""

    pages: tuple[PageHint, ...]
    sections: tuple[SectionHint, ...]
    spans: tuple[tuple[int, int], ...]


def find_hints(text: str, language: str) -> Hints:
    """Page and section hints of a question, in its own language's words or in English ones; in any, if undetermined."""
    plain = level(text)
    pages: list[PageHint] = []
    sections: list[SectionHint] = []
    spans: list[tuple[int, int]] = []
    if language in UNSPACED or language == "und":
        _asian(text, pages, sections, spans)
    # "Kapitel 4" alone does not tell its language, and says where to look all the same.
    codes = LANGUAGES if language == "und" else dict.fromkeys((language, "en"))
    for code in codes:
        if code in UNSPACED:
            continue
        grammar = _grammar(code)
        _western_pages(text, plain, grammar, pages, spans)
        _western_sections(text, plain, grammar, sections, spans)
    for found in table(language).first_page.finditer(plain):
        pages.append(PageHint(label="1"))
        spans.append(found.span())
    return Hints(tuple(dict.fromkeys(pages)), tuple(dict.fromkeys(sections)), tuple(spans))


def level(text: str) -> str:
    """The text folded character by character, so that offsets stay: where folding changes lengths, it is left out."""
    return "".join(folded if len(folded := fold(character)) == 1 else character for character in text)


@dataclass(frozen=True, slots=True)
class _Grammar:
    table: Table
    page: re.Pattern[str]
    section: re.Pattern[str]
    range: re.Pattern[str]
    join: re.Pattern[str]


_LABEL, _NUMBER = re.compile(_PAGE_LABEL), re.compile(_SECTION_NUMBER)


@cache
def _grammar(language: str) -> _Grammar:
    words = table(language)
    return _Grammar(
        table=words,
        page=_lead(words.pages, words.pages_dotted),
        section=_lead((*words.sections, "§§", "§"), words.sections_dotted),
        range=re.compile(rf" ?{_DASH} ?| (?:{_alternatives(words.ranges)}) "),
        join=re.compile(rf" ?[,;&] ?(?:(?:{_alternatives(words.joins)}) )?| (?:{_alternatives(words.joins)}) "),
    )


def _alternatives(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, words))


def _lead(words: tuple[str, ...], dotted: tuple[str, ...]) -> re.Pattern[str]:
    """The word before a number; what is found in group 1 is that word."""
    kinds = rf"({_alternatives(words)})\.?"
    if dotted:
        kinds = rf"(?:{kinds}|({_alternatives(dotted)})\.)"
    return re.compile(rf"(?<![\w-]){kinds} {{0,2}}{_NUMERAL_WORD}")


def _western_pages(
    text: str, plain: str, grammar: _Grammar, pages: list[PageHint], spans: list[tuple[int, int]]
) -> None:
    for lead in grammar.page.finditer(plain):
        at, label = lead.end(), _label_at(text, lead.end())
        if label is None or _taken(lead.start(), spans):
            continue
        first, last = label, None
        at += len(label)
        while True:
            through, also = grammar.range.match(plain, at), grammar.join.match(plain, at)
            step = through or also
            label = _label_at(text, step.end()) if step else None
            if step is None or label is None:
                break
            if through:
                last = label
            else:
                pages.append(PageHint(label=first, last_label=last))
                first, last = label, None
            at = step.end() + len(label)
        pages.append(PageHint(label=first, last_label=last))
        spans.append((lead.start(), at))


def _label_at(text: str, at: int) -> str | None:
    found = _LABEL.match(text, at)
    if found is None or (found.group().isalpha() and not _ROMAN.fullmatch(found.group())):
        return None
    return found.group().replace("−", "-")


def _western_sections(
    text: str, plain: str, grammar: _Grammar, sections: list[SectionHint], spans: list[tuple[int, int]]
) -> None:
    for lead in grammar.section.finditer(plain):
        number = _number_at(text, lead.end())
        if number is None or _taken(lead.start(), spans):
            continue
        kind = next(group for group in lead.groups() if group)
        follows = any(0 <= lead.start() - end <= 2 for _, end in spans)
        at = lead.end() + len(number)
        numbers = [number]
        while True:
            through, also = grammar.range.match(plain, at), grammar.join.match(plain, at)
            step = through or also
            number = _number_at(text, step.end()) if step else None
            if step is None or number is None:
                break
            numbers.extend(_between(numbers[-1], number) if through else ())
            numbers.append(number)
            at = step.end() + len(number)
        if not (follows and kind in grammar.table.part_of):
            sections.extend(SectionHint(number=n, kind=kind) for n in numbers)
        spans.append((lead.start(), at))


def _number_at(text: str, at: int) -> str | None:
    found = _NUMBER.match(text, at)
    if found is None:
        return None
    number = found.group().rstrip(".-")
    if number.isalpha() and number.islower() and not _ROMAN.fullmatch(number):
        return None
    return number


def _between(first: str, last: str) -> list[str]:
    """The whole numbers inside a range of sections, where it is a short range of whole numbers."""
    if not (first.isdecimal() and last.isdecimal() and 0 < int(last) - int(first) <= _RANGE_LIMIT):
        return []
    return [str(number) for number in range(int(first) + 1, int(last))]


def _asian(text: str, pages: list[PageHint], sections: list[SectionHint], spans: list[tuple[int, int]]) -> None:
    for found in _ASIAN_PAGE.finditer(text):
        first = found["a"] or found["c"] or found["e"]
        last = found["b"] or found["d"] or found["f"]
        pages.append(PageHint(label=_arabic(first), last_label=_arabic(last) if last else None))
        spans.append(found.span())
    for found in _ASIAN_SECTION.finditer(text):
        number, kind = found["a"] or found["b"] or found["c"], found["ka"] or found["kb"] or found["kc"]
        follows = any(0 <= found.start() - end <= 2 for _, end in spans)
        if _taken(found.start(), spans):
            continue
        spans.append(found.span())
        if follows and kind in {"款", "项", "項", "号", "항", "호"}:
            continue
        # Headings are printed either way, and which one this document prints is not known here.
        sections.extend(SectionHint(number=n, kind=fold(kind)) for n in dict.fromkeys((number, _arabic(number))))


def _arabic(number: str) -> str:
    """十二 -> 12; anything that is no Chinese numeral is given back as it is."""
    if not re.fullmatch(_HAN_NUMBER, number):
        return fold(number) if number.isdecimal() else number.replace("−", "-")
    if not re.search("[十百]", number):
        return str(int("".join(str(_HAN_DIGITS[c]) for c in number)))
    total, digit = 0, 0
    for character in number:
        if character in "十百":
            total += (digit or 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return str(total + digit)


def _taken(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)
