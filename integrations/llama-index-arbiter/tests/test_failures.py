"""What exceptions of any provider's client mean."""

from __future__ import annotations

import httpx
import pytest
from llama_index.core.schema import NodeWithScore
from llama_scenes import QUESTION, MakeLLM, native

from arbiter_rag import ConfigurationError, JudgeError, RetrievalResult
from arbiter_rag.testing import Reply, ScriptedServer
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor
from llama_index.postprocessor.arbiter.failures import arbiter_error


def made(name: str, *bases: type[Exception], said: str = "said so", **attributes: object) -> Exception:
    """An exception as a client that is not installed would raise it."""
    error = type(name, bases or (Exception,), {})(said)
    for key, value in attributes.items():
        setattr(error, key, value)
    return error


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


class _Attempt:
    def exception(self) -> Exception:
        return made("InternalServerError", status_code=500)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ConnectError("refused"), "connection"),
        (httpx.RemoteProtocolError("gone"), "connection"),
        (ConnectionResetError("gone"), "connection"),
        (OSError("no route"), "connection"),
        (made("APITimeoutError"), "timeout"),
        (made("DeadlineExceeded", code=504), "server"),
        (made("RateLimitError", status_code=429), "rate_limit"),
        (made("ClientError", code=429), "rate_limit"),  # google.genai
        (made("ResourceExhausted"), "rate_limit"),  # google.api_core
        (made("ThrottlingException"), "rate_limit"),
        (made("OverloadedError", status_code=529), "server"),  # anthropic
        (made("ServerError", code=503), "server"),
        (made("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 503}}), "server"),  # botocore
        (made("HTTPStatusError", response=httpx.Response(502)), "server"),
        (made("BadRequestError", status_code=400, said="content_filter triggered"), "refusal"),
        (made("ContentPolicyViolationError"), "refusal"),
        (made("RetryError", last_attempt=_Attempt()), "server"),  # tenacity
        (caused(RuntimeError("gave up"), TimeoutError()), "timeout"),
        (IndexError("list index out of range"), "other"),
        (TypeError("'NoneType' object is not subscriptable"), "other"),  # a gateway's null where choices belong
        (ValueError("no JSON"), "other"),
        (RuntimeError("something"), "other"),
    ],
)
def test_passing_failures(error: Exception, kind: str) -> None:
    meant = arbiter_error(error, "The LLM m")
    assert isinstance(meant, JudgeError)
    assert meant.kind == kind


@pytest.mark.parametrize(
    "error",
    [
        *(made("APIStatusError", status_code=status) for status in (400, 401, 402, 403, 404, 413, 422)),
        made("ClientError", code=400),
        made("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 403}}),
        made("NoCredentialsError"),
        made("PermissionDenied"),
        made("NotFound"),
        made("OpenAIError", said="The client was made without a key"),
        made("LiteLLMError", said="LLM Provider NOT provided, set your API key"),
        ImportError("No module named 'openai'"),
        NotImplementedError(),
        ValueError("No API key found for OpenAI."),
        ValueError("Unknown model 'gpt-99'. Please provide a valid OpenAI model name."),
        TypeError("Could not resolve authentication method. Expected either api_key or auth_token to be set."),
        TypeError("create() got an unexpected keyword argument 'format'"),
        TypeError("Cannot instantiate typing.Union"),
    ],
    ids=repr,
)
def test_a_wrong_set_up_always_raises(error: Exception) -> None:
    assert isinstance(arbiter_error(error, "The LLM m"), ConfigurationError)


def test_our_own_errors_stay_what_they_are_and_keys_are_hidden() -> None:
    own = JudgeError("known", kind="refusal")
    assert arbiter_error(caused(RuntimeError("wrapped"), own), "x") is own
    assert "sk-abcdef0123456789" not in str(arbiter_error(ValueError("bad sk-abcdef0123456789 key"), "x"))


async def both_forms(llm_post: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> list[RetrievalResult]:
    return [
        llm_post.postprocess_result(nodes, query_str=QUESTION),
        await llm_post.apostprocess_result(nodes, query_str=QUESTION),
    ]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_wrong_key_or_model_raises_over_http(
    make_llm: MakeLLM, nodes: list[NodeWithScore], status: int
) -> None:
    with ScriptedServer(lambda _: Reply("no", status=status)) as server:
        post = ArbiterNodePostprocessor(make_llm(server))
        with pytest.raises(ConfigurationError):
            post.postprocess_nodes(nodes, query_str=QUESTION)
        with pytest.raises(ConfigurationError):
            await post.apostprocess_nodes(nodes, query_str=QUESTION)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("busy", status=429),
        Reply("down", status=500),
        Reply("down", status=503),
        Reply(drop_after=-1),
        Reply(choices=False),
        Reply(refusal="I will not."),
        Reply("", finish="content_filter"),
        Reply("I cannot say.", as_tool=False),
        Reply(raw=b"<html>", content_type="text/html"),
    ],
    ids=["429", "500", "503", "dropped", "no choices", "refusal", "filtered", "prose", "html"],
)
async def test_a_failure_degrades_and_loses_nothing(
    make_llm: MakeLLM, nodes: list[NodeWithScore], reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedServer(lambda _: reply) as server:
        post = ArbiterNodePostprocessor(make_llm(server))
        for result in await both_forms(post, nodes):
            assert result.status == "degraded"
            assert result.error
            assert not result.not_found
            placed = [*result.candidates, *result.discarded, *result.unjudged]
            assert {c.original_id for c in placed} == {n.node_id for n in nodes}
            assert not result.discarded
            assert result.usage.calls == 1
        assert server.count() == 2
        assert "degraded" in caplog.text
        with pytest.raises(JudgeError):
            post.model_copy(update={"on_error": "raise"}).postprocess_nodes(nodes, query_str=QUESTION)


async def test_a_timeout_is_the_llms_own_setting(nodes: list[NodeWithScore]) -> None:
    with ScriptedServer(lambda _: Reply("late", delay=5)) as server:
        post = ArbiterNodePostprocessor(native(server, timeout=0.2))
        for result in await both_forms(post, nodes):
            assert result.status == "degraded"
