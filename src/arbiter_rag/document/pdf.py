"""PDF files -> `ParsedDocument`, by PyMuPDF; the only file that imports it and opens one."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from arbiter_rag.document.assemble import assemble, line_table
from arbiter_rag.document.cache import ParseCache
from arbiter_rag.document.extract import Extract, extract
from arbiter_rag.document.furniture import furniture
from arbiter_rag.document.headings import HeadingsMode, find_headings
from arbiter_rag.document.labels import page_labels
from arbiter_rag.document.layout import LayoutBlock, read_layout
from arbiter_rag.document.lines import VisualLines, visual_lines
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.document.mupdf import pymupdf as library
from arbiter_rag.document.outline import Entry, read_outline
from arbiter_rag.document.view import View
from arbiter_rag.errors import DocumentError, InputError
from arbiter_rag.progress import Progress

_LOCK = threading.RLock()
"""MuPDF is not thread-safe: one document at a time is opened and read."""

_LOOKS = (
    (b"PK\x03\x04", "a Word, Excel, PowerPoint or other zipped file"),
    (b"\xd0\xcf\x11\xe0", "an old Word, Excel or PowerPoint file"),
    (b"{\\rtf", "an RTF file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a gzip file"),
)


@dataclass(frozen=True, slots=True)
class _Raw:
    """Everything that is taken from PyMuPDF; all that follows needs neither it nor its lock."""

    extract: Extract
    outline: list[Entry]
    labels: list[str]
    blocks: list[LayoutBlock]


def parse_pdf(
    source: str | Path | bytes | BinaryIO,
    *,
    password: str | None = None,
    headings: HeadingsMode = "auto",
    doc_id: str | None = None,
    cache_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> ParsedDocument:
    """Read a PDF; see `ParsedDocument.from_pdf`."""
    if headings not in get_args(HeadingsMode):
        raise InputError(f"headings={headings!r} is not known; choose one of {', '.join(get_args(HeadingsMode))}.")
    data, name = _read(source)
    pymupdf = library()
    digest = hashlib.sha256(data).hexdigest()
    doc_id = doc_id or digest[:12]
    cache = None
    if cache_dir is not None:
        cache = ParseCache(cache_dir, digest, {"headings": headings, "pymupdf": str(pymupdf.__version__)})
    with _LOCK, _quiet(pymupdf):
        doc = _open(pymupdf, data, name, password)
        try:
            if cache and (known := cache.load(doc_id, name, digest)):
                return known
            raw = _take(pymupdf, doc, name, headings, progress)
        finally:
            doc.close()
    document = _build(raw, name, digest, headings, doc_id)
    if cache:
        cache.save(document)
    return document


@contextmanager
def _quiet(pymupdf: Any) -> Iterator[None]:
    """MuPDF prints its complaints; here they become notes and errors, and the caller's settings come back after."""
    tools = pymupdf.TOOLS
    errors, warnings = tools.mupdf_display_errors(), tools.mupdf_display_warnings()
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    try:
        yield
    finally:
        tools.reset_mupdf_warnings()
        tools.mupdf_display_errors(errors)
        tools.mupdf_display_warnings(warnings)


def _read(source: str | Path | bytes | BinaryIO) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), "document.pdf"
    if isinstance(source, str | Path):
        path = Path(source)
        try:
            if path.is_dir():
                raise DocumentError(f"A PDF file was expected, but {path} is a folder; name a file in it.")
            return path.read_bytes(), path.name
        except FileNotFoundError as error:
            raise DocumentError(f"There is no file {path}; check the path.") from error
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DocumentError(f"{path!s:.200} cannot be read ({why}); check the path and its permissions.") from error
    if hasattr(source, "read") and not isinstance(source, io.TextIOBase):
        name = getattr(source, "name", None)
        name = Path(name).name if isinstance(name, str) else "document.pdf"
        data = _read_file(source, name)
        if isinstance(data, bytes):
            return data, name
    kind = type(source).__name__
    raise InputError(f"A path, bytes or a file opened in binary mode was expected, not {kind}; use open(path, 'rb').")


def _read_file(file: BinaryIO, name: str) -> object:
    """All of a file, from its beginning where it can be rewound: somebody may have looked into it before."""
    with suppress(AttributeError, OSError, ValueError):  # pipes and responses of servers have no way back
        file.seek(0)
    try:
        return file.read()
    except (OSError, ValueError) as error:
        raise DocumentError(f"{name} cannot be read ({error}); open it anew, in binary mode.") from error


