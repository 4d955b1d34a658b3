"""The chain: how a record becomes a line that holds the hash of the line before, and how a file of them is verified.

A line is one canonical JSON object and a line feed:

    {"hash":"…","prev":"…","record":{…},"seq":7}

`hash` is the SHA-256 of the line's JSON without `hash`, `prev` the hash of the line before (64 zeros in the first) and
`seq` counts from 1. What a killed process left of a line stays where it is; the next append ends it with a line feed
and writes a line with `repair` in place of `record`, which says how many bytes of which SHA-256 were set aside.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from arbiter_rag.audit.canonical import canonical
from arbiter_rag.contract import Contract

GENESIS = "0" * 64
"""What stands for the hash before the first record."""

_HEAD = re.compile(rb'\{"hash":"([0-9a-f]{64})","prev":"([0-9a-f]{64})","(record|repair)":\{')
_TAIL = re.compile(rb'\},"seq":([1-9][0-9]{0,15})\}\n?\Z')
_TAIL_REACH = 40
_OPENING = b'{"hash":"'
_HASHED_FROM = len(_OPENING) + 64 + len(b'",')

Kind = Literal["record", "repair"]


@dataclass(frozen=True, slots=True)
class Sealed:
    """One line of a log whose own hash is right.

    Attributes:
        hash: SHA-256 of the line without `hash`.
        prev: The hash of the line before, as this line says it.
        seq: Its number.
        kind: `record` or `repair`.
        payload: The JSON text of the record or repair.
    """

    hash: str
    prev: str
    seq: int
    kind: Kind
    payload: bytes


class Problem(Contract):
    """One thing that is wrong with a log.

    Attributes:
        line: 1-based line of the file; 0 for the file as a whole.
        offset: Byte at which the line begins.
        kind: `frame` (no line of a log), `hash` (its content was changed), `prev` (what stood before it was changed,
            removed or moved), `seq`, `repair` (what it set aside was changed), `torn` (the last line is not whole),
            `checkpoint` or `signature`.
        detail: One sentence for a person.
        record_id: The record concerned, where it is known.
    """

    line: int
    offset: int = 0
    kind: str
    detail: str
    record_id: str | None = None


class Verification(Contract):
    """What verifying a log found.

    Attributes:
        ok: True when nothing is wrong.
        records: Whole records that verified, up to the first problem.
        repairs: Lines that set aside what a killed process had left.
        head: Hash of the last line that verified.
        seq: Its number.
        problems: What is wrong, the first in the file first; lines behind the first bad one are not judged.
        notes: What else must be known, e.g. that no checkpoint was given.
    """

    ok: bool
    records: int = 0
    repairs: int = 0
    head: str = GENESIS
    seq: int = 0
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def seal(payload: bytes, prev: str, seq: int, kind: Kind = "record") -> tuple[str, bytes]:
    """The hash and the line (with its line feed) that put a canonical JSON object behind a line of the chain."""
    hashed = b'"prev":"%s","%s":%s,"seq":%d}' % (prev.encode(), kind.encode(), payload, seq)
    digest = _digest(hashed)
    return digest, b'%s%s",%s\n' % (_OPENING, digest.encode(), hashed)


def seal_repair(fragment: bytes, prev: str, seq: int) -> tuple[str, bytes]:
    """The line that sets a torn rest aside; `fragment` is everything behind the last whole line."""
    what = {"bytes": len(fragment), "sha256": hashlib.sha256(fragment).hexdigest()}
    return seal(canonical(what), prev, seq, "repair")


def unseal(line: bytes) -> Sealed | str:
    """A line taken apart, or one clause that says what is wrong with it (`frame` or `hash`)."""
    head = _HEAD.match(line)
    tail = _TAIL.search(line, max(0, len(line) - _TAIL_REACH)) if head else None
    if head is None or tail is None:
        return "frame"
    claimed = head[1].decode()
    stop = len(line) - (line[-1:] == b"\n")
    if _digest(memoryview(line)[_HASHED_FROM:stop]) != claimed:
        return "hash"
    kind: Kind = "record" if head[3] == b"record" else "repair"
    return Sealed(claimed, head[2].decode(), int(tail[1]), kind, line[head.end() - 1 : tail.start() + 1])


def claimed_hash(line: bytes) -> str | None:
    """The hash that a line says it has, right or wrong."""
    head = _HEAD.match(line)
    return head[1].decode() if head else None


def is_torn(line: bytes) -> bool:
    """Whether this may be what a killed process left of a line: its beginning, but not the whole of it."""
    begun = line.startswith(_OPENING) or _OPENING.startswith(line)
    return begun and _TAIL.search(line, max(0, len(line) - _TAIL_REACH)) is None


def follow(lines: Iterable[bytes]) -> Iterator[Sealed | Problem]:
    """Follow a chain: each line that is right and in its place, then the first problem, if there is one.

    Args:
        lines: The file's lines with their line feeds.
    """
    prev, seq = GENESIS, 0
    offset = 0
    torn: list[bytes] = []
    torn_at = (0, 0)
    for number, line in enumerate(lines, start=1):
        found = unseal(line)
        if isinstance(found, str) or not line.endswith(b"\n"):
            whole = not isinstance(found, str)
            if found == "frame" and is_torn(line.rstrip(b"\n")):
                torn_at = torn_at if torn else (number, offset)
                torn.append(line)
                offset += len(line)
                continue
            yield _bad(number, offset, line, "torn" if whole else str(found))
            return
        problem = _misplaced(found, prev, seq, torn)
        if problem is not None:
            where = torn_at if torn and problem[0] == "torn" else (number, offset)
            yield Problem(
                line=where[0], offset=where[1], kind=problem[0], detail=problem[1], record_id=short_id(found.hash)
            )
            return
        yield found
        torn.clear()
        prev, seq = found.hash, found.seq
        offset += len(line)
    if torn:
        size = sum(map(len, torn))
        detail = f"The last line is not whole ({size} bytes): its writer was killed, or the file was cut; the next "
        yield Problem(line=torn_at[0], offset=torn_at[1], kind="torn", detail=detail + "append sets it aside.")


def _misplaced(found: Sealed, prev: str, seq: int, torn: list[bytes]) -> tuple[str, str] | None:
    if torn and found.kind != "repair":
        return "torn", "A line that is not whole stands before a record, and no repair accounts for it."
    if found.prev != prev:
        what = "the first record" if seq == 0 else f"record {seq}"
        detail = f"It does not follow {what}: a line before it was changed, removed, moved or added."
        return "prev", detail if seq else "It says that records stood before it, and they are gone."
    if found.seq != seq + 1:
        return "seq", f"Its number is {found.seq}, expected {seq + 1}."
    if found.kind == "repair":
        # The line feed that ended the torn rest belongs to the repair.
        rest = b"".join(torn)[:-1]
        if found.payload != canonical({"bytes": len(rest), "sha256": hashlib.sha256(rest).hexdigest()}) or not torn:
            return "repair", "What this repair set aside was changed or removed."
    return None


_SAID = {
    "frame": "It is no line of an audit log.",
    "hash": "Its content is not what was written: the hash does not fit.",
    "torn": "The last line lacks its end; the next append completes it.",
}


def _bad(number: int, offset: int, line: bytes, kind: str) -> Problem:
    claimed = claimed_hash(line)
    own = short_id(claimed) if claimed else None
    return Problem(line=number, offset=offset, kind=kind, detail=_SAID[kind], record_id=own)


def short_id(digest: str) -> str:
    """A record's id: the beginning of its hash, so that whoever keeps the id can tell a record that was changed."""
    return digest[:16]


def _digest(hashed: bytes | memoryview) -> str:
    made = hashlib.sha256(b"{")
    made.update(hashed)
    return made.hexdigest()
