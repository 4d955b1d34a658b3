"""The PDF loader: the sections that Arbiter's detectors see, as documents for any vector store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from arbiter_rag import InputError, ParsedDocument
from langchain_arbiter.sections import MAX_CHARS, parts_of


class ArbiterPdfLoader(BaseLoader):
    """Loads a PDF as one document an own section (its text up to the next heading of any level).

    Metadata: `source`, `page` (0-based, as LangChain's loaders write it), `page_label` (as printed), `section`,
    `breadcrumb`, and `part` of `parts` for sections longer than `max_chars`. Ids are stable: the same file gives the
    same ones, and the detector retrievers of this package give documents with these ids.

    Args:
        file_path: The PDF.
        password: For an encrypted file.
        headings: Where sections come from, as in `ParsedDocument.from_pdf`.
        max_chars: Longer sections are split at the ends of paragraphs.
        cache_dir: Where the parsed document may be kept; nothing is written without it.
    """

    def __init__(
        self,
        file_path: str | Path,
        *,
        password: str | None = None,
        headings: Literal["auto", "outline", "printed", "fonts", "layout", "none"] = "auto",
        max_chars: int = MAX_CHARS,
        cache_dir: str | Path | None = None,
    ) -> None:
        if max_chars < 1:
            raise InputError(f"max_chars is at least 1; got {max_chars}.")
        self.file_path = file_path
        self.password = password
        self.headings = headings
        self.max_chars = max_chars
        self.cache_dir = cache_dir

    def lazy_load(self) -> Iterator[Document]:
        """The documents in reading order; the file is opened when the first one is asked for.

        Raises:
            DocumentError: The file cannot be opened as a PDF.
        """
        parsed = ParsedDocument.from_pdf(
            self.file_path, self.password, headings=self.headings, cache_dir=self.cache_dir
        )
        for part in parts_of(parsed, str(self.file_path), self.max_chars):
            yield part.document
