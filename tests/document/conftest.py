"""Small PDFs written by the tests: one call a page, one tuple a piece of text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

Piece = tuple[float, float, str] | tuple[float, float, str, float] | tuple[float, float, str, float, str]
"""x, baseline, text, font size (10), font (helv; hebo is bold)."""

MakePdf = Callable[..., bytes]


@pytest.fixture(scope="session")
def pymupdf() -> Any:
    """PyMuPDF; importing it warns about SWIG's own types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pytest.importorskip("pymupdf", reason="reads PDF files")


@pytest.fixture(scope="session")
def make_pdf(pymupdf: Any) -> MakePdf:
    """Write a PDF: `make_pdf([pieces of page 1, ...], toc=[[level, title, page], ...], labels=[...])`."""

    def make(
        pages: Sequence[Sequence[Piece]],
        toc: list[list[Any]] | None = None,
        labels: list[dict[str, Any]] | None = None,
        change: Callable[[Any], None] | None = None,
        **save: Any,
    ) -> bytes:
        doc = pymupdf.open()
        for pieces in pages:
            page = doc.new_page(width=595, height=842)
            for piece in pieces:
                x, y, text, size, font = (*piece, *(10, "helv")[len(piece) - 3 :])
                page.insert_text((x, y), text, fontsize=size, fontname=font)
        if toc:
            doc.set_toc(toc)
        if labels:
            doc.set_page_labels(labels)
        if change:
            change(doc)
        data: bytes = doc.tobytes(**save)
        doc.close()
        return data

    return make


@pytest.fixture(scope="session")
def prose() -> Callable[..., list[Piece]]:
    """Lines of running text: `prose(start, lines)` from this baseline on, each line told apart by its number."""

    def lines(start: float, count: int, x: float = 72, words: str = "runs on in an even voice") -> list[Piece]:
        return [(x, start + 12 * i, f"The line at {start + 12 * i:.0f} {words}") for i in range(count)]

    return lines
