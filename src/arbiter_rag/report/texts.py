"""Texts of documents, questions and models on their way into HTML: harmless, and with keywords marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from arbiter_rag.language import LANGUAGES, analyzer

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Controls, which HTML does not allow; direction marks, which show another text than is there; lone surrogates."""


def clean(value: object) -> object:
    """A value for the template: text without what a reader cannot see and a browser would obey."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    return _UNSEEN.sub("\ufffd", value)


def marked(text: str, keywords: Sequence[str], language: str) -> Markup:
    """A text, escaped, with every word that a keyword finds inside `mark`."""
    shown = _UNSEEN.sub("\ufffd", text)
    pieces: list[Markup] = []
    at = 0
    for start, end in _places(shown, keywords, language):
        pieces += [escape(shown[at:start]), Markup("<mark>{}</mark>").format(shown[start:end])]
        at = end
    return Markup("").join([*pieces, escape(shown[at:])])


def _places(text: str, keywords: Sequence[str], language: str) -> list[tuple[int, int]]:
    """Where the keywords' words stand, by the same analysis that found them; overlapping places are joined."""
    analysis = analyzer(language if language in LANGUAGES else "und")
    wanted = {t for keyword in keywords for t in analysis.terms(keyword) if not analysis.is_stop(t)}
    found = sorted((t.start, t.end) for t in analysis.tokens(text) if t.term in wanted)
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
