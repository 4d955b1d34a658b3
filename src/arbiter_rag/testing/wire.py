"""The bodies of OpenAI's API, built from a scripted reply: chat, responses, their streams, embeddings, errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from arbiter_rag.testing.replies import Reply

Json = dict[str, Any]
_CREATED = 1_700_000_000
_PIECE = 24


def error_body(reply: Reply) -> Json:
    """An error as OpenAI writes it."""
    return {"error": {"message": reply.text, "type": "scripted_error", "param": None, "code": reply.code}}


def chat_body(request: Json, reply: Reply) -> Json:
    """A `chat.completion`."""
    message: Json = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    calls = tool_calls(request, reply)
    finish: str = reply.finish
    if calls:
        message |= {"content": None, "tool_calls": [_chat_call(at, *call) for at, call in enumerate(calls)]}
        finish = "tool_calls" if finish == "stop" else finish
    if reply.refusal is not None:
        message["content"] = None
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return _chat_base(request, "chat.completion") | {
        "choices": [choice] if reply.choices else [],
        **_chat_usage(reply),
    }


def chat_stream(request: Json, reply: Reply) -> Iterator[str]:
    """The same as server-sent events."""
    base = _chat_base(request, "chat.completion.chunk")

    def chunk(delta: Json, finish: str | None = None) -> str:
        return _event(base | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    calls = tool_calls(request, reply)
    yield chunk({"role": "assistant", "content": None if calls else ""})
    for at, call in enumerate(calls):
        whole = _chat_call(at, *call)
        arguments = whole["function"]["arguments"]
        yield chunk({"tool_calls": [whole | {"index": at, "function": {**whole["function"], "arguments": ""}}]})
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    if reply.refusal is not None:
        yield chunk({"refusal": reply.refusal})
    elif not calls:
        for piece in _pieces(reply.text or ""):
            yield chunk({"content": piece})
    yield chunk({}, "tool_calls" if calls and reply.finish == "stop" else reply.finish)
    if (request.get("stream_options") or {}).get("include_usage"):
        yield _event(base | {"choices": [], **_chat_usage(reply)})
    yield "data: [DONE]\n\n"


def response_body(request: Json, reply: Reply, *, done: bool = True) -> Json:
    """A `response`; `done=False` is how a stream announces it."""
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reply.finish)
    status = "in_progress" if not done else "incomplete" if reason else "completed"
    usage = None
    if done and reply.prompt_tokens is not None and reply.completion_tokens is not None:
        usage = {
            "input_tokens": reply.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": reply.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        }
    return {
        "id": "resp_scripted",
        "object": "response",
        "created_at": _CREATED,
        "model": request.get("model", "scripted-model"),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if done and reason else None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "output": response_items(request, reply) if done and reply.choices else [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "usage": usage,
    }


def response_items(request: Json, reply: Reply) -> list[Json]:
    """The output items: a message, or function calls."""
    calls = tool_calls(request, reply)
    if calls:
        return [
            {
                "type": "function_call",
                "id": f"fc_{at}",
                "call_id": f"call_{at}",
                "name": name,
                "arguments": arguments,
                "status": "completed",
            }
            for at, (name, arguments) in enumerate(calls)
        ]
    if reply.refusal is not None:
        part: Json = {"type": "refusal", "refusal": reply.refusal}
    else:
        part = {"type": "output_text", "text": reply.text or "", "annotations": [], "logprobs": []}
    status = "completed" if reply.finish == "stop" else "incomplete"
    return [{"type": "message", "id": "msg_0", "role": "assistant", "status": status, "content": [part]}]


def response_stream(request: Json, reply: Reply) -> Iterator[str]:
    """The same as server-sent events."""
    final = response_body(request, reply)
    events: list[tuple[str, Json]] = [
        ("response.created", {"response": response_body(request, reply, done=False)}),
    ]
    for at, item in enumerate(final["output"]):
        empty: Json = {"content": []} if "content" in item else {"arguments": ""}
        opened = item | {"status": "in_progress"} | empty
        events.append(("response.output_item.added", {"output_index": at, "item": opened}))
        events.extend(_item_events(at, item))
        events.append(("response.output_item.done", {"output_index": at, "item": item}))
    closing = "response.incomplete" if final["status"] == "incomplete" else "response.completed"
    events.append((closing, {"response": final}))
    for number, (name, data) in enumerate(events):
        yield f"event: {name}\n" + _event({"type": name, "sequence_number": number} | data)


def _item_events(at: int, item: Json) -> Iterator[tuple[str, Json]]:
    place = {"output_index": at, "item_id": item["id"]}
    if item["type"] == "function_call":
        for piece in _pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", place | {"delta": piece}
        yield (
            "response.function_call_arguments.done",
            place | {"arguments": item["arguments"], "name": item["name"]},
        )
        return
    part = item["content"][0]
    kind = "refusal" if part["type"] == "refusal" else "text"
    prefix = "response.refusal" if kind == "refusal" else "response.output_text"
    place |= {"content_index": 0}
    extra: Json = {"logprobs": []} if kind == "text" else {}
    yield "response.content_part.added", place | {"part": part | {kind: ""}}
    for piece in _pieces(part[kind]):
        yield f"{prefix}.delta", place | {"delta": piece} | extra
    yield f"{prefix}.done", place | {kind: part[kind]} | extra
    yield "response.content_part.done", place | {"part": part}


def embeddings_body(request: Json, vectors: Sequence[Sequence[float]]) -> Json:
    """A list of embeddings, as floats or base64 as the request asks."""
    encoded = request.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": at, "embedding": _base64(vector) if encoded else [float(x) for x in vector]}
        for at, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    return {"object": "list", "model": request.get("model", "scripted-model"), "data": data, "usage": usage}


def tool_calls(request: Json, reply: Reply) -> list[tuple[str, str]]:
    """(name, arguments as JSON text) of the calls that this reply makes to the tools of this request."""
    if reply.tool_calls is not None:
        return [(name, given if isinstance(given, str) else json.dumps(given)) for name, given in reply.tool_calls]
    names = [tool.get("function", tool).get("name") for tool in request.get("tools") or () if isinstance(tool, dict)]
    text_only = isinstance(reply.content, str) or reply.content is None or reply.refusal is not None
    if not names or text_only or not reply.as_tool or not reply.choices or request.get("tool_choice") == "none":
        return []
    choice = request.get("tool_choice")
    forced = (choice.get("function", choice)).get("name") if isinstance(choice, dict) else None
    return [(forced or names[0], reply.text or "")]


def _chat_base(request: Json, kind: str) -> Json:
    model = request.get("model", "scripted-model")
    return {"id": "chatcmpl-scripted", "object": kind, "created": _CREATED, "model": model}


def _chat_usage(reply: Reply) -> Json:
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return {}
    total = reply.prompt_tokens + reply.completion_tokens
    usage = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": total,
    }
    return {"usage": usage}


def _chat_call(at: int, name: str, arguments: str) -> Json:
    return {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _event(value: Json) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
