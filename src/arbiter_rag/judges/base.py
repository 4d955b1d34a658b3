"""What a judge is: the protocol every judge keeps, and the reply it hands to settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from arbiter_rag.contract import Brief


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's reply before anyone has checked it.

    Attributes:
        raw: The reply as text (JSON), or as the parsed JSON value; settle reads both and trusts neither.
        attempts: Requests sent, retries included (0 for a judge that sends none).
        prompt_tokens, completion_tokens: As the provider counted; None where it did not say.
        truncated: True when the provider says that the reply was cut short.
    """

    raw: object
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    truncated: bool = False


@runtime_checkable
class Judge(Protocol):
    """Anything that turns a `Brief` into a reply in the shape of `ArbiterOutput`.

    Raises:
        JudgeError: No usable reply (time-out, connection, 429, 5xx, refusal); the arbiter falls back or raises.
        ConfigurationError: The set-up is wrong; always raised to the caller.
    """

    @property
    def name(self) -> str:
        """How results and audit records name this judge, e.g. `openai:gpt-5-mini`."""
        ...

    @property
    def calls_model(self) -> bool:
        """Whether it asks a model: decides section offers and how calls are counted."""
        ...

    def judge(self, brief: Brief) -> JudgeReply:
        """Judge every candidate of the brief in one go."""
        ...

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """The same without blocking the event loop."""
        ...
