"""What is measured of one question, and how a source's questions are summed up: shares with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import Value
from benchmarks.retrieval_data import Found, Question, counted, evidence_stands

KS = (1, 5, 10, 20)
RESAMPLES = 2_000
SEED = 7


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question put to one system.

    Attributes:
        hits: For each k, whether a hit is among the first k.
        reciprocal: 1 / rank of the first hit in a pool of ten, 0 without one.
        first: Whether what the system would answer with is right (for Arbiter: `RuleJudge`'s first; a "not found" is
            wrong).
        text: Whether the evidence's text stands in one of the ten; None where no evidence is given.
        not_found: Whether it said so; None for systems that never do.
        confidence: In [0, 1]; None where there is none.
        milliseconds: Of the whole question, with the document indexed.
        tokens: Forecast of the prompt's tokens; None where there is no prompt.
        embedded: Whether the embedding detector ran.
    """

    question: Question
    hits: dict[int, bool]
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
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


def outcome_of(question: Question, pools: dict[int, Sequence[Found]], milliseconds: float) -> Outcome:
    """Measure a system's ranked passages, given for each k as it would give them for that k."""
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


def share(values: Sequence[float | bool | None]) -> Share | None:
    """Mean of what is there, with the bootstrap's percentiles; None when nothing is."""
    known = np.asarray([float(v) for v in values if v is not None])
    if not len(known):
        return None
    draws = np.random.default_rng(SEED).integers(0, len(known), size=(RESAMPLES, len(known)))
    low, high = np.percentile(known[draws].mean(axis=1), [2.5, 97.5])
    return Share(float(known.mean()), float(low), float(high), len(known))


def difference(ours: Sequence[bool], theirs: Sequence[bool]) -> Share | None:
    """Mean of a paired difference, question by question, with its interval."""
    return share([float(a) - float(b) for a, b in zip(ours, theirs, strict=True)])


_METRICS: dict[str, Callable[[Outcome], float | bool | None]] = {
    **{f"@{k}": (lambda o, k=k: o.hits[k]) for k in KS},
    "first": lambda o: o.first,
    "MRR": lambda o: o.reciprocal,
    "text": lambda o: o.text,
    "false not found": lambda o: o.not_found,
}


def summed(outcomes: Sequence[Outcome]) -> dict[str, Share | None]:
    """Every metric over answerable questions."""
    asked = [o for o in outcomes if o.question.answerable]
    return {name: share([metric(o) for o in asked]) for name, metric in _METRICS.items()}


def absences(outcomes: Sequence[Outcome]) -> dict[str, Share | None]:
    """Not found: how often it was right when said, and how many of the absent ones were caught."""
    said = [not o.question.answerable for o in outcomes if o.not_found]
    caught = [o.not_found for o in outcomes if not o.question.answerable]
    return {"nf precision": share(said), "nf recall": share(caught)}


def costs(outcomes: Sequence[Outcome]) -> dict[str, Value]:
    """What a question costs: medians."""
    tokens = [o.tokens for o in outcomes if o.tokens is not None]
    embedded = [o.embedded for o in outcomes if o.embedded is not None]
    return {
        "ms": round(float(np.median([o.milliseconds for o in outcomes])), 2),
        "tokens": int(np.median(tokens)) if tokens else None,
        "embedded": round(float(np.mean(embedded)), 3) if any(embedded) else None,
    }
