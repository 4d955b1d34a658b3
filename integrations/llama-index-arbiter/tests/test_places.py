"""Metadata as each reader writes it."""

from __future__ import annotations

import pytest

from llama_index.postprocessor.arbiter.places import Place, place_of


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({"file_name": "a.pdf", "page_label": "iv"}, Place("a.pdf", None, None, "iv")),  # PDFReader: a printed label
        ({"total_pages": 9, "file_path": "/x/a.pdf", "source": "3"}, Place("a.pdf", None, 3, "3")),  # PyMuPDFReader
        ({"page": 3, "total_pages": 9, "file_path": "/x/a.pdf"}, Place("a.pdf", None, 3, "3")),  # PyMuPDF4LLM
        ({"source": "/x/a.pdf", "page": 2, "page_label": "3"}, Place("a.pdf", None, 3, "3")),  # LangChain: from 0
        ({"source": "/x/a.pdf", "page": 0}, Place("a.pdf", None, 1, "1")),
        ({"source": "policy.pdf", "page": 3}, Place("policy.pdf", None, 3, "3")),  # by hand: from 1
        ({"source": "policy.pdf", "page": 3, "page_label": "3"}, Place("policy.pdf", None, 3, "3")),
        ({"source": "policy.pdf", "page": 3, "total_pages": 9}, Place("policy.pdf", None, 3, "3")),
        (
            {"source": "a.pdf", "page": 4, "page_label": "iv", "total_pages": 9, "creationdate": "", "producer": "p"},
            Place("a.pdf", None, 5, "iv"),  # LangChain's PyPDFLoader and its siblings
        ),
        (
            {"source": "/x/a.pdf", "file_path": "/x/a.pdf", "page": 2, "total_pages": 9},
            Place("a.pdf", None, 3, "3"),  # LangChain's PyMuPDFLoader of old
        ),
        ({"page_number": 7, "filename": "b.docx"}, Place("b.docx", None, 7, "7")),  # Unstructured
        ({"page_number": "7"}, Place(None, None, 7, "7")),
        ({"page_idx": 0}, Place(None, None, 1, "1")),
        ({"headings": ["Intro", "Scope"], "page_no": 2}, Place(None, "Intro > Scope", 2, "2")),  # Docling
        ({"header_path": "/Intro/Scope/"}, Place(None, "Intro > Scope", None, None)),  # MarkdownNodeParser
        ({"header_path": "/"}, Place(None, None, None, None)),
        ({"Header 2": "Scope", "Header 1": "Intro"}, Place(None, "Intro > Scope", None, None)),
        ({"section": "5.2 Deductible"}, Place(None, "5.2 Deductible", None, None)),
        ({"arbiter_page": 5, "page_label": "3", "page": 1}, Place(None, None, 5, "3")),  # our own node
        ({"page": True, "page_label": 4, "section": 7.5, "file_name": None}, Place(None, None, None, "4")),
        ({"page_number": 0}, Place(None, None, None, None)),
        ({"page": "x", "headings": [], "source": "https://example.org/a"}, Place("a", None, None, None)),
        ({}, Place()),
    ],
)
def test_place_of(metadata: dict[str, object], place: Place) -> None:
    assert place_of(metadata) == place
