"""The log file: many writers, killed ones, reading back, redaction, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from arbiter_rag import Arbiter, ArbiterError, InputError, ParsedDocument, Passage, RetrievalResult
from arbiter_rag.audit import AuditLog
from arbiter_rag.errors import AuditError
from benchmarks.audit import appended_by_killed_processes


def test_records_read_back_as_they_were(log: AuditLog, results: list[RetrievalResult]) -> None:
    assert [record.result for record in log.records()] == results


def test_passages_are_recorded_too(log: AuditLog, results: list[RetrievalResult]) -> None:
    passages = [
        Passage(id="a", text="The deductible for water damage is 150 euros.", score=0.4, section="Water"),
        Passage(id="b", text="Bananas are yellow.", methods=("vector",)),
        Passage(id="c", text=""),
    ]
    result = Arbiter(audit=log).rank("What is the deductible for water damage?", passages)
    record = log.get(result.record_id or "")
    assert record.kind == "rank"
    assert record.passages == tuple(passages)
    assert record.result == result
    assert log.verify().ok


def test_hits_and_texts_stand_once(log: AuditLog, results: list[RetrievalResult]) -> None:
    line = log.path.read_bytes().splitlines()[0]
    record = json.loads(line)["record"]
    (first, *_) = (candidate for candidate in results[0].candidates if len(candidate.text) > 200)
    longest = max(first.text.split("\n"), key=len)
    assert json.dumps(record["lines"], ensure_ascii=False).count(json.dumps(longest, ensure_ascii=False)[1:-1]) >= 1
    assert all("text" not in candidate for candidate in record["brief"]["candidates"])
    assert all(isinstance(hit, int) for c in record["brief"]["candidates"] for hit in c.get("hits", ()))


def test_threads_share_a_log(log: AuditLog, policy: ParsedDocument) -> None:
    arbiter = Arbiter(audit=log)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: arbiter.retrieve("What is the deductible?", policy).record_id, range(24)))
    found = log.verify()
    assert found.ok
    assert found.records == 24
    assert {record.record_id for record in log.records()} == set(done)


async def test_coroutines_share_a_log(log: AuditLog, policy: ParsedDocument) -> None:
    arbiter = Arbiter(audit=log)
    done = await asyncio.gather(*(arbiter.aretrieve("What is the deductible?", policy) for _ in range(12)))
    ranked = await arbiter.arank("What is the deductible?", [Passage(id="a", text="The deductible is 150.")])
    assert log.verify().records == 13
    assert log.get(ranked.record_id or "").result == ranked
    assert len({result.record_id for result in done}) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_killed_processes_lose_nothing_that_was_acknowledged(log: AuditLog, results: list[RetrievalResult]) -> None:
    record = log.get(results[0].record_id or "")
    acknowledged, killed = appended_by_killed_processes(log, record, processes=4, appends=25, seed=3)
    assert killed > 0
    there = {record.record_id for record in log.records()}
    assert acknowledged <= there
    assert not [p for p in log.verify().problems if p.kind != "torn"]
    log.append(record)
    assert log.verify().ok


def _append(log: AuditLog, line: bytes) -> str:
    record = next(AuditLog(line.decode()).records())
    return log.append(record).record_id


def test_a_log_travels_to_other_processes(log: AuditLog, results: list[RetrievalResult]) -> None:
    copied = pickle.loads(pickle.dumps(log))
    assert (copied.path, copied.redact, copied.fsync) == (log.path, log.redact, log.fsync)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        appended = pool.apply(_append, (log, str(log.path).encode()))
    assert log.verify().ok
    assert log.get(appended).seq == 6


def test_another_writer_is_noticed(log: AuditLog, results: list[RetrievalResult]) -> None:
    record = log.get(results[0].record_id or "")
    other = AuditLog(log.path)
    for writer in (log, other, other, log, log, other):
        writer.append(record)
    assert log.verify().ok


def test_a_renamed_log_is_rotated(log: AuditLog, results: list[RetrievalResult]) -> None:
    record = log.get(results[0].record_id or "")
    log.path.rename(log.path.with_suffix(".1"))
    assert log.append(record).seq == 1
    assert log.verify().ok
    assert AuditLog(log.path.with_suffix(".1")).verify().records == 5


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_only_the_owner_reads_it(log: AuditLog, results: list[RetrievalResult]) -> None:
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_records_of_a_period(log: AuditLog, results: list[RetrievalResult]) -> None:
    times = [record.time for record in log.records()]
    assert len(list(log.records(since=times[2]))) == 3
    assert len(list(log.records(until=times[2]))) == 2
    assert not list(log.records(since=times[-1] + timedelta(seconds=1)))


def test_ids_may_be_shortened_and_unknown_ones_are_refused(log: AuditLog, results: list[RetrievalResult]) -> None:
    own = results[1].record_id or ""
    assert log.get(own[:8]).record_id == own
    for wrong in ("", "zz", "0123456789abcdef", "not an id", '"', "é"):
        with pytest.raises(InputError):
            log.get(wrong)


@pytest.mark.parametrize("how", ["drop", "hash"])
def test_redaction_leaves_no_text_and_still_verifies(tmp_path: Path, policy: ParsedDocument, how: str) -> None:
    log = AuditLog(tmp_path / "redacted.jsonl", redact=how)  # type: ignore[arg-type]  # parametrized literal
    question = "What is the deductible for water damage?"
    result = Arbiter(audit=log, instructions="Riders prevail over the policy.").retrieve(question, policy)
    assert result.candidates[0].text, "the caller's own result keeps its texts"
    written = log.path.read_text(encoding="utf-8").lower()
    texts = [question, "riders prevail", *(t for t in policy.texts if len(t) > 12)]
    texts += [c.section_title for c in result.candidates if c.section_title]
    assert not [text for text in texts if text.lower() in written]
    assert log.verify().ok
    record = log.get(result.record_id or "")
    assert record.redacted == how
    assert record.result is not None
    kept = [(c.candidate_id, c.role, c.score, c.quote_status) for c in record.result.candidates]
    assert kept == [(c.candidate_id, c.role, c.score, c.quote_status) for c in result.candidates]


def test_what_cannot_be_written_is_raised(tmp_path: Path, policy: ParsedDocument) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AuditError, match="cannot be written"):
        Arbiter(audit=AuditLog(tmp_path / "file" / "audit.jsonl")).retrieve("What is the deductible?", policy)
    with pytest.raises(AuditError, match="does not exist"):
        AuditLog(tmp_path / "none.jsonl").verify()
    with pytest.raises(AuditError, match="folder"):
        AuditLog(tmp_path).verify()
    with pytest.raises(InputError, match="redact"):
        AuditLog(tmp_path / "a", redact="all")  # type: ignore[arg-type]  # wrong on purpose
    assert issubclass(AuditError, ArbiterError)


def test_a_record_of_a_later_format_is_refused(log: AuditLog, results: list[RetrievalResult]) -> None:
    from arbiter_rag.audit.chain import GENESIS, seal

    log.path.write_bytes(seal(b'{"format":99}', GENESIS, 1)[1])
    assert log.verify().ok
    with pytest.raises(AuditError, match="later version"):
        list(log.records())
