"""Reciprocal Rank Fusion: a prefilter when the pool is too wide for one call, and the baseline to beat."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

RRF_K = 60
"""The constant of Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (SIGIR 2009)."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[K]], k: int = RRF_K) -> list[tuple[K, float]]:
    """Fuse rankings (each best first) into one: a key scores the sum of 1 / (k + rank); ties keep first-seen order."""
    scores: dict[K, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
