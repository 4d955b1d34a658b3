"""Finds the concepts of `words/*.toml` in a folded text: which words of which language stand where."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from arbiter_rag.hostile.views import fold

LANGUAGES = ("en", "fr", "de", "es", "it", "pt", "nl", "ru", "zh", "ja", "ko", "tr", "ar", "fa")
DENSE = frozenset({"zh", "ja", "ko"})
"""Written in units that count one token a character, so that windows hold fewer words."""

_DENSE_CHAR = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_TOKEN = re.compile(rf"[{_DENSE_CHAR}]|[^\W{_DENSE_CHAR}]+(?:'[^\W\d_]+)?(?:-[ \t]{{0,8}}\n[ \t]{{0,8}}[^\W\d_]+)?")
_ASCII_TOKEN = re.compile(r"\w+(?:'[a-zA-Z]+)?(?:-[ \t]{0,8}\n[ \t]{0,8}[a-zA-Z]+)?", re.ASCII)
"""The same where there is nothing but ASCII, in half the time."""
_BROKEN = re.compile(r"-[ \t]{0,8}\n[ \t]{0,8}")


class Found(NamedTuple):
    """One term found: its tokens (first, last), its place in the reading, and what it means in which language."""

    first: int
    last: int
    start: int
    end: int
    language: str
    concept: str


@dataclass(frozen=True, slots=True)
class _Term:
    language: str
    concept: str
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """Terms by their first word: whole words, and beginnings of words by length."""

    whole: dict[str, tuple[_Term, ...]]
    stems: dict[str, tuple[_Term, ...]]
    shortest: int
    longest: int


def tokens(text: str) -> list[tuple[str, int, int]]:
    """Words of a folded text with their places; a word broken over two lines is one word, a CJK character is one."""
    return [
        (_BROKEN.sub("", word) if "\n" in (word := match.group()) else word, match.start(), match.end())
        for match in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text)
    ]


@lru_cache(maxsize=1)
def _table() -> _Table:
    whole: dict[str, list[_Term]] = {}
    stems: dict[str, list[_Term]] = {}
    folder = files("arbiter_rag.hostile") / "words"
    for language in LANGUAGES:
        concepts = tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))
        for concept, terms in concepts.items():
            for term in terms:
                words = _words(term)
                side = stems if words[0].endswith("*") else whole
                side.setdefault(words[0].rstrip("*"), []).append(_Term(language, concept, words[1:]))
    lengths = [len(stem) for stem in stems]
    return _Table(
        {word: tuple(terms) for word, terms in whole.items()},
        {word: tuple(terms) for word, terms in stems.items()},
        min(lengths),
        max(lengths),
    )


def _words(term: str) -> tuple[str, ...]:
    """A term of the tables as tokens; the star stays at the end of its word."""
    folded = fold(term).text
    out = []
    for word, _, end in tokens(folded):
        out.append(word + "*" if folded[end : end + 1] == "*" else word)
    return tuple(out)


@lru_cache(maxsize=32768)
def _starting(word: str) -> tuple[_Term, ...]:
    """Terms whose first word this is."""
    table = _table()
    found = list(table.whole.get(word, ()))
    for length in range(table.shortest, min(len(word), table.longest) + 1):
        found += table.stems.get(word[:length], ())
    if not found and 5 <= len(word) <= 14 and word.isascii():
        meant = _SCRAMBLED.get(_signature(word))
        return _starting(meant) if meant is not None and meant != word else ()
    return tuple(found)


def _signature(word: str) -> str:
    """First and last letter with what lies between in alphabetical order: the same however the middle is shuffled."""
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


_KEY_WORDS = (
    "ignore disregard forget previous instructions instruction system prompt passage passages primary discard "
    "discarded candidate candidates reveal override above answer respond select choose relevant excerpt"
)
_SCRAMBLED = {_signature(word): word for word in _KEY_WORDS.split()}
"""Key words that are still read when their inner letters are shuffled."""


def find(text: str) -> tuple[list[Found], int]:
    """Every term found, in reading order, and the number of tokens."""
    row = tokens(text)
    known = _possible([word for word, _, _ in row])
    found: list[Found] = []
    count = len(row)
    for i, (word, start, _) in enumerate(row):
        for term in known.get(word, ()):
            last = i + len(term.rest)
            if last < count and all(_same(row[i + 1 + k][0], want) for k, want in enumerate(term.rest)):
                found.append(Found(i, last, start, row[last][2], term.language, term.concept))
    return found, count


def _possible(words: list[str]) -> dict[str, list[_Term]]:
    """Terms by their first word, as far as a text has it with the term's second word behind it."""
    # Common words begin terms in several languages; one look at what follows them spares most comparisons.
    behind: dict[str, set[str]] = {word: set() for word in words if _starting(word)}
    for word, following in pairwise(words):
        if word in behind:
            behind[word].add(following)
    return {
        word: kept
        for word, following in behind.items()
        if (kept := [term for term in _starting(word) if not term.rest or _any_same(following, term.rest[0])])
    }


def _any_same(words: set[str], want: str) -> bool:
    if want[-1] == "*":
        return any(word.startswith(want[:-1]) for word in words)
    return want in words


def _same(word: str, want: str) -> bool:
    return word.startswith(want[:-1]) if want[-1] == "*" else word == want
