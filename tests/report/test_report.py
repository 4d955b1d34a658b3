"""The page: everything that was decided stands on it, escaped, with or without the documents."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from arbiter_rag import Arbiter, InputError, JudgeError, ParsedDocument, Passage, RetrievalResult, samples
from arbiter_rag.audit import AuditLog, AuditRecord
from arbiter_rag.report import report
from arbiter_rag.testing import ScriptedJudge


def _text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_everything_that_was_decided_stands_there(record: AuditRecord, policy: ParsedDocument) -> None:
    page = report(record, policy)
    text = _text(page)
    result = record.result
    assert result is not None
    for told in (record.question, record.hash, record.record_id, result.judge, policy.sha256 or ""):
        assert told in text
    for candidate in (*result.candidates, *result.discarded, *result.unjudged):
        assert candidate.candidate_id in page
        assert " ".join(candidate.reason.split()) in text
        if candidate.quote:
            assert " ".join(candidate.quote.split()) in text
    for step in result.plan.steps:
        assert step.reason in text
    assert page.count("data:image/") <= 12
    assert len(page) < 3_000_000


def test_the_same_record_gives_the_same_page(record: AuditRecord, policy: ParsedDocument) -> None:
    assert report(record, policy) == report(record, samples.path("policy_en"))


def test_keywords_are_marked(record: AuditRecord) -> None:
    page = report(record)
    assert re.search(r"<mark>[Dd]eductible</mark>", page)
    assert "data:image" not in page


def test_a_result_is_enough(policy: ParsedDocument) -> None:
    result = Arbiter().retrieve("What is the deductible?", policy)
    assert "This decision was not recorded." in report(result)


def test_not_found_has_its_certificate(policy: ParsedDocument) -> None:
    result = Arbiter().retrieve("Who won the chess tournament in Reykjavik?", policy)
    text = _text(report(result, policy))
    assert "Not found" in text
    assert "Terms searched for" in text
    assert "Occurs nowhere: Reykjavik" in text


def test_passages_without_pages(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "a.jsonl")
    passages = [Passage(id="<x>", text="The deductible is 150 euros.", score=0.5), Passage(id="y", text="")]
    result = Arbiter(audit=log).rank("What is the deductible?", passages)
    page = report(log.get(result.record_id or ""))
    assert "&lt;x&gt;" in page
    assert "<x>" not in page


def test_markup_of_others_is_text(hostile: tuple[RetrievalResult, ParsedDocument]) -> None:
    result, document = hostile
    page = report(result, document)
    tags = {tag.lower() for tag in re.findall(r"<\s*([a-zA-Z]+)", page)}
    assert not tags & {"script", "img", "b", "i", "u", "iframe", "object", "link", "form"}
    assert not re.search(r"<[^>]*\son[a-z]+\s*=", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page.replace("&#123;", "{")
    assert "\u202e" not in page
    assert result.conflicts
    assert "Conflict:" in page


def test_a_turned_page_has_its_boxes_turned(hostile: tuple[RetrievalResult, ParsedDocument]) -> None:
    result, document = hostile
    page = report(result, document)
    views = re.findall(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*data-page="2">(.*?)</svg>', page, re.DOTALL)
    (turned,) = (view for view in views if "quoted" in view[2])
    width, height = float(turned[0]), float(turned[1])
    assert width > height
    (box,) = re.findall(r'class="quoted" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', turned[2])
    x, y, w, h = map(float, box)
    assert h > w, "the line runs down the page"
    assert x + w <= width
    assert y + h <= height


def test_a_page_is_drawn_from_its_lines_where_there_is_no_file() -> None:
    lines = pd.DataFrame(
        {
            "page": [1, 1],
            "line": [1, 2],
            "text": ["The notice period is 30 <days>.", "Nothing else is agreed."],
            "x0": [72.0, 72.0],
            "y0": [72.0, 90.0],
            "x1": [300.0, 260.0],
            "y1": [84.0, 102.0],
        }
    )
    document = ParsedDocument.from_frames(lines)
    page = report(Arbiter().retrieve("What is the notice period?", document), document)
    assert "data:image" not in page
    assert 'class="drawn"' in page
    assert "30 &lt;days&gt;." in page


def test_a_file_that_changed_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "policy.pdf"
    path.write_bytes(samples.path("policy_en").read_bytes())
    document = ParsedDocument.from_pdf(path)
    result = Arbiter().retrieve("What is the deductible?", document)
    path.write_bytes(samples.path("policy_fr").read_bytes())
    assert "data:image" not in report(result, document)
    path.unlink()
    assert 'class="drawn"' in report(result, document)


def test_a_failure_has_no_page(tmp_path: Path, policy: ParsedDocument) -> None:
    log = AuditLog(tmp_path / "a.jsonl")
    with pytest.raises(JudgeError):
        Arbiter(ScriptedJudge(JudgeError("down")), audit=log, on_error="raise").retrieve("What is it?", policy)
    with pytest.raises(InputError, match="down"):
        report(next(log.records()))


def test_notebooks_show_the_short_form(hostile: tuple[RetrievalResult, ParsedDocument], policy: ParsedDocument) -> None:
    page = hostile[0]._repr_html_()
    assert "&lt;u&gt;notice&lt;/u&gt;" in page
    assert not re.search(r"<(script|img|b|i|u)\b", page)
    assert "<table>" in page
    missing = Arbiter().retrieve("Who won the chess tournament in Reykjavik?", policy)._repr_html_()
    assert "Not found" in missing
    assert "<table>" not in missing
