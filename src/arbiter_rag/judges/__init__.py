"""One file, one judge; the only code that reaches an LLM."""

from arbiter_rag.judges.base import Judge, JudgeReply
from arbiter_rag.judges.openai import OpenAIJudge
from arbiter_rag.judges.rules import RuleJudge

__all__ = ["Judge", "JudgeReply", "OpenAIJudge", "RuleJudge"]
