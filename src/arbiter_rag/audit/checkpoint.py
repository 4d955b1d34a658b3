"""Checkpoints: the head of a log for keeping elsewhere, signed with a key that the user brings."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from arbiter_rag.audit.canonical import canonical
from arbiter_rag.audit.chain import GENESIS, Problem
from arbiter_rag.contract import Contract
from arbiter_rag.errors import AuditError, ConfigurationError

Key = str | bytes
"""A secret of any form (HMAC-SHA256), or an Ed25519 key as PEM: the private one signs, the public one checks."""

_HASH = re.compile(r"[0-9a-f]{16,64}")
_PEM = b"-----BEGIN "
_NEEDS = "Ed25519 keys need the package cryptography; pip install 'arbiter-rag[audit]'."


class Signature(Contract):
    """A signature over the checkpoint's canonical JSON without it: hexadecimal."""

    algorithm: Literal["hmac-sha256", "ed25519"]
    value: str


class Checkpoint(Contract):
    """That a log had a line of this number and hash at that time.

    Attributes:
        log: The file's name, for a person.
        seq: Number of the log's last line; 0 for an empty log.
        hash: Its hash.
        time: When it was made, UTC.
        signature: Where a key was given.
    """

    log: str
    seq: int
    hash: str
    time: str
    signature: Signature | None = None

    def to_json(self) -> str:
        """One line of canonical JSON."""
        return canonical(self.model_dump(mode="json")).decode()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a checkpoint asks of a log."""

    hash: str
    seq: int | None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def fits(self, digest: str, seq: int) -> bool:
        """Whether a line is the one."""
        return digest.startswith(self.hash) and self.seq in (None, seq)

    def missing(self, last: int) -> Problem:
        """The problem of a log that has no such line."""
        if self.seq is not None and last < self.seq:
            detail = f"The checkpoint knows {self.seq} lines, the log has {last} that verify: its end is missing."
        else:
            detail = "No line has the checkpoint's hash: the log was written anew, cut, or is another one."
        return Problem(line=0, kind="checkpoint", detail=detail)


def made(log: str, seq: int, head: str, key: Key | None) -> Checkpoint:
    """A checkpoint, signed where there is a key."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    bare = Checkpoint(log=log, seq=seq, hash=head, time=now)
    if key is None:
        return bare
    return bare.model_copy(update={"signature": _sign(_signed(bare), _bytes(key))})


def judged(given: Checkpoint | str | Path, key: Key | None) -> Expected:
    """Read a checkpoint and check its signature.

    Raises:
        AuditError: It is neither a hash nor a checkpoint.
        ConfigurationError: A package is missing, or the key is no key.
    """
    if isinstance(given, str) and _HASH.fullmatch(given.strip().lower()):
        note = ("A hash was given, not a checkpoint: there is no signature to check.",) if key else ()
        return Expected(given.strip().lower(), 0 if given == GENESIS else None, notes=note)
    checkpoint = given if isinstance(given, Checkpoint) else read(given)
    wrong, notes = _check(checkpoint, key)
    problems = (Problem(line=0, kind="signature", detail=wrong),) if wrong else ()
    return Expected(checkpoint.hash, checkpoint.seq, problems, notes)


def read(path: str | Path) -> Checkpoint:
    """A checkpoint from its file.

    Raises:
        AuditError: There is none.
    """
    try:
        return Checkpoint.model_validate(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise AuditError(f"Expected a checkpoint or a hash, got {path}: {error.strerror}; check the path.") from error
    except (ValueError, ValidationError):
        what = f"Expected a checkpoint in {path}, got something else; `audit checkpoint` writes one."
        raise AuditError(what) from None


def _check(checkpoint: Checkpoint, key: Key | None) -> tuple[str | None, tuple[str, ...]]:
    """What is wrong with the signature, and what must be known about it."""
    signature = checkpoint.signature
    if key is None:
        return None, ("The checkpoint's signature was not checked: no key was given.",) if signature else ()
    if signature is None:
        return "The checkpoint has no signature, and a key was given to check it.", ()
    data, secret = _signed(checkpoint), _bytes(key)
    if (signature.algorithm == "ed25519") != secret.lstrip().startswith(_PEM):
        return f"The checkpoint is signed by {signature.algorithm}, which does not fit the key.", ()
    if _holds(data, signature, secret):
        return None, ()
    return "The checkpoint's signature does not fit the key: it was changed, or signed by another.", ()


def _signed(checkpoint: Checkpoint) -> bytes:
    return canonical(checkpoint.model_dump(mode="json", exclude={"signature"}))


def _bytes(key: Key) -> bytes:
    secret = key.encode() if isinstance(key, str) else key
    if not secret.strip():
        raise ConfigurationError("Expected a key for the checkpoint, got an empty one.")
    return secret


def _sign(data: bytes, secret: bytes) -> Signature:
    if not secret.lstrip().startswith(_PEM):
        return Signature(algorithm="hmac-sha256", value=hmac.new(secret, data, hashlib.sha256).hexdigest())
    private = _load(secret, private=True)
    return Signature(algorithm="ed25519", value=private.sign(data).hex())


def _holds(data: bytes, signature: Signature, secret: bytes) -> bool:
    if signature.algorithm == "hmac-sha256":
        return hmac.compare_digest(hmac.new(secret, data, hashlib.sha256).hexdigest(), signature.value)
    from cryptography.exceptions import InvalidSignature

    try:
        _load(secret, private=False).verify(bytes.fromhex(signature.value), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _load(pem: bytes, *, private: bool) -> Any:
    try:
        from cryptography.hazmat.primitives import serialization as forms
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigurationError(_NEEDS) from None
    try:
        if b"PRIVATE" in pem:
            key: Any = forms.load_pem_private_key(pem, password=None)
            key = key if private else key.public_key()
        else:
            key = forms.load_pem_public_key(pem)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(f"Expected an Ed25519 key as PEM without a password: {error}") from None
    wanted = ed25519.Ed25519PrivateKey if private else ed25519.Ed25519PublicKey
    if not isinstance(key, wanted):
        what = "private" if private else "public"
        raise ConfigurationError(f"Expected a {what} Ed25519 key, got {type(key).__name__.lstrip('_')}.")
    return key
