"""Measures an `Arbiter` on a user's own questions: what is asked, what counts as a hit, and the tables."""

from arbiter_rag.evaluation.questions import Question, read_questions
from arbiter_rag.evaluation.run import Asked, Evaluation, Scores, evaluate

__all__ = ["Asked", "Evaluation", "Question", "Scores", "evaluate", "read_questions"]
