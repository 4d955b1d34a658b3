"""The words of a question that say what to look for, each with its weight, and which of them are names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from arbiter_rag.contract import Keyword
from arbiter_rag.language import Analyzer, Token, analyzer, fold
from arbiter_rag.question.tables import UNSPACED, Table
from arbiter_rag.question.unspaced import content_runs, is_unspaced

VAGUE, FILLER, SMALL_NUMBER = 0.3, 0.5, 0.5
"""Weights of words any document uses, of words stop-word collections list, of numbers of one or two digits."""

FALLBACK = 0.1
"""Weight of function words, which are looked for only when a question holds nothing else."""

BEHIND = 0.3
"""Factor for words behind the last question mark: they say how to answer ("to two decimals"), not what to find."""

_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_CAPITALS_SAY_NOTHING = frozenset({"de"})  # every noun has one
_ORDINAL = re.compile(r"(?<!\d)\d++(?:st|nd|rd|th|er|e|ère|ème|º|ª|o|a|te[nrs]?|de|й|я|е|го)", re.IGNORECASE)
_CLITICS = frozenset({"fr", "pt"})
_SENTENCE_START = re.compile(r"(?:^|[.!?:;¿¡«»„“”‘\"(\n]|(?<!\w)')\s*$")
# It begins where a sentence ended: tried at every character, a text without a question mark would take its square.
_ASKING = re.compile(r"(?:(?<![^?。！？\n])|(?<=[.!])(?!\w))[^.!?。！？\n]*+(?:[.!](?=\w)[^.!?。！？\n]*+)*+[?？]")
# "e4", "top-3", "13h55", "Figure 2", "March 31": a position, a count, a time, a place in a list; "ISO 9001" is a name.
_COUNTED = re.compile(r"[a-z][a-z-]{0,40}+\d++|(?<!\d)\d++[a-z]++\d*+|[^\W\d_][a-zà-ÿа-я]{1,40}+\.? \d++(?:[.,]\d++)*+")
# Abbreviations of units, currencies, periods and measures: a text that means the same may well spell them out, so their
# absence from a document tells nothing. Names of organisations and laws are not among them.
_GENERAL_ABBREVIATIONS = frozenset(
    resources.files("arbiter_rag.question").joinpath("tables/abbreviations.txt").read_text("utf-8").split()
)
_FIGURE = re.compile(r"\d[.,:]\d")
# The year of a full date is the asker's own case ("born on 3/1/2011"), not what the document is about.
_DATE_BEFORE = re.compile(r"\b\d{1,2}[/.-]\d{1,2}[/.-]$")
_NAME_GAP = re.compile(r" |-|/| ?& ?|\. |'|’")


@dataclass(frozen=True, slots=True)
class _Word:
    """One word of the question with what its writing says about it."""

    token: Token
    stop: bool
    vague: bool
    starts_sentence: bool
    capital: bool
    coded: bool  # an acronym, identifier or code: never an ordinary word

    @property
    def number(self) -> bool:
        return self.token.surface[0].isdigit() and not any(c.isalpha() for c in self.token.surface)


def keywords_of(text: str, table: Table, language: str) -> list[Keyword]:
    """Keywords in the question's order; function words never are, vague ones weigh little.

    Args:
        text: The question, hints blanked out.
        table: The table of its language.
        language: Its language, or `und`.
    """
    analysis = analyzer(language)
    found = _spaced(text, _words(text, table, analysis, language), table, language)
    found.extend(content_runs(text, table))
    found.sort(key=lambda item: item[0])
    return _distinct([keyword for _, keyword in found], analysis)


def fallback_keywords(text: str, table: Table, language: str) -> list[Keyword]:
    """For questions of function words only ("To be or not to be"): all their words but the question words, lightly.

    Their `source` is `function_word`: where they stand, no answer is found.
    """
    tokens = analyzer(language).tokens(text)
    words = [token.surface for token in tokens if token.term not in table.question_words and len(token.surface) > 1]
    keywords = [Keyword(text=w, weight=FALLBACK, source="function_word", concept=fold(w)) for w in words]
    return _distinct(keywords, analyzer(language))


def _words(text: str, table: Table, analysis: Analyzer, language: str) -> list[_Word]:
    tokens = [_without_clitics(token, analysis, language) for token in _whole_words(text, analysis)]
    capitals = _capitals_mean_something(text, tokens, analysis, language)
    shouted = _shouted(text)
    return [
        _Word(
            token=token,
            stop=analysis.is_stop(token.surface) or fold(token.surface) in table.question_words,
            vague=token.term in table.vague or fold(token.surface) in table.vague,
            starts_sentence=table.language not in UNSPACED and _starts_sentence(text, token.start),
            capital=capitals and token.surface[0].isupper(),
            coded=_coded(token.surface, shouted),
        )
        for token in tokens
    ]


def _starts_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at]
    return (at <= 3 or before.strip() != "") and _SENTENCE_START.search(before) is not None


def _whole_words(text: str, analysis: Analyzer) -> list[Token]:
    """Words as written: compounds without their parts, symbols and unspaced scripts left out."""
    whole: list[Token] = []
    for token in analysis.tokens(text):
        inside = bool(whole) and token.start < whole[-1].end
        if not inside and token.surface[0].isalnum() and not is_unspaced(token.surface[0]):
            whole.append(token)
    return whole


def _without_clitics(token: Token, analysis: Analyzer, language: str) -> Token:
    """French and Portuguese hang pronouns behind the verb: "acceptez-vous" asks about "acceptez"."""
    if language not in _CLITICS or "-" not in token.surface:
        return token
    parts = token.surface.split("-")
    while len(parts) > 1 and (analysis.is_stop(parts[-1]) or parts[-1].lower() == "t"):
        parts.pop()
    surface = "-".join(parts)
    term = token.term if surface == token.surface else next(iter(analysis.terms(surface)), "")
    return Token(surface, token.start, token.start + len(surface), term)


def _coded(surface: str, shouted: bool) -> bool:
    letters = [character for character in surface if character.isalpha()]
    if "_" in surface or (letters and any(character.isdigit() for character in surface)):
        return True
    if shouted or len(letters) < 2:
        return False
    inner = any(character.isupper() for character in surface[1:])
    return inner and "-" not in surface


def _shouted(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) > 8 and sum(map(str.isupper, letters)) > 0.7 * len(letters)


def _capitals_mean_something(text: str, tokens: list[Token], analysis: Analyzer, language: str) -> bool:
    """Not in German, nor in text all in capitals, nor in a heading put as a query (Installing the New System)."""
    if language in _CAPITALS_SAY_NOTHING or _shouted(text):
        return False
    words = [token.surface for token in tokens if token.surface.isalpha()]
    content = [word for word in words if not analysis.is_stop(word)]
    heading = len(content) >= 3 and sum(word[0].isupper() for word in content) >= 0.9 * len(content)
    return not heading or ("?" in text and not all(word[0].isupper() for word in words))


def _spaced(text: str, words: list[_Word], table: Table, language: str) -> list[tuple[int, Keyword]]:
    found: list[tuple[int, Keyword]] = []
    asking = [match.span() for match in _ASKING.finditer(text)]
    asked_until = asking[-1][1] if asking else len(text)
    at = 0
    while at < len(words):
        end = _name_end(text, words, at, table)
        if end > at:
            first, last = words[at].token, words[end - 1].token
            surface = text[first.start : last.end]
            telling = _telling(surface) and _asked(first.start, asking)
            weight = 1.0 if first.start < asked_until else BEHIND
            found.append((first.start, _keyword(surface, weight, is_name=telling)))
            at = end
            continue
        keyword = _single(words[at], table, language)
        if keyword is not None:
            start = words[at].token.start
            asked = keyword.is_name and _asked(start, asking) and _DATE_BEFORE.search(text, 0, start) is None
            weight = keyword.weight * (1.0 if words[at].token.start < asked_until else BEHIND)
            found.append((words[at].token.start, keyword.model_copy(update={"is_name": asked, "weight": weight})))
        at += 1
    return found


def _telling(surface: str) -> bool:
    """Whether the absence of this name from a document says something about the document."""
    counted = _COUNTED.fullmatch(surface) or _FIGURE.search(surface)
    return surface not in _GENERAL_ABBREVIATIONS and not counted


def _asked(start: int, asking: list[tuple[int, int]]) -> bool:
    """Whether a word stands in the sentence that asks: who appears only in the story told before it may be anybody."""
    return not asking or any(a <= start < b for a, b in asking)


def _name_end(text: str, words: list[_Word], at: int, table: Table) -> int:
    """One past the last word of the name that starts at `at`, or `at` when none does."""
    if not _opens_name(words[at]):
        return at
    end = at + 1
    while end < len(words) and not _numbered(words[at]):
        step = 1
        if fold(words[end].token.surface) in table.connectors and end + 1 < len(words):
            step = 2
        following = words[end + step - 1]
        gaps = (text[words[end + k - 1].token.end : words[end + k].token.start] for k in range(step))
        if not all(_NAME_GAP.fullmatch(gap) for gap in gaps) or not _continues_name(following):
            break
        end += step
    alone = words[at]
    if end == at + 1 and not alone.coded and (alone.starts_sentence or alone.vague):
        return at
    return end


def _opens_name(word: _Word) -> bool:
    if word.coded:
        ordinary = word.number or _ORDINAL.fullmatch(word.token.surface) is not None
        return not ordinary and not (word.stop and word.starts_sentence)
    # A word that starts the sentence opens a name only when a name goes on behind it ("Best Buy ...").
    return word.capital and not word.stop and not (word.starts_sentence and word.vague) and len(word.token.surface) > 1


def _continues_name(word: _Word) -> bool:
    if word.number:
        return _YEAR.fullmatch(word.token.surface) is None
    return (word.capital and not word.stop and not _numbered(word)) or (word.coded and not _numbered(word))


def _numbered(word: _Word) -> bool:
    """FY2022, Q3, 10-K: each a name of its own, not a part of one."""
    return any(character.isdigit() for character in word.token.surface)


def _single(word: _Word, table: Table, language: str) -> Keyword | None:
    surface = word.token.surface
    if word.number or _ORDINAL.fullmatch(surface):
        long = len([c for c in surface if c.isdigit()]) >= 3
        # A year is a name; any other figure of a question may be the asker's own case.
        return _keyword(surface, 1.0 if long else SMALL_NUMBER, is_name=_YEAR.fullmatch(surface) is not None)
    if word.stop or len(surface) == 1:
        return None
    if word.vague:
        return _keyword(surface, VAGUE)
    folded = fold(surface)
    return _keyword(surface, FILLER if folded in _collected(language) and folded not in table.content else 1.0)


@cache
def _collected(language: str) -> frozenset[str]:
    """The stop words that anyone ever collected for a language: too many to drop, telling enough to weigh less."""
    from stopwordsiso import stopwords  # its file holds 58 languages, so not before a question asks for one

    return frozenset(map(fold, stopwords("en" if language == "und" else language)))


def _keyword(text: str, weight: float, *, is_name: bool = False) -> Keyword:
    return Keyword(text=text, weight=weight, concept=fold(text), is_name=is_name)


def _distinct(keywords: list[Keyword], analysis: Analyzer) -> list[Keyword]:
    """The first of those that look for the same terms, with the greatest weight among them."""
    kept: dict[tuple[str, ...], Keyword] = {}
    for keyword in keywords:
        terms = tuple(analysis.terms(keyword.text))
        known = kept.get(terms)
        if known is None:
            kept[terms] = keyword
        elif keyword.weight > known.weight:
            kept[terms] = known.model_copy(update={"weight": keyword.weight})
    return list(kept.values())
