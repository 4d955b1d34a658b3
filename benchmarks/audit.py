"""The audit trail: speed of verifying and recording, tampering found, killed writers, replays."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from arbiter_rag import samples
from arbiter_rag.arbiter import Arbiter
from arbiter_rag.audit import AuditLog, AuditRecord
from arbiter_rag.contract import Passage
from arbiter_rag.document import ParsedDocument
from arbiter_rag.replay import replay
from benchmarks.documents import questions_of
from benchmarks.harness import ROOT, Row, data_folder, entry, timed

RECORDS = 1000
EDITS = 10_000
PROCESSES = 8
APPENDS = 200
REPLAYS = 200


def tampered(whole: bytes, dice: random.Random) -> tuple[str, bytes]:
    """A log that somebody changed, and how: always other bytes than before."""
    while True:
        kind = dice.choice(["edit", "delete", "insert", "drop record", "swap", "copy", "move", "cut bytes", "cut tail"])
        changed = _changed(whole, kind, dice)
        if changed != whole:
            return kind, changed


def _changed(whole: bytes, kind: str, dice: random.Random) -> bytes:
    at, size = dice.randrange(len(whole)), dice.randrange(1, 40)
    if kind == "edit":
        return whole[:at] + bytes([dice.randrange(256)]) + whole[at + 1 :]
    if kind == "delete":
        return whole[:at] + whole[at + size :]
    if kind == "insert":
        at = dice.choice([at, len(whole), 0])
        return whole[:at] + dice.randbytes(size) + whole[at:]
    if kind == "cut bytes":
        return whole[:at]
    lines = whole.splitlines(keepends=True)
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    if kind == "drop record":
        del lines[i]
    elif kind == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == "copy":
        lines.insert(j, lines[i])
    elif kind == "move":
        lines.insert(j, lines.pop(i))
    else:
        lines = lines[:i]
    return b"".join(lines)


def write_many(log: str, source: str, appends: int) -> None:
    """What one writing process does: append, and say each id as soon as the record stands in the file."""
    record = next(AuditLog(source).records())
    for _ in range(appends):
        sys.stdout.write(AuditLog(log).append(record).record_id + "\n")
        sys.stdout.flush()


def appended_by_killed_processes(
    log: AuditLog, record: AuditRecord, *, processes: int, appends: int, seed: int
) -> tuple[set[str], int]:
    """Let processes append to one log and kill them at random, until each has had so many acknowledged.

    Returns:
        The acknowledged ids, and how many processes were killed.
    """
    acknowledged: set[str] = set()
    killed: list[int] = []
    guard = threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        source = AuditLog(Path(folder) / "source.jsonl")
        source.append(record)

        def work(slot: int) -> None:
            dice = random.Random(seed * 1000 + slot)
            left = appends
            while left > 0:
                fate = dice.randrange(1, appends + 1)  # acknowledged appends after which it is killed
                done = _written(log.path, source.path, left, fate, dice)
                left -= len(done)
                with guard:
                    acknowledged.update(done)
                    killed.extend([slot] if left > 0 else [])

        threads = [threading.Thread(target=work, args=(slot,)) for slot in range(processes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return acknowledged, len(killed)


def _written(log: Path, source: Path, appends: int, fate: int, dice: random.Random) -> list[str]:
    code = f"from benchmarks.audit import write_many; write_many({str(log)!r}, {str(source)!r}, {appends})"
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    writer = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert writer.stdout is not None
    done: list[str] = []
    for line in writer.stdout:
        if line.endswith("\n"):
            done.append(line.strip())
        if len(done) == fate:
            time.sleep(dice.random() * 0.004)  # anywhere in what comes next
            writer.send_signal(signal.SIGKILL)
    writer.stdout.close()
    writer.wait()
    return done


def _log(folder: str, records: int) -> AuditLog:
    log = AuditLog(Path(folder) / "audit.jsonl")
    made = list(_decisions(log, 20))
    for i in range(records - len(made)):
        log.append(made[i % len(made)])
    return log


def _decisions(log: AuditLog, most: int) -> Iterator[AuditRecord]:
    policy = ParsedDocument.from_pdf(samples.path("policy_en"))
    words = ("water", "fire", "theft", "storm", "glass", "claim", "premium", "notice", "flood", "liability")
    for i in range(most):
        result = Arbiter(audit=log).retrieve(f"What is said about {words[i % len(words)]} in section {i}?", policy)
        yield log.get(result.record_id or "")


@entry("audit_verify")
def verify() -> Iterator[Row]:
    """Verifying a log of 1,000 records (target: at least 5,000 a second)"""
    with tempfile.TemporaryDirectory() as folder:
        log = _log(folder, RECORDS)
        yield _verified("sample policy", log)
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Path(folder) / "audit.jsonl")
        for record in _dev_records(log, 100):
            for _ in range(9):
                log.append(record)
        yield _verified("development data", log)


def _verified(name: str, log: AuditLog) -> Row:
    found = log.verify()
    seconds = timed(log.verify, repeat=5).best
    size = log.path.stat().st_size / found.records
    return {"log": name, "records": found.records, "bytes a record": size, "records a second": found.records / seconds}


@entry("audit_tamper")
def tamper() -> Iterator[Row]:
    """10,000 random edits, deletions, insertions, reorderings and cuts of a log of 1,000 records (target: all found)"""
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Path(folder) / "audit.jsonl")
        for i in range(RECORDS):  # short records: the log is written and read ten thousand times
            passages = [Passage(id=f"{i}-{k}", text=f"The deductible is {i + k} euros.") for k in range(3)]
            Arbiter(audit=log).rank(f"What is the deductible of claim {i}?", passages)
        checkpoint = log.checkpoint()
        whole = log.path.read_bytes()
        changed = AuditLog(Path(folder) / "changed.jsonl")
        dice, made, found = random.Random(8), Counter[str](), Counter[str]()
        for _ in range(EDITS):
            kind, data = tampered(whole, dice)
            changed.path.write_bytes(data)
            made[kind] += 1
            found[kind] += not changed.verify(checkpoint).ok
        for kind in sorted(made):
            yield {"change": kind, "made": made[kind], "found": found[kind], "share": found[kind] / made[kind]}


@entry("audit_crash")
def crash() -> Iterator[Row]:
    """8 processes append 200 records each and are killed at random (target: every acknowledged record, verified)"""
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Path(folder) / "audit.jsonl")
        record = next(_decisions(AuditLog(Path(folder) / "source.jsonl"), 1))
        start = time.perf_counter()
        acknowledged, killed = appended_by_killed_processes(
            log, record, processes=PROCESSES, appends=APPENDS, seed=int(start)
        )
        seconds = time.perf_counter() - start
        found = log.verify()
        there = {r.record_id for r in log.records()}
        yield {
            "acknowledged": len(acknowledged),
            "killed": killed,
            "in the log": len(acknowledged & there),
            "records": found.records,
            "repairs": found.repairs,
            "verifies": found.ok,
            "seconds": seconds,
        }


@entry("audit_replay")
def replays() -> Iterator[Row]:
    """Replaying 200 records of the development data, from the record alone and with the PDF (target: all identical)"""
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Path(folder) / "audit.jsonl")
        alone, whole = Counter[str](), Counter[str]()
        made: Counter[str] = Counter()
        opened: dict[str, Path] = {}
        for record in _dev_records(log, REPLAYS, opened):
            (ref,) = record.brief.documents
            path = opened[ref.doc_id]
            source = path.parent.name
            made[source] += 1
            alone[source] += replay(record).identical
            whole[source] += replay(record, [path]).identical
        for source in sorted(made):
            yield {"source": source, "records": made[source], "record alone": alone[source], "with PDF": whole[source]}


def _dev_records(log: AuditLog, most: int, opened: dict[str, Path] | None = None) -> Iterator[AuditRecord]:
    """Decisions on questions from every document of the development data, a few each."""
    paths = sorted((data_folder() / "dev").glob("*/*.pdf"))
    each = -(-most // len(paths)) + 1
    made = 0
    for path in paths:
        document = ParsedDocument.from_pdf(path)
        if opened is not None:
            opened[document.doc_id] = path
        for question in questions_of(path)[:each]:
            if made == most:
                return
            result = Arbiter(audit=log).retrieve(question, document)
            made += 1
            yield log.get(result.record_id or "")


@entry("audit_overhead")
def overhead() -> Iterator[Row]:
    """What recording adds to a question with ten candidates (target: under 2 ms)"""
    from arbiter_rag.steps import Conclude

    spent: list[float] = []
    plain = Conclude._written

    def watched(self: Conclude) -> object:
        start = time.perf_counter()
        result = plain(self)
        spent.append((time.perf_counter() - start) * 1000)
        return result

    for path in sorted((data_folder() / "dev").glob("*/*.pdf"))[:12]:
        document = ParsedDocument.from_pdf(path)
        questions = questions_of(path)[:10]
        with tempfile.TemporaryDirectory() as folder:
            log = AuditLog(Path(folder) / "audit.jsonl")
            spent.clear()
            Conclude._written = watched  # type: ignore[method-assign, assignment]  # the clock of this benchmark
            try:
                for question in questions * 3:
                    Arbiter(audit=log).retrieve(question, document)
            finally:
                Conclude._written = plain  # type: ignore[method-assign]  # as it was
            sizes = [len(line) for line in log.path.read_bytes().splitlines()]
            yield {
                "document": path.name,
                "questions": len(spent),
                "bytes a record": median(sizes),
                "best ms": min(spent),
                "median ms": median(spent),
                "p95 ms": quantiles(spent, n=20)[-1],
            }
