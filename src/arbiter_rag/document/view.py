"""A document's lines as the search for headings sees them, with what is folded or counted once. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from arbiter_rag.document.folding import squash
from arbiter_rag.document.lines import Bounds, VisualLines

_LONGEST = 200
"""A heading's folded text is compared up to this many characters of a line."""

_LONGEST_TITLE = 120


class View:
    """Lines by row, pages by 1-based number.

    Args:
        lines: All lines.
        furniture: Which of them are running headers, footers or page numbers.
        starts: First row of each page, and the number of rows.
        sizes: Width and height of each page.
        labels: Printed label of each page.
    """

    def __init__(
        self,
        lines: VisualLines,
        furniture: Sequence[bool],
        starts: Sequence[int],
        sizes: Sequence[tuple[float, float]],
        labels: Sequence[str],
    ) -> None:
        self.texts: Sequence[str] = lines.text
        self.boxes: Sequence[Bounds] = lines.box
        self.sizes: Sequence[float] = lines.size
        self.bold: Sequence[bool] = lines.bold
        self.turned: Sequence[bool] = lines.turned
        self.furniture = furniture
        self.starts = starts
        self.page_sizes = sizes
        self.labels = labels
        self.pages = len(sizes)
        self._keys: dict[int, list[str]] = {}
        self._joined: dict[int, str] = {}

    def __len__(self) -> int:
        """Number of lines."""
        return len(self.texts)

    def rows(self, page: int) -> range:
        """Rows of a page."""
        return range(self.starts[page - 1], self.starts[page])

    def page_of(self, row: int) -> int:
        """Page of a row."""
        return bisect_right(self.starts, row)

    def keys(self, page: int) -> list[str]:
        """Folded text of each row of a page."""
        if page not in self._keys:
            self._keys[page] = [squash(self.texts[r][:_LONGEST]) for r in self.rows(page)]
        return self._keys[page]

    def joined(self, page: int) -> str:
        """Folded text of a page, a row a line: tells quickly that something does not stand on it."""
        if page not in self._joined:
            self._joined[page] = "\n".join(self.keys(page))
        return self._joined[page]

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """Rows by folded text; furniture and lines too long for a title are left out."""
        rows: dict[str, list[int]] = defaultdict(list)
        for row, text in enumerate(self.texts):
            if len(text) <= _LONGEST_TITLE and not self.furniture[row] and (key := squash(text)):
                rows[key].append(row)
        return rows

    @cached_property
    def body_size(self) -> float:
        """The font size in which most characters are set."""
        weights: Counter[float] = Counter()
        for size, text in zip(self.sizes, self.texts, strict=True):
            weights[round(size, 1)] += len(text)
        return weights.most_common(1)[0][0] if weights else 10.0

    @cached_property
    def body_bold(self) -> bool:
        """Whether most characters are bold: then bold says nothing."""
        bold = sum(len(t) for t, b in zip(self.texts, self.bold, strict=True) if b)
        return bold * 2 > sum(map(len, self.texts))

    def stands_out(self, row: int) -> float:
        """How much larger or bolder than the body a line is set: 0 is not at all."""
        size = self.sizes[row] / self.body_size
        return (1.5 if size > 1.25 else 1.0 if size > 1.04 else -0.5 if size < 0.9 else 0.0) + (
            1.0 if self.bold[row] and not self.body_bold else 0.0
        )
