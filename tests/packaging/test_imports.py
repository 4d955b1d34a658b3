"""What `import arbiter_rag` may pull in."""

from __future__ import annotations

import subprocess
import sys

OPTIONAL = (
    "pymupdf",
    "fitz",
    "openai",
    "llama_index",
    "langchain",
    "langchain_core",
    "fastembed",
    "cryptography",
    "rich",
)


def test_import_pulls_in_nothing_optional() -> None:
    code = f"import sys, arbiter_rag; print([m for m in {OPTIONAL!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    import arbiter_rag

    assert arbiter_rag.__all__
    assert [name for name in arbiter_rag.__all__ if not hasattr(arbiter_rag, name)] == []
