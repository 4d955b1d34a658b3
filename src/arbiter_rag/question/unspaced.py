"""Content words of Chinese, Japanese and Korean questions, without a dictionary: what is left between the grammar."""

from __future__ import annotations

import re
from functools import cache

from arbiter_rag.contract import Keyword
from arbiter_rag.language import fold
from arbiter_rag.language.analysis import CJK
from arbiter_rag.language.stopwords import function_words

_RUN = re.compile(rf"[{CJK}]+")
_VAGUE_WEIGHT, _STEM_WEIGHT = 0.3, 0.7
_LONGEST = 12

# Chinese: particles that are almost never part of a longer word, and what may be cut off a run's ends.
_ZH_BREAKS = "的了吗呢吧啊呀和与及或是这那哪谁您你我它们"
_ZH_LEADING, _ZH_TRAILING = "在对从向为将由被把其该此每各请本以要", "中里内时上下有为到后前应能可会需要"
# Japanese: kanji and katakana carry the content, hiragana the grammar; a lone kanji keeps its first hiragana (支払う).
_JA_CONTENT = re.compile(r"[\u3005\u3400-\u9fff\uf900-\ufaff\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f]+")
_JA_KANJI = re.compile(r"[\u3400-\u9fff]")
_JA_HIRAGANA = re.compile(r"[\u3041-\u3096]")
# Korean: particles and the commonest endings, longest first.
_KO_ENDINGS = tuple(
    sorted(
        "은 는 이 가 을 를 의 에 에서 에게 께 으로 로 와 과 도 만 까지 부터 보다 처럼 이나 나 이란 란 에는 에서는 으로는 로는 와의 과의 에도 이며 이고 이라는 라는 "
        "인가요 인가 입니까 입니다 인지 이라면 하는 하려면 하면 하나요 합니까 합니다 하여 해야 했나요 했습니까 하기 한 할 함 된 되는 되나요 됩니까 되었나요 되면 될 "
        "에는요 이에요 예요 들은 들이 들을 들의 적인 시 별 당한 받는 받을 있는 없는".split(),
        key=lambda ending: (-len(ending), ending),
    )
)  # fmt: skip


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that is searched by bigrams."""
    return _RUN.match(character) is not None


def content_runs(text: str, language: str, vague: frozenset[str]) -> list[tuple[int, Keyword]]:
    """Content words of the Han, Kana and Hangul in a question, each with its place."""
    split = {"zh": _chinese, "ja": _japanese, "ko": _korean}[language]
    stops = _stops(language)
    found = []
    for run in _RUN.finditer(text):
        for start, word, weight in split(run.group()):
            if word in stops or not word:
                continue
            weight = _VAGUE_WEIGHT if fold(word) in vague else weight
            found.append((run.start() + start, Keyword(text=word[:_LONGEST], weight=weight, concept=fold(word))))
    return found


@cache
def _stops(language: str) -> frozenset[str]:
    return frozenset(function_words(language))


@cache
def _chinese_break() -> re.Pattern[str]:
    words = sorted((word for word in function_words("zh") if len(word) > 1), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, words)) + f"|[{_ZH_BREAKS}]")


def _chinese(run: str) -> list[tuple[int, str, float]]:
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


def _japanese(run: str) -> list[tuple[int, str, float]]:
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


def _korean(run: str) -> list[tuple[int, str, float]]:
    word = run
    for ending in _KO_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            word = word[: -len(ending)]
            break
    if word in _KO_ENDINGS:
        return []
    return [(0, word, 1.0 if len(word) > 1 else _VAGUE_WEIGHT)]
