"""What an exception of any provider's client means: it may pass, or the set-up is wrong; no provider is imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from arbiter_rag.errors import ArbiterError, ConfigurationError, EmbeddingError, JudgeError
from arbiter_rag.openai_service.failures import scrubbed

_SET_UP = "set-up"
_LINKS = 6
"""How many causes of an exception are looked at: frameworks wrap the provider's own error once or twice."""

_CLIP = 300

# Parts of class names and of gRPC's code names, without underscores. Order matters: a client's time-out is often a
# subclass of its connection error, and "service unavailable" is the server's doing, not the connection's.
_NAMES: tuple[tuple[str, str], ...] = (
    (r"timeout|timedout|deadlineexceeded", "timeout"),
    (r"ratelimit|toomanyrequests|resourceexhausted|throttl|quotaexceeded", "rate_limit"),
    (r"contentfilter|refusal|blockedprompt|safety", "refusal"),
    (r"lengthfinish", "truncated"),
    (r"outputparser|jsondecode|validationerror", "unusable"),
    (
        r"authenticat|permission|unauthori[sz]ed|forbidden|credential|notfound|badrequest|invalidrequest"
        r"|invalidargument|unprocessable|contextoverflow|importerror|notimplemented",
        _SET_UP,
    ),
    (r"internalserver|unavailable|overloaded|servererror|badgateway|modelapierror", "server"),
    (r"connect|network|protocolerror|readerror|writeerror|gaierror|sslerror", "connection"),
)
_PATTERNS = tuple((re.compile(pattern), kind) for pattern, kind in _NAMES)

# A missing key, or an argument that a client does not know, comes in exceptions of no telling type.
_SAYS_SET_UP = re.compile(
    r"api[_ -]?key|authentication method|credentials? (?:were|was)? ?not|unexpected keyword argument", re.IGNORECASE
)
# What is left in an async client of an event loop that is gone, or runs elsewhere: its connections, its locks.
_OTHER_LOOP = re.compile(r"event loop is closed|different (?:event )?loop", re.IGNORECASE)
ELSEWHERE = "the async client belongs to another event loop; the sync client is asked in a thread instead."
_FILTERED = re.compile(r"content_filter|ResponsibleAIPolicy", re.IGNORECASE)
_PASSING_4XX = {408: "timeout", 409: "server", 425: "server", 429: "rate_limit"}


def judge_failure(error: Exception, model: str) -> ArbiterError:
    """The error to raise for an exception of a chat model's call: `JudgeError`, or `ConfigurationError`."""
    return _error(error, model, "the model, its name, key and parameters", JudgeError)


def embedding_failure(error: Exception, model: str) -> ArbiterError:
    """The same for an embedding model: `EmbeddingError`, or `ConfigurationError`."""
    return _error(error, model, "the embedding model, its name, key and parameters", EmbeddingError)


def kind_of(error: BaseException) -> str:
    """`set-up`, or a kind of `JudgeError`; `other` for what says nothing."""
    links = list(_chain(error))
    for look in (_by_status, _by_name, _by_words):
        for link in links:
            kind = look(link)
            if kind is not None:
                return kind
    return "other"


def of_another_loop(error: BaseException) -> bool:
    """Whether a call failed because its async client belongs to an event loop that is closed, or another one."""
    return any(isinstance(link, RuntimeError) and _OTHER_LOOP.search(str(link)) for link in _chain(error))


def _error(error: Exception, model: str, what: str, passing: Callable[..., ArbiterError]) -> ArbiterError:
    if isinstance(error, ArbiterError):
        return error
    if of_another_loop(error):
        return ConfigurationError(
            f"The async client of {model} belongs to another event loop, such as that of an earlier asyncio.run, and "
            "its sync client did not help; ask all questions in one asyncio.run, or make the model anew in each."
        )
    kind = kind_of(error)
    said = " ".join(str(error).split())[:_CLIP].rstrip(".")
    message = scrubbed(f"{model} failed with {type(error).__name__}{': ' + said if said else ''}.")
    if kind == _SET_UP:
        return ConfigurationError(f"{message} Check {what}.")
    return passing(message, kind=kind, attempts=1)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(_LINKS):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _by_status(error: BaseException) -> str | None:
    status = next((s for s in _statuses(error) if 400 <= s < 600), None)
    if status is None:
        return None
    if status in _PASSING_4XX:
        return _PASSING_4XX[status]
    if status >= 500:
        return "timeout" if status == 504 else "server"
    return "refusal" if status == 400 and _FILTERED.search(str(error)) else _SET_UP


def _statuses(error: BaseException) -> Iterator[int]:
    """HTTP statuses where clients keep them: on the error, on its response, or in the body that it carries."""
    response = getattr(error, "response", None)
    holders: list[Any] = [error, response, *(a for a in error.args[:1] if isinstance(a, Mapping))]
    if isinstance(response, Mapping):  # botocore
        holders.append(response.get("ResponseMetadata"))
    for holder in holders:
        for name in ("status_code", "http_status", "status", "code", "HTTPStatusCode"):
            value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                yield int(value)


def _by_name(error: BaseException) -> str | None:
    names = [c.__name__ for c in type(error).__mro__ if c not in (Exception, BaseException, object, ValueError)]
    names += [str(getattr(error, "status", "")), _grpc_code(error), _aws_code(error)]
    folded = " ".join(names).replace("_", "").casefold()
    found = next((kind for pattern, kind in _PATTERNS if pattern.search(folded)), None)
    return "connection" if found is None and isinstance(error, OSError) else found


def _grpc_code(error: BaseException) -> str:
    code = getattr(error, "code", None)
    return str(getattr(code(), "name", "")) if callable(code) else ""


def _aws_code(error: BaseException) -> str:
    response = getattr(error, "response", None)
    detail = response.get("Error") if isinstance(response, Mapping) else None
    return str(detail.get("Code", "")) if isinstance(detail, Mapping) else ""


def _by_words(error: BaseException) -> str | None:
    if _SAYS_SET_UP.search(str(error)):
        return _SET_UP
    # langchain-openai hands on what a gateway reports in a reply that is formally a success.
    return "server" if error.args and isinstance(error.args[0], Mapping) else None
