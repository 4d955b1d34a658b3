"""What the retrieval benchmark measures beyond `arbiter_rag.evaluation`: a wider pool, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence

from arbiter_rag.evaluation.measure import Share, share

KS = (1, 5, 10, 20)


def difference(ours: Sequence[bool], theirs: Sequence[bool]) -> Share | None:
    """Mean of a paired difference, question by question, with its interval."""
    return share([float(a) - float(b) for a, b in zip(ours, theirs, strict=True)])
