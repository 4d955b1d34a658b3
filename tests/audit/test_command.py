"""`arbiter-rag audit` and `ask --audit`: exit statuses and what is printed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from arbiter_rag import RetrievalResult, samples
from arbiter_rag.audit import AuditLog
from arbiter_rag.cli import main

PDF = str(samples.path("policy_en"))


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> pytest.CaptureFixture[str]:
    """What commands print, in lines wide enough not to be broken."""
    monkeypatch.setenv("COLUMNS", "300")
    return capsys


def test_ask_records_and_reports(tmp_path: Path, shown: pytest.CaptureFixture[str]) -> None:
    log, page = tmp_path / "a.jsonl", tmp_path / "page.html"
    question = "What is the deductible for water damage?"
    assert main(["ask", PDF, question, "--no-cache", "--json", "--audit", str(log), "--report", str(page)]) == 0
    result = json.loads(shown.readouterr().out)
    record = AuditLog(log).get(result["record_id"])
    assert record.question == question
    html = page.read_text(encoding="utf-8")
    assert record.hash in html
    assert question in html


def test_verify(
    log: AuditLog, results: list[RetrievalResult], shown: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(log.path)
    secret = tmp_path / "key"
    secret.write_text("a secret\n", encoding="utf-8")
    checkpoint = str(tmp_path / "checkpoint.json")
    assert main(["audit", "checkpoint", file, "--out", checkpoint, "--key", str(secret)]) == 0
    assert main(["audit", "verify", file]) == 0
    assert "intact: 5 records" in shown.readouterr().out
    assert main(["audit", "verify", file, "--checkpoint", checkpoint, "--key", str(secret)]) == 0
    assert main(["audit", "verify", file, "--checkpoint", log.verify().head, "--json"]) == 0
    shown.readouterr()
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join(lines[:-1]))
    assert main(["audit", "verify", file]) == 0
    assert main(["audit", "verify", file, "--checkpoint", checkpoint, "--key", str(secret)]) == 1
    assert "its end is missing" in shown.readouterr().out
    log.path.write_bytes(b"".join(lines).replace(b"Reykjavik", b"Reykjavic", 1))
    assert main(["audit", "verify", file]) == 1
    out = shown.readouterr().out
    assert "line 3" in out
    assert results[2].record_id in out  # type: ignore[operator]  # recorded, so it has an id
    assert main(["audit", "verify", str(tmp_path / "none.jsonl")]) == 2


def test_list_and_show(log: AuditLog, results: list[RetrievalResult], shown: pytest.CaptureFixture[str]) -> None:
    own = results[0].record_id or ""
    assert main(["audit", "list", str(log.path)]) == 0
    assert own in shown.readouterr().out
    assert main(["audit", "list", str(log.path), "--json", "--until", "2001-01-01"]) == 0
    assert json.loads(shown.readouterr().out) == []
    assert main(["audit", "show", str(log.path), own[:10]]) == 0
    assert "deductible for water damage" in shown.readouterr().out
    assert main(["audit", "show", str(log.path), own, "--json"]) == 0
    assert json.loads(shown.readouterr().out)["record_id"] == own
    page = log.path.with_suffix(".html")
    assert main(["audit", "show", str(log.path), own, "--report", str(page), "--document", PDF]) == 0
    assert "data:image" in page.read_text(encoding="utf-8")
    assert main(["audit", "show", str(log.path), "feedfeed"]) == 2


def test_replay(log: AuditLog, results: list[RetrievalResult], shown: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "replay", str(log.path)]) == 0
    assert main(["audit", "replay", str(log.path), "--document", PDF]) == 0
    assert "5 of 5" in shown.readouterr().out
    other = str(samples.path("policy_fr"))
    assert main(["audit", "replay", str(log.path), results[0].record_id or "", "--document", other]) == 1
    assert "SHA-256" in shown.readouterr().out
    assert main(["audit", "replay", str(log.path), "--json"]) == 0
    assert [found["identical"] for found in json.loads(shown.readouterr().out)] == [True] * 5


def test_export(
    log: AuditLog, results: list[RetrievalResult], shown: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "table.csv"
    assert main(["audit", "export", str(log.path), str(out)]) == 0
    frame = pd.read_csv(out, parse_dates=["time"])
    assert frame["record_id"].tolist() == [r.record_id for r in results]
    assert frame["not_found"].tolist() == [r.not_found for r in results]
    assert main(["audit", "export", str(log.path), str(out), "--table", "candidates"]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len((*r.candidates, *r.unjudged, *r.discarded)) for r in results)


def test_export_parquet(
    log: AuditLog, results: list[RetrievalResult], tmp_path: Path, shown: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow writes Parquet")
    out = tmp_path / "table.parquet"
    assert main(["audit", "export", str(log.path), str(out), "--format", "parquet"]) == 0
    frame = pd.read_parquet(out)
    assert frame["record_id"].tolist() == [r.record_id for r in results]
    assert str(frame["time"].dtype).startswith("datetime64")


def test_cells_that_a_spreadsheet_would_run_are_made_harmless(tmp_path: Path) -> None:
    from arbiter_rag.audit.export import write

    out = tmp_path / "t.csv"
    write(pd.DataFrame({"a": ["=1+1", "@x", "fine", None], "n": [-1, 2, 3, 4]}), out, "csv")
    assert out.read_text(encoding="utf-8").splitlines() == ["a,n", "'=1+1,-1", "'@x,2", "fine,3", ",4"]


@pytest.mark.parametrize(
    "argv", [["audit"], ["audit", "nonsense"], ["audit", "list"], ["audit", "list", "f", "--since", "x"]]
)
def test_what_is_no_command_is_said(argv: list[str], shown: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "--help" in shown.readouterr().err


@pytest.mark.parametrize("command", ["", "verify", "checkpoint", "list", "show", "replay", "export"])
def test_help(command: str, shown: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *filter(None, [command]), "--help"]) == 0
    assert "FILE" in shown.readouterr().out
