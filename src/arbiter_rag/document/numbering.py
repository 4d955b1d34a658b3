"""How deep a heading's number puts it: "Part II" above "Item 7" above "7.1"; and ranks -> levels. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arbiter_rag.document.folding import squash

_KINDS = (
    (10, ("part", "partie", "teil", "parte", "deel", "часть", "titre", "title", "titulo", "titolo", "livre", "book",
          "annex", "annexe", "annexes", "appendix", "appendices", "anhang", "anexo", "apendice", "allegato",
          "appendice", "bijlage", "приложение", "schedule", "exhibit")),
    (20, ("chapter", "chapters", "chapitre", "kapitel", "capitulo", "capitolo", "hoofdstuk", "глава")),
    (30, ("section", "sections", "seccion", "secao", "sezione", "abschnitt")),
    (40, ("item", "items", "article", "art", "articulo", "articolo", "artigo", "artikel")),
    (45, ("note",)),
)  # fmt: skip
_RANK = {word: rank for rank, words in _KINDS for word in words}
_WORD = re.compile(r"[^\W\d_]+")
_CJK = {"编": 10, "編": 10, "篇": 10, "部": 10, "章": 20, "节": 30, "節": 30, "条": 40, "條": 40}

_SECTION, _ARTICLE = 30.0, 40.0

DECIMAL = 50
"""Rank of "1"; every further figure ("1.2", "1.2.3") adds one."""


def rank(number: str) -> float | None:
    """Rank of a heading by its number, lower is higher up; None when the number says nothing."""
    if not number:
        return None
    word = _WORD.match(number.replace("§", "Section "))
    if word and len(word.group()) > 1 and (known := _RANK.get(squash(word.group()))):
        return known
    if number[0] == "第" and number[-1] in _CJK:
        return _CJK[number[-1]]
    parts = [p for p in re.split(r"[.\-]", number) if p]
    if number[0].isdigit() or len(parts) > 1:
        return DECIMAL + len(parts) - 1
    return DECIMAL


def settled(ranks: Sequence[float | None]) -> list[float | None]:
    """Ranks of one document: statutes put articles into sections, contracts the other way: the rarer is above."""
    sections, articles = ranks.count(_SECTION), ranks.count(_ARTICLE)
    if not articles or sections <= articles:
        return list(ranks)
    swap = {_SECTION: _ARTICLE, _ARTICLE: _SECTION}
    return [swap.get(r, r) if r is not None else None for r in ranks]


def levels(ranks: Sequence[float]) -> list[int]:
    """Levels from ranks in reading order: a heading is one level below the nearest one above it of lower rank."""
    open_ranks: list[float] = []
    out = []
    for value in ranks:
        while open_ranks and open_ranks[-1] >= value:
            open_ranks.pop()
        open_ranks.append(value)
        out.append(len(open_ranks))
    return out
