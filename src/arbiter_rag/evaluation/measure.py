"""What is measured of one question, and how questions are summed up: shares with bootstrap intervals.

A hit is an anchor of at most 15 lines, over one page break at most, on a gold page; passages that stand on excluded
pages alone do not count. `@k` is the share of answerable questions with a hit among the first k.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arbiter_rag.contract import CandidateScope
from arbiter_rag.document import ParsedDocument
from arbiter_rag.evaluation.questions import Question

ANCHOR = 15
"""Most lines of an anchor that may count as a hit."""

KS = (1, 5, 10)
"""How many of the first are looked at, by default."""

RESAMPLES = 2_000
SEED = 7

_STRETCH = 60
_STEP = 15


@dataclass(frozen=True, slots=True)
class Found:
    """One passage that a system proposes: the pages it stands on, its lines and its text."""

    pages: frozenset[int]
    lines: int
    text: str

    def hits(self, question: Question) -> bool:
        """Whether it is short enough, runs over one page break at most, and stands on a gold page."""
        return self.lines <= ANCHOR and len(self.pages) <= 2 and bool(self.pages & question.gold)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question put to one system.

    Attributes:
        hits: For each k, whether a hit is among the first k.
        reciprocal: 1 / rank of the first hit among the first ten, 0 without one.
        first: Whether what the system would answer with is right; a "not found" is wrong.
        text: Whether the evidence's text stands in one of the ten; None where no evidence is given.
        not_found: Whether it said so; None for systems that never do.
        confidence: In [0, 1]; None where there is none.
        milliseconds: Of the whole question, with the document indexed.
        tokens: The prompt's tokens; None where there is no prompt.
        embedded: Whether the embedding detector ran.
    """

    question: Question
    hits: Mapping[int, bool]
    reciprocal: float
    first: bool
    text: bool | None
    milliseconds: float
    not_found: bool | None = None
    confidence: float | None = None
    tokens: int | None = None
    embedded: bool | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A mean with its 95 % interval, over `n` questions."""

    mean: float
    low: float
    high: float
    n: int


def found_at(anchor: CandidateScope, snippet: str, document: ParsedDocument) -> Found:
    """A candidate as a passage: its anchor's pages and lines, and what a judge sees of it."""
    start, end = document.rows(anchor)
    pages = frozenset(range(anchor.page_start, anchor.page_end + 1))
    return Found(pages, end - start, f"{document.text(start, end)}\n{snippet}")


def counted(found: Collection[Found], question: Question) -> list[Found]:
    """What counts, in order: without passages that stand on excluded pages only."""
    return [f for f in found if not f.pages <= question.excluded]


def outcome_of(question: Question, pools: Mapping[int, Sequence[Found]], milliseconds: float) -> Outcome:
    """Measure a system's ranked passages, given for each k (ten among them) as it would give them for that k."""
    ranked = {k: [f.hits(question) for f in counted(pool[:k], question)] for k, pool in pools.items()}
    ten = ranked[10]
    text = None
    if question.gold_text:
        text = evidence_stands(question.gold_text, *(f.text for f in pools[10][:10]))
    return Outcome(
        question=question,
        hits={k: any(row[:k]) for k, row in ranked.items()},
        reciprocal=1.0 / (ten.index(True) + 1) if True in ten else 0.0,
        first=bool(ten) and ten[0],
        text=text,
        milliseconds=milliseconds,
    )


def folded(text: str) -> str:
    """Letters and digits alone: spacing, hyphens, accents, ligatures and case differ between evidence and page."""
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in flat if c.isalnum())


def evidence_stands(gold_text: str, *texts: str) -> bool:
    """Whether the evidence stands in any of the texts, folded.

    Evidence may run over more lines than an anchor has; then a stretch of 60 of its letters and digits is enough.
    """
    gold = folded(gold_text)
    pieces = [gold[i : i + _STRETCH] for i in range(0, max(1, len(gold) - _STRETCH + 1), _STEP)]
    return any(piece in text for text in map(folded, texts) for piece in pieces if piece)


def share(values: Sequence[float | bool | None]) -> Share | None:
    """Mean of what is there, with the bootstrap's percentiles; None when nothing is."""
    known = np.asarray([float(v) for v in values if v is not None])
    if not len(known):
        return None
    draws = np.random.default_rng(SEED).integers(0, len(known), size=(RESAMPLES, len(known)))
    low, high = np.percentile(known[draws].mean(axis=1), [2.5, 97.5])
    return Share(float(known.mean()), float(low), float(high), len(known))


_METRICS: dict[str, Callable[[Outcome], float | bool | None]] = {
    "first": lambda o: o.first,
    "MRR": lambda o: o.reciprocal,
    "text": lambda o: o.text,
    "false not found": lambda o: o.not_found,
}


def summed(outcomes: Sequence[Outcome], ks: Sequence[int] = KS) -> dict[str, Share | None]:
    """Every metric over answerable questions."""
    asked = [o for o in outcomes if o.question.answerable]
    recall = {f"@{k}": share([o.hits[k] for o in asked]) for k in ks}
    return recall | {name: share([metric(o) for o in asked]) for name, metric in _METRICS.items()}


def absences(outcomes: Sequence[Outcome]) -> dict[str, Share | None]:
    """Not found: how often it was right when said, and how many of the absent ones were caught."""
    said = [not o.question.answerable for o in outcomes if o.not_found]
    caught = [o.not_found for o in outcomes if not o.question.answerable]
    return {"nf precision": share(said), "nf recall": share(caught)}


def costs(outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    """What a question costs: medians."""
    tokens = [o.tokens for o in outcomes if o.tokens is not None]
    embedded = [o.embedded for o in outcomes if o.embedded is not None]
    return {
        "ms": round(float(np.median([o.milliseconds for o in outcomes])), 2),
        "tokens": int(np.median(tokens)) if tokens else None,
        "embedded": round(float(np.mean(embedded)), 3) if any(embedded) else None,
    }
