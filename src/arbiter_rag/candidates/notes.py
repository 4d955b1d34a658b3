"""Evidence in words: one clause a kind, for reasons and reports."""

from __future__ import annotations

from collections.abc import Iterable

from arbiter_rag.contract import Hit
from arbiter_rag.detectors.evidence import Evidence

_SHOWN = 4


def evidence_notes(e: Evidence, hits: Iterable[Hit], title: str) -> tuple[str, ...]:
    """What speaks for a candidate, strongest first."""
    notes: list[str] = []
    hits = tuple(hits)
    notes += [h.note for h in hits if h.method in ("page", "caption")][:1]
    for hit in hits:
        if hit.method == "toc" and hit.note:
            notes.append(f"{hit.note}: {title!r}" if title else hit.note)
            break
    if e.phrase:
        notes.append("quoted phrase stands here")
    if e.matched:
        words = ", ".join(repr(m) for m in e.matched[:_SHOWN])
        together = len(e.matched) > 1 and e.near >= 0.5
        notes.append(f"{words} {'within three lines' if together else 'found'}")
    if e.shape:
        notes.append("with a value of the asked kind")
    if not notes and any(h.method == "embedding" for h in hits):
        notes.append("close in meaning only")
    return tuple(notes)
