"""What a scripted server can be told to reply, and ready-made scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from arbiter_rag.testing.judges import quote_from

Finish = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came in: header names in lower case, without those that carry keys."""

    path: str
    headers: Mapping[str, str]
    body: Any
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply by script.

    Attributes:
        content: What the model says: a string as it is, anything else as JSON; None for no content.
        status: HTTP status; from 400 on the body is an error whose message is `content`.
        code: The error's code.
        headers: Further response headers, such as `Retry-After`.
        delay: Seconds before the reply begins.
        finish: Why the model stopped.
        refusal: The model refuses with these words.
        choices: False sends a reply without choices (chat) or output (responses).
        raw: Send these bytes as the body instead of anything above.
        content_type: Of the body.
        drop_after: Close the connection after this many bytes of the body; -1 before the status line.
        drip: Seconds between single bytes of the body.
        as_tool: False answers in text where the request offers tools.
        tool_calls: (name, arguments) of the calls to make; None makes one call of the tool that the request offers.
        prompt_tokens, completion_tokens: Of the usage; None leaves the usage out.
    """

    content: Any = ""
    status: int = 200
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish: Finish = "stop"
    refusal: str | None = None
    choices: bool = True
    raw: bytes | None = None
    content_type: str = "application/json"
    drop_after: int | None = None
    drip: float = 0.0
    as_tool: bool = True
    tool_calls: Sequence[tuple[str, Any]] | None = None
    prompt_tokens: int | None = 100
    completion_tokens: int | None = 20

    @property
    def text(self) -> str | None:
        """The content as the string a model would send."""
        if self.content is None or isinstance(self.content, str):
            return self.content
        if isinstance(self.content, BaseModel):
            return self.content.model_dump_json()
        return json.dumps(self.content, ensure_ascii=False)


Scripted = Reply | BaseModel | Mapping[str, Any] | Sequence[Any] | str | bytes | int
"""A `Reply`, or short for one: text, a value sent as JSON text, bytes as the raw body, a number as an error status."""

Script = Scripted | Sequence[Scripted] | Callable[[RecordedRequest], Scripted]


def reply_of(value: Scripted) -> Reply:
    """The `Reply` that a short form stands for."""
    if isinstance(value, Reply):
        return value
    if isinstance(value, bytes):
        return Reply(raw=value)
    if isinstance(value, int):
        return Reply(f"scripted status {value}", status=value)
    return Reply(value)


def candidates_in(request: RecordedRequest) -> list[dict[str, Any]] | None:
    """The candidates of Arbiter's own prompt in a chat or responses request; None where there are none."""
    decoder = json.JSONDecoder()
    for text in _texts(request.body):
        at = text.find('{"question"')
        while at >= 0:
            try:
                value, _ = decoder.raw_decode(text, at)
            except ValueError:
                value = None
            candidates = value.get("candidates") if isinstance(value, dict) else None
            if isinstance(candidates, list):
                return candidates
            at = text.find('{"question"', at + 1)
    return None


Verdicts = Callable[[list[dict[str, Any]]], Mapping[str, Any]]


def answering(
    verdicts: Verdicts | Mapping[str, Any] | None = None,
    *,
    otherwise: Scripted = "A scripted answer.",
    delay: float = 0.0,
) -> Callable[[RecordedRequest], Reply]:
    """A script that judges exactly the candidates of the request, and answers other requests with `otherwise`.

    Args:
        verdicts: Candidate id -> role, or -> fields of the ranking; or a function of the candidates shown (dicts as in
            the prompt) that gives such a mapping. What it leaves out is discarded. By default the first is primary
            and the others tangential. Where no quote is given, primary and supporting quote their snippet.
        otherwise: The reply to requests that are not Arbiter's, such as an engine's synthesis.
        delay: Seconds before each verdict.
    """

    def script(request: RecordedRequest) -> Reply:
        candidates = candidates_in(request)
        if candidates is None:
            return reply_of(otherwise)
        if verdicts is None:
            given: Mapping[str, Any] = {
                c["candidate_id"]: "tangential" if at else "primary" for at, c in enumerate(candidates)
            }
        else:
            given = verdicts(candidates) if callable(verdicts) else verdicts
        rankings = [_ranking(candidate, given.get(candidate["candidate_id"], "discarded")) for candidate in candidates]
        order = {candidate_id: at for at, candidate_id in enumerate(given)}
        rankings.sort(key=lambda ranking: order.get(ranking["candidate_id"], len(order)))
        return Reply({"rankings": rankings, "conflicts": []}, delay=delay)

    return script


def _ranking(candidate: Mapping[str, Any], given: Any) -> dict[str, Any]:
    fields = {"role": given} if isinstance(given, str) else dict(given)
    role = fields.get("role", "tangential")
    quote = quote_from(candidate.get("snippet", "")) if role in ("primary", "supporting") else None
    ranking = {"candidate_id": candidate["candidate_id"], "reason": f"scripted {role}", "role": role, "quote": quote}
    return {**ranking, **fields}


def _texts(body: Any) -> list[str]:
    """Every text of a request's turns, whatever their nesting."""
    if isinstance(body, str):
        return [body]
    if isinstance(body, list):
        return [text for item in body for text in _texts(item)]
    if isinstance(body, dict):
        keys = ("messages", "input", "content", "text", "instructions", "prompt")
        return [text for key in keys if key in body for text in _texts(body[key])]
    return []
