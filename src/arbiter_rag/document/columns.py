"""Which parts of a page are text columns side by side, and which are the cells of a table. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_MIN_CHARS = 18
_MIN_SHARE = 0.15
"""A fragment reads as running text from this many characters and this share of the page's width."""


_NEAR = 18.0
"""How far, in points, from the running text of two columns a line still belongs to one of them."""


class Gutters:
    """The gutters of one page: where running text stands on both sides, lines on one height are two lines, not one row.

    Args:
        page: Its number.
        width: Its width in points.
        x0, x1, base, chars: Extents, baselines and lengths of its fragments.
        upright: Which of them run from left to right.
    """

    def __init__(
        self, page: int, width: float, x0: Floats, x1: Floats, base: Floats, chars: NDArray[np.int64],
        upright: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        self.page = page
        self._x0, self._x1, self._base = x0, x1, base
        self._wide = upright & (chars >= _MIN_CHARS) & (x1 - x0 >= _MIN_SHARE * width)
        self._edges = self._column_edges()

    def _column_edges(self) -> list[float]:
        """Left edges of columns that have running text left of them."""
        starts = np.sort(self._x0[self._wide])
        if len(starts) < 6:
            return []
        breaks = np.flatnonzero(np.diff(starts) > 2.0) + 1
        edges = []
        for run in np.split(starts, breaks):
            edge = float(run[0])
            if len(run) >= 3 and (self._wide & (self._x1 <= edge + 1)).sum() >= 3:
                edges.append(edge)
        return edges

    def between(self, left_end: float, right_start: float, base: float, one_block: bool) -> bool:
        """Whether a gutter parts two fragments on the baseline `base`.

        Args:
            left_end: Where the left one ends.
            right_start: Where the right one starts.
            base: Their baseline.
            one_block: PyMuPDF put both into one block: then it takes more text around them to believe in columns.
        """
        enough = 8 if one_block else 3
        for edge in self._edges:
            if not (left_end - 1 <= edge <= right_start + 2):
                continue
            crossing = self._base[(self._x0 < edge - 2) & (self._x1 > edge + 5)]
            above = crossing[crossing < base - 1].max(initial=-np.inf)
            below = crossing[crossing > base + 1].min(initial=np.inf)
            inside = self._wide & (self._base > above) & (self._base < below)
            right = inside & (self._x0 >= edge - 2)
            left = inside & (self._x1 <= edge + 1)
            if right.sum() >= enough and left.sum() >= enough:
                text = self._base[left | right]  # headers above and footers below the columns are rows of their own
                if text.min() - _NEAR <= base <= text.max() + _NEAR:
                    return True
        return False
