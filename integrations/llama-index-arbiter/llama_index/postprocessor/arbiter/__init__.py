"""Arbiter as a LlamaIndex node postprocessor."""
