"""Where a node stands, read from the metadata that readers and node parsers leave: document, section, page, label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

_FROM_ONE = ("arbiter_page", "page_number", "page_no", "page_num")
"""PDF pages counted from 1: Arbiter's own, Unstructured and LlamaParse, Docling, and common hand-made ones."""

_FROM_ZERO = ("page_idx", "page_index")
_LANGCHAIN = frozenset({"source", "total_pages", "creationdate", "producer"})
"""What each of LangChain's PDF loaders writes beside a `page` that counts from 0."""

_NAMES = ("file_name", "filename", "document_title", "title")
_PATHS = ("file_path", "source", "url", "URL")
_SECTIONS = ("section", "section_title", "section_header", "heading")
_HEADER = re.compile(r"header[_ ]?(\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands; None where nobody said.

    Attributes:
        document: The document's name for a person.
        section: Headings from the top, joined by ` > `.
        page: 1-based page of the PDF; never guessed from a printed label.
        label: The page's label as printed.
    """

    document: str | None = None
    section: str | None = None
    page: int | None = None
    label: str | None = None


def place_of(metadata: Mapping[str, Any]) -> Place:
    """Read a node's metadata; what has another type than its writer gives it counts as absent."""
    page, label = _page(metadata), _text(metadata.get("page_label"))
    return Place(_document(metadata), _section(metadata), page, label or (str(page) if page is not None else None))


def _document(metadata: Mapping[str, Any]) -> str | None:
    for key in _NAMES:
        if name := _text(metadata.get(key)):
            return name
    for key in _PATHS:
        path = _text(metadata.get(key))
        if path and not path.isdigit():  # PyMuPDFReader writes the page's number as `source`
            return PurePath(path).name or path
    return None


def _section(metadata: Mapping[str, Any]) -> str | None:
    headings = metadata.get("headings")  # Docling: a list, outermost first
    if isinstance(headings, list | tuple) and (parts := [t for h in headings if (t := _text(h))]):
        return " > ".join(parts)
    for key in _SECTIONS:
        if title := _text(metadata.get(key)):
            return title
    if path := _text(metadata.get("header_path")):  # MarkdownNodeParser: `/Intro/Scope/`, `/` at the top
        return " > ".join(part for part in path.split("/") if part.strip()) or None
    # Header 1, Header_2, ...: splitters by Markdown heading, in LlamaIndex's past and in LangChain
    levels = sorted((m[1], t) for k, v in metadata.items() if (m := _HEADER.fullmatch(str(k))) and (t := _text(v)))
    return " > ".join(title for _, title in levels) or None


def _page(metadata: Mapping[str, Any]) -> int | None:
    for key in _FROM_ONE:
        if (page := _number(metadata.get(key))) is not None:
            return page if page >= 1 else None
    for key in _FROM_ZERO:
        if (page := _number(metadata.get(key))) is not None:
            return page + 1 if page >= 0 else None
    source = _text(metadata.get("source"))
    if (page := _number(metadata.get("page"))) is not None:
        page += _counts_from_zero(metadata, page)
        return page if page >= 1 else None
    if source and source.isdigit() and "total_pages" in metadata:
        return int(source) or None
    return None


def _counts_from_zero(metadata: Mapping[str, Any], page: int) -> bool:
    """Whether one of LangChain's loaders wrote this `page`; everybody else counts `page` from 1.

    `source` alone is no sign of them: people write it, too.
    """
    source, label = _text(metadata.get("source")), _text(metadata.get("page_label"))
    if source is None or source.isdigit():
        return False
    older = "total_pages" in metadata and source == metadata.get("file_path")  # their PyMuPDF, PDFPlumber and PDFium
    return page == 0 or label == str(page + 1) or older or metadata.keys() >= _LANGCHAIN


def _text(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
