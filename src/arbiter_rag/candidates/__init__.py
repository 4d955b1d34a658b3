"""Hits, or passages that others propose, become candidates: anchor, context, snippet and evidence."""

from arbiter_rag.candidates.gather import gather
from arbiter_rag.candidates.offers import offer_sections
from arbiter_rag.candidates.passages import candidates_of

__all__ = ["candidates_of", "gather", "offer_sections"]
