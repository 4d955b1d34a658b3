"""What a detector is: the protocol, and the embedder it may need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    `embed` and `aembed` return a float32 array of shape (len(texts), dimensions); rows need not be normalised.
    """

    @property
    def name(self) -> str:
        """Model name; part of the cache key of vectors, so it must change when vectors do."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of texts; `query=True` for questions, which some models prefix differently."""
        ...

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """The same without blocking the event loop."""
        ...
