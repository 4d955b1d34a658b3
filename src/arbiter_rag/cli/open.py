"""How commands open documents: the options that all of them share, and the user's cache folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from arbiter_rag.cli.progress import progress_bar
from arbiter_rag.cli.terminal import say
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import DocumentError
from arbiter_rag.progress import Progress


def cache_folder() -> Path | None:
    """The user's cache folder for this program, or None (said on stderr) where it cannot be written."""
    folder = user_cache_path("arbiter-rag", appauthor=False)
    try:
        # Texts of documents are confidential: nobody else reads them.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        say(f"nothing is cached: {folder} cannot be written ({error.strerror}); --no-cache for silence")
        return None
    return folder


def open_document(
    pdf: str, arguments: argparse.Namespace, cache: Path | None, progress: Progress | None = None
) -> ParsedDocument:
    """Read one PDF as the options say."""
    try:
        return ParsedDocument.from_pdf(
            pdf, password=arguments.password, headings=arguments.headings, cache_dir=cache, progress=progress
        )
    except DocumentError as error:
        if "password" in str(error):
            raise DocumentError(f"{error} On the command line: --password P") from error
        raise


def open_documents(pdfs: Sequence[str], arguments: argparse.Namespace, cache: Path | None) -> list[ParsedDocument]:
    """Read PDFs as the options say, with a bar on a terminal."""
    documents = []
    for number, pdf in enumerate(pdfs, 1):
        of = f" ({number} of {len(pdfs)})" if len(pdfs) > 1 else ""
        with progress_bar(f"Reading {Path(pdf).name}{of}") as progress:
            documents.append(open_document(pdf, arguments, cache, progress))
    return documents
