"""Notices passages that are close in meaning: cosine between the question's vector and every window's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.contract import Hit, ParsedQuestion
from arbiter_rag.detectors.base import Embedder
from arbiter_rag.detectors.index import index_of
from arbiter_rag.document import ParsedDocument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class EmbeddingDetector:
    """Ranks windows of 12 lines by cosine; it never decides absence, for something is always nearest.

    Args:
        embedder: What turns text into vectors; a document's vectors are made once and kept with it.
        limit: Most hits given back.
    """

    name = "embedding"

    def __init__(self, embedder: Embedder, limit: int = 20) -> None:
        self.embedder = embedder
        self.limit = limit

    def detect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """Hits best first; the score is the cosine."""
        vectors = document.derived(self._key, lambda d: unit(self.embedder.embed(passage_texts(d))))
        asked = unit(self.embedder.embed([question.text], query=True))
        return self.rank(asked[0], vectors, document)

    async def adetect(self, question: ParsedQuestion, document: ParsedDocument) -> tuple[Hit, ...]:
        """The same without blocking the event loop; two first questions at once may both embed the document."""
        vectors = document.peek(self._key)
        if vectors is None:
            made = unit(await self.embedder.aembed(passage_texts(document)))
            vectors = document.derived(self._key, lambda _: made)
        asked = unit(await self.embedder.aembed([question.text], query=True))
        return self.rank(asked[0], vectors, document)

    @property
    def _key(self) -> str:
        return f"vectors:{self.embedder.name}"

    def rank(self, asked: Vectors, vectors: Vectors, document: ParsedDocument) -> tuple[Hit, ...]:
        """Rank a document's windows (unit vectors, shape (windows, dimensions)) against a question's unit vector."""
        index = index_of(document)
        if not len(vectors):
            return ()
        cosines = vectors @ asked
        order = np.argsort(-cosines, kind="stable")
        hits: list[Hit] = []
        taken: list[tuple[int, int]] = []
        for w in order.tolist():
            start, end = int(index.starts[w]), int(index.ends[w])
            # Windows overlap by half: the better one stands for both.
            if any(start < e and s < end for s, e in taken):
                continue
            taken.append((start, end))
            hits.append(
                Hit(
                    method=self.name,
                    scope=document.scope(start, end),
                    score=round(float(cosines[w]), 6),
                    rank=len(hits) + 1,
                    note="close in meaning",
                )
            )
            if len(hits) == self.limit:
                break
        return tuple(hits)


def passage_texts(document: ParsedDocument) -> list[str]:
    """What is embedded: each window under its section's breadcrumb."""
    index = index_of(document)
    texts: list[str] = []
    for start, end in zip(index.starts.tolist(), index.ends.tolist(), strict=True):
        lines = [t for t, f in zip(document.texts[start:end], document.furniture[start:end], strict=True) if not f]
        heading = document.section_of(start).breadcrumb
        texts.append("\n".join([heading, *lines] if heading else lines))
    return texts


def unit(vectors: NDArray[np.float32]) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    array = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    scaled: Vectors = (array / np.where(norms == 0, 1.0, norms)).astype(np.float32)
    return scaled


def cosines(asked: Vectors, texts: Vectors) -> Sequence[float]:
    """Cosine of one unit vector with each row of unit vectors."""
    values: list[float] = (texts @ asked).tolist()
    return values
