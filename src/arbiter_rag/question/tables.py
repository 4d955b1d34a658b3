"""How questions are asked, per language: the tables beside this module, read and compiled; no language has code.

A table is a TOML file whose lists hold words (`vague`, `page`, `section`, ...) and patterns (`[shape]`, `[intent]`).
Words and patterns are folded before use. In a pattern a space stands for any break between words, `*` for the rest of
a word, `...` for up to five words, `^` and `$` for the question's ends; `(a|b)` and `?` mean what they mean in regular
expressions. Patterns of Chinese, Japanese and Korean are searched within the run of characters instead, as plain
regular expressions. Every repetition is bounded or runs over one class of characters, so no text can make them slow.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from arbiter_rag.contract import AnswerShape, Intent
from arbiter_rag.language import LANGUAGES, analyzer, fold

UNSPACED = frozenset({"zh", "ja", "ko"})
"""Languages whose words are not delimited by spaces, or (Korean) carry their particles."""

# Earlier ones win; within each, `asks` are tried over the whole question before any `nouns` near the question word.
_SHAPES: tuple[AnswerShape, ...] = (
    "open", "list", "percentage", "duration", "date", "amount", "number", "name", "yes_no",
)  # fmt: skip
_NOUN_SHAPES: tuple[AnswerShape, ...] = ("percentage", "duration", "date", "amount", "number", "name", "list")
_INTENTS: tuple[Intent, ...] = (
    "reason", "comparison", "section", "definition", "condition", "listing", "open", "lookup",
)  # fmt: skip
_TELLING_STEM = 4
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Table:
    """One language's table, compiled.

    Attributes:
        language: ISO 639-1 code.
        question_words: Folded question words.
        question_word: Finds one of them in a folded question.
        vague: Terms (as the language's analyzer makes them) and folded forms of words too general to weigh much.
        content: Folded words that stop-word collections list and that say what a text is about nevertheless.
        asks: Per answer shape what asks for it, in the order in which they are tried.
        nouns: Per answer shape the nouns that name it when they stand next to the question word.
        intents: Per intent what shows it, in the order in which they are tried.
        first_page: Ways to name the first page without a number.
        pages, pages_dotted: Words before a page number; the second kind needs a full stop ("p.").
        sections, sections_dotted: Words before a section number, likewise.
        part_of: Words for parts of a section, which are no hint of their own behind one ("§ 3 Abs. 2").
        ranges, joins: Words between two numbers.
        endings: Korean particles and endings, longest first; empty for other languages.
        connectors: Small words inside names ("Bank of England").
    """

    language: str
    question_words: frozenset[str]
    question_word: re.Pattern[str]
    vague: frozenset[str]
    content: frozenset[str]
    asks: tuple[tuple[AnswerShape, re.Pattern[str]], ...]
    nouns: tuple[tuple[AnswerShape, re.Pattern[str]], ...]
    intents: tuple[tuple[Intent, re.Pattern[str]], ...]
    first_page: re.Pattern[str]
    pages: tuple[str, ...]
    pages_dotted: tuple[str, ...]
    sections: tuple[str, ...]
    sections_dotted: tuple[str, ...]
    part_of: frozenset[str]
    ranges: tuple[str, ...]
    joins: tuple[str, ...]
    connectors: frozenset[str]
    endings: tuple[str, ...]


@cache
def table(language: str) -> Table:
    """The table of a language; English for codes that have none."""
    code = language if language in LANGUAGES else "en"
    source = files("arbiter_rag.question").joinpath("tables", f"{code}.toml")
    raw: dict[str, Any] = tomllib.loads(source.read_text(encoding="utf-8"))
    pages, sections = _folded(raw["page"]), _folded(word for kind in raw["section"] for word in kind)
    short = _folded(raw["page_short"])
    spaced = code not in UNSPACED
    return Table(
        language=code,
        question_words=frozenset(_folded(raw["question_words"])),
        question_word=_any_of(code, raw["question_words"]),
        vague=_vague(code, raw["vague"].split()),
        content=frozenset(_folded(raw["content"].split())),
        asks=tuple((shape, _any_of(code, raw["shape"].get(shape, ()))) for shape in _SHAPES),
        nouns=tuple((shape, _any_of(code, raw["nouns"].get(shape, ()), whole=True)) for shape in _NOUN_SHAPES),
        intents=tuple((intent, _any_of(code, raw["intent"].get(intent, ()))) for intent in _INTENTS),
        first_page=_any_of(code, raw["first_page"]),
        pages=(*pages, *(word for word in short if not _needs_dot(word))) if spaced else pages,
        pages_dotted=tuple(word for word in short if _needs_dot(word)),
        sections=tuple(word for word in sections if not (spaced and _needs_dot(word))),
        sections_dotted=tuple(word for word in sections if spaced and _needs_dot(word)),
        part_of=frozenset(_folded(raw["part_of"])),
        ranges=_folded(raw["range"]),
        joins=_folded(raw["join"]),
        connectors=frozenset(_folded(raw["connectors"])),
        endings=_folded(raw.get("endings", "").split()),
    )


def _folded(words: Iterable[str]) -> tuple[str, ...]:
    """Folded and longest first, as an alternation needs them."""
    return tuple(sorted(dict.fromkeys(map(fold, words)), key=lambda word: (-len(word), word)))


def _vague(language: str, words: list[str]) -> frozenset[str]:
    """Vague words and their terms; stems of two or three letters are left out, they belong to other words as well."""
    terms = (term for word in words for term in analyzer(language).terms(word))
    return frozenset(map(fold, words)) | frozenset(term for term in terms if len(term) >= _TELLING_STEM)


def _needs_dot(word: str) -> bool:
    """ "p 3" and "par 3" may be anything, "p. 3" is a page; "art 3" and "cap 3" are written without."""
    return len(word) <= 3 and word not in {"art", "sec", "cap", "kap"}


def _any_of(language: str, patterns: Iterable[str], *, whole: bool = False) -> re.Pattern[str]:
    """All patterns as one; with `whole` none of them counts inside a hyphenated word (year-over-year)."""
    compiled = [_unspaced(pattern) if language in UNSPACED else _spaced(pattern) for pattern in patterns]
    joined = "|".join(compiled)
    if not compiled:
        return _NOTHING
    return re.compile(f"(?<!-)(?:{joined})(?!-)" if whole else joined)


def _unspaced(pattern: str) -> str:
    return fold(pattern).replace("...", ".{0,12}")


_PATTERN_PARTS = re.compile(r" \.\.\. |[\^$*() |?'-]|[^\^$*() |?'-]+")
_TRANSLATED = {
    " ... ": r"(?:\W+\w+){0,5}?\W+",
    "^": r"^\W*",
    "$": r"\W*$",
    "*": r"\w*",
    " ": r"\W+",
    "-": r"\W+",
    "'": r"\W*",
    "(": "(?:",
    ")": ")",
    "|": "|",
    "?": "?",
}


def _spaced(pattern: str) -> str:
    parts = [_TRANSLATED.get(part) or re.escape(part) for part in _PATTERN_PARTS.findall(fold(pattern))]
    start = "" if pattern.startswith(("^", "*")) else r"(?<!\w)"
    end = "" if pattern.endswith(("*", " ", "-", "$")) else r"(?!\w)"
    return f"(?:{start}{''.join(parts)}{end})"
