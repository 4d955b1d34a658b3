"""Named destinations of a PDF, looked up by name; only those asked for are read. Reads a PyMuPDF document.

PyMuPDF's `resolve_names()` loads a page for every name there is, which in a manual costs more than all its text.
"""

from __future__ import annotations

import re
from typing import Any

from arbiter_rag.document.strings import text_string

_PAIR = re.compile(
    r"(?P<name>\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>)\s*(?P<value>\d+\s+\d+\s+R|\[[^\]]*\]|<<.*?>>)", re.DOTALL
)
_REFERENCE = re.compile(r"(\d+)\s+\d+\s+R")
_MAX_NODES = 20_000


class NamedDestinations:
    """The two places where a PDF keeps them: the name tree and, in old files, a dictionary in the catalog."""

    def __init__(self, doc: Any) -> None:
        self._doc = doc
        self._tree: dict[str, str] | None = None

    def find(self, name: str) -> str | None:
        """The destination's source: an array, a dictionary or a reference."""
        if self._tree is None:
            self._tree = self._read_tree()
        if name in self._tree:
            return self._tree[name]
        kind, value = self._doc.xref_get_key(self._doc.pdf_catalog(), f"Dests/{name}")
        return str(value) if kind != "null" else None

    def _read_tree(self) -> dict[str, str]:
        found: dict[str, str] = {}
        kind, value = self._doc.xref_get_key(self._doc.pdf_catalog(), "Names/Dests")
        waiting = [value] if kind in ("xref", "dict") else []
        seen: set[str] = set()
        while waiting and len(seen) < _MAX_NODES:
            source = waiting.pop()
            if reference := _REFERENCE.fullmatch(source):
                if source in seen:
                    continue
                seen.add(source)
                source = self._doc.xref_object(int(reference[1]), compressed=True)
            kids, _, names = source.partition("/Names")
            if "/Kids" in kids:
                waiting.extend(m.group() for m in _REFERENCE.finditer(kids.partition("/Kids")[2].partition("]")[0]))
            if "/Kids" in names:
                waiting.extend(m.group() for m in _REFERENCE.finditer(names.partition("/Kids")[2].partition("]")[0]))
                names = names.partition("/Kids")[0]
            for pair in _PAIR.finditer(names):
                found.setdefault(text_string(pair["name"]), pair["value"])
        return found
