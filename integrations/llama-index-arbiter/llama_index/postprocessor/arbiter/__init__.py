"""Arbiter as a LlamaIndex node postprocessor, and any LlamaIndex LLM as Arbiter's judge."""

from llama_index.postprocessor.arbiter.base import ArbiterNodePostprocessor
from llama_index.postprocessor.arbiter.events import ArbiterResultEvent
from llama_index.postprocessor.arbiter.judge import LlamaIndexJudge

__all__ = ["ArbiterNodePostprocessor", "ArbiterResultEvent", "LlamaIndexJudge"]
