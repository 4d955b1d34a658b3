"""Exceptions of many providers' clients: which may pass, and which say that the set-up is wrong."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import httpx
import openai
import pytest
from langchain_core.exceptions import OutputParserException

from arbiter_rag import ConfigurationError, JudgeError
from arbiter_rag.errors import EmbeddingError
from langchain_arbiter.failures import embedding_failure, judge_failure, kind_of

REQUEST = httpx.Request("POST", "http://x/v1")


def _openai(status: int, kind: type[openai.APIStatusError] = openai.APIStatusError, **body: Any) -> Exception:
    return kind("said so", response=httpx.Response(status, request=REQUEST), body=body or None)


def _named(name: str, text: str = "", base: type[Exception] = Exception, **fields: Any) -> Exception:
    """An exception of a client that is not installed here, with the fields that it carries."""
    error = type(name, (base,), {})(text)
    for field, value in fields.items():
        setattr(error, field, value)
    return error


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class _Code:
    name = "UNAVAILABLE"


class _Denied:
    name = "PERMISSION_DENIED"


PASSING = [
    (TimeoutError(), "timeout"),
    (ConnectionRefusedError("refused"), "connection"),
    (OSError("network down"), "connection"),
    (openai.APITimeoutError(REQUEST), "timeout"),
    (openai.APIConnectionError(request=REQUEST), "connection"),
    (_openai(429, openai.RateLimitError), "rate_limit"),
    (_openai(500, openai.InternalServerError), "server"),
    (_openai(503, openai.InternalServerError), "server"),
    (_openai(504), "timeout"),
    (_openai(408), "timeout"),
    (_openai(409, openai.ConflictError), "server"),
    (httpx.ReadTimeout("slow"), "timeout"),
    (httpx.ConnectError("no"), "connection"),
    (httpx.RemoteProtocolError("cut"), "connection"),
    (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(502, request=REQUEST)), "server"),
    (_named("RateLimitError", status_code=429), "rate_limit"),
    (_named("OverloadedError", status_code=529), "server"),
    (_named("ResourceExhausted", code=HTTPStatus.TOO_MANY_REQUESTS), "rate_limit"),
    (_named("DeadlineExceeded"), "timeout"),
    (_named("ServerError", code=503, status="UNAVAILABLE"), "server"),
    (_named("AioRpcError", code=lambda: _Code), "server"),
    (_named("ClientError", response={"Error": {"Code": "ThrottlingException"}}), "rate_limit"),
    (_caused(_named("ChatGoogleGenerativeAIError", "Error calling model"), _named("APIError", code=429)), "rate_limit"),
    (ValueError({"message": "upstream down", "code": 502}), "server"),
    (ValueError({"message": "upstream down"}), "server"),
    (OutputParserException("no JSON"), "unusable"),
    (_named("ContentFilterFinishReasonError"), "refusal"),
    (_named("OpenAIRefusalError", base=ValueError), "refusal"),
    (RuntimeError("nobody knows"), "other"),
    (TypeError("null value for 'choices'"), "other"),
]

PERMANENT = [
    _openai(400, openai.BadRequestError),
    _openai(401, openai.AuthenticationError),
    _openai(402),
    _openai(403, openai.PermissionDeniedError),
    _openai(404, openai.NotFoundError),
    _openai(413),
    _openai(422, openai.UnprocessableEntityError),
    openai.OpenAIError("Missing credentials. Please pass an `api_key`"),
    httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(401, request=REQUEST)),
    _named("AuthenticationError", status_code=401),
    _named("InvalidArgument", code=HTTPStatus.BAD_REQUEST),
    _named("DefaultCredentialsError", "Your default credentials were not found"),
    _named("NoCredentialsError"),
    _named("AioRpcError", code=lambda: _Denied),
    _named("ClientError", response={"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}),
    _caused(RuntimeError("wrapped"), _named("PermissionDenied")),
    RuntimeError("Event loop is closed"),
    _caused(openai.APIConnectionError(request=REQUEST), RuntimeError("Event loop is closed")),
    _caused(ValueError("x"), RuntimeError("<asyncio.locks.Event> is bound to a different event loop")),
    _caused(ValueError("x"), RuntimeError("Task got Future attached to a different loop")),
    ModuleNotFoundError("No module named 'transformers'"),
    NotImplementedError("no async"),
    TypeError("create() got an unexpected keyword argument 'foo'"),
    TypeError('"Could not resolve authentication method. Expected either api_key or auth_token to be set."'),
    ValueError("Did not find openai_api_key, please add an environment variable"),
]


@pytest.mark.parametrize(("error", "kind"), PASSING, ids=lambda p: p if isinstance(p, str) else type(p).__name__)
def test_what_may_pass(error: Exception, kind: str) -> None:
    found = judge_failure(error, "m")
    assert isinstance(found, JudgeError)
    assert found.kind == kind
    assert isinstance(embedding_failure(error, "m"), EmbeddingError)


@pytest.mark.parametrize("error", PERMANENT, ids=lambda e: type(e).__name__)
def test_what_is_wrong_for_good(error: Exception) -> None:
    assert isinstance(judge_failure(error, "m"), ConfigurationError)
    assert isinstance(embedding_failure(error, "m"), ConfigurationError)


def test_a_status_below_400_says_nothing() -> None:
    assert kind_of(_named("Odd", response=httpx.Response(200, request=REQUEST))) == "other"


def test_azure_content_filter_is_a_refusal() -> None:
    error = openai.BadRequestError(
        "content_filter", response=httpx.Response(400, request=REQUEST), body={"code": "content_filter"}
    )
    assert kind_of(error) == "refusal"


def test_keys_are_not_quoted() -> None:
    error = judge_failure(ValueError("Incorrect API key provided: sk-abcdefgh12345678"), "m")
    assert isinstance(error, ConfigurationError)
    assert "abcdefgh" not in str(error)
