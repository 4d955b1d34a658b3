"""Noticing passages that address the judge: re-exports, nothing else."""

from arbiter_rag.hostile.scan import Suspicion, scan

__all__ = ["Suspicion", "scan"]
