"""Which language a text is in: scripts first, then a statistical identifier, helped by function words on short text."""

from __future__ import annotations

import logging
import re
from functools import cache
from threading import Lock
from typing import Any

from arbiter_rag.language.analysis import LANGUAGES
from arbiter_rag.language.stopwords import function_words

_LOG = logging.getLogger(__name__)
_LOADING = Lock()

_SAMPLE_PIECES, _PIECE = 8, 600
_SHORT = 200  # letters; longer text the identifier knows on its own
_CJK_WEIGHT = 3  # a Han, Kana or Hangul character says as much as three Latin letters
_CERTAIN, _CLEAR = 0.8, 0.9
_LATIN = tuple(language for language in LANGUAGES if language not in {"ru", "zh", "ja", "ko"})

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_NOT_RUSSIAN = re.compile(r"[іїєґўјљњђћџҐІЇЄЎЈЉЊЂЋЏ]")
_LATIN_LETTER = re.compile(r"[A-Za-z\u00c0-\u024f]")
# A word of running text: identifiers, codes, addresses and acronyms are the same in every language.
_PLAIN_WORD = re.compile(r"(?<![\w@./\\-])[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w@/\\])(?!\.\w)")


def detect_language(text: str, *, default: str = "und") -> str:
    """The language of a text, as ISO 639-1 code, or `default` where it is anyone's guess.

    Args:
        text: A question or a whole document; of long texts, pieces from all over are read.
        default: What to answer when the text does not tell: identifiers, numbers, two words that several languages
            share, or a language that is none of the eleven.

    Returns:
        One of en fr de es it pt nl ru zh ja ko, or `default`.
    """
    sample = _sample(text)
    kana, han, hangul = (len(script.findall(sample)) for script in (_KANA, _HAN, _HANGUL))
    cyrillic, latin = len(_CYRILLIC.findall(sample)), len(_LATIN_LETTER.findall(sample))
    cjk = kana + han + hangul
    if cjk and cjk * _CJK_WEIGHT >= max(latin, cyrillic):
        if hangul * 2 >= cjk:
            return "ko"
        return "ja" if kana * 10 >= cjk else "zh"
    if cyrillic > latin:
        return default if len(_NOT_RUSSIAN.findall(sample)) * 50 > cyrillic else "ru"
    return _latin_language(sample) or default if latin else default


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE_PIECES * _PIECE:
        return text
    step = (len(text) - _PIECE) // (_SAMPLE_PIECES - 1)
    return " ".join(text[at * step : at * step + _PIECE] for at in range(_SAMPLE_PIECES))


def _latin_language(sample: str) -> str | None:
    found = _PLAIN_WORD.findall(sample)
    words = [word for word in found if not (word.isupper() and len(word) > 1)]
    if len(words) * 4 <= len(found) and len(found) > 2:  # written in capitals altogether
        words = [word.lower() for word in found]
    plain = " ".join(words)
    if len(plain) < 3:
        return None
    votes = _votes(words)
    if _plainly_english(votes, len(words)):
        return "en"
    ranked = _ranking(plain)
    best, certainty = next(iter(ranked.items()), ("", 0.0))
    if len(plain) >= _SHORT:
        if best in _LATIN:
            return best
        if certainty >= _CERTAIN:
            return None  # a language that is none of ours
    total = sum(ranked.get(language, 0.0) for language in _LATIN) or 1.0
    scores = {language: ranked.get(language, 0.0) / total + votes[language] for language in _LATIN}
    first, second = sorted(_LATIN, key=lambda language: -scores[language])[:2]
    if votes[first]:
        return first if scores[first] - scores[second] >= 0.3 else None
    return first if scores[first] >= (_CERTAIN if len(plain) >= 8 else _CLEAR) else None


def _votes(words: list[str]) -> dict[str, float]:
    """Function words vote for their languages; a word that several languages share is worth a part of its vote each."""
    votes: dict[str, float] = dict.fromkeys(_LATIN, 0.0)
    for word in re.split(r"[\s'’]", " ".join(words)):
        owners = _owners().get(word.casefold(), ())
        for language in owners:
            votes[language] += 1 / len(owners) ** 2
    return votes


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = {}
    for language in _LATIN:
        for word in function_words(language):
            owners.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in owners.items()}


def _plainly_english(votes: dict[str, float], words: int) -> bool:
    """English has no near relative among written languages, so its function words suffice and spare half a second."""
    return votes["en"] >= max(2.0, words / 8) and votes["en"] >= 6 * max(v for code, v in votes.items() if code != "en")


def _ranking(text: str) -> dict[str, float]:
    """Languages by likelihood, best first; none where the identifier cannot be had."""
    with _LOADING:
        identifier = _identifier()
    return dict(identifier.rank(text)) if identifier is not None else {}


@cache
def _identifier() -> Any:
    """py3langid with all its languages, so that one outside ours is noticed; it is only read, hence safe to share."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:  # it unpacks its model into a temporary file, and some machines let nothing be written
        _LOG.warning("Languages are told by function words only, because py3langid cannot load its model: %s", error)
        return None
