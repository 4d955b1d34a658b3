"""Metadata of loaders, splitters and stores: which of it says where a document stands."""

from __future__ import annotations

from typing import Any

import pytest

from langchain_arbiter.places import Place, place_of

DOCLING = {
    "dl_meta": {
        "schema_name": "docling_core.transforms.chunker.DocMeta",
        "headings": ["Cover", "Water"],
        "doc_items": [{"prov": [{"page_no": 4}, {"page_no": 3}]}, {"prov": []}],
        "origin": {"filename": "policy.pdf"},
    }
}
READ: list[tuple[dict[str, Any], Place]] = [
    ({"source": "a.pdf", "page": 0, "page_label": "iii"}, Place("a.pdf", None, 1, "iii")),
    ({"source": "a.pdf", "page": "2", "page_label": 7}, Place("a.pdf", None, 3, "7")),
    ({"page": 2.0}, Place(page=3)),
    ({"filename": "a.pdf", "page_number": 4}, Place("a.pdf", None, 4)),
    ({"file_name": "a.pdf", "page_number": "4", "heading": "Water"}, Place("a.pdf", "Water", 4)),
    ({"source": "kb/1", "section_title": "Water"}, Place("kb/1", "Water")),
    ({"source": "https://x/faq", "title": "Questions about water"}, Place("https://x/faq", "Questions about water")),
    ({"title": "Water"}, Place("Water", "Water")),
    ({"source": "a.pdf", "producer": "p", "title": "Microsoft Word - a.doc", "page": 1}, Place("a.pdf", None, 2)),
    ({"Header 1": "A", "Header 3": "C"}, Place(section="A > C")),
    ({"source": "/x/policy.pdf", **DOCLING}, Place("/x/policy.pdf", "Cover > Water", 3)),
    (DOCLING, Place("policy.pdf", "Cover > Water", 3)),
]
NOTHING: list[dict[str, Any]] = [
    {"page": True, "page_label": False, "source": None, "title": [], "heading": {}},
    {"page": -1, "page_number": 0, "page_label": " ", "section": ""},
    {"page": "iv", "page_number": "1.5"},
    {"page": "\u0663\u00b2", "page_number": float("nan")},
    {"page": float("inf")},
    {"dl_meta": "text"},
    {"dl_meta": {"headings": "text", "doc_items": [None, {"prov": "x"}], "origin": "o"}},
]


@pytest.mark.parametrize(("metadata", "place"), READ)
def test_what_is_read(metadata: dict[str, Any], place: Place) -> None:
    assert place_of(metadata) == place


@pytest.mark.parametrize("metadata", NOTHING)
def test_what_says_nothing(metadata: dict[str, Any]) -> None:
    assert place_of(metadata) == Place()
