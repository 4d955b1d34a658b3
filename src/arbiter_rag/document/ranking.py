"""Lines found to be headings -> headings with levels: by contents, by number, else by how they are set. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from arbiter_rag.contract import HeadingSource
from arbiter_rag.document.folding import split_number, squash
from arbiter_rag.document.numbering import DECIMAL, levels, rank, settled
from arbiter_rag.document.sections import Heading
from arbiter_rag.document.view import View

_LAST_FIGURE = re.compile(r"(.*?)(\d+)[A-Za-z]?")
_LONGEST = 140
"""Longer lines are no headings; their number is not looked for."""

_STEP = 0.001
"""How far styles are apart that are otherwise on one rank."""

Style = tuple[float, bool, bool]
"""Font size in half points, bold, all capitals."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A heading without a level: `rows` lines from `row` on."""

    row: int
    rows: int
    number: str
    title: str
    style: Style


def in_levels(
    found: Sequence[Candidate], anchors: Sequence[Heading], view: View, source: HeadingSource
) -> list[Heading]:
    """Headings of all candidates and anchors in reading order, each with its level.

    Args:
        found: What is to get a level.
        anchors: Headings that have one already and keep their order.
        view: The text.
        source: What the candidates' headings say about where they came from.
    """
    ranks = _ranks(found, anchors, view)
    both = [
        *((a, r) for a, r in zip(anchors, ranks[len(found) :], strict=True)),
        *(
            (Heading(c.row, 1, c.title, c.number, source, c.rows, view.page_of(c.row)), r)
            for c, r in zip(found, ranks, strict=False)
        ),
    ]
    both.sort(key=lambda pair: pair[0].row)
    return [
        Heading(h.row, level, h.title, h.number, h.source, h.rows, h.page)
        for (h, _), level in zip(both, levels([r for _, r in both]), strict=True)
    ]


def style_of(view: View, row: int) -> Style:
    """How a line is set."""
    text = view.texts[row]
    if text.rstrip(" .,;:)!?")[-1:].islower() or len(text) > _LONGEST:  # most lines: no look for a number is needed
        return round(view.sizes[row] * 2) / 2, bool(view.bold[row]), False
    text = split_number(text)[1]
    return round(view.sizes[row] * 2) / 2, bool(view.bold[row]), text.isupper() and sum(map(str.isalpha, text)) > 3


def _ranks(found: Sequence[Candidate], anchors: Sequence[Heading], view: View) -> list[float]:
    """Ranks of the candidates, then of the anchors: by contents, by number, else by style among those known.

    Between the first and the last line of a contents page nothing that it does not list is as high as what it lists.
    """
    anchor_ranks = [h.level - 100.0 for h in anchors]
    listed = {style_of(view, h.row): r for h, r in zip(anchors, anchor_ranks, strict=True)}
    kinds = {k: r for h, r in zip(anchors, anchor_ranks, strict=True) if (k := rank(h.number)) and k < DECIMAL}
    first, last = (anchors[0].row, anchors[-1].row) if anchors else (0, 0)
    known: dict[Style, Counter[float]] = defaultdict(Counter)
    own = settled([rank(c.number) for c in found])
    order = sorted({c.style for c in found}, key=prominence, reverse=True)
    for c, r in zip(found, own, strict=True):
        if r is not None:
            known[c.style][r if r >= DECIMAL else r + 0.5 + _STEP * order.index(c.style)] += 1
    fixed = {style: counts.most_common(1)[0][0] for style, counts in known.items()}
    out = []
    for c, r in zip(found, own, strict=True):
        if anchors and not first < c.row < last and c.style in listed:
            r = listed[c.style]
        elif r is not None and kinds and r < min(kinds):  # the contents list items only: parts stand above them
            r = min(kinds.values()) - 0.5
        elif r is None and (r := fixed.get(c.style)) is None:
            above = [fixed[s] for s in order[: order.index(c.style)] if s in fixed]
            below = [fixed[s] for s in order[order.index(c.style) :] if s in fixed]
            r = max(above) + 0.5 if above else min(below) - 1.0 if below else 0.0
            r = (min(r, min(below) - 0.25) if below else r) + _STEP * order.index(c.style)
        out.append(r)
    _enclose(found, own, out, order)
    return [*out, *anchor_ranks]


def _enclose(
    found: Sequence[Candidate], own: Sequence[float | None], ranks: list[float], order: Sequence[Style]
) -> None:
    """What stands between "Note 3" and "Note 4" belongs to note 3, however large it is set."""
    last: dict[float, tuple[int, str, int]] = {}  # by rank: place in `found`, what comes before the figure, the figure
    for i, (c, value) in enumerate(zip(found, own, strict=True)):
        if value is None or not (parts := _LAST_FIGURE.fullmatch(c.number)):
            continue
        before, figure = squash(parts[1]), int(parts[2])
        previous = last.get(value)
        if previous and previous[1] == before and figure in (previous[2], previous[2] + 1):
            for k in range(previous[0] + 1, i):
                if own[k] is None and ranks[k] <= value:
                    ranks[k] = value + 0.5 + _STEP * order.index(found[k].style)
        last[value] = (i, before, figure)


def prominence(style: Style) -> float:
    """How much a style catches the eye."""
    size, bold, caps = style
    return size * 10 + 8 * bold + 6 * caps
