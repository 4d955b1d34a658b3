"""Parsed documents on disk: the same comes back, and nothing that is damaged, foreign or readable by others."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import DocumentError, InputError


@pytest.fixture
def policy(make_pdf: Any, prose: Any) -> bytes:
    pages = [[(72, 80, f"{n} Part", 14, "hebo"), *prose(110, 12), (72, 300, "Grüße — ﬁn\u00adal")] for n in range(1, 5)]
    return make_pdf([*pages, []], toc=[[1, "Part", n] for n in range(1, 5)])  # type: ignore[no-any-return]  # a fixture's callable


def same(a: ParsedDocument, b: ParsedDocument) -> None:
    for name in ("line_df", "page_df", "toc_df"):
        pd.testing.assert_frame_equal(getattr(a, name), getattr(b, name))
    assert (a.sections, a.profile, a.doc_id, a.name, a.sha256) == (b.sections, b.profile, b.doc_id, b.name, b.sha256)


def test_the_document_that_comes_back_is_the_one_that_was_kept(policy: bytes, tmp_path: Path) -> None:
    first = ParsedDocument.from_pdf(policy, cache_dir=tmp_path / "kept")
    files = list((tmp_path / "kept").iterdir())
    assert len(files) == 1
    when = files[0].stat().st_mtime_ns
    same(first, ParsedDocument.from_pdf(policy, cache_dir=tmp_path / "kept"))
    same(first, ParsedDocument.from_pdf(policy))
    assert files[0].stat().st_mtime_ns == when
    again = ParsedDocument.from_pdf(policy, doc_id="other", cache_dir=str(tmp_path / "kept"))
    assert (again.doc_id, again.texts) == ("other", first.texts)


def test_other_settings_are_other_files(policy: bytes, tmp_path: Path) -> None:
    for headings in ("auto", "none", "fonts"):
        ParsedDocument.from_pdf(policy, headings=headings, cache_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert len(ParsedDocument.from_pdf(policy, headings="none", cache_dir=tmp_path).sections) == 1


@pytest.mark.parametrize("damage", [b"", b"x", b"half", b"flip", b"{}\n\n"])
def test_a_damaged_file_is_parsed_again(policy: bytes, tmp_path: Path, damage: bytes) -> None:
    first = ParsedDocument.from_pdf(policy, cache_dir=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    broken = {b"half": whole[: len(whole) // 2], b"flip": whole[:-40] + b"#" + whole[-39:]}.get(damage, damage)
    path.write_bytes(broken)
    same(first, ParsedDocument.from_pdf(policy, cache_dir=tmp_path))
    assert path.read_bytes() == whole


def test_only_the_owner_may_read(policy: bytes, tmp_path: Path) -> None:
    ParsedDocument.from_pdf(policy, cache_dir=tmp_path / "deep" / "er")
    folder = tmp_path / "deep" / "er"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}


def test_a_folder_that_cannot_be_written_to_is_named(policy: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cache_dir='.*file' cannot be written to"):
        ParsedDocument.from_pdf(policy, cache_dir=tmp_path / "file")


def test_a_kept_document_still_asks_for_its_password(hardpdfs: Path, tmp_path: Path) -> None:
    path = hardpdfs / "synthetic" / "encrypted_user_password_secret.pdf"
    ParsedDocument.from_pdf(path, password="secret", cache_dir=tmp_path)
    with pytest.raises(DocumentError, match="password"):
        ParsedDocument.from_pdf(path, password="wrong", cache_dir=tmp_path)


def test_several_processes_share_a_folder(policy: bytes, tmp_path: Path) -> None:
    (tmp_path / "policy.pdf").write_bytes(policy)
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\nfrom arbiter_rag.document import ParsedDocument\n"
        "for _ in range(5):\n    print(len(ParsedDocument.from_pdf(sys.argv[1], cache_dir=sys.argv[2]).texts))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "policy.pdf"), str(tmp_path / "kept")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outs = [process.communicate(timeout=120)[0].split() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len({line for out in outs for line in out}) == 1
    assert [p.suffix for p in (tmp_path / "kept").iterdir()] == [".parsed"]