def _open(pymupdf: Any, data: bytes, name: str, password: str | None) -> Any:
    if not data:
        raise DocumentError(f"{name} is empty (0 bytes), a PDF file was expected; save or download it again.")
    looks = _looks_like(data)
    if looks:
        raise DocumentError(f"{name} is not a PDF but looks like {looks}; convert it to PDF first.")
    try:
        doc = pymupdf.open(stream=data, filetype="pdf")
    except Exception as error:  # MuPDF raises a class of its own for every kind of damage
        raise DocumentError(f"{name} cannot be opened as a PDF: it is damaged or cut off; try another copy.") from error
    if doc.needs_pass and not doc.authenticate(password or ""):
        doc.close()
        if password:
            raise DocumentError(f"{name} is encrypted and the password given does not open it; check the password.")
        raise DocumentError(f"{name} is encrypted; give its password with password=.")
    return doc


def _looks_like(data: bytes) -> str | None:
    """What a file without a PDF header is; None for PDF files, also those with other bytes in front."""
    if b"%PDF-" in data[:8192]:
        return None
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    for magic, what in _LOOKS:
        if head.startswith(magic):
            return what
    lowered = head.lower()
    if lowered.startswith((b"<!doctype html", b"<html", b"<head")) or b"<html" in lowered:
        return "an HTML page"
    if lowered.startswith(b"<?xml"):
        return "an XML file"
    if b"%%EOF" in data or b" obj" in data[:8192]:
        return None
    try:
        head[:500].decode()
    except UnicodeDecodeError:
        return "a binary file of another kind"
    return "a text file"


def _take(pymupdf: Any, doc: Any, name: str, mode: HeadingsMode, progress: Progress | None) -> _Raw:
    try:
        pages = int(doc.page_count)
    except Exception as error:  # MuPDF raises a class of its own for every kind of damage
        raise DocumentError(f"{name} is damaged: its pages cannot be counted; try another copy.") from error
    if pages > 10 * doc.xref_length():  # some versions believe any number and look for each of the pages
        raise DocumentError(f"{name} is damaged: it claims {pages} pages and has hardly any; try another copy.")
    if pages < 1:
        raise DocumentError(f"{name} has no pages: it is damaged or cut off; try another copy.")
    got = extract(pymupdf, doc, pages, progress)
    try:
        outline = read_outline(doc, pages)
    except Exception:  # noqa: BLE001 - MuPDF raises a class of its own for every kind of damage
        outline = []
        got.notes.append("The outline is damaged and was left out.")
    try:
        rules = doc.get_page_labels()
    except Exception:  # noqa: BLE001 - MuPDF raises a class of its own for every kind of damage
        rules = []
    blocks = read_layout(pymupdf, doc, pages) if mode == "layout" else []
    return _Raw(got, outline, page_labels(rules, pages), blocks)


def _build(raw: _Raw, name: str, digest: str, mode: HeadingsMode, doc_id: str) -> ParsedDocument:
    sizes = raw.extract.sizes
    lines = visual_lines(raw.extract.fragments, [w for w, _ in sizes])
    pages = np.asarray(lines.page, dtype=np.int32)
    starts = np.searchsorted(pages, np.arange(1, len(sizes) + 2)).tolist()
    flags = furniture(lines, starts, [h for _, h in sizes])
    found = find_headings(View(lines, flags, starts, sizes, raw.labels), raw.outline, raw.blocks, mode)
    return assemble(
        doc_id=doc_id,
        name=name,
        sha256=digest,
        line_df=_line_table(lines, pages, flags),
        page_labels=raw.labels,
        page_sizes=sizes,
        headings=found.headings,
        source=found.source,
        notes=(*raw.extract.notes, *found.notes),
    )


def _line_table(lines: VisualLines, pages: npt.NDArray[np.int32], flags: list[bool]) -> pd.DataFrame:
    box = np.asarray(lines.box, dtype=np.float32).reshape(-1, 4)
    return line_table(
        lines.text,
        {
            "page": pages,
            "x0": box[:, 0],
            "y0": box[:, 1],
            "x1": box[:, 2],
            "y1": box[:, 3],
            "font_size": np.asarray(lines.size, dtype=np.float32),
            "bold": np.asarray(lines.bold, dtype=bool),
            "furniture": np.asarray(flags, dtype=bool),
        },
    )
