"""A decision as a page that a person reads: re-exports, nothing else."""

from arbiter_rag.report.build import report, template

__all__ = ["report", "template"]
