"""Runs the notebooks and writes what they print back into them, without anything that differs from run to run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import matplotlib.font_manager  # noqa: F401  its first import builds a cache and says so, which no notebook should
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SECONDS = 300
"""Most that one cell may take; a model behind it may be slow."""


def paths() -> list[Path]:
    """The notebooks in their order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def executed(path: Path) -> NotebookNode:
    """A notebook with fresh outputs; raises nbclient's `CellExecutionError` where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    # No debugger in the kernel: it only warns about frozen modules.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
        ).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _merged(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What was printed in one go as one output: where a stream is cut depends on how busy the machine is."""
    merged: list[NotebookNode] = []
    for output in outputs:
        output.get("metadata", {}).clear()
        last = merged[-1] if merged else None
        if last is not None and output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def texts(notebook: NotebookNode) -> list[str]:
    """What the cells printed, in order; pictures are left out, for they change with the library that draws."""
    return [
        output["text"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    ]


def main() -> None:
    """Renew the outputs of all notebooks, made by rules whatever model is configured."""
    os.environ.pop("ARBITER_MODEL", None)
    for path in paths():
        print(path.name, flush=True)
        nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
