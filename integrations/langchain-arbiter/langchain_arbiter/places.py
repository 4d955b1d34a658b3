"""Where a document stands, read from the metadata that loaders and splitters leave: source, section, page, label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DOCUMENTS = ("source", "file_path", "file_name", "filename", "url", "title")
_SECTIONS = ("breadcrumb", "section", "section_title", "heading")
_FROM_ONE = ("page_number", "page_no")
"""Unstructured's and Docling's pages, which count from 1."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands; None where nobody said.

    Attributes:
        document: Path, address or name of what it was loaded from.
        section: Headings from the top, joined by ` > `.
        page: 1-based page.
        label: The page's label as printed.
    """

    document: str | None = None
    section: str | None = None
    page: int | None = None
    label: str | None = None


def place_of(metadata: Mapping[str, Any]) -> Place:
    """Read a document's metadata; what has another type than its writer gives it counts as absent."""
    docling = metadata.get("dl_meta")
    nested: Mapping[str, Any] = docling if isinstance(docling, Mapping) else {}
    return Place(
        document=_first(metadata, _DOCUMENTS) or _docling_file(nested),
        section=_section(metadata, nested),
        page=_page(metadata) or _docling_page(nested),
        label=_text(metadata.get("page_label")),
    )


def _section(metadata: Mapping[str, Any], docling: Mapping[str, Any]) -> str | None:
    if section := _first(metadata, _SECTIONS):
        return section
    # Header 1, Header 2, ...: LangChain's splitters by heading
    headers = [_text(metadata.get(f"Header {level}")) for level in range(1, 7)]
    if found := [h for h in (*headers, *(_text(h) for h in _listed(docling.get("headings")))) if h]:
        return " > ".join(found)
    # The title of a web page says what it is about; that of a PDF ("Microsoft Word - draft.doc") comes with `producer`.
    return None if "producer" in metadata else _text(metadata.get("title"))


def _page(metadata: Mapping[str, Any]) -> int | None:
    """1-based page: LangChain's loaders count `page` from 0, whoever writes another name counts from 1."""
    page = _number(metadata.get("page"))
    if page is not None and page >= 0:
        return page + 1
    return next((n for name in _FROM_ONE if (n := _number(metadata.get(name))) is not None and n >= 1), None)


def _docling_page(docling: Mapping[str, Any]) -> int | None:
    """The first page of Docling's chunk: `doc_items[].prov[].page_no`."""
    items = [item for item in _listed(docling.get("doc_items")) if isinstance(item, Mapping)]
    places = [place for item in items for place in _listed(item.get("prov")) if isinstance(place, Mapping)]
    return min((n for p in places if (n := _number(p.get("page_no"))) is not None and n >= 1), default=None)


def _docling_file(docling: Mapping[str, Any]) -> str | None:
    origin = docling.get("origin")
    return _text(origin.get("filename")) if isinstance(origin, Mapping) else None


def _first(metadata: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := _text(metadata.get(name)))), None)


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def _number(value: object) -> int | None:
    """A whole number; stores that keep text alone give it back as digits, others as a float."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
