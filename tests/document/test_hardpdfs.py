"""Awkward files: each opens and yields a document, or raises a typed error with a message; nothing else, no noise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import DocumentError

FOLDER = Path(os.environ.get("ARBITER_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "hardpdfs"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.pdf")) or ["(none)"]
PASSWORDS = json.loads((FOLDER / "manifest.json").read_text())["passwords"] if FOLDER.is_dir() else {}

REFUSED = {
    "empty.pdf": "is empty",
    "issue9418.pdf": "has no pages",
    "poppler-67295-0.pdf": "is damaged",
    "poppler-85140-0.pdf": "cannot be opened as a PDF",
    "print_protection.pdf": "is encrypted; give its password",
    "synthetic/truncated_half.pdf": "has no pages",
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_a_document_or_a_typed_error(
    hardpdfs: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = hardpdfs / name
    if name in REFUSED:
        with pytest.raises(DocumentError, match=REFUSED[name]):
            ParsedDocument.from_pdf(path)
    else:
        check(ParsedDocument.from_pdf(path, password=PASSWORDS.get(name)))
    assert capfd.readouterr() == ("", "")


def check(doc: ParsedDocument) -> None:
    assert doc.profile.pages == len(doc.page_df) == len(doc.page_labels) >= 1
    assert len(doc.toc_df) == len(doc.sections)
    json.dumps([doc.texts, doc.page_labels, doc.toc_df.to_dict("list")], ensure_ascii=False).encode()
    covered = sum(s.own_end - s.start for s in doc.sections)
    assert covered == len(doc)
    for s in doc.sections:
        assert 0 <= s.start <= s.own_end <= s.full_end <= len(doc)
    starts = [s.start for s in doc.sections]
    assert starts == sorted(starts)
    assert doc.toc_df["page"].between(1, doc.profile.pages).all()
    pages = list(doc.pages)
    assert pages == sorted(pages)
    for number in doc.profile.pages_without_text:
        first, last = doc.page_rows(number)
        assert first == last


@pytest.mark.parametrize("name", sorted(PASSWORDS))
def test_encrypted_files(hardpdfs: Path, name: str) -> None:
    with pytest.raises(DocumentError, match="is encrypted; give its password with password="):
        ParsedDocument.from_pdf(hardpdfs / name)
    with pytest.raises(DocumentError, match="the password given does not open it"):
        ParsedDocument.from_pdf(hardpdfs / name, password="not this one")
    assert len(ParsedDocument.from_pdf(hardpdfs / name, password=PASSWORDS[name]))


def test_a_page_that_cannot_be_read_costs_only_itself(hardpdfs: Path) -> None:
    doc = ParsedDocument.from_pdf(hardpdfs / "Pages-tree-refs.pdf")
    assert doc.profile.pages == 2
    assert any("of 2 pages could not be read" in note for note in doc.profile.notes)


def test_all_destinations_broken_and_headings_still_found(hardpdfs: Path) -> None:
    whole = ParsedDocument.from_pdf(hardpdfs / "synthetic" / "dest_int4.pdf")
    for name in ("dest_int999", "dest_int-5", "dest_missingname", "dest_null"):
        doc = ParsedDocument.from_pdf(hardpdfs / "synthetic" / f"{name}.pdf", headings="outline")
        placed = [s.title for s in doc.sections if s.source == "outline"]
        assert {"before", "after"} <= set(placed), name
    assert whole.profile.headings != "none"


def test_three_hundred_levels_do_not_make_three_hundred_breadcrumbs(hardpdfs: Path) -> None:
    doc = ParsedDocument.from_pdf(hardpdfs / "synthetic" / "outline_300_levels.pdf")
    assert len(doc.sections) >= 300
    assert doc.toc_df["level"].max() <= 9


def test_nothing_is_printed_by_a_fresh_process(hardpdfs: Path) -> None:
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); from arbiter_rag.document import ParsedDocument\n"
        "for path in sys.argv[1:]:\n    ParsedDocument.from_pdf(path)"
    )
    names = ("outlines_for_editor.pdf", "nemotron_multipage.pdf", "issue-848.pdf", "circular-toc.pdf")
    command = [sys.executable, "-c", code, *(str(hardpdfs / n) for n in names)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
