"""Content words of Chinese, Japanese and Korean questions, without a dictionary: what is left between the grammar."""

from __future__ import annotations

import re
from functools import cache

from arbiter_rag.contract import Keyword
from arbiter_rag.language import fold
from arbiter_rag.language.analysis import CJK
from arbiter_rag.language.stopwords import function_words
from arbiter_rag.question.tables import Table

_RUN = re.compile(rf"[{CJK}]+")
_VAGUE_WEIGHT, _STEM_WEIGHT = 0.3, 0.7
_LONGEST = 12

_Piece = tuple[int, str, float]

# Chinese: particles that are almost never part of a longer word, and what may be cut off a run's ends.
_ZH_BREAKS = "的了吗呢吧啊呀和与及或是这那哪谁您你我它们"
_ZH_LEADING, _ZH_TRAILING = "在对从向为将由被把其该此每各请本以要", "中里内时上下有为到后前应能可会需要"
# Japanese: kanji and katakana carry the content, hiragana the grammar; a lone kanji keeps its first hiragana (支払う).
_JA_CONTENT = re.compile(r"(?:(?![何誰])[\u3005\u3400-\u9fff\uf900-\ufaff\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f])+")
_JA_KANJI = re.compile(r"[\u3400-\u9fff]")
_JA_HIRAGANA = re.compile(r"[\u3041-\u3096]")


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that is searched by bigrams."""
    return _RUN.match(character) is not None


def content_runs(text: str, table: Table) -> list[tuple[int, Keyword]]:
    """Content words of the Han, Kana and Hangul in a question, each with its place."""
    stops = _stops(table.language)
    found = []
    for run in _RUN.finditer(text):
        for start, word, weight in _split(run.group(), table):
            if word in stops or not word:
                continue
            weight = _VAGUE_WEIGHT if fold(word) in table.vague else weight
            found.append((run.start() + start, Keyword(text=word[:_LONGEST], weight=weight, concept=fold(word))))
    return found


@cache
def _stops(language: str) -> frozenset[str]:
    return frozenset(function_words(language))


@cache
def _chinese_break() -> re.Pattern[str]:
    words = sorted((word for word in function_words("zh") if len(word) > 1), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, words)) + f"|[{_ZH_BREAKS}]")


def _chinese(run: str) -> list[_Piece]:
    pieces, at = [], 0
    for cut in (*_chinese_break().finditer(run), None):
        start, end = at, cut.start() if cut else len(run)
        at = cut.end() if cut else len(run)
        while end - start > 2 and run[start] in _ZH_LEADING:
            start += 1
        while end - start > 2 and run[end - 1] in _ZH_TRAILING:
            end -= 1
        if end > start:
            pieces.append((start, run[start:end], 1.0 if end - start > 1 else _VAGUE_WEIGHT))
    return pieces


def _japanese(run: str) -> list[_Piece]:
    pieces = []
    for found in _JA_CONTENT.finditer(run):
        start, end = found.span()
        weight = 1.0
        if end - start == 1 and _JA_KANJI.match(found.group()):
            weight = _STEM_WEIGHT
            if end < len(run) and _JA_HIRAGANA.match(run[end]) and run[end] not in "はがをにでとのもへや":
                end += 1
        pieces.append((start, run[start:end], weight))
    return pieces


def _split(run: str, table: Table) -> list[_Piece]:
    """A run's content words: place in the run, text and weight."""
    if table.language == "ko":
        return _korean(run, table.endings)
    return _japanese(run) if table.language == "ja" else _chinese(run)


def _korean(run: str, endings: tuple[str, ...]) -> list[_Piece]:
    word = run
    for _ in range(2):  # a particle may stand before an ending: 언제|까지|입니까
        ending = next((e for e in endings if word.endswith(e) and len(word) - len(e) >= 2), "")
        word = word.removesuffix(ending)
    if word in endings:
        return []
    return [(0, word, 1.0 if len(word) > 1 else _VAGUE_WEIGHT)]
