"""The command as a person or a script runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from arbiter_rag import samples
from arbiter_rag.cli import main
from arbiter_rag.contract import RetrievalResult

POLICY = str(samples.path("policy_en"))
QUESTION = "What is the deductible for water damage?"
ABSENT = "Who won the chess tournament in Reykjavik?"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))


def _process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "arbiter_rag", *arguments]
    return subprocess.run(command, capture_output=True, env=os.environ | environment, check=False)


def test_found_is_0_and_json_is_the_result(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", POLICY, QUESTION, "--json"]) == 0
    out, err = capfd.readouterr()
    result = RetrievalResult.model_validate_json(out)
    assert result.candidates[0].role == "primary"
    assert not result.not_found
    assert err.count("\n") == 1
    assert "RuleJudge" in err


def test_not_found_is_1(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", POLICY, ABSENT, "--json"]) == 1
    assert RetrievalResult.model_validate_json(capfd.readouterr().out).not_found_reason


def test_options_may_stand_anywhere(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--json", POLICY, QUESTION], [POLICY, "--json", QUESTION], [POLICY, QUESTION, "--json"]):
        assert main(["ask", "--judge", "rules", *arguments]) == 0
        out, err = capfd.readouterr()
        assert json.loads(out)["judge"]
        assert err == ""


def test_text_is_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", POLICY, QUESTION]) == 0
    out = capfd.readouterr().out
    assert "primary" in out
    assert "page 4 (PDF 6)" in out
    assert "\x1b" not in out


def test_top_n_keeps_the_best(capfd: pytest.CaptureFixture[str]) -> None:
    main(["ask", POLICY, QUESTION, "--json"])
    whole = RetrievalResult.model_validate_json(capfd.readouterr().out)
    main(["ask", POLICY, QUESTION, "--json", "--top-n", "1"])
    assert RetrievalResult.model_validate_json(capfd.readouterr().out).candidates == whole.candidates[:1]


def test_several_documents(capfd: pytest.CaptureFixture[str]) -> None:
    pdfs = [POLICY, str(samples.path("contract_amended_en"))]
    assert main(["ask", *pdfs, "What notice period does the amendment set?", "--json"]) == 0
    result = RetrievalResult.model_validate_json(capfd.readouterr().out)
    assert [d.name for d in result.documents] == ["policy_en.pdf", "contract_amended_en.pdf"]
    assert "two months" in result.candidates[0].text


def test_a_lexicon_of_ones_own(capfd: pytest.CaptureFixture[str]) -> None:
    lexicon = str(files("arbiter_rag") / "lexicons" / "insurance.csv")
    assert main(["ask", POLICY, "What is the excess for water damage?", "--lexicon", lexicon, "--json"]) == 0
    result = RetrievalResult.model_validate_json(capfd.readouterr().out)
    assert any("EUR 400" in candidate.text for candidate in result.candidates[:3])


def test_inspect_shows_the_sections(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", POLICY, "--json"]) == 0
    about = json.loads(capfd.readouterr().out)
    assert about["headings"] == "outline"
    assert about["pages"] == 7
    section = next(s for s in about["sections"] if s["title"] == "Frozen pipes")
    assert (section["number"], section["level"], section["page"], section["page_label"]) == ("3.2.2", 3, 4, "2")
    assert main(["inspect", POLICY]) == 0
    text = capfd.readouterr().out
    assert "the file's outline" in text
    assert "3.2.2 Frozen pipes" in text


def test_the_cache_is_the_users_and_can_be_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["inspect", POLICY, "--no-cache"])
    assert not (tmp_path / "cache" / "arbiter-rag").exists()
    main(["inspect", POLICY, "--json"])
    first = capfd.readouterr().out
    assert [p for p in (tmp_path / "cache" / "arbiter-rag").rglob("*") if p.is_file()]
    main(["inspect", POLICY, "--json"])
    assert first.endswith(capfd.readouterr().out)


def test_a_cache_folder_that_cannot_be_made_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cache").write_text("a file, no folder", encoding="utf-8")
    assert main(["inspect", POLICY, "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)
    assert err.startswith("arbiter-rag: nothing is cached")


WRONG = [
    ([], "a command is expected"),
    (["fetch"], "no command 'fetch'"),
    (["ask"], "a PDF and a question"),
    (["ask", POLICY], "a PDF and a question"),
    (["ask", POLICY, QUESTION, "--top-n", "0"], "from 1 on"),
    (["ask", POLICY, QUESTION, "--top-n", "many"], "from 1 on"),
    (["ask", POLICY, QUESTION, "--judge", "oracle"], "oracle"),
    (["ask", POLICY, QUESTION, "--colour"], "--colour"),
    (["ask", POLICY, QUESTION, "--judge", "openai"], "--model"),
    (["ask", POLICY, QUESTION, "--judge", "rules", "--model", "m"], "leave one out"),
    (["ask", POLICY, "What", "is", "the", "deductible"], "in quotes"),
    (["ask", POLICY, "   "], "question"),
    (["ask", "no such.pdf", QUESTION], "no such.pdf"),
    (["ask", "bad\n\x1b[31mname.pdf", QUESTION], "\\x1b[31mname.pdf"),
    (["ask", POLICY, QUESTION, "--lexicon", "nowhere.yaml"], "nowhere.yaml"),
    (["inspect"], "PDF"),
    (["inspect", POLICY, POLICY], "unrecognized"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=lambda v: " ".join(v)[-40:] if isinstance(v, list) else "")
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("arbiter-rag: error: ")
    assert said in last
    assert "\x1b" not in err
    assert len(err.splitlines()) <= 2  # the other line says that rules judge


def test_files_that_are_no_pdf(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    word = tmp_path / "letter.docx"
    shutil.make_archive(str(tmp_path / "letter"), "zip", folder)
    (tmp_path / "letter.zip").rename(word)
    text, empty = tmp_path / "notes.pdf", tmp_path / "empty.pdf"
    text.write_text("no PDF at all", encoding="utf-8")
    empty.touch()
    for path in (folder, word, text, empty):
        assert main(["inspect", str(path)]) == 2, path
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("arbiter-rag: error: ")
        assert err.count("\n") == 1
        assert path.name in err


def test_a_path_with_spaces_and_odd_letters(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my policy \u00e9\u6c34\n\x1b[2J.pdf"
    shutil.copy(POLICY, path)
    assert main(["inspect", str(path)]) == 0
    assert "\x1b" not in capfd.readouterr().out


def test_a_file_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.pdf"
    try:
        shutil.copy(POLICY, path)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for arguments in (["--json"], []):
        command = [sys.executable, "-m", "arbiter_rag", "inspect", path, *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""


def test_an_ascii_locale_is_no_obstacle() -> None:
    done = _process("inspect", str(samples.path("policy_fr")), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"D\\xe9finitions" in done.stdout


def test_a_wrong_key_is_an_error_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["ask", POLICY, QUESTION, "--model", "some-model"]) == 2
    err = capfd.readouterr().err
    assert "OPENAI_API_KEY" in err
    assert err.count("\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "arbiter_rag", "inspect", POLICY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() in (0, 141)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_ctrl_c_is_quiet() -> None:
    code = (
        "import arbiter_rag.cli.ask as a, os, signal; a.open_documents = lambda *_: os.kill(os.getpid(), signal.SIGINT)"
    )
    arguments = ["ask", POLICY, "x", "--judge", "rules", "--no-cache"]
    run = f"{code}; from arbiter_rag.cli import main; raise SystemExit(main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == b""


def test_help_and_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("arbiter-rag ")
    for command in ([], ["ask"], ["inspect"]):
        assert main([*command, "--help"]) == 0
        assert "exit status" in capfd.readouterr().out
