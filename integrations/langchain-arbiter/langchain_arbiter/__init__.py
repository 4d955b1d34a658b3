"""Arbiter as LangChain retrievers and a document compressor."""
