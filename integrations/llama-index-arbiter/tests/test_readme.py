"""What the package's README shows runs as it stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import NodeWithScore
from llama_scenes import native

from arbiter_rag.testing import ScriptedServer, answering
from benchmarks.llama_index import SYSTEMS

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def after(diff: str) -> str:
    """The code that a diff leaves."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))


def before(diff: str) -> str:
    """The code that a diff begins with."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("+"))


def test_the_quick_start_has_ten_lines_and_runs(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(policy, tmp_path / "policy.pdf")
    monkeypatch.chdir(tmp_path)
    start, whole = blocks("python")
    assert len([line for line in start.splitlines() if line.strip()]) == 10
    with ScriptedServer(answering(otherwise="It is 500 EUR.")) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        # What the example leaves to the garbage collector is closed after each call here.
        start = start.replace('model="gpt-4o-mini"', 'model="gpt-4o-mini", reuse_client=False')
        names: dict[str, Any] = {"__name__": "readme"}
        exec(compile(start, "README.md", "exec"), names)
        out = capsys.readouterr().out
        assert out.startswith("It is 500 EUR.\nprimary ")
        assert server.count() == 2
        exec(compile(whole, "README.md", "exec"), names)
        assert capsys.readouterr().out


def test_before_and_after_both_run(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    index = VectorStoreIndex([n.node for n in nodes], embed_model=MockEmbedding(embed_dim=4))
    retriever = index.as_retriever(similarity_top_k=4)
    diffs = blocks("diff")
    assert len(diffs) == 2
    for diff in diffs:
        for code in (before(diff), after(diff)):
            names: dict[str, Any] = {"index": index, "llm": native(server), "bm25": retriever, "vector": retriever}
            exec(compile(code, "README.md", "exec"), names)
    assert [n.node_id for n in names["nodes"]] == ["answer", "scope", "fire"]
    assert names["nodes"][0].metadata["arbiter_methods"] == ["bm25", "vector"]


def test_the_table_has_every_system() -> None:
    for system in SYSTEMS:
        assert f"| {system.name}" in TEXT
