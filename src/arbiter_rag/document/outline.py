"""The outline (bookmarks) as the PDF holds it -> entries with the page and height they claim. Reads a PyMuPDF document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One outline entry: `page` is 1-based or None when it points nowhere, `y` as it came, whichever way it counts."""

    level: int
    title: str
    page: int | None
    y: float | None


def read_outline(doc: Any, pages: int) -> list[Entry]:
    """Every entry of the outline in its order."""
    entries = []
    for level, title, page, dest in doc.get_toc(simple=False):
        target = page if 1 <= page <= pages else None
        point = dest.get("to") if isinstance(dest, dict) else None
        y = float(point.y) if target and hasattr(point, "y") else None
        clean = " ".join(title.split())
        if clean:
            entries.append(Entry(level, clean, target, y))
    return entries
