"""The log file: appending under a lock, reading back, and mending visibly what a killed process left."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from arbiter_rag.audit.chain import (
    GENESIS,
    Problem,
    Sealed,
    Verification,
    claimed_hash,
    follow,
    is_torn,
    seal,
    seal_repair,
    short_id,
    unseal,
)
from arbiter_rag.audit.checkpoint import Checkpoint, Key, judged, made
from arbiter_rag.audit.compact import decode, encode
from arbiter_rag.audit.record import AuditRecord
from arbiter_rag.audit.redact import Redact
from arbiter_rag.errors import AuditError, InputError

if TYPE_CHECKING:
    from filelock import FileLock

_BLOCK = 1 << 16
_BUFFER = 1 << 20
_SHORTEST_ID = 4
_UNSEEN = "No checkpoint was given: a log whose end was cut off looks like this too."


class AuditLog:
    """One file, one JSON line a decision, each with the hash of the line before.

    Many threads and processes may append to one file; the object holds no open file, so it can be shared, copied and
    pickled freely. Readers need no lock. Renaming the file rotates it: the next append begins a new one.

    Args:
        path: The file; it is made by the first append, readable by its owner only.
        redact: `drop` leaves every text of document, question and model out, `hash` keeps its SHA-256 instead; ids,
            places, roles, scores and settings stay. What is written is what the chain covers.
        fsync: Wait until the disk has each record. Without it a record survives the death of the process, not that of
            the machine.
        lock_timeout: Seconds to wait for other writers.

    Example:
        >>> log = AuditLog("audit.jsonl")
        >>> Arbiter(audit=log).retrieve("When can I leave early?", "policy.pdf").record_id
        >>> log.verify().ok
    """

    def __init__(
        self,
        path: str | Path,
        *,
        redact: Redact | None = None,
        fsync: bool = False,
        lock_timeout: float = 30.0,
    ) -> None:
        if redact not in (None, "drop", "hash"):
            raise InputError(f"redact is 'drop', 'hash' or None; got {redact!r}.")
        self.path = Path(path)
        self.redact = redact
        self.fsync = fsync
        self.lock_timeout = lock_timeout
        self._ours: tuple[int, int, str, int] | None = None  # what stood at the end when this object last wrote

    def __getstate__(self) -> dict[str, object]:
        return {**{k: v for k, v in self.__dict__.items() if k != "_lock"}, "_ours": None}

    def __repr__(self) -> str:
        return f"AuditLog({str(self.path)!r}, redact={self.redact!r})"

    # --- writing ----------------------------------------------------------------------------------------------

    def append(self, record: AuditRecord) -> AuditRecord:
        """Write a record; when this returns, it stands in the file.

        Returns:
            The record with its id, hash and number.

        Raises:
            AuditError: The file cannot be written, or other writers kept it locked.
        """
        from filelock import Timeout  # here, because most who import the library write no log

        payload = encode(record, self.redact)  # outside the lock: the larger part of the work
        try:
            with self._lock.acquire(timeout=self.lock_timeout, poll_interval=0.001):
                digest, prev, seq = self._append(payload)
        except Timeout:
            raise AuditError(
                f"Other writers kept {self.path} locked for {self.lock_timeout:g} seconds; raise lock_timeout=."
            ) from None
        except OSError as error:
            raise AuditError(
                f"The audit log {self.path} cannot be written: {error.strerror or error}; check the path, its "
                "permissions and the disk."
            ) from error
        return record.sealed(short_id(digest), digest, prev, seq)

    @cached_property
    def _lock(self) -> FileLock:
        """One lock for all threads: it counts each thread apart, so that they exclude one another as processes do."""
        from filelock import FileLock

        return FileLock(f"{self.path}.lock", is_singleton=False, thread_local=True)

    def _append(self, payload: bytes) -> tuple[str, str, int]:
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            found = os.fstat(file)
            size = found.st_size
            ours = self._ours
            # A file of the same size as when we wrote to it has had no other writer, and its end need not be read.
            known = ours is not None and ours[:2] == (found.st_ino, size) and size > 0
            prev, seq, mending = (ours[2], ours[3], b"") if ours and known else _end_of(file, size)
            digest, line = seal(payload, prev, seq + 1)
            try:
                _write(file, mending + line)
            except OSError:
                os.ftruncate(file, size)  # the disk is full: half a record helps nobody
                raise
            if self.fsync:
                os.fsync(file)
            self._ours = (found.st_ino, size + len(mending) + len(line), digest, seq + 1)
        finally:
            os.close(file)
        return digest, prev, seq + 1

    # --- reading ----------------------------------------------------------------------------------------------

    def records(self, since: datetime | None = None, until: datetime | None = None) -> Iterator[AuditRecord]:
        """The records in order, whatever `verify` says of the file; lines that are none are passed over.

        Args:
            since: Leave out what was decided earlier.
            until: Leave out what was decided then or later.
        """
        for line in self._lines():
            found = unseal(line)
            if isinstance(found, str) or found.kind != "record":
                continue
            record = decode(found)
            if (since is None or record.time >= since) and (until is None or record.time < until):
                yield record

    def get(self, record_id: str) -> AuditRecord:
        """The record of this id; the beginning of one is enough where it is the only one.

        Raises:
            InputError: There is none, or there are several.
        """
        wanted = record_id.strip().lower()
        found = list(self._matching(wanted)) if len(wanted) >= _SHORTEST_ID else []
        if len(found) != 1:
            what = f"{len(found)} records whose ids begin so" if found else "no such record"
            raise InputError(f"Expected the id of a record of {self.path}, got {record_id!r}: {what}; see audit list.")
        return decode(found[0])

    def _matching(self, wanted: str) -> Iterator[Sealed]:
        opening = b'{"hash":"' + wanted.encode("ascii", "replace")
        for line in self._lines():
            if line.startswith(opening):
                found = unseal(line)
                if not isinstance(found, str) and found.kind == "record":
                    yield found

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb", buffering=_BUFFER) as file:
                yield from file
        except FileNotFoundError:
            raise AuditError(f"Expected an audit log, got {self.path}, which does not exist; check the path.") from None
        except IsADirectoryError:
            raise AuditError(f"Expected an audit log, got the folder {self.path}; name the file in it.") from None
        except OSError as error:
            what = f"The audit log {self.path} cannot be read: {error.strerror}; check its permissions."
            raise AuditError(what) from error

    # --- verifying --------------------------------------------------------------------------------------------

    def verify(self, checkpoint: Checkpoint | str | Path | None = None, key: Key | None = None) -> Verification:
        """Check every line's hash and place, and the checkpoint: a chain alone cannot show that its end was cut off.

        Args:
            checkpoint: What `checkpoint` gave, a file that holds it, or the hash of a line that must be there.
            key: For the checkpoint's signature: the secret (HMAC), or the public key as PEM (Ed25519).
        """
        wanted = judged(checkpoint, key) if checkpoint is not None else None
        problems: list[Problem] = list(wanted.problems) if wanted else []
        records = repairs = seq = 0
        head = GENESIS
        met = wanted is None or wanted.seq == 0
        for found in follow(self._lines()):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            records, repairs = records + (found.kind == "record"), repairs + (found.kind == "repair")
            head, seq = found.hash, found.seq
            met = met or (wanted is not None and wanted.fits(found.hash, found.seq))
        if wanted is not None and not met:
            problems.append(wanted.missing(seq))
        return Verification(
            ok=not problems,
            records=records,
            repairs=repairs,
            head=head,
            seq=seq,
            problems=tuple(problems),
            notes=wanted.notes if wanted else (_UNSEEN,),
        )

    def checkpoint(self, key: Key | None = None) -> Checkpoint:
        """The head of the log, to be kept where nobody can change it together with the log.

        Args:
            key: Signs it: a secret (HMAC-SHA256), or a private Ed25519 key as PEM (extra `audit`).

        Raises:
            AuditError: The log does not verify.
        """
        checked = self.verify()
        if not checked.ok:
            first = checked.problems[0]
            raise AuditError(
                f"Expected a log that verifies, got one with a fault in line {first.line}: {first.detail} "
                "A checkpoint would vouch for it."
            )
        return made(self.path.name, checked.seq, checked.head, key)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _end_of(file: int, size: int) -> tuple[str, int, bytes]:
    """Hash and number of the last line, and what must be written before the next one to mend what lies behind it."""
    rest = b""
    for start, line in _backwards(file, size):
        found = unseal(line)
        if not isinstance(found, str):
            if not line.endswith(b"\n"):  # whole but for its line feed
                return found.hash, found.seq, b"\n"
            return _mended(found.hash, found.seq, rest)
        if found == "frame" and is_torn(line.rstrip(b"\n")):
            rest = line + rest
            continue
        # A line that was changed. It stays, verification names it, and the chain goes on behind it.
        follows = claimed_hash(line) or hashlib.sha256(line).hexdigest()
        return _mended(follows, _count(file, start) + 1, rest)
    return _mended(GENESIS, 0, rest)


def _mended(prev: str, seq: int, rest: bytes) -> tuple[str, int, bytes]:
    if not rest:
        return prev, seq, b""
    ended = rest.endswith(b"\n")
    digest, line = seal_repair(rest[:-1] if ended else rest, prev, seq + 1)
    return digest, seq + 1, line if ended else b"\n" + line


def _backwards(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Lines from the end, each with where it begins; the last may lack its line feed."""
    end, held = size, b""
    while end > 0 or held:
        cut = held.rfind(b"\n", 0, len(held) - 1)
        if cut >= 0:
            yield end + cut + 1, held[cut + 1 :]
            held = held[: cut + 1]
        elif end == 0:
            yield 0, held
            return
        else:
            start = max(0, end - _BLOCK)
            held = _read(file, start, end - start) + held
            end = start


def _read(file: int, start: int, size: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    parts: list[bytes] = []
    while size:
        part = os.read(file, size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _count(file: int, end: int) -> int:
    """Lines before a place."""
    return _read(file, 0, end).count(b"\n")
