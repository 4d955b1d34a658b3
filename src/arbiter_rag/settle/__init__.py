"""Settling a judge's reply: re-exports, nothing else."""

from arbiter_rag.settle.conflicts import obvious_conflicts
from arbiter_rag.settle.verdicts import OnUnverified, settle, settle_empty

__all__ = ["OnUnverified", "obvious_conflicts", "settle", "settle_empty"]
