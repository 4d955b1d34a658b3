"""What the README shows runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from arbiter_rag.testing import ScriptedServer
from benchmarks.__main__ import load
from benchmarks.harness import ENTRIES
from tools.make_picture import picture
from tools.readme_tables import PLACE, chosen

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 10
"""Of a quick start, empty lines and comments aside."""


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def _side(diff: str, other: str) -> str:
    """The code that a diff begins with, or leaves; `other` marks the lines of the other side."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith(other))


def test_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("llama_index.retrievers.arbiter", "langchain_arbiter"):
        pytest.importorskip(package, reason="the README needs both integrations: make test installs them")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")  # the judges of real models are made, and never asked
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    blocks = _blocks("python")
    assert len(blocks) >= 6
    names: dict[str, Any] = {"__name__": "readme"}
    for block in blocks:  # later blocks may use what earlier ones made, as a reader would
        exec(compile(block, "README.md", "exec"), names)
    assert capsys.readouterr().out.count("primary") >= 4
    assert (tmp_path / "report.html").stat().st_size > 1000


def test_quick_starts_have_ten_lines() -> None:
    starts = [block for block in _blocks("python") if "samples.path" in block]
    assert len(starts) == 3
    for block in starts:
        assert len([line for line in block.splitlines() if line.strip()]) <= MOST_LINES, block


def test_llama_index_before_and_after_run() -> None:
    core = pytest.importorskip("llama_index.core", reason="needs llama-index: make test installs it")
    openai = pytest.importorskip("llama_index.llms.openai", reason="needs llama-index-llms-openai")
    nodes = [core.schema.TextNode(text=text, id_=text[:4]) for text in ("Water damage: EUR 400.", "Open at nine.")]
    index = core.VectorStoreIndex(nodes, embed_model=core.MockEmbedding(embed_dim=4))
    diffs = [diff for diff in _blocks("diff") if "llama_index" in diff]
    assert len(diffs) == 2
    with ScriptedServer() as server:
        llm = openai.OpenAI("gpt-4o-mini", api_base=server.base_url, api_key="k", max_retries=0, reuse_client=False)
        given = {"index": index, "llm": llm, "bm25": index.as_retriever(), "vector": index.as_retriever()}
        for diff in diffs:
            for other in "+-":
                names: dict[str, Any] = dict(given)
                exec(compile(_side(diff, other), "README.md", "exec"), names)
        found = names["retriever"].retrieve("What is the deductible for water damage?")
        assert server.count() == 1
    assert found[0].metadata["arbiter_methods"] == ["bm25", "vector"]


def test_langchain_before_and_after_run() -> None:
    pytest.importorskip("langchain_classic", reason="needs langchain-classic: make test installs it")
    models = pytest.importorskip("langchain_openai", reason="needs langchain-openai: make test installs it")
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore.from_texts(
        ["Water damage: EUR 400.", "Open at nine."], DeterministicFakeEmbedding(size=8)
    )
    diffs = [diff for diff in _blocks("diff") if "langchain" in diff]
    assert len(diffs) == 2
    with ScriptedServer() as server:
        chat_model = models.ChatOpenAI(model="gpt-5-mini", base_url=server.base_url, api_key="k", max_retries=0)
        given = {"store": store, "chat_model": chat_model, "keyword": store.as_retriever()}
        for diff in diffs:
            for other in "+-":
                names: dict[str, Any] = dict(given)
                exec(compile(_side(diff, other), "README.md", "exec"), names)
        found = names["retriever"].invoke("What is the deductible for water damage?")
        assert server.count() == 1
    assert found[0].metadata["arbiter_methods"] == ["keyword", "vectors"]


def test_command_lines_are_understood() -> None:
    from arbiter_rag.cli.arguments import parse

    lines = re.findall(r"^    arbiter-rag (.+)$", TEXT, re.MULTILINE)
    assert lines
    for line in lines:
        parse([a or b for a, b in re.findall(r'"([^"]+)"|(\S+)', line)])


def test_what_the_readme_names_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z-]+)(?=`|    )", TEXT):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for path in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / path).exists(), path
    installed = re.findall(r"pip install '([a-z-]+)\[?([a-z,]*)\]?'", TEXT)
    manifest = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert installed
    for _, extras in installed:
        for extra in filter(None, extras.split(",")):
            assert re.search(rf"^{extra} = \[", manifest, re.MULTILINE), extra


def test_tables_have_a_benchmark() -> None:
    load()
    names = [name for _, name, _, _ in PLACE.findall(TEXT)]
    assert names == ["hostile", "quotes", "conformance", "cost"]
    assert set(names) <= set(ENTRIES)


def test_a_table_can_be_a_part() -> None:
    rows = [{"system": "a", "pool": 5, "ms": 1.0}, {"system": "a", "pool": 30, "ms": 2.0}]
    assert chosen(rows, " | pool=30 | columns=system,ms") == [{"system": "a", "ms": 2.0}]
    assert chosen(rows, "") == rows


def test_the_picture_is_up_to_date() -> None:
    assert (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8") == picture(), "make notebooks draws it anew"
