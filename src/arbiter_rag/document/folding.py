"""Text as it is compared, never as it is given back: letters and digits only, without case, accents or ligatures."""

from __future__ import annotations

import re
import unicodedata

_NOT_ALNUM = re.compile(r"[\W_]+")
"""Also matches combining marks: decomposed accents go with the punctuation."""

_KIND = (
    r"(?:chapters?|chapitre|kapitel|cap[ií]tulo|capitolo|hoofdstuk|глава|sections?|secci[oó]n|se[cç][aã]o|sezione|"
    r"abschnitt|art(?:icle|[ií]culo|icolo|igo|ikel|\.)|parts?|partie|teil|parte|deel|часть|titre|title|"
    r"items?|annex(?:e|es)?|appendix|appendices|anhang|anexo|ap[eé]ndice|allegato|appendice|bijlage|приложение|"
    r"schedule|exhibit|note|§)"
)
_VALUE = r"(?:\d{1,4}(?:[.\-]\d{1,3})*[a-z]?|[A-Z](?:[.\-]?\d{1,3}(?:\.\d{1,3})*)?|[IVXLC]{1,7})(?:er|ère|re|st)?"
_NUMBER = re.compile(
    rf"(?<!\s)\s*+(?:(?P<kind>{_KIND})(?:\s+|(?<=[.§])\s*)(?:n[°o]\s*)?(?P<named>{_VALUE})(?:\s*[.:)\-–—]+)?(?=\s|$|(?<=[–—:]))"
    r"|(?P<bare>\d{1,2}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3})*|[IVXLC]{1,7})(?P<after>\s?[.:)]|\s?[\-–—](?=\s))?"
    r"(?=\s|$)|(?P<cjk>第[\d〇零一二三四五六七八九十百]+[章節节條条部篇編编]))\s*",
    re.IGNORECASE,
)


def squash(text: str) -> str:
    """Fold to letters and digits: letter spacing, hyphenation, dashes, case, accents and ligatures all disappear."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).replace("ı", "i")
    return _NOT_ALNUM.sub("", text.casefold())


def split_number(text: str) -> tuple[str, str]:
    """Part a heading's number from its title: "3.5 Positional Encoding" -> ("3.5", "Positional Encoding").

    A capital letter or a roman numeral counts only before a full stop, colon or bracket or behind a word such as
    "Annexe": "A note" and "I am" have no number.
    """
    found = _NUMBER.match(text)
    if not found:
        return "", text.strip()
    rest = text[found.end() :].strip(" \t\n\u00a0:–—-")
    bare = found["bare"]
    if bare and not bare[0].isdigit():
        tabbed = "\t" in found.group()
        if not bare.isupper() or not (found["after"] or "." in bare or tabbed):
            return "", text.strip()
    if found["named"] and not found["named"][0].isdigit() and not found["named"][0].isupper():
        return "", text.strip()
    number = found.group().strip().rstrip(".:)-–— ").strip()
    return (number, rest) if rest or found["kind"] else ("", text.strip())
