"""The audit trail, a record of each decision that can be verified, replayed and read: re-exports, nothing else."""

from arbiter_rag.audit.chain import Problem, Verification
from arbiter_rag.audit.checkpoint import Checkpoint
from arbiter_rag.audit.log import AuditLog
from arbiter_rag.audit.record import AuditRecord, Decision, Settings, named_concepts, record_of

__all__ = [
    "AuditLog",
    "AuditRecord",
    "Checkpoint",
    "Decision",
    "Problem",
    "Settings",
    "Verification",
    "named_concepts",
    "record_of",
]
