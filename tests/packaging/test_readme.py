"""What the README shows runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_python_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert blocks
    names: dict[str, object] = {"__name__": "readme"}
    for block in blocks:  # later blocks may use what earlier ones made, as a reader would
        exec(compile(block, "README.md", "exec"), names)
    assert "primary" in capsys.readouterr().out


def test_command_lines_are_understood() -> None:
    from arbiter_rag.cli.arguments import parse

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    arbiter-rag (.+)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        parse([a or b for a, b in re.findall(r'"([^"]+)"|(\S+)', line)])
