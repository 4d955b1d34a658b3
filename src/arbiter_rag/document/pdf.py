"""PDF files -> `ParsedDocument`, by PyMuPDF; the only file that opens one."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd

from arbiter_rag.document.lines import Fragments, VisualLines, visual_lines
from arbiter_rag.document.locate import Text, place
from arbiter_rag.document.model import DocumentProfile, ParsedDocument
from arbiter_rag.document.outline import read_outline
from arbiter_rag.document.sections import build_sections, section_column, toc_table
from arbiter_rag.errors import ConfigurationError, DocumentError, InputError

Headings = Literal["auto", "outline", "printed", "fonts", "layout", "none"]

_LOCK = threading.RLock()
"""MuPDF is not thread-safe: one document at a time is opened and read."""


def _pymupdf() -> Any:
    try:
        import pymupdf  # type: ignore[import-untyped]  # PyMuPDF ships no type information
    except ImportError as error:
        raise ConfigurationError("Reading PDF files needs PyMuPDF: pip install 'arbiter-rag[pdf]'.") from error
    return pymupdf


@contextmanager
def _quiet(pymupdf: Any) -> Iterator[None]:
    """MuPDF prints its complaints to stderr; they become notes and errors instead."""
    tools = pymupdf.TOOLS
    errors, warnings = tools.mupdf_display_errors(), tools.mupdf_display_warnings()
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    try:
        yield
    finally:
        tools.mupdf_display_errors(errors)
        tools.mupdf_display_warnings(warnings)
        tools.reset_mupdf_warnings()


def parse_pdf(
    source: str | Path | bytes | BinaryIO,
    *,
    password: str | None = None,
    headings: Headings = "auto",
    doc_id: str | None = None,
    cache_dir: str | Path | None = None,
) -> ParsedDocument:
    """Read a PDF; see `ParsedDocument.from_pdf`."""
    data, name = _read(source)
    pymupdf = _pymupdf()
    digest = hashlib.sha256(data).hexdigest()
    with _LOCK, _quiet(pymupdf):
        doc = _open(pymupdf, data, name, password)
        try:
            return _parse(pymupdf, doc, name, digest, headings, doc_id or digest[:12])
        finally:
            doc.close()


def _read(source: str | Path | bytes | BinaryIO) -> tuple[bytes, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), "document.pdf"
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            raise DocumentError(f"A PDF file was expected, but {path} is a folder; name a file in it.")
        try:
            return path.read_bytes(), path.name
        except FileNotFoundError as error:
            raise DocumentError(f"There is no file {path}; check the path.") from error
        except OSError as error:
            raise DocumentError(f"{path} cannot be read ({error.strerror}); check the path and its permissions.") from error
    if hasattr(source, "read"):
        data = source.read()
        if isinstance(data, bytes):
            return data, Path(str(getattr(source, "name", "document.pdf"))).name
    raise InputError(f"A path, bytes or a file opened in binary mode was expected, not {type(source).__name__}.")


def _open(pymupdf: Any, data: bytes, name: str, password: str | None) -> Any:
    if not data:
        raise DocumentError(f"{name} is empty (0 bytes); a PDF file was expected.")
    try:
        doc = pymupdf.open(stream=data, filetype="pdf")
    except Exception as error:
        raise DocumentError(f"{name} cannot be opened as a PDF; it is damaged or another kind of file.") from error
    if doc.needs_pass and not doc.authenticate(password or ""):
        doc.close()
        wrong = "the password is wrong" if password else "it needs a password: pass password="
        raise DocumentError(f"{name} is encrypted and {wrong}.")
    return doc


def _parse(pymupdf: Any, doc: Any, name: str, digest: str, headings: Headings, doc_id: str) -> ParsedDocument:
    try:
        pages = int(doc.page_count)
    except Exception as error:
        raise DocumentError(f"{name} is damaged: its pages cannot be counted.") from error
    if not pages:
        raise DocumentError(f"{name} has no pages; it may be damaged.")
    fragments, sizes = _extract(pymupdf, doc, pages)
    lines = visual_lines(fragments, [w for w, _ in sizes])
    line_df = _line_table(lines)
    starts = np.searchsorted(line_df["page"].to_numpy(), np.arange(1, pages + 2)).tolist()
    text = Text(
        lines.text, lines.box, lines.size, lines.bold, line_df["furniture"].tolist(), starts, [h for _, h in sizes],
        float(np.median(lines.size)) if lines.size else 10.0,
    )  # fmt: skip
    found = place(read_outline(doc, pages), text, pages) if headings != "none" else []
    sections = build_sections(found, len(line_df))
    line_df["section_id"] = section_column(sections, len(line_df))
    heading_pages = [h.page for h in sorted(found, key=lambda h: h.row)]
    if len(sections) > len(heading_pages):
        heading_pages.insert(0, int(line_df["page"].iloc[0]))
    labels = [doc[i].get_label() or str(i + 1) for i in range(pages)]
    counts = np.diff(starts)
    page_df = pd.DataFrame(
        {
            "page": np.arange(1, pages + 1, dtype=np.int32),
            "page_label": labels,
            "width": np.array([w for w, _ in sizes], dtype=np.float32),
            "height": np.array([h for _, h in sizes], dtype=np.float32),
            "lines": counts.astype(np.int32),
        }
    )
    profile = DocumentProfile(
        pages=pages,
        pages_without_text=tuple((np.flatnonzero(counts == 0) + 1).tolist()),
        headings="outline" if found else "none",
    )
    return ParsedDocument(
        doc_id=doc_id, name=name, sha256=digest, line_df=line_df, page_df=page_df,
        toc_df=toc_table(sections, line_df, heading_pages), sections=sections, profile=profile,
    )  # fmt: skip


def _extract(pymupdf: Any, doc: Any, pages: int) -> tuple[Fragments, list[tuple[float, float]]]:
    out = Fragments()
    sizes: list[tuple[float, float]] = []
    flags = pymupdf.TEXTFLAGS_TEXT
    for index in range(pages):
        try:
            content = doc[index].get_text("dict", flags=flags)
        except Exception:
            sizes.append((0.0, 0.0))
            continue
        sizes.append((content["width"], content["height"]))
        for block in content["blocks"]:
            for line in block.get("lines", ()):
                _add(out, index + 1, block["number"], line)
    return out, sizes


def _add(out: Fragments, page: int, block: int, line: dict[str, Any]) -> None:
    spans = line["spans"]
    text = " ".join("".join([s["text"] for s in spans]).split())
    if not text:
        return
    main = max(spans, key=lambda s: len(s["text"].strip())) if len(spans) > 1 else spans[0]
    out.page.append(page)
    out.block.append(block)
    out.box.append(line["bbox"])
    out.base.append(main["origin"][1])
    out.size.append(main["size"])
    out.bold.append(bool(main["flags"] & 16) or "bold" in main["font"].lower())
    out.text.append(text)


def _line_table(lines: VisualLines) -> pd.DataFrame:
    pages = np.asarray(lines.page, dtype=np.int32)
    order = np.argsort(pages, kind="stable")
    if len(pages):
        first = np.flatnonzero(np.r_[True, pages[1:] != pages[:-1]])
        count = np.arange(len(pages)) - np.repeat(first, np.diff(np.r_[first, len(pages)])) + 1
    else:
        count = np.empty(0, dtype=np.int64)
    box = np.asarray(lines.box, dtype=np.float32).reshape(-1, 4)
    assert (order == np.arange(len(pages))).all()
    return pd.DataFrame(
        {
            "page": pages,
            "line": count.astype(np.int32),
            "text": lines.text,
            "x0": box[:, 0],
            "y0": box[:, 1],
            "x1": box[:, 2],
            "y1": box[:, 3],
            "font_size": np.asarray(lines.size, dtype=np.float32),
            "bold": np.asarray(lines.bold, dtype=bool),
            "furniture": np.zeros(len(pages), dtype=bool),
        }
    )
