"""The judge behind OpenAI-compatible APIs, with the real client against the scripted server."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from email.utils import formatdate
from typing import Any

import openai
import pytest

from arbiter_rag.contract import Brief, Candidate, ParsedQuestion, SnippetLine
from arbiter_rag.errors import ConfigurationError, JudgeError
from arbiter_rag.judges.base import Judge
from arbiter_rag.judges.openai import OpenAIJudge
from arbiter_rag.prompt import reply_schema, system_prompt, user_prompt
from arbiter_rag.testing import Reply, ScriptedServer

KEY = "sk-test-0123456789abcdef"
GOOD = {
    "rankings": [
        {"candidate_id": "p1-l1", "reason": "states it", "role": "primary", "quote": "The notice period is 30 days"},
        {"candidate_id": "p2-l4", "reason": "other matter", "role": "discarded", "quote": None},
    ],
    "conflicts": [],
}
APIS = pytest.mark.parametrize("api", ["responses", "chat"])
MODES = pytest.mark.parametrize("mode", ["sync", "async"])


def brief_of(question: str = "How long is the notice period?", ids: tuple[str, ...] = ("p1-l1", "p2-l4")) -> Brief:
    return Brief(
        question=ParsedQuestion(text=question, language="en"),
        candidates=tuple(
            Candidate(candidate_id=i, snippet_lines=(SnippetLine(text="The notice period is 30 days."),)) for i in ids
        ),
    )


def judge_of(server: ScriptedServer, api: str, **options: Any) -> OpenAIJudge:
    options.setdefault("timeout", 20.0)
    return OpenAIJudge("some-model", base_url=server.base_url, api_key=KEY, api=api, **options)


def ask(judge: OpenAIJudge, mode: str, brief: Brief | None = None) -> Any:
    brief = brief or brief_of()
    return judge.judge(brief) if mode == "sync" else asyncio.run(judge.ajudge(brief))


def failure(judge: OpenAIJudge, mode: str = "sync") -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        ask(judge, mode)
    assert KEY not in str(caught.value)
    return caught.value


# --- what is sent, and a good reply -----------------------------------------------------------------------------


@APIS
@MODES
def test_one_completion_with_the_static_schema(api: str, mode: str) -> None:
    with ScriptedServer(Reply(GOOD, prompt_tokens=321, completion_tokens=45)) as server:
        judge = judge_of(server, api)
        assert isinstance(judge, Judge)
        reply = ask(judge, mode)
    assert json.loads(reply.raw) == GOOD
    assert (reply.attempts, reply.prompt_tokens, reply.completion_tokens, reply.truncated) == (1, 321, 45, False)
    assert len(server.requests) == 1
    body = server.requests[0].body
    if api == "responses":
        assert server.count("/v1/responses") == 1
        assert body["instructions"] == system_prompt(brief_of())
        assert body["input"] == user_prompt(brief_of())
        assert body["text"]["format"]["schema"] == reply_schema()
        assert body["text"]["format"]["strict"] is True
        assert body["max_output_tokens"] == 300 + 60 * 2
        assert body["store"] is False
    else:
        assert server.count("/v1/chat/completions") == 1
        assert [turn["content"] for turn in body["messages"]] == [system_prompt(brief_of()), user_prompt(brief_of())]
        assert body["response_format"]["json_schema"]["schema"] == reply_schema()
        assert body["max_tokens"] == 300 + 60 * 2
    assert "temperature" not in body


@APIS
def test_options_reach_the_request(api: str) -> None:
    with ScriptedServer(GOOD) as server:
        judge = judge_of(server, api, temperature=0.0, max_output_tokens=77, reasoning_effort="low", structured=False)
        judge.judge(brief_of())
    body = server.requests[0].body
    assert body["temperature"] == 0.0
    assert 77 in (body.get("max_tokens"), body.get("max_output_tokens"))
    assert "low" in (body.get("reasoning_effort"), (body.get("reasoning") or {}).get("effort"))
    assert "text" not in body
    assert "response_format" not in body
    system = body["instructions"] if api == "responses" else body["messages"][0]["content"]
    assert "nothing else" in system


def test_the_same_brief_gives_the_same_request() -> None:
    judge = OpenAIJudge("m", api_key=KEY)
    assert json.dumps(judge.request(brief_of())) == json.dumps(judge.request(brief_of()))


def test_models_that_think_get_room_for_it() -> None:
    def limit(model: str, **options: Any) -> int:
        return OpenAIJudge(model, api_key=KEY, **options).request(brief_of())["max_output_tokens"]

    assert limit("gpt-4.1-mini") == 420
    assert limit("gpt-5-mini") == 4420
    assert limit("o3") == 4420
    assert limit("gpt-5-mini", reasoning_effort="none") == 420
    assert limit("gpt-5-mini", max_output_tokens=50) == 50


@pytest.mark.parametrize(
    ("base_url", "api"),
    [
        (None, "responses"),
        ("https://api.openai.com/v1", "responses"),
        ("https://eu.api.openai.com/v1/", "responses"),
        ("https://firm.openai.azure.com/openai/v1/", "responses"),
        ("https://firm.services.ai.azure.com/openai/v1", "responses"),
        ("https://firm.openai.azure.com/openai/deployments/mini", "chat"),
        ("http://localhost:11434/v1", "chat"),
        ("https://openrouter.ai/api/v1", "chat"),
        ("https://api.openai.com.evil.example/v1", "chat"),
        ("https://notopenai.com/v1", "chat"),
    ],
)
def test_auto_decides_from_the_base_url_alone(base_url: str | None, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert OpenAIJudge("m", base_url=base_url, api_key=KEY).api == api
    if base_url:
        monkeypatch.setenv("OPENAI_BASE_URL", base_url)
        assert OpenAIJudge("m", api_key=KEY).api == api
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert OpenAIJudge("m", client=openai.OpenAI(base_url=base_url, api_key=KEY)).api == api


def test_auto_with_an_azure_client() -> None:
    endpoint = "https://firm.openai.azure.com"
    with openai.AzureOpenAI(azure_endpoint=endpoint, api_key=KEY, api_version="2025-04-01-preview") as client:
        assert OpenAIJudge("mini", client=client).api == "responses"


def test_auto_asks_a_local_server_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer(GOOD) as server:
        OpenAIJudge("m", base_url=server.base_url).judge(brief_of())  # and needs no key for it
    assert [request.path for request in server.requests] == ["/v1/chat/completions"]


def test_the_environment_is_read_as_the_client_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(GOOD, api_key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert OpenAIJudge("m").judge(brief_of()).attempts == 1


def test_names_and_repr_show_no_key() -> None:
    judge = OpenAIJudge("gpt-x", api_key=KEY)
    assert (judge.name, judge.calls_model) == ("openai:gpt-x", True)
    assert OpenAIJudge("gpt-x", api_key=KEY, name="mine").name == "mine"
    assert KEY not in repr(judge)
    assert KEY not in repr(vars(judge))


# --- replies that are not as asked ------------------------------------------------------------------------------


@APIS
@MODES
@pytest.mark.parametrize("content", ["The second one looks best to me.", {"winner": 3}, "[]", '{"rankings": [{"cand'])
def test_prose_and_wrong_schema_are_left_to_settle(api: str, mode: str, content: Any) -> None:
    with ScriptedServer(Reply(content)) as server:
        reply = ask(judge_of(server, api), mode)
    assert reply.raw == (content if isinstance(content, str) else json.dumps(content))
    assert not reply.truncated
    assert server.count() == 1


@APIS
def test_truncated_output_is_handed_on_and_marked(api: str) -> None:
    with ScriptedServer(Reply(json.dumps(GOOD)[:60], finish="length")) as server:
        reply = judge_of(server, api).judge(brief_of())
    assert reply.truncated
    assert reply.raw == json.dumps(GOOD)[:60]
    assert server.count() == 1


@APIS
def test_a_limit_spent_before_the_first_word(api: str) -> None:
    with ScriptedServer(Reply("", finish="length")) as server:
        error = failure(judge_of(server, api))
    assert (error.kind, error.completion_tokens) == ("truncated", 20)
    assert "max_output_tokens" in str(error)


@APIS
@MODES
def test_refusals(api: str, mode: str) -> None:
    with ScriptedServer(Reply(refusal="I cannot help with that.")) as server:
        error = failure(judge_of(server, api), mode)
    assert (error.kind, error.attempts, error.prompt_tokens) == ("refusal", 1, 100)
    assert "I cannot help" in str(error)


@APIS
def test_content_filters(api: str) -> None:
    with ScriptedServer(Reply("part of", finish="content_filter")) as server:
        assert failure(judge_of(server, api)).kind == "refusal"
    with ScriptedServer(Reply("The prompt was filtered", status=400, code="content_filter")) as server:
        assert failure(judge_of(server, api)).kind == "refusal"


@APIS
@pytest.mark.parametrize(
    "reply",
    [
        Reply(None),
        Reply("  \n"),
        Reply(choices=False),
        Reply(raw=b"{}"),
        Reply(raw=b"[]"),
        Reply(raw=b"null"),
        Reply(raw=b'{"choices": null, "output": null}'),
        Reply(raw=b'{"choices": [null], "output": [null]}'),
        Reply(raw=b'{"choices": [{"message": null}], "output": [{"type": "message", "content": null}]}'),
        Reply(raw=b"<html>proxy page</html>", content_type="text/html"),
        Reply(raw=b'{"choices": [{"mess'),
        Reply(raw=b""),
    ],
    ids=lambda reply: repr(reply.raw or reply.content),
)
def test_empty_and_unreadable_replies(api: str, reply: Reply) -> None:
    with ScriptedServer(reply) as server:
        error = failure(judge_of(server, api))
    assert error.kind == "unusable"
    assert server.count() == 1


def test_a_gateway_that_reports_an_error_as_a_success() -> None:
    with ScriptedServer(Reply(raw=b'{"error": {"message": "upstream is gone", "code": 502}}')) as server:
        error = failure(judge_of(server, "chat"))
    assert error.kind == "server"
    assert "upstream is gone" in str(error)


def test_a_failed_response() -> None:
    body = {"status": "failed", "output": [], "error": {"code": "rate_limit_exceeded", "message": "slow down"}}
    with ScriptedServer(Reply(raw=json.dumps(body).encode())) as server:
        assert failure(judge_of(server, "responses")).kind == "rate_limit"


def test_text_in_parts() -> None:
    parts = [{"type": "text", "text": '{"rankings":'}, {"type": "text", "text": "[]}"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    with ScriptedServer(Reply(raw=json.dumps(body).encode())) as server:
        assert judge_of(server, "chat").judge(brief_of()).raw == '{"rankings":[]}'


# --- failures that may pass -------------------------------------------------------------------------------------


@APIS
@MODES
def test_429_is_retried_as_the_service_asks(api: str, mode: str) -> None:
    with ScriptedServer([Reply("slow", status=429, headers={"Retry-After": "0"}), Reply(GOOD)]) as server:
        reply = ask(judge_of(server, api), mode)
    assert (json.loads(reply.raw), reply.attempts, server.count()) == (GOOD, 2, 2)


@pytest.mark.parametrize("headers", [{"retry-after-ms": "1"}, {"Retry-After": formatdate(usegmt=True)}, {}])
def test_forms_of_retry_after(headers: dict[str, str]) -> None:
    with ScriptedServer([Reply("slow", status=429, headers=headers), Reply(GOOD)]) as server:
        assert judge_of(server, "chat").judge(brief_of()).attempts == 2


@MODES
def test_at_most_two_retries(mode: str) -> None:
    busy = Reply("busy", status=503, headers={"Retry-After": "0"})
    with ScriptedServer([busy, busy, busy, Reply(GOOD)]) as server:
        error = failure(judge_of(server, "chat"), mode)
    assert (error.kind, error.attempts, server.count()) == ("server", 3, 3)


@MODES
def test_a_wait_beyond_the_timeout_is_not_begun(mode: str) -> None:
    with ScriptedServer(Reply("slow", status=429, headers={"Retry-After": "3600"})) as server:
        error = failure(judge_of(server, "chat"), mode)
    assert (error.kind, error.attempts, server.count()) == ("rate_limit", 1, 1)


def test_a_spent_quota_is_not_asked_again() -> None:
    with ScriptedServer(Reply("You exceeded your quota", status=429, code="insufficient_quota")) as server:
        error = failure(judge_of(server, "chat"))
    assert (error.kind, server.count()) == ("rate_limit", 1)


@APIS
@MODES
@pytest.mark.parametrize("status", [500, 502, 529])
def test_5xx_fails_at_once(api: str, mode: str, status: int) -> None:
    with ScriptedServer(Reply("broken", status=status)) as server:
        error = failure(judge_of(server, api), mode)
    assert (error.kind, error.attempts, server.count()) == ("server", 1, 1)
    assert str(status) in str(error)


@MODES
def test_connection_refused(mode: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        error = failure(OpenAIJudge("m", base_url=url, timeout=10), mode)
    assert (error.kind, error.attempts) == ("connection", 3)


@APIS
@MODES
@pytest.mark.parametrize("after", [-1, 40])
def test_a_dropped_connection_is_tried_again(api: str, mode: str, after: int) -> None:
    with ScriptedServer([Reply(GOOD, drop_after=after), Reply(GOOD)]) as server:
        reply = ask(judge_of(server, api), mode)
    assert (json.loads(reply.raw), reply.attempts, server.count()) == (GOOD, 2, 2)


@APIS
@MODES
@pytest.mark.parametrize("slow", [Reply(GOOD, delay=30), Reply(GOOD, drip=0.05)], ids=["silent", "dripping"])
def test_the_timeout_is_total(api: str, mode: str, slow: Reply) -> None:
    with ScriptedServer(slow) as server:
        error = failure(judge_of(server, api, timeout=0.5), mode)
        assert (error.kind, error.attempts, server.count()) == ("timeout", 1, 1)


@MODES
def test_the_timeout_holds_over_retries(mode: str) -> None:
    with ScriptedServer([Reply("busy", status=503, headers={"Retry-After": "0"}), Reply(GOOD, delay=30)]) as server:
        error = failure(judge_of(server, "chat", timeout=1.0), mode)
    assert (error.kind, error.attempts) == ("timeout", 2)


# --- mistakes of set-up -----------------------------------------------------------------------------------------


@APIS
@MODES
@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        (Reply("Incorrect API key provided: " + KEY, status=401), "OPENAI_API_KEY"),
        (Reply("no access", status=403), "'some-model'"),
        (Reply("model `some-model` does not exist", status=404), "'some-model'"),
        (Reply("Invalid parameter: response_format json_schema is unknown", status=400), "structured=False"),
        (Reply("This model's maximum context length is 100 tokens", status=400), "max_prompt_tokens"),
        (Reply("Unsupported value: temperature", status=400), "temperature"),
        (Reply("what?", status=400), "base_url"),
        (Reply("unprocessable", status=422), "base_url"),
        (Reply(raw=b"not json", status=404, content_type="text/plain"), "base_url"),
        (Reply(raw=b'{"detail": "Not Found"}', status=404), "Not Found"),
        (Reply(raw=b'{"error": "model not found, pull it first"}', status=404), "pull it first"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else value,
)
def test_mistakes_of_set_up_say_what_to_do(api: str, mode: str, reply: Reply, advice: str) -> None:
    with ScriptedServer(reply) as server:
        judge = judge_of(server, api)
        with pytest.raises(ConfigurationError) as caught:
            ask(judge, mode)
    assert advice in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert server.count() == 1


def test_keys_are_struck_out_of_messages_and_nothing_else() -> None:
    said = "Incorrect API key provided: sk-ab***************yz. Find your key at the account page. Bearer abcdef123456"
    with ScriptedServer(Reply(said, status=401)) as server, pytest.raises(ConfigurationError) as caught:
        judge_of(server, "chat").judge(brief_of())
    assert "Incorrect API key provided: [key]. Find your key at" in str(caught.value)
    assert "sk-ab" not in str(caught.value)
    assert "abcdef123456" not in str(caught.value)


def test_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIJudge("gpt-x")


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'arbiter-rag\[openai\]'"):
        OpenAIJudge("gpt-x", api_key=KEY)


@pytest.mark.parametrize(
    "options",
    [
        {"model": " "},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"api": "completions"},
        {"max_output_tokens": 0},
        {"base_url": "localhost:8080/v1"},
        {"base_url": "http://"},
        {"api_key": "sk-with\nnewline"},
        {"api_key": "sk-ключ"},
    ],
    ids=str,
)
def test_arguments_that_cannot_be_meant(options: dict[str, Any]) -> None:
    options = {"model": "m", "api_key": KEY, **options}
    with pytest.raises(ConfigurationError):
        OpenAIJudge(**options)
