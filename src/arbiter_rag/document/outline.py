"""The outline (bookmarks) as the file holds it -> entries with the page and height they claim; asks PyMuPDF.

It is walked object by object: PyMuPDF's `get_toc()` comes back empty when one destination is out of range, and its
versions disagree about heights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arbiter_rag.document.names import NamedDestinations
from arbiter_rag.document.strings import clean, text_string

_MAX_ENTRIES = 50_000
_MAX_TITLE = 500
_REFERENCE = re.compile(r"\d+\s+\d+\s+R")
_ARRAY = re.compile(r"\[\s*(?:(?P<xref>\d+)\s+\d+\s+R|(?P<index>-?\d+))\s*(?:/(?P<view>\w+)(?P<values>[^\]]*))?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One outline entry.

    Attributes:
        level: 1 is the top; how deep it is nested.
        page: 1-based, or None when it points nowhere.
        top: Height it points to, from the top of the page; None when it names none.
    """

    level: int
    title: str
    page: int | None
    top: float | None = None


def read_outline(doc: Any, pages: int) -> list[Entry]:
    """Every entry of the outline in its order; a broken destination costs no entry, neither its own nor others."""
    catalog = doc.pdf_catalog()
    kind, value = doc.xref_get_key(catalog, "Outlines")
    if kind != "xref":
        return []
    targets = _Targets(doc, pages)
    entries = []
    for level, xref in _walk(doc, _number(value)):
        title = _title(doc, xref)
        if any(map(str.isalnum, title)):
            page, top = targets.of(xref)
            entries.append(Entry(level, title, page, top))
    return entries


def _title(doc: Any, xref: int) -> str:
    kind, value = doc.xref_get_key(xref, "Title")
    if kind == "xref":
        value = text_string(doc.xref_object(_number(value), compressed=True))
    return " ".join(clean(value).split())[:_MAX_TITLE] if kind in ("xref", "string") else ""


def _number(value: str) -> int:
    return int(value.split()[0])


def _walk(doc: Any, root: int) -> Iterator[tuple[int, int]]:
    """Level and object number of each entry, depth first, each object once: outlines may loop."""
    seen = {root}
    waiting = [(1, doc.xref_get_key(root, "First"))]
    while waiting and len(seen) < _MAX_ENTRIES:
        level, (kind, value) = waiting.pop()
        if kind != "xref" or (xref := _number(value)) in seen:
            continue
        seen.add(xref)
        try:
            following, first = doc.xref_get_key(xref, "Next"), doc.xref_get_key(xref, "First")
        except Exception:  # noqa: BLE001 - a reference to an object that is not there
            continue
        yield level, xref
        waiting.append((level, following))
        waiting.append((level + 1, first))


class _Targets:
    """Where entries point: object numbers of pages and named destinations are looked up once a document."""

    def __init__(self, doc: Any, pages: int) -> None:
        self._doc = doc
        self._pages = pages
        self._page_of: dict[int, int] | None = None
        self._names = NamedDestinations(doc)
        self._matrices: dict[int, Any] = {}

    def of(self, xref: int) -> tuple[int | None, float | None]:
        """1-based page and height of an entry."""
        try:
            kind, value = self._doc.xref_get_key(xref, "Dest")
            if kind == "null":
                action = self._doc.xref_get_key(xref, "A/S")[1]
                if action == "/Named":
                    return {"/FirstPage": 1, "/LastPage": self._pages}.get(self._doc.xref_get_key(xref, "A/N")[1]), None
                if action not in ("/GoTo", "null"):
                    return None, None
                kind, value = self._doc.xref_get_key(xref, "A/D")
            return self._resolve(kind, value)
        except Exception:  # noqa: BLE001 - MuPDF raises a class of its own for every kind of damage
            return None, None

    def _resolve(self, kind: str, value: str) -> tuple[int | None, float | None]:
        if kind == "xref":
            value = self._doc.xref_object(_number(value), compressed=True).strip()
            kind = "array" if value.startswith("[") else "dict"
        if kind == "dict":
            value = value[value.find("[") :] if "[" in value else ""
            kind = "array"
        if kind == "array":
            return self._array(value)
        if kind in ("string", "name"):
            return self._named(value.removeprefix("/") if kind == "name" else value)
        return None, None

    def _array(self, value: str) -> tuple[int | None, float | None]:
        found = _ARRAY.match(value.strip())
        if not found:
            return None, None
        page = self._page_number(int(found["xref"])) if found["xref"] else int(found["index"]) + 1
        if page is None or not 1 <= page <= self._pages:
            return None, None
        values = (found["values"] or "").split()
        position = {"XYZ": 1, "FitH": 0, "FitBH": 0, "FitR": 3}.get(found["view"] or "")
        if position is None or position >= len(values) or values[position] == "null":
            return page, None
        return page, self._top(page, float(values[position]))

    def _named(self, name: str) -> tuple[int | None, float | None]:
        source = self._names.find(name)
        if source is None or source.startswith("("):  # a name for a name would be a loop
            return None, None
        return self._resolve("xref" if _REFERENCE.fullmatch(source) else "dict", source)

    def _page_number(self, xref: int) -> int | None:
        if self._page_of is None:
            self._page_of = {self._doc.page_xref(i): i + 1 for i in range(self._pages)}
        return self._page_of.get(xref)

    def _top(self, page: int, y: float) -> float | None:
        """From the file's coordinates (from the bottom up) to the page as shown; unknown where the page is turned."""
        if page not in self._matrices:
            self._matrices[page] = self._doc[page - 1].transformation_matrix
        matrix = self._matrices[page]
        return float(y * matrix.d + matrix.f) if abs(matrix.d) > 0.5 else None
