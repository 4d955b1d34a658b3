"""Checkpoints: the end of a log cannot be cut off in silence, and nobody can make one without the key."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from arbiter_rag import ConfigurationError, RetrievalResult
from arbiter_rag.audit import AuditLog
from arbiter_rag.errors import AuditError

pytestmark = pytest.mark.usefixtures("results")

SECRET = b"keep it elsewhere"


def _pem(private: ed25519.Ed25519PrivateKey) -> tuple[bytes, bytes]:
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    )


def test_a_cut_end_is_found(log: AuditLog) -> None:
    checkpoint = log.checkpoint()
    lines = log.path.read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        log.path.write_bytes(b"".join(lines[:kept]))
        assert log.verify().ok, "a chain alone cannot show it"
        found = log.verify(checkpoint)
        assert [p.kind for p in found.problems] == ["checkpoint"]


def test_a_log_may_grow_behind_its_checkpoint(log: AuditLog, results: list[RetrievalResult]) -> None:
    checkpoint = log.checkpoint(SECRET)
    log.append(log.get(results[0].record_id or ""))
    assert log.verify(checkpoint, SECRET).ok
    assert log.verify(checkpoint.hash).ok
    assert log.verify(results[-1].record_id).ok, "an id that someone kept is a checkpoint of its own"


def test_a_log_written_anew_is_found(log: AuditLog, results: list[RetrievalResult], tmp_path: Path) -> None:
    checkpoint = log.checkpoint()
    anew = AuditLog(tmp_path / "anew.jsonl")
    for record in reversed(list(log.records())):
        anew.append(record)
    assert anew.verify().ok
    assert not anew.verify(checkpoint).ok
    assert not anew.verify(checkpoint.hash).ok


def test_checkpoints_of_an_empty_log(log: AuditLog) -> None:
    log.path.write_bytes(b"")
    assert log.verify(log.checkpoint()).ok


def test_signatures(log: AuditLog, tmp_path: Path) -> None:
    private, public = _pem(ed25519.Ed25519PrivateKey.generate())
    _, other = _pem(ed25519.Ed25519PrivateKey.generate())
    for key, good, bad in ((SECRET, SECRET, b"another"), (private, public, other), (private, private, SECRET)):
        checkpoint = log.checkpoint(key)
        file = tmp_path / "checkpoint.json"
        file.write_text(checkpoint.to_json(), encoding="utf-8")
        assert log.verify(file, good).ok
        assert [p.kind for p in log.verify(file, bad).problems] == ["signature"]
        forged = checkpoint.model_copy(update={"seq": 1, "hash": next(log.records()).hash})
        assert [p.kind for p in log.verify(forged, good).problems] == ["signature"]
        unchecked = log.verify(checkpoint)
        assert unchecked.ok
        assert "not checked" in unchecked.notes[0]
    assert [p.kind for p in log.verify(log.checkpoint(), SECRET).problems] == ["signature"]


def test_keys_that_are_none(log: AuditLog, monkeypatch: pytest.MonkeyPatch) -> None:
    curve = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _, public = _pem(ed25519.Ed25519PrivateKey.generate())
    for wrong in (b"", b"-----BEGIN NONSENSE-----", curve, public):
        with pytest.raises(ConfigurationError):
            log.checkpoint(wrong)
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"arbiter-rag\[audit\]"):
        log.checkpoint(_pem(ed25519.Ed25519PrivateKey.generate())[0])
    assert log.checkpoint(SECRET).signature is not None


def test_no_checkpoint_vouches_for_a_changed_log(log: AuditLog, tmp_path: Path) -> None:
    log.path.write_bytes(log.path.read_bytes().replace(b"water", b"waver", 1))
    with pytest.raises(AuditError, match="verifies"):
        log.checkpoint()
    with pytest.raises(AuditError, match="checkpoint"):
        log.verify(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text("[]", encoding="utf-8")
    with pytest.raises(AuditError, match="something else"):
        log.verify(tmp_path / "odd.json")
