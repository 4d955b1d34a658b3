"""`arbiter-rag eval` as a person or a script runs it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from arbiter_rag import samples
from arbiter_rag.cli import main
from arbiter_rag.evaluation import Evaluation
from arbiter_rag.testing import Reply, ScriptedServer

POLICY = str(samples.path("policy_en"))
CONTRACT = str(samples.path("contract_amended_en"))
ROWS = [
    {"question": "What is the deductible for water damage?", "doc": "policy_en.pdf", "gold_pages": [6]},
    {"question": "What is the cooling-off period?", "doc": "policy_en.pdf", "gold_pages": [7]},
    {"question": "Who won the chess tournament in Reykjavik?", "doc": "policy_en.pdf", "answerable": False},
]


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    path = tmp_path / "my questions.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return str(path)


def test_a_table_and_json(questions: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "figures.json"
    assert main(["eval", questions, POLICY, "--json", str(target)]) == 0
    out, err = capfd.readouterr()
    assert err.count("\n") == 1  # that rules judge
    assert "Judged by rules: 2 answerable questions, 1 unanswerable ones." in out
    assert "policy_en.pdf" in out
    assert "3/0/0" in out
    assert "\x1b" not in out
    got = Evaluation.model_validate_json(target.read_bytes())
    assert [a.rank for a in got.asked] == [1, 1, None]
    assert got.total.shares["nf recall"] is not None


def test_json_alone_on_stdout(questions: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--json", "-", questions, POLICY, "--judge", "rules"]) == 0
    out, err = capfd.readouterr()
    assert Evaluation.model_validate_json(out).judge == "rules"
    assert err == ""


def test_a_model_judges_one_call_a_question(questions: str, capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer() as server:
        command = ["eval", questions, POLICY, "--model", "some-model", "--base-url", server.base_url, "--no-cache"]
        assert main([*command, "--json", "-"]) == 0
        got = Evaluation.model_validate_json(capfd.readouterr().out)
        assert server.count() == sum(a.prompt_tokens == 100 for a in got.asked)
        assert main(command) == 0
    out = capfd.readouterr().out
    assert "some-model" in got.judge
    assert got.judge in out
    assert f"{got.total.prompt_tokens} prompt and {got.total.completion_tokens} completion tokens" in out


def test_a_model_that_fails_is_told(questions: str, capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(lambda _: Reply(status=500)) as server:
        command = ["eval", questions, POLICY, "--model", "m", "--base-url", server.base_url, "--no-cache"]
        assert main([*command, "--json", "-"]) == 0
        out, err = capfd.readouterr()
        assert Evaluation.model_validate_json(out).total.statuses["degraded"] > 0
        assert err.startswith("arbiter-rag: degraded: rules decided")
        assert err.count("\n") == 1
        assert main([*command, "--on-error", "raise"]) == 2
    assert capfd.readouterr().out == ""


def test_documents_and_questions_that_do_not_meet(questions: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", questions, POLICY, CONTRACT, "--judge", "rules"]) == 0
    assert "contract_amended_en.pdf" in capfd.readouterr().err
    assert main(["eval", questions, CONTRACT, "--judge", "rules"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "policy_en.pdf" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval"], "QUESTIONS.jsonl"),
        (["eval", "{questions}"], "PDF"),
        (["eval", "no such.jsonl", POLICY], "no such.jsonl"),
        (["eval", POLICY, POLICY], "UTF-8"),
        (["eval", "{questions}", "no such.pdf"], "no such.pdf"),
        (["eval", "{questions}", POLICY, "--judge", "openai"], "--model"),
        (["eval", "{questions}", POLICY, "--json", "no such folder/f.json"], "folder"),
        (["eval", "{wrong}", POLICY], "wrong.jsonl, line 2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str], said: str, questions: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(json.dumps(ROWS[0]) + '\n{"question": "A?", "gold_pages": "4"}\n', encoding="utf-8")
    assert main([a.format(questions=questions, wrong=wrong) for a in arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("arbiter-rag: error: ")
    assert said in err.splitlines()[-1]
    assert len(err.splitlines()) <= 2


def test_help_describes_the_format(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--help"]) == 0
    out = capfd.readouterr().out
    for field in ("question", "doc", "gold_pages", "answerable", "gold_text", "exclude_pages", "exit status"):
        assert field in out
    examples = [json.loads(line) for line in out.splitlines() if line.strip().startswith('{"question"')]
    assert len(examples) == 2
    assert main(["--help"]) == 0
    assert "eval QUESTIONS" in capfd.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX")
def test_a_bar_on_a_terminal_and_nothing_on_stdout(questions: str) -> None:
    import pty

    terminal, stderr = pty.openpty()
    command = [sys.executable, "-m", "arbiter_rag", "eval", questions, POLICY, "--judge", "rules", "--json", "-"]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env=environment) as process:
        os.close(stderr)
        assert process.stdout is not None
        out = process.stdout.read()
        shown = b""
        while select.select([terminal], [], [], 0)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # the other end is closed: that is a terminal's end of file on Linux
                break
    os.close(terminal)
    assert process.returncode == 0
    assert b"Reading policy_en.pdf" in shown
    assert b"Asking" in shown
    assert b"\x1b" not in out
    assert json.loads(out)["judge"] == "rules"
