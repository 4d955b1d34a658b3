"""`arbiter-rag audit`: verify, checkpoint, list, show, replay and export the records of a log."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from arbiter_rag.audit import AuditLog, AuditRecord, Verification
from arbiter_rag.audit.compact import body_of
from arbiter_rag.audit.export import frame, write
from arbiter_rag.cli.terminal import console, harmless, print_json, say
from arbiter_rag.cli.verdicts import show as show_result
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import AuditError
from arbiter_rag.replay import Replay, replay

WELL, NOT = 0, 1


def _verify(arguments: argparse.Namespace) -> int:
    found = AuditLog(arguments.file).verify(arguments.checkpoint, _key(arguments.key))
    if arguments.json:
        print_json(found.model_dump(mode="json"))
    else:
        _show_verification(found)
    return WELL if found.ok else NOT


def _show_verification(found: Verification) -> None:
    out = console()
    for problem in found.problems:
        place = f"line {problem.line}, byte {problem.offset}" if problem.line else "the log"
        own = f", record {harmless(problem.record_id)}" if problem.record_id else ""
        out.print(Text(f"{place}{own}: ", style="bold red") + Text(f"{problem.kind}: {harmless(problem.detail)}"))
    repairs = f", {found.repairs} torn by a killed writer and set aside" if found.repairs else ""
    if found.ok:
        out.print(Text("intact: ", style="bold green") + Text(f"{found.records} records{repairs}; head {found.head}"))
    else:
        out.print(Text(f"{found.records} records before that verify{repairs}; head {found.head}"))
    for note in found.notes:
        out.print(Text(note, style="dim"))


def _checkpoint(arguments: argparse.Namespace) -> int:
    text = AuditLog(arguments.file).checkpoint(_key(arguments.key)).to_json() + "\n"
    if arguments.out:
        Path(arguments.out).write_text(text, encoding="utf-8")
    else:
        print_json(json.loads(text))
    return WELL


def _list(arguments: argparse.Namespace) -> int:
    records = AuditLog(arguments.file).records(arguments.since, arguments.until)
    if arguments.json:
        print_json([_line(record) for record in records])
        return WELL
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "time", "status", "judge"):
        table.add_column(name, no_wrap=True)
    table.add_column("question", overflow="fold")
    for record in records:
        line = _line(record)
        status = "not found" if line["not_found"] else line["status"]
        table.add_row(*(Text(harmless(str(v))) for v in (line["id"], line["time"][:19], status, line["judge"])),
                      Text(harmless(line["question"])))  # fmt: skip
    console().print(table)
    return WELL


def _line(record: AuditRecord) -> dict[str, Any]:
    result = record.result
    return {
        "id": record.record_id,
        "seq": record.seq,
        "time": record.time.isoformat().replace("+00:00", "Z"),
        "kind": record.kind,
        "status": record.status,
        "not_found": bool(result and result.not_found),
        "judge": result.judge if result else record.settings.judge,
        "question": record.question,
        "documents": [ref.name for ref in record.brief.documents],
    }


def _show(arguments: argparse.Namespace) -> int:
    record = AuditLog(arguments.file).get(arguments.id)
    if arguments.report:
        from arbiter_rag.report import report

        documents = [ParsedDocument.from_pdf(pdf, password=arguments.password) for pdf in arguments.document]
        page = report(record, documents, password=arguments.password)
        Path(arguments.report).write_text(page, encoding="utf-8")
        return WELL
    if arguments.json:
        chain = {"record_id": record.record_id, "hash": record.hash, "prev": record.prev, "seq": record.seq}
        print_json(chain | body_of(record))
        return WELL
    out = console()
    about = f"record {record.record_id}, number {record.seq}, {record.time:%Y-%m-%d %H:%M:%S} UTC, {record.library}"
    out.print(Text(about, style="dim"))
    out.print(Text(harmless(record.question), style="bold"))
    for ref in record.brief.documents:
        out.print(Text(f"{harmless(ref.name)}, SHA-256 {ref.sha256 or 'unknown'}", style="dim"))
    for step in record.brief.plan.steps:
        outcome = step.outcome or ("ran" if step.run else "did not run")
        out.print(Text(f"  {harmless(step.detector)}: {harmless(outcome)} ({harmless(step.reason)})", style="dim"))
    if record.failure:
        out.print(Text(f"the judge failed: {harmless(record.failure.message)}", style="red"))
    if record.result is None:
        return WELL
    show_result(record.result, out)
    for candidate in record.result.discarded:
        out.print(Text(f"discarded {harmless(candidate.candidate_id)}: {harmless(candidate.reason)}", style="dim"))
    return WELL


def _replay(arguments: argparse.Namespace) -> int:
    log = AuditLog(arguments.file)
    documents = [ParsedDocument.from_pdf(pdf, password=arguments.password) for pdf in arguments.document]
    if arguments.id:
        records = [log.get(arguments.id)]
    else:
        checked = log.verify()
        if not checked.ok:
            raise AuditError(f"Expected a log that verifies: {checked.problems[0].detail} See audit verify.")
        records = list(log.records())
    done = [_replayed(record, documents, one=bool(arguments.id)) for record in records]
    if arguments.json:
        print_json([found.model_dump(mode="json") for found in done])
    else:
        _show_replays(done)
    return WELL if all(found.identical for found in done) else NOT


def _replayed(record: AuditRecord, documents: list[ParsedDocument], *, one: bool) -> Replay:
    """With all records, each takes those of the documents that it searched."""
    known = {ref.sha256 for ref in record.brief.documents}
    names = {ref.name for ref in record.brief.documents}
    own = documents if one else [d for d in documents if d.sha256 in known or d.name in names]
    if not one and len(own) != len(record.brief.documents):
        own = documents if len(documents) == len(record.brief.documents) == 1 else []
    return replay(record, own)


def _show_replays(done: list[Replay]) -> None:
    out = console()
    for found in done:
        if found.identical and len(done) > 1:
            continue
        verdict = "identical" if found.identical else "differs" if found.differences else "not replayed"
        out.print(Text(f"{found.record_id}: {verdict}", style="bold green" if found.identical else "bold red"))
        for difference in found.differences:
            out.print(Text(f"  {harmless(str(difference))}"))
        for step in found.skipped:
            out.print(Text(f"  not taken again: {harmless(step)}", style="dim"))
    same = sum(found.identical for found in done)
    out.print(Text(f"{same} of {len(done)} records replayed identically."))


def _export(arguments: argparse.Namespace) -> int:
    records = AuditLog(arguments.file).records(arguments.since, arguments.until)
    table = frame(records, arguments.table)
    write(table, Path(arguments.out), arguments.format)
    say(f"{len(table)} rows written to {arguments.out}")
    return WELL


def _key(path: str | None) -> bytes | None:
    if path is None:
        return None
    data = Path(path).read_bytes()
    return data if data.lstrip().startswith(b"-----BEGIN ") else data.rstrip(b"\r\n")


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "verify": _verify,
    "checkpoint": _checkpoint,
    "list": _list,
    "show": _show,
    "replay": _replay,
    "export": _export,
}
