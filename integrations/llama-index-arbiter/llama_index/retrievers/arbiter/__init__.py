"""Arbiter as LlamaIndex retrievers."""
