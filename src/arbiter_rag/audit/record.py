"""What is kept of one decision: everything that went in, what was asked, what came back, and what became of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import BaseModel, Field

from arbiter_rag.contract import Brief, Contract, HeadingSource, Passage, RetrievalResult, Status
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import Judge, JudgeReply
from arbiter_rag.lexicon import Concept, Lexicon
from arbiter_rag.openai_service.failures import scrubbed
from arbiter_rag.prompt import system_prompt, user_prompt

Kind = Literal["retrieve", "rank"]

FORMAT = 1
"""Version of the record's form; readers know all earlier ones."""

_SECRET = re.compile(r"(?i)api[-_]?key|authori[sz]ation|secret|passw|credential|headers|(?:^|[-_])token$")
_DEEPEST = 20
_PROMPTS = frozenset({"messages", "instructions", "input", "prompt", "system"})


class Settings(Contract):
    """How the arbiter was set up, as far as it decides what comes out.

    Attributes:
        lexicon: The concepts of the user's dictionary that the question names; None without a dictionary.
        own_token_counter: The caller counted tokens in a way of their own, which cannot be recorded.
    """

    max_candidates: int = 10
    max_prompt_tokens: int = 16_000
    max_context_tokens: int = 1_500
    instructions: str | None = None
    on_error: Literal["fallback", "raise"] = "fallback"
    on_unverified: Literal["demote", "flag", "discard"] = "demote"
    shuffle_seed: int | None = None
    judge: str = "rules"
    calls_model: bool = False
    embedder: str | None = None
    lexicon: tuple[Concept, ...] | None = None
    own_token_counter: bool = False


class Request(Contract):
    """What the judge was asked.

    Attributes:
        sent: True when a model was asked; rules read the brief itself.
        model: Where the judge says it.
        parameters: Of the completion, without prompts and without anything that could be a key.
        system: The system turn, exactly as sent.
        user: The user turn, exactly as sent.
    """

    sent: bool
    model: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    system: str = ""
    user: str = ""


class Reply(Contract):
    """The judge's reply before anyone has checked it.

    Attributes:
        text: The reply.
        form: `text` as it came; `json`: it came parsed, this is its JSON; `repr`: it was nothing that JSON can hold.
    """

    text: str
    form: Literal["text", "json", "repr"] = "text"
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    truncated: bool = False

    def as_given(self) -> JudgeReply:
        """What settle is given."""
        raw = json.loads(self.text) if self.form == "json" else self.text if self.form == "text" else None
        return JudgeReply(raw, self.attempts, self.prompt_tokens, self.completion_tokens, self.truncated)


class Failure(Contract):
    """Why the chosen judge did not decide."""

    message: str
    kind: str = "other"
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    raw: str | None = None

    def as_error(self) -> JudgeError:
        """The error that was raised."""
        return JudgeError(
            self.message,
            kind=self.kind,
            attempts=self.attempts,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            raw=self.raw,
        )


