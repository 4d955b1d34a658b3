"""The judge behind an OpenAI-compatible API: one completion over `responses` or `chat.completions`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from arbiter_rag.contract import Brief
from arbiter_rag.errors import ConfigurationError, JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.openai_service.client import Answer, Service
from arbiter_rag.openai_service.failures import scrubbed
from arbiter_rag.prompt import SCHEMA_NAME, plain_instructions, reply_schema, system_prompt, user_prompt

Api = Literal["auto", "responses", "chat"]

_BASE_OUTPUT = 300
_OUTPUT_PER_CANDIDATE = 60
# Providers count hidden thinking against the same limit as the reply; without room for it these models return nothing.
_THINKS = re.compile(r"(?:^|/)(?:o\d|gpt-[5-9]|gpt-oss)")
_THINKING_ROOM = 4000


class OpenAIJudge:
    """Asks a model behind OpenAI, Azure OpenAI or any compatible server (Ollama, vLLM, llama.cpp, LiteLLM).

    A judgement is one completion with a static JSON schema. Connection errors, 429 and 503 are retried at most twice
    within the timeout; the attempts stand in the reply. The reply's text is handed on as it came: settle judges it.

    Args:
        model: The model's name (the deployment's on Azure).
        client, async_client: `openai` clients of your own, with their settings; only their retries are switched off.
            A sync call needs `client`; an async call uses `async_client`, else `client` in a thread.
            An async client belongs to the event loop that first used it; without one, any loop may call.
        base_url: Where the service is; else `OPENAI_BASE_URL`, else OpenAI.
        api_key: Else `OPENAI_API_KEY`; a server other than OpenAI or Azure may need none.
        api: `auto` takes `responses` for OpenAI and Azure and `chat` for every other base URL, without asking anyone.
        timeout: Seconds a judgement may take, retries and waits included.
        max_output_tokens: Limit of the reply; by default 300 + 60 a candidate, and 4,000 more for models whose name
            says that they think first (o1, o3, gpt-5 ...), unless `reasoning_effort` is none or minimal.
        temperature: Sent only when given: some models take none.
        reasoning_effort: Likewise.
        structured: False sends no schema, for servers that reject one; the prompt then asks for JSON alone.
        name: How results name this judge; by default `openai:<model>`.

    Raises:
        ConfigurationError: The package or a key is missing, or an argument cannot be meant.
    """

    def __init__(
        self,
        model: str,
        *,
        client: Any = None,
        async_client: Any = None,
        base_url: str | None = None,
        api_key: str | None = None,
        api: Api = "auto",
        timeout: float = 60.0,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        reasoning_effort: str | None = None,
        structured: bool = True,
        name: str | None = None,
    ) -> None:
        if api not in ("auto", "responses", "chat"):
            raise ConfigurationError(f"api is 'auto', 'responses' or 'chat'; got {api!r}.")
        if max_output_tokens is not None and max_output_tokens < 1:
            raise ConfigurationError(f"max_output_tokens is at least 1; got {max_output_tokens!r}.")
        self._service = Service(
            client=client,
            async_client=async_client,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            error=JudgeError,
            model=model,
        )
        self.model = model
        self.api: Literal["responses", "chat"] = _chosen_api(self._service) if api == "auto" else api
        self._max_output_tokens = max_output_tokens
        self._temperature = temperature
        self._effort = reasoning_effort
        self._structured = structured
        self._name = name or f"openai:{model}"

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r}, base_url={self._service.base_url!r}, api={self.api!r})"

    @property
    def name(self) -> str:
        """How results and audit records name this judge."""
        return self._name

    @property
    def calls_model(self) -> bool:
        """True: it asks a model."""
        return True

    def judge(self, brief: Brief) -> JudgeReply:
        """Judge every candidate of the brief in one completion.

        Raises:
            JudgeError: Time-out, connection, 429, 5xx, refusal, or no text in the reply.
            ConfigurationError: 400, 401, 403, 404 and other mistakes of set-up.
        """
        request = self.request(brief)
        return self._read(self._service.call(lambda client, seconds: self._send(client, request, seconds)))

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """As `judge`, without blocking the event loop; cancelling it cancels the request."""
        request = self.request(brief)
        return self._read(await self._service.acall(lambda client, seconds: self._send(client, request, seconds)))

    def request(self, brief: Brief) -> dict[str, Any]:
        """The parameters of the completion that judges this brief: the same brief gives the same bytes."""
        system = system_prompt(brief)
        if not self._structured:
            system = f"{system}\n\n{plain_instructions()}"
        make = self._responses_request if self.api == "responses" else self._chat_request
        request = make(system, user_prompt(brief), self._limit(len(brief.candidates)))
        if self._temperature is not None:
            request["temperature"] = self._temperature
        return request

    def _limit(self, candidates: int) -> int:
        if self._max_output_tokens is not None:
            return self._max_output_tokens
        thinks = _THINKS.search(self.model) is not None and self._effort not in ("none", "minimal")
        return _BASE_OUTPUT + _OUTPUT_PER_CANDIDATE * candidates + (_THINKING_ROOM if thinks else 0)

    def _responses_request(self, system: str, user: str, limit: int) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "instructions": system,
            "input": user,
            "max_output_tokens": limit,
            "store": False,  # the API keeps requests for a month by default; passages are confidential
        }
        if self._structured:
            schema = {"type": "json_schema", "name": SCHEMA_NAME, "strict": True, "schema": reply_schema()}
            request["text"] = {"format": schema}
        if self._effort is not None:
            request["reasoning"] = {"effort": self._effort}
        return request

    def _chat_request(self, system: str, user: str, limit: int) -> dict[str, Any]:
        # OpenAI's newer models refuse `max_tokens`; other servers know nothing else.
        limit_name = "max_completion_tokens" if self._service.is_openai else "max_tokens"
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            limit_name: limit,
        }
        if self._structured:
            schema = {"name": SCHEMA_NAME, "strict": True, "schema": reply_schema()}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._effort is not None:
            request["reasoning_effort"] = self._effort
        return request

    def _send(self, client: Any, request: Mapping[str, Any], seconds: float) -> Any:
        resource = client.responses if self.api == "responses" else client.chat.completions
        return resource.create(**request, timeout=seconds)

    def _read(self, answer: Answer) -> JudgeReply:
        if self.api == "responses":
            return _read_response(answer, self._service.host)
        return _read_chat(answer, self._service.host)


def _chosen_api(service: Service) -> Literal["responses", "chat"]:
    # An Azure address that names its deployment has no `responses` below it.
    return "responses" if service.is_openai and "/deployments/" not in service.base_url else "chat"


def _read_chat(answer: Answer, where: str) -> JudgeReply:
    body = answer.response
    prompt, completion = _count(body, "usage", "prompt_tokens"), _count(body, "usage", "completion_tokens")

    def failed(message: str, kind: str, raw: str | None = None) -> JudgeError:
        return _failed(answer, message, kind, prompt, completion, raw)

    if not _at(body, "choices", 0):
        said = _at(body, "error", "message") or _at(body, "error")
        if said:  # gateways report the model's failure in a reply that is formally a success
            raise failed(f"{where} reported an error instead of a reply: {str(said)[:300]}", "server")
        raise failed(f"{where} sent a reply without a choice.", "unusable", str(body)[:2000])
    refusal = _at(body, "choices", 0, "message", "refusal")
    finish = _at(body, "choices", 0, "finish_reason")
    text = _joined(_at(body, "choices", 0, "message", "content"))
    if refusal or finish == "content_filter":
        raise failed(_refused(where, refusal or "content filter"), "refusal", text or None)
    return _reply(answer, where, text, finish == "length", prompt, completion)


def _read_response(answer: Answer, where: str) -> JudgeReply:
    body = answer.response
    prompt, completion = _count(body, "usage", "input_tokens"), _count(body, "usage", "output_tokens")
    parts = [
        part
        for item in _at(body, "output") or ()
        if _at(item, "type") == "message"
        for part in _at(item, "content") or ()
    ]
    text = "".join(str(_at(part, "text") or "") for part in parts if _at(part, "type") == "output_text")
    refusal = next((_at(part, "refusal") for part in parts if _at(part, "type") == "refusal"), None)
    status, why = _at(body, "status"), _at(body, "incomplete_details", "reason")

    def failed(message: str, kind: str) -> JudgeError:
        return _failed(answer, message, kind, prompt, completion, text or None)

    if refusal or why == "content_filter":
        raise failed(_refused(where, refusal or "content filter"), "refusal")
    if status in ("failed", "cancelled") or (_at(body, "error") and not text):
        code, said = _at(body, "error", "code"), _at(body, "error", "message") or status
        kind = {"rate_limit_exceeded": "rate_limit", "invalid_prompt": "refusal"}.get(str(code), "server")
        raise failed(f"{where} reported that the response failed: {str(said)[:300]}", kind)
    return _reply(answer, where, text, status == "incomplete", prompt, completion)


def _reply(
    answer: Answer, where: str, text: str, truncated: bool, prompt: int | None, completion: int | None
) -> JudgeReply:
    if text.strip():
        return JudgeReply(text, answer.attempts, prompt, completion, truncated)
    if truncated:
        message = f"{where} spent the whole output limit before its first word; raise max_output_tokens."
        raise _failed(answer, message, "truncated", prompt, completion)
    raise _failed(answer, f"{where} sent an empty reply.", "unusable", prompt, completion)


def _failed(
    answer: Answer, message: str, kind: str, prompt: int | None, completion: int | None, raw: str | None = None
) -> JudgeError:
    return JudgeError(
        scrubbed(message),
        kind=kind,
        attempts=answer.attempts,
        prompt_tokens=prompt,
        completion_tokens=completion,
        raw=raw,
    )


def _refused(where: str, why: object) -> str:
    return f"The model behind {where} refused to judge: {' '.join(str(why).split())[:300]}"


def _joined(content: object) -> str:
    """Text of a message: a string, or the list of parts that some servers send."""
    if isinstance(content, list):
        return "".join(str(_at(part, "text") or "") for part in content)
    return content if isinstance(content, str) else ""


def _count(body: object, *path: str) -> int | None:
    value = _at(body, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _at(value: Any, *path: str | int) -> Any:
    """What stands at this path; None where a compatible server left something out or sent another type."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, (list, tuple)) and len(value) > key else None
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = getattr(value, key, None)
    return value
