"""Notices the figures and tables that the question names by number: "table 3", "Abb. 2", "図1"."""

from __future__ import annotations

import re

from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.document import ParsedDocument

_KINDS = {
    "figure": r"fig(?:ure|ura|uur)?s?|abb(?:ildung)?|рис(?:унок|унке)?|图|図|그림",
    "table": r"tab(?:le|leau|elle|la|ella|ela|el)?s?|таблиц[аеуы]|表|표",
}
_NUMBER = r"\s*\.?\s*(?:n[o°]\.?\s*)?(\d{1,3}(?:[.-]\d{1,3})?)(?!\d)"
_NAMED = {kind: re.compile(rf"(?<!\w)(?:{words}){_NUMBER}", re.IGNORECASE) for kind, words in _KINDS.items()}
_BEHIND = 8
"""Lines behind a caption that belong to its hit: what a caption says goes on, and a table stands under it."""

Captions = dict[tuple[str, str], int]


def named_captions(text: str) -> tuple[tuple[str, str], ...]:
    """Figures and tables that a question names, as (kind, number)."""
    found = ((kind, match.group(1)) for kind, pattern in _NAMED.items() for match in pattern.finditer(text[:2000]))
    return tuple(dict.fromkeys(found))


class CaptionDetector:
    """Pins the captions of the figures and tables that the question names."""

    name = "caption"

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """One hit a caption that is there: it and the lines behind it; the score is always 1."""
        captions: Captions = document.derived("captions", _captions)
        hits: list[Hit] = []
        for kind, number in named_captions(question.text):
            row = captions.get((kind, number))
            if row is not None:
                _, page_end = document.page_rows(document.pages[row])
                scope = document.scope(row, min(row + _BEHIND, page_end))
                note = f"caption of {kind} {number}, which the question names"
                hits.append(Hit(method=self.name, scope=scope, score=1.0, rank=len(hits) + 1, note=note))
        return tuple(hits)


def _captions(document: ParsedDocument) -> Captions:
    """The line of each caption: the first that begins with it and goes on, as a caption does."""
    found: Captions = {}
    for row, text in enumerate(document.texts):
        for kind, pattern in _NAMED.items():
            match = pattern.match(text.lstrip())
            if match and not document.furniture[row] and _goes_on(text.lstrip()[match.end() :]):
                found.setdefault((kind, match.group(1)), row)
    return found


def _goes_on(rest: str) -> bool:
    """A caption goes on with a mark or a title; a sentence that begins with "Table 2 shows" does too, but later."""
    return rest == "" or rest[0] in ".:：-–—|\t)" or rest.lstrip()[:1].isupper()
