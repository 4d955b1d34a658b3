"""Text into terms: the one tokenisation that documents and questions share, per language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock

from arbiter_rag.language.fold import fold, fold_case
from arbiter_rag.language.stopwords import function_words

LANGUAGES = ("en", "fr", "de", "es", "it", "pt", "nl", "ru", "zh", "ja", "ko")

_STEMMERS = {
    "en": "english", "fr": "french", "de": "german", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "ru": "russian",
}  # fmt: skip
_DOT_GROUPS = frozenset({"de", "es", "it", "pt", "nl"})  # 1.234 is one thousand two hundred thirty-four
_SPACE_GROUPS = frozenset({"fr", "ru", "es", "pt", "it"})  # 1 234 is one number

# Han, Kana and Hangul; also the iteration and prolonged-sound marks and half-width kana.
CJK = "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff" \
      "\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"  # fmt: skip
_MARKS = "\u0300-\u036f\u00ad\u200b-\u200d\u2060"  # combining accents and soft hyphens stand inside words
_APOSTROPHES = "'’‘ʼ＇"
_HYPHENS = "\\-‐‑"
_LETTER = rf"[^\W\d_{CJK}]"
_RUN = rf"[^\W_{CJK}]+(?:[{_MARKS}]+[^\W_{CJK}]*)*"  # letters, digits and the marks on them
SYMBOLS = "$€£¥%§‰₽₩"

_CJK_RUN = re.compile(rf"[{CJK}]+")
_HIRAGANA = re.compile(r"[\u3041-\u309f\u30fc]+")
_JOINTS = re.compile(rf"[{_HYPHENS}_/{_APOSTROPHES}&+.]")
_YEAR_IN_CODE = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER_PARTS = re.compile(r"\d+")
# Articles and prepositions that French, Italian and their neighbours write against the next word.
_ELIDED = frozenset(
    {
        "l",
        "d",
        "j",
        "m",
        "t",
        "s",
        "n",
        "c",
        "qu",
        "jusqu",
        "lorsqu",
        "puisqu",
        "quoiqu",
        "dell",
        "all",
        "nell",
        "sull",
        "dall",
        "un",
        "quest",
        "quell",
        "dov",
        "cos",
        "com",
    }
)
# Suffixes whose accent is left out in capitals and on foreign keyboards, where no other word ends so.
_UNACCENTED = {
    "fr": (re.compile(r"ee(s?)$"), r"ée\1"),
    "es": (re.compile(r"([cs])ion$"), r"\1ión"),
    "pt": (re.compile(r"cao$"), "ção"),
}
_CACHE_LIMIT = 400_000
_LONG_RUN, _LONG_WORD = 8, 60


@dataclass(frozen=True, slots=True)
class Token:
    """One term of a text: `text[start:end] == surface`; the parts of a compound follow the compound itself."""

    surface: str
    start: int
    end: int
    term: str


_Piece = tuple[int, int, str]  # offsets within the surface, and the term


@cache
def _token_pattern(spaced_numbers: bool) -> re.Pattern[str]:
    """One alternation without groups, so that `findall` gives surfaces at C speed; nothing in it can backtrack far."""
    separator = "[.,'’\u00a0\u202f\u2009 ]" if spaced_numbers else "[.,'’\u00a0\u202f\u2009]"
    number = rf"\d{{1,3}}(?:{separator}\d\d\d)+(?:[.,]\d+)?(?!\w)|\d+(?:[.,]\d+)*(?!\w|[{_HYPHENS}]{_LETTER})"
    acronym = rf"(?:{_LETTER}\.){{2,}}{_LETTER}?(?![^\W_{CJK}{_MARKS}])"
    word = rf"{_RUN}(?:[{_HYPHENS}_{_APOSTROPHES}&]+{_RUN}|\.\d+)*"
    return re.compile(rf"[{CJK}]+|{number}|{acronym}|{word}|[{SYMBOLS}]")


class Analyzer:
    """Tokens and terms of one language; get one from `analyzer(language)`. Safe between threads.

    Latin and Cyrillic words are folded and stemmed (Snowball). Runs of Han, Kana or Hangul become overlapping character
    bigrams, the dictionary-free analysis that Lucene's CJKAnalyzer made standard; Latin words inside them stay words.
    Compounds ("long-term", "warmup_steps", "FY2022") give the whole and their parts. For `und` words are folded but
    not stemmed, because a stemmer for the wrong language merges words that have nothing to do with each other.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._pattern = _token_pattern(language in _SPACE_GROUPS)
        self._dot_groups = language in _DOT_GROUPS
        self._lock = Lock()
        self._stem = _stemmer(language)
        self._unaccented = _UNACCENTED.get(language)
        self._pieces: dict[str, tuple[_Piece, ...]] = {}
        self._terms: dict[str, tuple[str, ...]] = {}
        self._stop_terms: frozenset[str] = frozenset()
        words = function_words("en" if language == "und" else language)
        self._stop_words = frozenset(map(fold, words))
        self._stop_terms = self._stop_words | frozenset(term for word in words for term in self._stem_stop(word))

    def tokens(self, text: str) -> list[Token]:
        """Every term with its place in the text given."""
        found = []
        for match in self._pattern.finditer(text):
            at = match.start()
            for start, end, term in self._pieces_of(match.group()):
                found.append(Token(text[at + start : at + end], at + start, at + end, term))
        return found

    def terms(self, text: str) -> list[str]:
        """The terms of `tokens` without their places: the fast path for indexing."""
        out: list[str] = []
        known = self._terms
        for surface in self._pattern.findall(text):
            terms = known.get(surface)
            out.extend(terms if terms is not None else self._remember(surface))
        return out

    def is_stop(self, term_or_surface: str) -> bool:
        """Whether a term or word is a function word, which says nothing about what a text is about."""
        if term_or_surface in self._stop_terms:
            return True
        folded = fold(term_or_surface)
        if folded in self._stop_words:
            return True
        if self.language == "ja":  # grammar is written in hiragana, content in kanji, katakana and Latin letters
            return _HIRAGANA.fullmatch(folded) is not None
        # A Chinese bigram of two function characters (的在, 是否) is grammar, too.
        return self.language == "zh" and len(folded) == 2 and all(c in self._stop_words for c in folded)

    def _remember(self, surface: str) -> tuple[str, ...]:
        terms = tuple(term for _, _, term in self._pieces_of(surface))
        if _recurs(surface):
            if len(self._terms) >= _CACHE_LIMIT:
                self._terms = {}
            self._terms[surface] = terms
        return terms

    def _pieces_of(self, surface: str) -> tuple[_Piece, ...]:
        pieces = self._pieces.get(surface)
        if pieces is None:
            pieces = tuple(piece for piece in self._analyse(surface) if piece[2])
            if _recurs(surface):
                if len(self._pieces) >= _CACHE_LIMIT:
                    self._pieces = {}
                self._pieces[surface] = pieces
        return pieces

    def _analyse(self, surface: str) -> list[_Piece]:
        if surface in SYMBOLS:
            return [(0, 1, surface)]
        if _CJK_RUN.fullmatch(surface):
            return _bigrams(surface)
        if surface[0].isdigit() and not any(character.isalpha() for character in surface):
            return self._number(surface)
        return self._word(surface)

    def _number(self, surface: str) -> list[_Piece]:
        """A number is one term without its group separators; a dotted date also gives its parts."""
        folded = fold(surface).translate(_NO_GROUPS)
        whole = (0, len(surface), _plain_number(folded, self._dot_groups))
        parts = list(_NUMBER_PARTS.finditer(surface))
        if len(parts) == 3 and len(parts[2].group()) == 4 and len(parts[1].group()) <= 2:
            return [whole, *((part.start(), part.end(), fold(part.group())) for part in parts)]
        return [whole]

    def _word(self, surface: str) -> list[_Piece]:
        spans = _parts(surface)
        if not spans:
            return []
        if len(spans) > 1 and fold(surface[: spans[0][1]]) in _ELIDED and _is_apostrophe(surface, spans[0][1]):
            spans = spans[1:]
        if len(spans) > 1 and fold(surface[slice(*spans[-1])]) == "s" and _is_apostrophe(surface, spans[-1][0] - 1):
            spans = spans[:-1]
        start, end = spans[0][0], spans[-1][1]
        if len(spans) == 1:
            return [(start, end, self._term(surface[start:end])), *self._years(surface, start, end)]
        if all(e - s == 1 for s, e in spans) and "." in surface:  # U.S.A.
            return [(start, end, fold("".join(surface[s:e] for s, e in spans)))]
        pieces = [(start, end, self._whole(surface[start:end], [surface[s:e] for s, e in spans]))]
        if pieces[0][2] in self._stop_terms:  # the parts of "don't" mean nothing
            return pieces
        for s, e in spans:
            if e - s > 1 or surface[s:e].isdigit():
                pieces.append((s, e, self._term(surface[s:e])))
        return pieces

    def _whole(self, surface: str, parts: list[str]) -> str:
        """A compound as one term: snake_case keeps its underscores, hyphens and apostrophes close up (email)."""
        if "_" in surface:
            return "_".join(fold(part) for part in parts)
        return self._term("".join(parts))

    def _term(self, word: str) -> str:
        """Stemmed with its accents, which the stemmers' suffixes carry (-ée, -ción), and folded afterwards."""
        accented = fold_case(word)
        if self._stem is None or not accented.isalpha():
            return fold(accented)
        if self._unaccented is not None and accented.isascii():
            accented = self._unaccented[0].sub(self._unaccented[1], accented)
        with self._lock:  # Snowball stemmers keep the word being stemmed in themselves
            return fold(self._stem(accented))

    def _years(self, surface: str, start: int, end: int) -> list[_Piece]:
        """FY2022 also answers to 2022."""
        if surface[start:end].isdigit():
            return []
        found = _YEAR_IN_CODE.finditer(surface, start, end)
        return [(match.start(), match.end(), fold(match.group())) for match in found]

    def _stem_stop(self, word: str) -> list[str]:
        """What a function word becomes as terms; the parts of a compound one are words of their own."""
        if _CJK_RUN.fullmatch(word):
            return [term for _, _, term in _bigrams(word)]
        return [term for _, _, term in self._word(word)[:1]]


