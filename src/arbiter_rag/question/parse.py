"""A question's text into a `ParsedQuestion`: the order in which its parts are found."""

from __future__ import annotations

import re
import unicodedata

from arbiter_rag.contract import Keyword, ParsedQuestion
from arbiter_rag.errors import InputError
from arbiter_rag.language import LANGUAGES, analyzer, detect_language, encodable, fold
from arbiter_rag.lexicon import Lexicon
from arbiter_rag.question.hints import find_hints
from arbiter_rag.question.kinds import intent_of, shape_of
from arbiter_rag.question.tables import table
from arbiter_rag.question.words import fallback_keywords, keywords_of

SEARCHED_CHARACTERS = 2000
"""How much of a question is searched for: nobody asks longer ones, and what is pasted behind them is no question."""

_QUOTED = re.compile(
    "|".join(
        (
            r'"([^"\n]{1,200})"',
            "“([^“”\n]{1,200})[”“]",
            '„([^„“”"\n]{1,200})[“”"]',
            "«([^«»\n]{1,200})»",
            "»([^«»\n]{1,200})«",
            "‹([^‹›\n]{1,200})›",
            "「([^「」\n]{1,200})」",
            "『([^『』\n]{1,200})』",
            "《([^《》\n]{1,200})》",
            r"(?<!\w)‘([^‘’\n]{1,200})’(?!\w)",
            r"(?<!\w)'([^'\n]{1,200})'(?!\w)",
        )
    )
)


def parse_question(text: str, lexicon: Lexicon | None = None, language: str | None = None) -> ParsedQuestion:
    """Take a question apart by rules.

    Args:
        text: The question. Only its first 2,000 characters are searched for; the whole text is kept.
        lexicon: The expert's dictionary; a question that uses any variant of a concept looks for all of them.
        language: ISO 639-1 code where it is known; detected otherwise.

    Raises:
        InputError: The question is empty.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"Expected a question, got {'an empty text' if isinstance(text, str) else type(text).__name__}"
                         "; pass the question as a non-empty string.")  # fmt: skip
    whole = encodable(text).strip()
    searched = _searched(whole)
    code = _code(language) if language else detect_language(searched)
    words = table(code)
    hints = find_hints(searched, code)
    rest = _blank(searched, hints.spans)
    phrases = _phrases(rest)
    analysis = analyzer(code)
    keywords = [Keyword(text=phrase, source="phrase", concept=fold(phrase)) for phrase in phrases]
    own = keywords_of(rest, words, code)
    quoted = {tuple(analysis.terms(phrase)) for phrase in phrases}
    keywords += [keyword for keyword in own if tuple(analysis.terms(keyword.text)) not in quoted]
    if not keywords and not hints.spans:
        keywords = fallback_keywords(rest, words, code)
    if lexicon is not None:
        keywords = lexicon.expand(rest, keywords, code)
    folded = fold(searched)
    shape = shape_of(folded, words)
    intent = intent_of(folded, words, shape, bool(hints.sections))
    return ParsedQuestion(
        text=whole,
        language=code,
        keywords=tuple(keywords),
        phrases=phrases,
        pages=hints.pages,
        sections=hints.sections,
        shape="open" if intent == "definition" else shape,  # "What is a deductible?" asks for no amount
        intent=intent,
        truncated=len(whole) > SEARCHED_CHARACTERS,
    )


def _code(language: str) -> str:
    """zh_CN and zh-Hans are zh; what is none of the eleven is undetermined."""
    code = language.lower().replace("_", "-").split("-")[0]
    return code if code in LANGUAGES else "und"


def _searched(text: str) -> str:
    """The part of a question that is looked at, cut between words, composed, its white space closed up."""
    head = text[:SEARCHED_CHARACTERS]
    if len(text) > SEARCHED_CHARACTERS and not text[SEARCHED_CHARACTERS].isspace() and " " in head:
        head = head[: head.rindex(" ")] or head
    return " ".join(unicodedata.normalize("NFC", head).split())


def _blank(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def _phrases(text: str) -> tuple[str, ...]:
    found = (next(group for group in match.groups() if group) for match in _QUOTED.finditer(text))
    return tuple(dict.fromkeys(phrase.strip() for phrase in found if any(c.isalnum() for c in phrase)))
