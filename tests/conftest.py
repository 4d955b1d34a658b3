"""Fixtures that every test may use: where the development data lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of the development data (`ARBITER_DATA`, else `../shared/data` beside the checkout)."""
    folder = Path(os.environ.get("ARBITER_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"development data is not here ({folder}); set ARBITER_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def attention_pdf(data: Path) -> Path:
    """The paper of the running example."""
    return data / "dev" / "attention" / "1706.03762v7.pdf"


@pytest.fixture(scope="session")
def hardpdfs(data: Path) -> Path:
    """Folder of awkward PDFs with its `manifest.json`."""
    return data / "hardpdfs"
