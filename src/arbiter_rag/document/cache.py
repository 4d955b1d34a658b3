"""Parsed documents on disk: written only where a caller names a folder, read back in a fraction of the time of parsing.

A file is one line of JSON (pages, sections, notes), one of texts, then the numeric columns as a NumPy archive, all
without pickle. It is written beside its place and moved there, so that several processes may share a folder; a file
that cannot be read is as good as none.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from arbiter_rag.document.assemble import line_table, tables
from arbiter_rag.document.model import DocumentProfile, ParsedDocument, Section
from arbiter_rag.errors import InputError

FORMAT = 2
"""Raised whenever what a parse gives changes: files of other formats are never read."""

_NUMBERS = {"page": "int32", "x0": "float32", "y0": "float32", "x1": "float32", "y1": "float32",
            "font_size": "float32", "bold": "bool", "furniture": "bool"}  # fmt: skip


class ParseCache:
    """The files of one parse: one folder, one PDF, one set of settings.

    Args:
        folder: Where to keep them; made when missing, for its owner only.
        sha256: Of the PDF's bytes.
        settings: Everything else on which the result depends.
    """

    def __init__(self, folder: str | Path, sha256: str, settings: dict[str, str]) -> None:
        key = json.dumps([FORMAT, sha256, settings], sort_keys=True)
        self._folder = Path(folder)
        self._path = self._folder / f"{sha256[:16]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.parsed"
        self._key = key

    def load(self, doc_id: str, name: str, sha256: str) -> ParsedDocument | None:
        """The document, or None when it is not there or not whole."""
        try:
            raw = self._path.read_bytes()
            head, sizes, body = raw.split(b"\n", 2)
            digest, texts_size = sizes.split()
            if head.decode() != self._key or hashlib.sha256(body).hexdigest() != digest.decode():
                return None
            end = int(texts_size)
            return _decode(json.loads(zlib.decompress(body[:end])), body[end:], doc_id, name, sha256)
        except (OSError, ValueError, KeyError, TypeError, zlib.error, EOFError):
            return None

    def save(self, document: ParsedDocument) -> None:
        """Keep a document.

        Raises:
            InputError: The folder cannot be written to.
        """
        texts, numbers = _encode(document)
        body = texts + numbers
        sizes = f"{hashlib.sha256(body).hexdigest()} {len(texts)}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")  # mkstemp opens for the owner only
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(b"\n".join((self._key.encode(), sizes.encode(), body)))
                os.replace(name, self._path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise InputError(
                f"cache_dir={str(self._folder)!r} cannot be written to ({error.strerror}); name another folder or none."
            ) from error


def _encode(document: ParsedDocument) -> tuple[bytes, bytes]:
    """Texts and structure as deflated JSON, columns as an archive."""
    words = {
        "texts": document.texts,
        "labels": document.page_labels,
        "sections": [list(asdict(s).values()) for s in document.sections],
        "toc_pages": document.toc_df["page"].tolist(),
        "profile": [document.profile.pages_without_text, document.profile.headings, document.profile.notes],
    }
    columns: dict[str, np.ndarray] = {c: document.line_df[c].to_numpy() for c in _NUMBERS}
    columns["page_sizes"] = document.page_df[["width", "height"]].to_numpy()
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)
    return zlib.compress(json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1), file.getvalue()


def _decode(words: dict[str, Any], numbers: bytes, doc_id: str, name: str, sha256: str) -> ParsedDocument:
    with np.load(io.BytesIO(numbers), allow_pickle=False) as archive:
        columns = {c: archive[c] for c in (*_NUMBERS, "page_sizes")}
    line_df = line_table(words["texts"], {c: columns[c].astype(t) for c, t in _NUMBERS.items()})
    sections = tuple(Section(*values) for values in words["sections"])
    without, headings, notes = words["profile"]
    page_df, toc_df = tables(line_df, words["labels"], columns["page_sizes"], sections, words["toc_pages"])
    return ParsedDocument(
        doc_id=doc_id,
        name=name,
        sha256=sha256,
        line_df=line_df,
        page_df=page_df,
        toc_df=toc_df,
        sections=sections,
        profile=DocumentProfile(len(page_df), tuple(without), headings, tuple(notes)),
    )