class LineRun(Contract):
    """Lines of one page that follow one another, joined by line feeds; `furniture` are headers and footers in it."""

    page: int
    line: int
    text: str
    furniture: tuple[int, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The lines."""
        return self.text.split("\n")


class RecordedLines(Contract):
    """Of one document, the lines that settling read: contexts with what stands around them, boxes of what was quoted.

    Attributes:
        runs: In reading order.
        boxes: (page, line, x0, y0, x1, y1).
    """

    doc_id: str
    headings: HeadingSource = "none"
    runs: tuple[LineRun, ...] = ()
    boxes: tuple[tuple[int, int, float, float, float, float], ...] = ()


class AuditRecord(Contract):
    """One decision as the audit keeps it.

    Attributes:
        record_id: The first 16 digits of `hash`; empty before it is written.
        hash, prev, seq: Its place in the chain.
        time: When it was decided, UTC.
        library: Version of this library.
        kind: `retrieve` (our detectors proposed) or `rank` (the caller did).
        passages: What the caller proposed.
        brief: Everything the judgement rested on: parsed question, plan, hits, candidates, coverage.
        lines: What settling read of the documents.
        reply: None when nobody was asked, or nothing came back.
        failure: Why the chosen judge did not decide.
        result: None when the failure was raised.
        timings: Milliseconds: `total`, `judge`, `embed`.
        redacted: How texts were redacted.
    """

    record_id: str = ""
    hash: str = ""
    prev: str = ""
    seq: int = 0
    time: datetime
    library: str = ""
    kind: Kind = "retrieve"
    settings: Settings = Settings()
    passages: tuple[Passage, ...] = ()
    brief: Brief
    lines: tuple[RecordedLines, ...] = ()
    request: Request | None = None
    reply: Reply | None = None
    failure: Failure | None = None
    result: RetrievalResult | None = None
    timings: dict[str, float] = Field(default_factory=dict)
    redacted: Literal["drop", "hash"] | None = None

    @property
    def question(self) -> str:
        """The question as asked."""
        return self.brief.question.text

    @property
    def status(self) -> Status | Literal["failed"]:
        """The result's status; `failed` when there is no result."""
        return self.result.status if self.result is not None else "failed"

    def sealed(self, record_id: str, digest: str, prev: str, seq: int) -> AuditRecord:
        """The record with its place in the chain, which its result names too."""
        result = self.result and self.result.model_copy(update={"record_id": record_id})
        return self.model_copy(
            update={"record_id": record_id, "hash": digest, "prev": prev, "seq": seq, "result": result}
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What the main path knows when it has decided; `documents` are those that settling could read."""

    kind: Kind
    settings: Settings
    judge: Judge
    brief: Brief
    documents: Mapping[str, ParsedDocument] = field(default_factory=dict)
    passages: Sequence[Passage] = ()
    reply: JudgeReply | None = None
    failure: JudgeError | None = None
    result: RetrievalResult | None = None


def named_concepts(lexicon: Lexicon | None, brief: Brief) -> tuple[Concept, ...] | None:
    """The part of a dictionary that a question used: with it alone the question is parsed in the same way."""
    if lexicon is None:
        return None
    used = {keyword.concept for keyword in brief.question.keywords}
    return tuple(concept for concept in lexicon.concepts if concept.name in used)


def record_of(decision: Decision, result: RetrievalResult | None, timings: Mapping[str, float]) -> AuditRecord:
    """The record of a decision that was made now; `result` is its result with the time it took."""
    from arbiter_rag.audit.lines import read_lines

    failure = decision.failure
    return AuditRecord(
        time=datetime.now(UTC),
        library=_library(),
        kind=decision.kind,
        settings=decision.settings,
        passages=tuple(decision.passages),
        brief=decision.brief,
        lines=read_lines(decision.documents, decision.brief, result),
        request=request_of(decision.judge, decision.brief) if decision.brief.candidates else None,
        reply=_reply(decision.reply) if decision.reply is not None else None,
        failure=None
        if failure is None
        else Failure(
            message=scrubbed(str(failure)),
            kind=failure.kind,
            attempts=failure.attempts,
            prompt_tokens=failure.prompt_tokens,
            completion_tokens=failure.completion_tokens,
            raw=failure.raw,
        ),
        result=result,
        timings={name: round(value, 3) for name, value in timings.items()},
    )


def request_of(judge: Judge, brief: Brief) -> Request:
    """What a judge asks: by its own `request(brief)` where it has one, else the prompts alone."""
    given = _own_request(judge, brief)
    system, user = _turns(given)
    parameters = {
        key: _plain(value) for key, value in given.items() if key not in _PROMPTS and not _SECRET.search(str(key))
    }
    model = given.get("model") or getattr(judge, "model", None)
    return Request(
        sent=judge.calls_model,
        model=model if isinstance(model, str) else None,
        parameters=parameters,
        system=system if system is not None else system_prompt(brief),
        user=user if user is not None else user_prompt(brief),
    )


def _own_request(judge: Judge, brief: Brief) -> Mapping[str, Any]:
    make = getattr(judge, "request", None)
    try:
        given = make(brief) if callable(make) else None
    except TypeError:  # another method of that name
        given = None
    return given if isinstance(given, Mapping) else {}


def _turns(given: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """System and user turn of a request, in either of the two forms of OpenAI's API."""
    if isinstance(given.get("input"), str):
        return given.get("instructions"), given["input"]
    turns: dict[str, str] = {}
    for message in given.get("messages") or ():
        if isinstance(message, Mapping) and isinstance(message.get("content"), str):
            turns.setdefault(str(message.get("role")), message["content"])
    return turns.get("system", turns.get("developer")), turns.get("user")


def _plain(value: Any, depth: int = 0) -> Any:
    """A parameter as JSON, without what could be a key; an object of another kind is named by its type alone."""
    if isinstance(value, str):
        return scrubbed(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {str(k): _plain(v, depth + 1) for k, v in value.items() if not _SECRET.search(str(k))}
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return [_plain(item, depth + 1) for item in value]
    return f"<{type(value).__name__}>"


def _reply(reply: JudgeReply) -> Reply:
    raw, form = reply.raw, "text"
    if isinstance(raw, bytes):
        text = raw.decode("utf-8", "replace")
    elif isinstance(raw, str):
        text = raw
    else:
        form = "json"
        try:
            value = raw.model_dump(mode="json") if isinstance(raw, BaseModel) else raw
            text = json.dumps(value, ensure_ascii=False, default=dict)
        except (TypeError, ValueError, RecursionError):
            text, form = f"<{type(raw).__name__}>", "repr"
    return Reply.model_validate(
        {
            "text": text,
            "form": form,
            "attempts": reply.attempts,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "truncated": reply.truncated,
        }
    )


@cache
def _library() -> str:
    try:
        return version("arbiter-rag")
    except PackageNotFoundError:
        return "0+unknown"
