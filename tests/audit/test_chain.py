"""The chain: whatever is changed in a log, verification finds it; whatever a killed process leaves, it tells apart."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest

from arbiter_rag import RetrievalResult
from arbiter_rag.audit import AuditLog, AuditRecord
from benchmarks.audit import tampered

pytestmark = pytest.mark.usefixtures("results")


def test_a_log_verifies_and_an_auditor_needs_no_library_of_ours(log: AuditLog) -> None:
    found = log.verify()
    assert found.ok
    assert found.records == 5
    prev = "0" * 64
    for seq, line in enumerate(log.path.read_bytes().splitlines(), start=1):
        value = json.loads(line)
        claimed = value.pop("hash")
        again = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
        assert hashlib.sha256(again).hexdigest() == claimed
        assert (value["prev"], value["seq"]) == (prev, seq)
        prev = claimed
    assert found.head == prev


def test_ids_are_the_beginning_of_the_hash(log: AuditLog, results: list[RetrievalResult]) -> None:
    ids = [result.record_id for result in results]
    assert [record.record_id for record in log.records()] == ids
    assert len(set(ids)) == len(ids)
    assert all(log.get(i).hash.startswith(i) for i in ids if i)


def test_random_tampering_is_found(log: AuditLog, tmp_path: Path) -> None:
    whole = log.path.read_bytes()
    checkpoint = log.checkpoint()
    random_numbers = random.Random(11)
    other = AuditLog(tmp_path / "other.jsonl")
    for _ in range(400):
        kind, changed = tampered(whole, random_numbers)
        other.path.write_bytes(changed)
        assert not other.verify(checkpoint).ok, kind


def test_the_first_bad_record_is_named(log: AuditLog, results: list[RetrievalResult]) -> None:
    lines = log.path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"Reykjavik", b"Reykjavic", 1)
    log.path.write_bytes(b"".join(lines))
    (problem,) = log.verify().problems
    assert (problem.line, problem.kind, problem.record_id) == (3, "hash", results[2].record_id)
    assert problem.offset == len(lines[0]) + len(lines[1])


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda lines: [lines[0], *lines[2:]], "prev"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "prev"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "prev"),
        (lambda lines: lines[1:], "prev"),
        (lambda lines: [*lines[:2], b"{}\n", *lines[2:]], "frame"),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], "torn"),
        (lambda lines: [*lines, b"\n"], "torn"),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], "torn"),
    ],
)
def test_what_is_wrong_is_said(log: AuditLog, change: object, kind: str) -> None:
    assert callable(change)
    log.path.write_bytes(b"".join(change(log.path.read_bytes().splitlines(keepends=True))))
    found = log.verify()
    assert not found.ok
    assert found.problems[0].kind == kind


def test_a_record_appended_by_hand_without_the_chain_is_found(log: AuditLog) -> None:
    last = log.path.read_bytes().splitlines(keepends=True)[-1]
    with log.path.open("ab") as file:
        file.write(last.replace(b'"seq":5', b'"seq":6'))
    assert log.verify().problems[0].kind == "hash"


def test_a_writer_killed_at_any_byte_leaves_what_verifies_and_is_mended_visibly(
    log: AuditLog, results: list[RetrievalResult]
) -> None:
    whole = log.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    record: AuditRecord = log.get(results[0].record_id or "")
    start = len(whole) - len(lines[-1])
    places = [*range(start, start + 200), *range(start + 200, len(whole), 997), len(whole) - 2, len(whole) - 1]
    for cut in places:
        log.path.write_bytes(whole[:cut])
        torn = log.verify()
        assert torn.records == 4
        assert torn.ok == (cut == start)
        assert [p.kind for p in torn.problems] == ([] if cut == start else ["torn"])
        log.append(record)
        mended = log.verify()
        assert mended.ok
        # Cut just before its line feed the record is whole; before its first byte nothing is left of it.
        assert mended.repairs == (0 if cut in (start, len(whole) - 1) else 1)
        assert mended.records == (6 if cut == len(whole) - 1 else 5)


def test_a_repair_that_was_killed_is_mended_too(log: AuditLog, results: list[RetrievalResult]) -> None:
    whole = log.path.read_bytes()
    record = log.get(results[0].record_id or "")
    torn = whole[:-100]
    log.path.write_bytes(torn)
    log.append(record)
    mended = log.path.read_bytes()
    assert mended.startswith(torn), "nothing that was written is taken away"
    for cut in range(len(torn), len(torn) + 330):
        log.path.write_bytes(mended[:cut])
        log.append(record)
        found = log.verify()
        assert found.ok, cut
        assert found.repairs >= 1


def test_a_repair_cannot_hide_a_removed_or_changed_rest(log: AuditLog, results: list[RetrievalResult]) -> None:
    log.path.write_bytes(log.path.read_bytes()[:-100])
    log.append(log.get(results[0].record_id or ""))
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(b"".join([*lines[:4], *lines[5:]]))
    assert log.verify().problems[0].kind == "repair"
    log.path.write_bytes(b"".join([*lines[:4], lines[4].replace(b"claim", b"claxm", 1), *lines[5:]]))
    assert log.verify().problems[0].kind == "repair"


def test_appending_behind_a_changed_record_does_not_heal_it(log: AuditLog, results: list[RetrievalResult]) -> None:
    record = log.get(results[0].record_id or "")
    lines = log.path.read_bytes().splitlines(keepends=True)
    for bad in (lines[-1].replace(b"claim", b"claxm", 1), lines[-1].replace(b'{"hash"', b'{"hush"'), b"garbage\n"):
        log.path.write_bytes(b"".join([*lines[:-1], bad]))
        AuditLog(log.path).append(record)
        found = log.verify()
        assert not found.ok
        assert found.problems[0].line == 5
