"""What the audit's tests share: a sample document, logs, and arbiters that write to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arbiter_rag import Arbiter, ParsedDocument, RetrievalResult, samples
from arbiter_rag.audit import AuditLog

QUESTIONS = (
    "What is the deductible for water damage?",
    "When can I leave the policy early?",
    "Who won the chess tournament in Reykjavik?",
    "What is covered on page 2?",
    "How do I report a claim?",
)


@pytest.fixture(scope="session")
def policy() -> ParsedDocument:
    """The sample policy, parsed."""
    return ParsedDocument.from_pdf(samples.path("policy_en"))


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    """An empty log."""
    return AuditLog(tmp_path / "audit.jsonl")


@pytest.fixture
def results(log: AuditLog, policy: ParsedDocument) -> list[RetrievalResult]:
    """Five decisions, recorded in the log."""
    return [Arbiter(audit=log).retrieve(question, policy) for question in QUESTIONS]
