"""An embedder that needs no model: words hashed into a vector."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]|\w+")


class HashEmbedder:
    """Bags of words, hashed: texts that share words are near each other; the same text always has the same vector.

    Args:
        dimensions: Length of the vectors.
    """

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.texts_embedded = 0

    @property
    def name(self) -> str:
        """`hash-<dimensions>`."""
        return f"hash-{self.dimensions}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Normalised vectors; a text without words gets a zero vector."""
        self.texts_embedded += len(texts)
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(text.casefold()):
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                number = int.from_bytes(digest, "big")
                row[number % self.dimensions] += 1.0 if number >> 63 else -1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[norms == 0] = 1.0
        vectors /= norms
        return vectors

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As `embed`."""
        return self.embed(texts, query=query)
