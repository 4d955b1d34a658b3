"""The scripted server, spoken to with the real openai client."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import openai
import pytest
from openai import OpenAI

from arbiter_rag.contract import ArbiterOutput, Brief, Candidate, ParsedQuestion, SnippetLine
from arbiter_rag.prompt import system_prompt, user_prompt
from arbiter_rag.testing import HashEmbedder, Reply, ScriptedServer, answering, candidates_in

BRIEF = Brief(
    question=ParsedQuestion(text="How long?", language="en"),
    candidates=tuple(
        Candidate(candidate_id=f"n{at}", snippet_lines=(SnippetLine(text=f"It takes {at} days."),)) for at in (1, 2, 3)
    ),
)
TOOL = {"type": "function", "function": {"name": "decide", "parameters": {"type": "object", "properties": {}}}}
TURNS = [{"role": "user", "content": "hello"}]


def client_of(server: ScriptedServer, key: str = "sk-test") -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key=key, max_retries=0, timeout=20)


def test_chat_and_responses() -> None:
    with ScriptedServer(["first", "second"]) as server, client_of(server) as client:
        chat = client.chat.completions.create(model="m", messages=TURNS)
        assert chat.choices[0].message.content == "first"
        assert chat.usage is not None
        assert chat.usage.total_tokens == 120
        response = client.responses.create(model="m", input="hello")
        assert response.output_text == "second"
        assert response.status == "completed"
        with pytest.raises(openai.InternalServerError, match="no reply left"):
            client.chat.completions.create(model="m", messages=TURNS)
        assert (server.count(), server.count("/responses")) == (3, 1)


def test_requests_are_kept_without_keys() -> None:
    with ScriptedServer("x") as server, client_of(server, "sk-very-secret-key") as client:
        client.chat.completions.create(model="m", messages=TURNS, extra_headers={"X-Trace": "7"})
        (request,) = server.requests
    assert (request.path, request.method, request.body["messages"]) == ("/v1/chat/completions", "POST", TURNS)
    assert request.headers["x-trace"] == "7"
    assert "sk-very-secret-key" not in repr(request)


def test_streams() -> None:
    text = "A longer answer, " * 10
    with ScriptedServer(Reply(text)) as server, client_of(server) as client:
        chunks = list(
            client.chat.completions.create(
                model="m", messages=TURNS, stream=True, stream_options={"include_usage": True}
            )
        )
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
        assert chunks[-1].usage is not None
        events = list(client.responses.create(model="m", input="hello", stream=True))
        assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == text
        assert events[-1].type == "response.completed"
        with client.responses.stream(model="m", input="hello") as stream:
            assert stream.get_final_response().output_text == text


def test_tools() -> None:
    value = {"rankings": []}
    with ScriptedServer(Reply(value)) as server, client_of(server) as client:
        chat = client.chat.completions.create(model="m", messages=TURNS, tools=[TOOL])
        (call,) = chat.choices[0].message.tool_calls or []
        assert (call.function.name, json.loads(call.function.arguments)) == ("decide", value)
        assert chat.choices[0].finish_reason == "tool_calls"
        response = client.responses.create(
            model="m", input="x", tools=[{"type": "function", "name": "decide", "parameters": {}, "strict": False}]
        )
        assert json.loads(response.output[0].arguments) == value
        chunks = client.chat.completions.create(model="m", messages=TURNS, tools=[TOOL], stream=True)
        deltas = [d for c in chunks for d in c.choices[0].delta.tool_calls or ()]
        assert json.loads("".join(d.function.arguments or "" for d in deltas)) == value


def test_tools_without_a_call_and_with_two() -> None:
    replies = [Reply({"a": 1}, as_tool=False), Reply(tool_calls=[("f", {"a": 1}), ("g", "{bro")])]
    with ScriptedServer(replies) as server, client_of(server) as client:
        plain = client.chat.completions.create(model="m", messages=TURNS, tools=[TOOL])
        assert plain.choices[0].message.tool_calls is None
        assert plain.choices[0].message.content == '{"a": 1}'
        two = client.chat.completions.create(model="m", messages=TURNS, tools=[TOOL])
        assert [c.function.arguments for c in two.choices[0].message.tool_calls or []] == ['{"a": 1}', "{bro"]


def test_kinds_of_reply() -> None:
    replies = [
        Reply("cut", finish="length"),
        Reply(refusal="no"),
        Reply(choices=False),
        429,
        Reply(drop_after=-1),
        Reply("long enough", drop_after=20),
        b'{"choices": []}',
        ArbiterOutput(rankings=()),
    ]
    with ScriptedServer(replies) as server, client_of(server) as client:

        def ask() -> openai.types.chat.ChatCompletion:
            return client.chat.completions.create(model="m", messages=TURNS)

        assert ask().choices[0].finish_reason == "length"
        assert ask().choices[0].message.refusal == "no"
        assert ask().choices == []
        with pytest.raises(openai.RateLimitError):
            ask()
        for _ in range(2):
            with pytest.raises(openai.APIConnectionError):
                ask()
        assert ask().choices == []
        assert ask().choices[0].message.content == '{"rankings":[],"conflicts":[]}'


def test_a_delayed_reply_does_not_outlive_the_server() -> None:
    with ScriptedServer(Reply("late", delay=60)) as server:
        client = client_of(server).with_options(timeout=0.2)
        with client, pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model="m", messages=TURNS)


def test_keys_can_be_checked() -> None:
    with (
        ScriptedServer("x", api_key="right") as server,
        client_of(server, "wrong") as wrong,
        client_of(server, "right") as right,
    ):
        with pytest.raises(openai.AuthenticationError):
            wrong.chat.completions.create(model="m", messages=TURNS)
        assert right.chat.completions.create(model="m", messages=TURNS).choices


def test_embeddings_and_models() -> None:
    texts = ["one", "two words"]
    with ScriptedServer(models=("a", "b")) as server, client_of(server) as client:
        assert [model.id for model in client.models.list()] == ["a", "b"]
        default = client.embeddings.create(model="m", input=texts)
        floats = client.embeddings.create(model="m", input=texts, encoding_format="float", dimensions=64)
        expected = HashEmbedder(64).embed(texts)
        for found in (default, floats):
            for item, vector in zip(found.data, expected, strict=True):
                assert item.embedding == pytest.approx(vector.tolist())

    def lengths(given: list[str]) -> list[list[float]]:
        return [[float(len(text))] for text in given]

    with ScriptedServer(embeddings=lengths) as server, client_of(server) as client:
        assert client.embeddings.create(model="m", input="abc").data[0].embedding == [3.0]


def test_azure_paths() -> None:
    with ScriptedServer("x") as server:
        endpoint = server.base_url.removesuffix("/v1")
        with openai.AzureOpenAI(azure_endpoint=endpoint, api_key="sk-test", api_version="2025-04-01") as client:
            assert client.chat.completions.create(model="mini", messages=TURNS).choices
    assert server.requests[0].path == "/openai/deployments/mini/chat/completions"
    assert "api-key" not in server.requests[0].headers


def test_unknown_paths_and_odd_bodies() -> None:
    with ScriptedServer("x") as server:
        request = urllib.request.Request(server.base_url + "/chat/completions", data=b"not json")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"] == "x"
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(server.base_url + "/files", timeout=10)
        assert caught.value.code == 404
        caught.value.close()


def test_outside_its_block_it_says_so() -> None:
    with pytest.raises(RuntimeError, match="with"):
        _ = ScriptedServer("x").base_url


@pytest.mark.parametrize("wrap", ["chat", "responses", "one text"])
def test_answering_judges_exactly_what_it_is_shown(wrap: str) -> None:
    system, user = system_prompt(BRIEF), user_prompt(BRIEF)
    with ScriptedServer(answering({"n2": "primary", "n1": {"role": "supporting", "reason": "why"}})) as server:
        with client_of(server) as client:
            if wrap == "responses":
                text = client.responses.create(model="m", instructions=system, input=user).output_text
            else:
                turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
                if wrap == "one text":
                    turns = [{"role": "user", "content": f"{system}\n\n{user}\n\nJSON:"}]
                text = client.chat.completions.create(model="m", messages=turns).choices[0].message.content or ""
        found = candidates_in(server.requests[0])
    assert found is not None
    assert [candidate["candidate_id"] for candidate in found] == ["n1", "n2", "n3"]
    rankings = ArbiterOutput.model_validate_json(text).rankings
    assert [(r.candidate_id, r.role, r.quote) for r in rankings] == [
        ("n2", "primary", "It takes 2 days."),
        ("n1", "supporting", "It takes 1 days."),
        ("n3", "discarded", None),
    ]


def test_answering_leaves_other_requests_alone() -> None:
    script = answering(lambda shown: {c["candidate_id"]: "primary" for c in shown}, otherwise="An answer.")
    with ScriptedServer(script) as server, client_of(server) as client:
        assert client.chat.completions.create(model="m", messages=TURNS).choices[0].message.content == "An answer."
