"""Embedders: one file, one way to turn texts into vectors, and the cache around any of them."""
