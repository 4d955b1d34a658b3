"""PyMuPDF comes in alone: nothing that PyMuPDF 2 pulls in behind it, nothing written, nothing broken for others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import sys
from arbiter_rag import ParsedDocument
import arbiter_rag.samples as samples
ParsedDocument.from_pdf(samples.path("policy_en"))
assert "onnxruntime" not in sys.modules
import pymupdf
assert callable(getattr(pymupdf, "open"))
"""


def test_reading_a_pdf_loads_no_model_runtime_and_writes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", _SCRIPT], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(home.rglob("*")) == []
