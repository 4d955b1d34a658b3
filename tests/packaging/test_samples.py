"""The sample documents: what they promise, and that they can be written again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest

from arbiter_rag import samples
from arbiter_rag.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

# What each amendment changed once, in the words of each language: before, after.
CHANGES = {
    "contract_amended_en": (("EUR 38,400", "EUR 41,900"), ("EUR 800", "EUR 1,200"), ("three months", "two months")),
    "contract_amended_fr": (("38 400 €", "41 900 €"), ("800 €", "1 200 €"), ("trois mois", "deux mois")),
}


def _text(name: str) -> str:
    with pymupdf.open(samples.path(name)) as doc:
        return " ".join(" ".join(page.get_text() for page in doc).replace("\u00a0", " ").split())


@pytest.mark.parametrize("name", samples.NAMES)
def test_samples_are_small_and_outlined(name: str) -> None:
    path = samples.path(name)
    assert path.stat().st_size < 60_000
    with pymupdf.open(path) as doc:
        assert 6 <= len(doc) <= 8
        assert {level for level, _, _ in doc.get_toc()} >= {1, 2}
        assert [doc[0].get_label(), doc[1].get_label(), doc[2].get_label()] == ["i", "ii", "1"]


@pytest.mark.parametrize("name", CHANGES)
def test_amendments_change_each_term_once(name: str) -> None:
    text = _text(name)
    for before, after in CHANGES[name]:
        assert text.index(before) < text.index(after)


def test_an_unknown_sample_is_named() -> None:
    with pytest.raises(InputError, match="policy_en"):
        samples.path("../secret")


def test_samples_are_what_their_script_writes(tmp_path: Path) -> None:
    pytest.importorskip("reportlab")
    subprocess.run([sys.executable, ROOT / "tools" / "make_samples.py", tmp_path], check=True, capture_output=True)
    for name in samples.NAMES:
        assert (tmp_path / f"{name}.pdf").read_bytes() == samples.path(name).read_bytes()
