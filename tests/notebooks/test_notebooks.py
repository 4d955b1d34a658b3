"""The notebooks run, offline and with a model, and what is committed of them is what they print."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from arbiter_rag.testing import ScriptedServer, answering
from tools.run_notebooks import executed, paths, texts

pytest.importorskip("llama_index.llms.openai", reason="the notebooks need both integrations: make test installs them")
pytest.importorskip("langchain_openai", reason="the notebooks need both integrations: make test installs them")

PATHS = paths()
NAMES = [path.stem for path in PATHS]
# jupyter_client's channels close themselves when they are collected.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARBITER_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def _committed(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def test_they_are_numbered() -> None:
    assert [name[:2] for name in NAMES] == ["1_", "2_", "3_", "4_", "5_"]


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_offline_they_print_what_is_committed(path: Path) -> None:
    assert texts(executed(path)) == texts(_committed(path)), "the outputs are out of date: make notebooks"


@pytest.mark.parametrize("path", PATHS[:3], ids=NAMES[:3])  # the other two ask as the first does
def test_with_a_model_they_ask_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(answering(otherwise="It is EUR 400.")) as server:
        monkeypatch.setenv("ARBITER_MODEL", "scripted-model")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        executed(path)
        assert server.count() >= 1


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_outputs_say_nothing_of_the_machine(path: Path) -> None:
    notebook = _committed(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.metadata == {} for cell in code)
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.get("name") == "stderr" or output.output_type == "error"]
    told = "\n".join([*texts(notebook), *(str(o.data.get("text/plain", "")) for o in outputs if "data" in o)])
    assert not re.search(r"/(?:home|root|tmp|Users|work|usr)/|[A-Z]:\\|0x[0-9a-f]{6}|\d+(?:\.\d+)? ?ms\b", told)
