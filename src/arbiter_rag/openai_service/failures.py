"""What a failed request to an OpenAI-compatible service means: passing or permanent, and what to tell the user."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_PASSING_4XX = (408, 409, 425)
_KEY = re.compile(r"\b(?:(?:sk|pk|gsk|xai|key)[-_]|Bearer )[\w*.\-]{5,}[\w*]")
_CLIP = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request.

    Attributes:
        message: One sentence or two for a person.
        kind: As in `JudgeError`.
        permanent: The set-up is wrong; asking again or another question will not help.
        retry: The same request may go through in a moment.
        retry_after: Seconds the service asked to wait.
    """

    message: str
    kind: str = "other"
    permanent: bool = False
    retry: bool = False
    retry_after: float | None = None


def failure_of(error: Exception, *, model: str, where: str) -> Failure | None:
    """The meaning of an exception raised by an `openai` client; None for what is not the service's doing."""
    openai: Any = sys.modules.get("openai")
    if openai is None:
        return None
    if isinstance(error, openai.APITimeoutError):
        return Failure(f"{where} did not answer in time.", kind="timeout")
    if isinstance(error, openai.APIConnectionError):
        return Failure(f"No connection to {where}: {_cause(error)}.", kind="connection", retry=True)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, model, where)
    if isinstance(error, (ValueError, openai.APIError)):
        return Failure(f"{where} sent something that is no reply: {_clipped(str(error))}.", kind="unusable")
    if isinstance(error, openai.OpenAIError):
        return Failure(f"The openai client cannot ask {where}: {_clipped(str(error))}.", permanent=True)
    if isinstance(error, RuntimeError) and "Event loop is closed" in str(error):
        # A caller's async client keeps connections of a loop that has ended; the client drops them and connects anew.
        return Failure(f"No connection to {where}: its event loop is closed.", kind="connection", retry=True)
    return None


def scrubbed(message: str, secrets: Sequence[str] = ()) -> str:
    """The message without keys: services like to quote them back."""
    for secret in secrets:
        if len(secret) > 4:  # placeholders such as "none" are words
            message = message.replace(secret, "[key]")
    return _KEY.sub("[key]", message)


def _of_status(error: Any, model: str, where: str) -> Failure:
    status = int(error.status_code)
    said = _said(error)
    code = str(getattr(error, "code", "") or "")
    if status == 400 and ("content_filter" in code or "ResponsibleAIPolicy" in said):
        return Failure(f"{where} refused the passages (content filter): {said}.", kind="refusal")
    if status == 429:
        spent = "insufficient_quota" in (code, getattr(error, "type", None))
        what = "its quota is used up" if spent else "too many requests"
        return Failure(
            f"{where} answered 429 ({what}): {said}.",
            kind="rate_limit",
            retry=not spent,
            retry_after=_retry_after(error.response.headers),
        )
    if status in _PASSING_4XX:
        return Failure(f"{where} answered {status}: {said}.", kind="server")
    if 400 <= status < 500:
        return Failure(f"{where} answered {status}: {said}. {_advice(status, said, model)}", permanent=True)
    return Failure(
        f"{where} answered {status}: {said}.",
        kind="server",
        retry=status == 503,
        retry_after=_retry_after(error.response.headers),
    )


def _advice(status: int, said: str, model: str) -> str:
    lower = said.lower()
    if status == 401:
        return "The key was not accepted: check OPENAI_API_KEY or api_key=."
    if status == 402:
        return "The account has no credit left."
    if status == 403:
        return f"This key may not use {model!r} here: check the project, region or model."
    if status == 404:
        return (
            f"Either the model {model!r} is unknown there or the address is wrong: check model= and base_url= "
            '(it usually ends in /v1); a server without /responses needs api="chat".'
        )
    if status == 413 or ("context" in lower and any(word in lower for word in ("length", "window", "size"))):
        return "The prompt is too long for this model: lower max_prompt_tokens or take a model with a longer context."
    if any(word in lower for word in ("response_format", "json_schema", "text.format", "schema", "grammar")):
        return "This server or model does not take a JSON schema: choose one that does, or pass structured=False."
    if "temperature" in lower or "max_tokens" in lower or "max_completion_tokens" in lower or "reasoning" in lower:
        return f"{model!r} does not take this parameter: leave temperature=, reasoning_effort= and the like unset."
    return "Check model=, base_url= and api=."


def _said(error: Any) -> str:
    """What the service wrote, in whatever shape its error body has."""
    body: Any = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        found = inner.get("message") or inner.get("detail") if isinstance(inner, Mapping) else inner
        body = found or body
    return _clipped(str(body if body else error.message))


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error.__context__ or error
    return _clipped(str(cause) or type(cause).__name__)


def _clipped(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _CLIP else line[: _CLIP - 1] + "…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the service says: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    millis, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if millis is not None:
            return max(0.0, float(millis) / 1000)
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
