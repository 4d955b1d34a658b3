"""The errors Arbiter raises: one base and its few leaves; a message says what was expected, what came, what to do."""

from __future__ import annotations


class ArbiterError(Exception):
    """Base of every error that this library raises on purpose."""


class InputError(ArbiterError, ValueError):
    """What the caller handed in cannot be used: an empty question, tables without a column, an unreadable lexicon."""


class DocumentError(ArbiterError):
    """A document cannot be opened or read: missing, a folder, not a PDF, encrypted, damaged, without pages."""


class ConfigurationError(ArbiterError):
    """The set-up is wrong: a missing key or package, or a service that answers 400, 401, 403 or 404.

    It always raises, whatever `on_error` says: a wrong key must not run for weeks as rules.
    """


class AuditError(ArbiterError):
    """An audit log cannot be written or read, or is none."""


class JudgeError(ArbiterError):
    """A judge gave no usable verdict: time-out, connection, 429, 5xx, refusal, truncated or unusable reply.

    Args:
        message: One sentence for a person.
        kind: `timeout`, `connection`, `rate_limit`, `server`, `refusal`, `truncated`, `unusable` or `other`.
        attempts: Requests that were sent, retries included.
        prompt_tokens: Prompt tokens that the provider counted before it failed, where it said so.
        completion_tokens: Completion tokens, likewise.
        raw: The reply as text, where there was one (kept for the audit).
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "other",
        attempts: int = 1,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        raw: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.attempts = attempts
        self.prompt_tokens = prompt_tokens
        self.completion_tokens = completion_tokens
        self.raw = raw


class EmbeddingError(ArbiterError):
    """An embedder gave no usable vectors: time-out, connection, 429, 5xx, or a reply that does not fit.

    Args:
        message: One sentence for a person.
        kind: As in `JudgeError`.
        attempts: Requests that were sent, retries included.
    """

    def __init__(self, message: str, *, kind: str = "other", attempts: int = 1) -> None:
        super().__init__(message)
        self.kind = kind
        self.attempts = attempts
