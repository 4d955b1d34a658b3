"""Replay: what was decided comes out again, from the record alone and with the document; a change is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from arbiter_rag import Arbiter, InputError, Lexicon, ParsedDocument, Passage, RetrievalResult, samples
from arbiter_rag.audit import AuditLog
from arbiter_rag.replay import replay
from arbiter_rag.testing import FirstJudge, HashEmbedder, ScriptedJudge

LINES = (
    "Notice of termination",
    "The tenant may end this contract at any time.",
    "The notice period is three months to the end of a month.",
    "Notice must be given in writing and is void otherwise.",
)


def _pdf(path: Path, lines: tuple[str, ...]) -> Path:
    canvas = Canvas(str(path), invariant=1)
    for i, line in enumerate(lines):
        canvas.drawString(72, 720 - 16 * i, line)
    canvas.showPage()
    canvas.save()
    return path


def test_from_the_record_and_with_the_document(
    log: AuditLog, results: list[RetrievalResult], policy: ParsedDocument
) -> None:
    for record in log.records():
        alone = replay(record)
        assert alone.identical, alone.differences
        assert "settle" in alone.steps
        assert alone.skipped
        for document in (policy, samples.path("policy_en")):
            whole = replay(record, [document])
            assert whole.identical, whole.differences
            assert "detect" in whole.steps
            assert not whole.skipped


def test_with_every_setting(log: AuditLog, policy: ParsedDocument, caplog: pytest.LogCaptureFixture) -> None:
    question = "What is the franchise for water damage?"
    for judge in (None, FirstJudge(), ScriptedJudge("nonsense"), ScriptedJudge({"rankings": []})):
        arbiter = Arbiter(
            judge,
            HashEmbedder(),
            Lexicon.shipped("insurance"),
            max_candidates=4,
            max_prompt_tokens=2_000,
            max_context_tokens=300,
            instructions="Riders prevail.",
            on_unverified="flag",
            shuffle_seed=5,
            audit=log,
        )
        arbiter.retrieve(question, policy)
        arbiter.rank(question, [Passage(id=str(i), text=text) for i, text in enumerate(policy.texts[:40])])
    records = list(log.records())
    assert len(records) == 8
    for record in records:
        for documents in ([], [policy]):
            again = replay(record, documents)
            assert again.identical, again.differences


def test_several_documents(log: AuditLog) -> None:
    paths = [samples.path(name) for name in samples.NAMES[:3]]
    result = Arbiter(audit=log).retrieve("What is the notice period?", paths)
    record = log.get(result.record_id or "")
    assert replay(record).identical
    assert replay(record, paths[::-1]).identical
    with pytest.raises(InputError, match="3 documents"):
        replay(record, paths[:2])


def test_a_changed_line_is_named(log: AuditLog, tmp_path: Path) -> None:
    before = _pdf(tmp_path / "lease.pdf", LINES)
    result = Arbiter(audit=log).retrieve("How long is the notice period?", before)
    record = log.get(result.record_id or "")
    assert replay(record, [before]).identical
    changed = (*LINES[:2], LINES[2].replace("three", "two"), LINES[3])
    after = replay(record, [_pdf(tmp_path / "lease2.pdf", changed)])
    assert not after.identical
    told = [str(difference) for difference in after.differences]
    assert told[0].startswith("document lease.pdf: SHA-256")
    assert "page 1, line 3" in told[1]
    assert "three months" in told[1]
    assert "two months" in told[1]


def test_a_changed_record_differs(log: AuditLog, results: list[RetrievalResult]) -> None:
    record = log.get(results[0].record_id or "")
    assert record.result is not None
    first = record.result.candidates[0]
    verdict = first.model_copy(update={"role": "tangential", "reason": "another"})
    forged = record.result.model_copy(update={"candidates": (verdict, *record.result.candidates[1:])})
    found = replay(record.model_copy(update={"result": forged}))
    where = {difference.where for difference in found.differences}
    assert f"result.candidates[{first.candidate_id}].role" in where
    question = record.brief.question.model_copy(update={"text": "What is the premium?"})
    forged_brief = record.brief.model_copy(update={"question": question})
    assert not replay(record.model_copy(update={"brief": forged_brief})).identical


def test_redacted_records_are_not_replayed(tmp_path: Path, policy: ParsedDocument) -> None:
    log = AuditLog(tmp_path / "redacted.jsonl", redact="hash")
    result = Arbiter(audit=log).retrieve("What is the deductible?", policy)
    found = replay(log.get(result.record_id or ""), [policy])
    assert not found.identical
    assert "redacted" in found.skipped[0]


def test_the_callers_document_is_not_touched(log: AuditLog, results: list[RetrievalResult], tmp_path: Path) -> None:
    copied = tmp_path / "copy.pdf"
    copied.write_bytes(samples.path("policy_en").read_bytes())
    document = ParsedDocument.from_pdf(copied, doc_id="mine")
    assert replay(log.get(results[0].record_id or ""), [document]).identical
    assert (document.doc_id, document.name) == ("mine", "copy.pdf")
