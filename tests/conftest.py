"""Fixtures that every test may use: where the development data lies."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from arbiter_rag import ParsedDocument

ROOT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a real model run only where one is named."""
    if os.environ.get("ARBITER_LOCAL_LLM"):
        return
    skip = pytest.mark.skip(reason="no local model: `make local-llm` starts one (ARBITER_LOCAL_LLM names its server)")
    for item in items:
        if "local_llm" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of the development data (`ARBITER_DATA`, else `../shared/data` beside the checkout)."""
    folder = Path(os.environ.get("ARBITER_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"development data is not here ({folder}); set ARBITER_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def dev_document(data: Path) -> Callable[[str, str], ParsedDocument]:
    """A development document by source and file name, parsed once a session."""

    @cache
    def parsed(source: str, name: str) -> ParsedDocument:
        return ParsedDocument.from_pdf(data / "dev" / source / name)

    return parsed


@pytest.fixture(scope="session")
def attention_pdf(data: Path) -> Path:
    """The paper of the running example."""
    return data / "dev" / "attention" / "1706.03762v7.pdf"


@pytest.fixture(scope="session")
def hardpdfs(data: Path) -> Path:
    """Folder of awkward PDFs with its `manifest.json`."""
    return data / "hardpdfs"