def _stemmer(language: str) -> Callable[[str], str] | None:
    if language not in _STEMMERS:
        return None
    import snowballstemmer  # here, because importing it costs more than the rest of this package together

    stem: Callable[[str], str] = snowballstemmer.stemmer(_STEMMERS[language]).stemWord
    return stem


@cache
def _cached(language: str) -> Analyzer:
    return Analyzer(language)


def analyzer(language: str) -> Analyzer:
    """The analyzer of a language (ISO 639-1), one per process; unknown codes and `und` get the one without stemming."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _cached(code if code in LANGUAGES else "und")


def _recurs(surface: str) -> bool:
    """Whether remembering it pays: whole clauses of Han or Kana and runaway strings hardly come twice."""
    return len(surface) <= (_LONG_RUN if surface[0] >= "\u3005" else _LONG_WORD)


_NO_GROUPS = str.maketrans("", "", "'\u2009\u202f\u00a0 ")


def _plain_number(number: str, dot_groups: bool) -> str:
    """Closed up: 1,234.50 -> 1234.50, 1.234,5 -> 1234.5; 3.2.1 and 4.5 stay; 1.234 depends on the language."""
    dots, commas = number.count("."), number.count(",")
    if dots and commas:
        decimal = max(number.rfind("."), number.rfind(","))
        head, tail = number[:decimal], number[decimal + 1 :]
        return f"{head.replace('.', '').replace(',', '')}.{tail}"
    mark = "." if dots else ","
    groups = number.split(mark)
    grouped = len(groups) > 1 and len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    if grouped and groups[0].strip("0") and (mark == "," or dot_groups or len(groups) > 2):
        return "".join(groups)
    return number.replace(",", ".") if commas == 1 else number


def _bigrams(run: str) -> list[_Piece]:
    if len(run) == 1:
        return [(0, 1, fold(run))]
    return [(at, at + 2, fold(run[at : at + 2])) for at in range(len(run) - 1)]


def _parts(surface: str) -> list[tuple[int, int]]:
    """Where the parts of a compound stand."""
    spans, at = [], 0
    for joint in _JOINTS.finditer(surface):
        if joint.start() > at:
            spans.append((at, joint.start()))
        at = joint.end()
    if at < len(surface):
        spans.append((at, len(surface)))
    return spans


def _is_apostrophe(surface: str, at: int) -> bool:
    return surface[at : at + 1] in _APOSTROPHES
