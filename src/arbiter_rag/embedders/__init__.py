"""Embedders: one file, one way to turn texts into vectors, and the cache around any of them."""

from arbiter_rag.embedders.cache import CachedEmbedder
from arbiter_rag.embedders.fastembed import FastEmbedEmbedder
from arbiter_rag.embedders.openai import OpenAIEmbedder

__all__ = ["CachedEmbedder", "FastEmbedEmbedder", "OpenAIEmbedder"]
