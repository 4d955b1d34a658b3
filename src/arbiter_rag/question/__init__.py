"""A question taken apart by rules: what to look for, where, and what form the answer will take."""

from arbiter_rag.question.parse import parse_question

__all__ = ["parse_question"]
