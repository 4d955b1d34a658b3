"""Marks the sentences of a text that address whoever judges it instead of informing a reader; pure and linear."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from arbiter_rag.hostile.lexicon import find
from arbiter_rag.hostile.marks import hidden, structures
from arbiter_rag.hostile.rules import apply
from arbiter_rag.hostile.views import View, views

_STOP = re.compile(r"[.!?…][\"')\]]{0,3}(?=\s)|[。！？｡]|\n[ \t]{0,8}\n")
_REACH = 300
"""How far a span grows to find the ends of its sentence and line."""
_WAKE = 240
"""How far the text behind an attack counts as its own: what to answer often stands in the next sentence."""
_LONGEST_REMEMBERED = 8_000
"""Characters of a text whose spans are remembered; with the number of texts it bounds the memory (16 MB)."""
_ORDER = ("forged_reply", "boundary", "id_claim", "role_claim", "ranking", "instruction", "hidden_characters")


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A stretch of a text that tries to steer the judge.

    Attributes:
        start, end: Offsets in the given text; whole sentences and lines, and a little of what follows.
        kind: `forged_reply`, `boundary`, `id_claim`, `role_claim`, `ranking`, `instruction` or `hidden_characters`;
            of several, the first in that order.
        text: The stretch itself.
    """

    start: int
    end: int
    kind: str
    text: str


def scan(text: str) -> tuple[Suspicion, ...]:
    """Find what in a passage addresses the judge: orders, claims of role or rank, forged replies, hidden text.

    It reads the eleven languages of `words/` at once, over line breaks, and through look-alike, full-width, spaced-out,
    invisible and encoded letters. What it finds is a reason to check a verdict, not proof of intent; a passage that it
    leaves unmarked is not thereby safe: an order in words that the tables do not hold, or a lie that orders nothing,
    passes unseen.

    Args:
        text: A passage, with or without line breaks.

    Returns:
        Stretches in reading order that neither touch nor overlap.
    """
    if not text:
        return ()
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _scanned(text)


def _scanned(text: str) -> tuple[Suspicion, ...]:
    spans = [(start, end, kind) for kind, start, end in _matches(text)]
    if not spans:
        return ()
    grown = _Growth(text)
    merged: list[list[int]] = []
    for start, end, rank in sorted((*grown.around(s, e), _ORDER.index(kind)) for s, e, kind in spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
            merged[-1][2] = min(merged[-1][2], rank)
        else:
            merged.append([start, end, rank])
    return tuple(Suspicion(start, end, _ORDER[rank], text[start:end]) for start, end, rank in merged)


# Retrievers hand in the same chunks question after question.
_remembered = lru_cache(maxsize=2048)(_scanned)


def _matches(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind and offsets in the text of everything found, in any order."""
    for start, end in hidden(text):
        yield "hidden_characters", start, end
    for view in views(text):
        for kind, start, end in structures(view):
            yield kind, *view.span(start, end)
        yield from _said(view)


def _said(view: View) -> Iterator[tuple[str, int, int]]:
    found, _ = find(view.text)
    if not found:
        return
    stops = [match.start() for match in _STOP.finditer(view.text)]
    sentence_of = [bisect_right(stops, term.start) for term in found]
    for kind, start, end in apply(found, sentence_of):
        first, last = view.span(start, end)
        yield kind, min(first, last - 1), max(first + 1, last)


class _Growth:
    """Grows a match to the sentences and lines it stands in."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stops = [match.end() for match in _STOP.finditer(text)]
        self.breaks = [match.start() for match in re.finditer(r"\n", text)]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The match with its sentence, the rest of its lines, and its wake."""
        first = min(self._back(self.stops, start, 0), self._back(self.breaks, start, 1))
        behind = min(len(self.text), end + _WAKE)
        return first, max(self._ahead(self.stops, behind, 0), self._ahead(self.breaks, behind, 0))

    def _back(self, marks: list[int], place: int, skip: int) -> int:
        i = bisect_right(marks, place) - 1
        found = marks[i] + skip if i >= 0 else 0
        return max(found, place - _REACH, 0) if found <= place else place

    def _ahead(self, marks: list[int], place: int, skip: int) -> int:
        i = bisect_left(marks, place)
        found = marks[i] + skip if i < len(marks) else len(self.text)
        return min(found, place + _REACH, len(self.text))
