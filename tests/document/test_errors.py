"""Bad input: a typed error and one sentence that says what was expected, what came and what to do."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import ConfigurationError, DocumentError, InputError


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", "<w:document/>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (zipped(), "looks like a Word, Excel, PowerPoint or other zipped file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "looks like an old Word"),
        (b"\n<!DOCTYPE html><html><body>Not found</body></html>", "looks like an HTML page"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), "looks like a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(60), "looks like a JPEG image"),
        (b"{\\rtf1 hello}", "looks like an RTF file"),
        ("Ein Brief, kein PDF: Grüße".encode(), "looks like a text file"),
        (bytes(range(256)) * 4, "looks like a binary file"),
        (b"%PDF-1.7\nnothing that follows is one", "cannot be opened as a PDF|has no pages"),
    ],
)
def test_what_is_not_a_pdf_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "letter.pdf"
    path.write_bytes(content)
    for source in (path, str(path), content, io.BytesIO(content)):
        with pytest.raises(DocumentError, match=says) as caught:
            ParsedDocument.from_pdf(source)
        assert "\n" not in str(caught.value)
    with pytest.raises(DocumentError, match=r"letter\.pdf"):
        ParsedDocument.from_pdf(path)


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"There is no file .*missing\.pdf; check the path"):
        ParsedDocument.from_pdf(tmp_path / "missing.pdf")
    with pytest.raises(DocumentError, match="is a folder; name a file in it"):
        ParsedDocument.from_pdf(tmp_path)
    with pytest.raises(DocumentError, match="cannot be read"):
        ParsedDocument.from_pdf("a" * 5000)
    with pytest.raises(DocumentError):
        ParsedDocument.from_pdf("nul\x00byte.pdf")


@pytest.mark.parametrize("source", [None, 7, io.StringIO("text")])
def test_what_is_no_source_at_all(source: Any) -> None:
    with pytest.raises(InputError, match=r"A path, bytes or a file opened in binary mode was expected, not \w+"):
        ParsedDocument.from_pdf(source)


def test_path_bytes_and_file_give_the_same(make_pdf: Any, prose: Any, tmp_path: Path) -> None:
    data = make_pdf([prose(80, 5)])
    path = tmp_path / "policy.pdf"
    path.write_bytes(data)
    with path.open("rb") as file:
        docs = [ParsedDocument.from_pdf(s) for s in (path, str(path), data, bytearray(data), io.BytesIO(data), file)]
    assert len({(d.doc_id, d.sha256, d.texts) for d in docs}) == 1
    assert [d.name for d in docs] == ["policy.pdf", "policy.pdf", *["document.pdf"] * 3, "policy.pdf"]
    assert ParsedDocument.from_pdf(data, doc_id="mine").doc_id == "mine"
    assert docs[0].doc_id == docs[0].sha256[:12]  # type: ignore[index]  # bytes were there


def test_a_file_is_read_from_its_beginning_wherever_it_stands(make_pdf: Any, prose: Any, tmp_path: Path) -> None:
    data = make_pdf([prose(80, 5)])
    (tmp_path / "policy.pdf").write_bytes(data)
    wanted = ParsedDocument.from_pdf(data)
    with (tmp_path / "policy.pdf").open("rb") as file:
        for stream in (file, io.BytesIO(data)):
            for at in (4, len(data) // 2, len(data)):
                stream.seek(at)
                doc = ParsedDocument.from_pdf(stream)
                assert (doc.doc_id, doc.texts) == (wanted.doc_id, wanted.texts)
    with pytest.raises(DocumentError, match=r"policy\.pdf cannot be read .*closed"):
        ParsedDocument.from_pdf(file)


def test_a_stream_without_a_way_back_is_read_as_it_comes(make_pdf: Any, prose: Any) -> None:
    data = make_pdf([prose(80, 5)])

    class Response(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return data

    for stream in (Response(), SimpleNamespace(read=lambda: data)):
        assert ParsedDocument.from_pdf(stream).doc_id == ParsedDocument.from_pdf(data).doc_id  # type: ignore[arg-type]  # is what is tested


def test_without_pymupdf_the_extra_is_named(make_pdf: Any) -> None:
    code = (
        "import sys; sys.modules['pymupdf'] = None\n"
        "from arbiter_rag.document import ParsedDocument\nfrom arbiter_rag.errors import ConfigurationError\n"
        "try:\n    ParsedDocument.from_pdf(b'%PDF-1.4')\nexcept ConfigurationError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'arbiter-rag[pdf]'" in done.stdout, done.stderr
    assert issubclass(ConfigurationError, Exception)


def test_many_threads_at_once(make_pdf: Any, prose: Any) -> None:
    files = [make_pdf([prose(80, 20, words=f"of file {n} page {p}") for p in range(4)]) for n in range(4)]
    with ThreadPoolExecutor(8) as pool:
        docs = list(pool.map(ParsedDocument.from_pdf, files * 6))
    for doc, data in zip(docs, files * 6, strict=True):
        assert doc.texts == docs[files.index(data)].texts


def test_displayed_messages_of_mupdf_are_left_as_the_caller_set_them(make_pdf: Any, prose: Any, pymupdf: Any) -> None:
    before = pymupdf.TOOLS.mupdf_display_errors(), pymupdf.TOOLS.mupdf_display_warnings()
    ParsedDocument.from_pdf(make_pdf([prose(80, 5)]))
    assert (pymupdf.TOOLS.mupdf_display_errors(), pymupdf.TOOLS.mupdf_display_warnings()) == before
