"""What an exception out of any provider's client means: a passing failure of the judge, or a set-up that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arbiter_rag.errors import ArbiterError, ConfigurationError, JudgeError

_PASSING_4XX = {408: "timeout", 409: "server", 425: "server", 429: "rate_limit"}
_LIMIT = 300

# Names of exceptions where a client gives no status: botocore, google.api_core, grpc, litellm, httpx, requests, ...
_NAMES: tuple[tuple[re.Pattern[str], str | None], ...] = (
    (re.compile(r"ContentFilter|ContentPolicy|Refusal|BlockedPrompt|StopCandidate"), "refusal"),
    (re.compile(r"Time(?:d)?_?[Oo]ut|DeadlineExceeded"), "timeout"),
    (re.compile(r"RateLimit|TooManyRequests|ResourceExhausted|Throttl|QuotaExceeded"), "rate_limit"),
    (re.compile(r"ServiceUnavailable|InternalServer|Overloaded|BadGateway|ServerError"), "server"),
    (
        re.compile(
            r"Authentication|Unauthenticated|Unauthorized|PermissionDenied|Forbidden|Credential|NotFound|BadRequest"
            r"|InvalidRequest|InvalidArgument|UnprocessableEntity|ValidationException|AccessDenied|NotImplemented"
        ),
        None,
    ),
    (re.compile(r"Connect|NetworkError|RemoteProtocol|ReadError|WriteError|SSLError|gaierror"), "connection"),
)
_SET_UP = re.compile(
    r"api[_ ]?key|credential|authentication method|unknown model|environment variable|valid \w+ model name"
    r"|please install|pip install"
    # packages whose versions do not go together
    r"|unexpected keyword argument|cannot instantiate|required (?:positional|keyword)|positional argument|not callable",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[_ ]?(?:filter|management policy)|ResponsibleAIPolicy", re.IGNORECASE)
_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai|AIza|Bearer)[-_ ]?[\w*.\-]{12,}")


def arbiter_error(error: Exception, where: str) -> ArbiterError:
    """The error to raise instead of a client's own; the client's becomes its cause.

    Args:
        error: What the client raised; wrappers of retrying libraries are looked through.
        where: Who was asked, for the message.

    Returns:
        `ConfigurationError` for 400, 401, 403, 404 and the like, a missing key or package; else `JudgeError` with its
        kind. What nobody knows counts as `other`: the rules then decide, and the result says so.
    """
    chain = list(_chain(error))
    for one in chain:
        if isinstance(one, ArbiterError):
            return one
    said = _KEY.sub("[key]", next((line for e in chain if (line := " ".join(str(e).split()))), type(error).__name__))
    said = said if len(said) <= _LIMIT else said[: _LIMIT - 1] + "…"
    for one in chain:
        if (kind := _kind(one)) != "":
            return _made(kind, f"{where} could not be asked ({type(one).__name__}): {said.rstrip('.')}.")
    return JudgeError(f"{where} gave no usable reply ({type(error).__name__}): {said.rstrip('.')}.", kind="other")


def _made(kind: str | None, message: str) -> ArbiterError:
    if kind is None:
        return ConfigurationError(f"{message} Check the LLM's key, model and settings.")
    return JudgeError(message, kind=kind)


def _kind(error: BaseException) -> str | None:
    """The kind of a passing failure, None for a wrong set-up, "" where this exception does not tell."""
    status = _status(error)
    if status is not None and status >= 400:
        if status == 400 and _FILTERED.search(str(error)):
            return "refusal"
        return "server" if status >= 500 else _PASSING_4XX.get(status)
    if isinstance(error, ImportError | NotImplementedError):
        return None
    names = [cls.__name__ for cls in type(error).__mro__ if cls not in (Exception, BaseException, object)]
    for pattern, kind in _NAMES:
        if any(pattern.search(name) for name in names):
            return kind
    if isinstance(error, OSError):
        return "connection"
    # openai's own base class is what it raises for a key that is missing; LlamaIndex and others raise ValueError.
    if type(error).__name__ == "OpenAIError" or _SET_UP.search(str(error)):
        return None
    return ""


def _status(error: BaseException) -> int | None:
    """The HTTP status, wherever this client keeps it."""
    response = getattr(error, "response", None)
    metadata = response.get("ResponseMetadata") if isinstance(response, dict) else None  # botocore
    places = [getattr(error, name, None) for name in ("status_code", "http_status", "status", "code")]
    places.append(getattr(response, "status_code", None))
    places.append(metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None)
    numbers = (int(p) for p in places if isinstance(p, int) and not isinstance(p, bool))
    return next((n for n in numbers if 100 <= n < 600), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what a retrying wrapper holds (tenacity), and what caused it."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        attempt = getattr(one, "last_attempt", None)
        inner = attempt.exception() if attempt is not None and callable(getattr(attempt, "exception", None)) else None
        todo += [inner, one.__cause__]
