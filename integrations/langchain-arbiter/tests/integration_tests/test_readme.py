"""What the README shows runs as it stands there, with the model behind a scripted server."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from arbiter_rag import samples
from arbiter_rag.testing import ScriptedServer
from langchain_arbiter import ArbiterDocumentCompressor

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len([line for line in blocks[0].splitlines() if line.strip()]) <= 10
    shutil.copy(samples.path("policy_en"), tmp_path / "policy.pdf")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme", "embeddings": DeterministicFakeEmbedding(size=32)}
    with ScriptedServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        exec(compile(blocks[0], "README.md", "exec"), names)
        assert server.count() == 2
        assert "primary" in capsys.readouterr().out
        for block in blocks[1:]:  # later blocks use what earlier ones made, as a reader would
            exec(compile(block, "README.md", "exec"), names)
        assert server.count() == 5
        prompt = server.requests[-1].body["messages"][0]["content"]
    assert names["documents"]
    assert names["answer"]
    assert "[page " in prompt
    assert "arbiter_" not in prompt, "only what is to be read"
    assert type(names["again"]) is ArbiterDocumentCompressor
    assert names["again"].llm.model_name == "gpt-5-mini"
