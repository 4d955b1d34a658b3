"""The one place that imports PyMuPDF: late, and without what PyMuPDF 2 pulls in behind it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from threading import Lock
from typing import Any

from arbiter_rag.errors import ConfigurationError

_LOCK = Lock()
# PyMuPDF 2 imports these when it is imported, and with them onnxruntime: half a second, and a device id written under
# the user's cache folder, though nobody asked for layout analysis or Markdown.
_BEHIND = ("pymupdf.layout", "pymupdf4llm")


class _Later:
    """Stands for a module until somebody uses it, so that `pymupdf.to_markdown` still works for those who call it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


def pymupdf() -> Any:
    """PyMuPDF.

    Raises:
        ConfigurationError: It is not installed.
    """
    with _LOCK:
        loaded = sys.modules.get("pymupdf")
        if loaded is not None:
            return loaded
        held_back = [name for name in _BEHIND if name not in sys.modules]
        for name in held_back:
            sys.modules[name] = None  # type: ignore[assignment]  # None makes the import of that name fail
        try:
            module = importlib.import_module("pymupdf")
        except ImportError as error:
            raise ConfigurationError("Reading PDF files needs PyMuPDF: pip install 'arbiter-rag[pdf]'.") from error
        finally:
            for name in held_back:
                del sys.modules[name]
        if getattr(module, "pymupdf4llm", module) is None and importlib.util.find_spec("pymupdf4llm"):
            module.pymupdf4llm = _Later("pymupdf4llm")  # type: ignore[attr-defined]  # PyMuPDF's own name for it
    return module
