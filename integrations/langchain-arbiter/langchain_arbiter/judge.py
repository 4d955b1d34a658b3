"""The judge behind a LangChain model: one completion a question, structured where the model can, plain where not."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langchain_core.runnables.config import run_in_executor

from arbiter_rag import Brief, JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.prompt import SCHEMA_NAME, plain_instructions, reply_schema, system_prompt, user_prompt
from langchain_arbiter.failures import ELSEWHERE, judge_failure, of_another_loop

log = logging.getLogger("langchain_arbiter")

# LangGraph streams the tokens of every model call of a graph to its user, except of those with this tag.
_TAGS = ["arbiter", "nostream"]
_CUT = {"length", "max_tokens", "model_length", "incomplete", "max_output_tokens"}
_SETTINGS = ("temperature", "top_p", "max_tokens", "reasoning_effort", "seed")
_ROLES = {"system": "system", "human": "user"}
_BLOCKED = {"content_filter", "safety", "refusal", "recitation", "prohibited_content"}


class LangChainJudge:
    """Asks any LangChain chat model, with the callbacks, tags and metadata of the run that it belongs to.

    Retries and time-outs are the model's own settings. A reply that its parser rejects is handed on as text and read
    leniently; it is never asked for twice.

    Args:
        llm: A `BaseChatModel`; or another runnable from messages to a message or text, such as `with_fallbacks` gives.
        config: The run's config; without one the surrounding run's, where there is one.
        name: How results name this judge; by default the model's name.
    """

    def __init__(
        self, llm: Runnable[Any, Any], *, config: RunnableConfig | None = None, name: str | None = None
    ) -> None:
        self.llm = llm
        self.config = config
        self._name = name or f"langchain:{_model_name(llm)}"

    def __getstate__(self) -> dict[str, Any]:
        # What is made from the model is full of lambdas and can be made again; a run's callbacks belong to the run.
        return {**{k: v for k, v in self.__dict__.items() if k != "_structured"}, "config": None}

    @property
    def name(self) -> str:
        """How results and audit records name this judge."""
        return self._name

    @property
    def calls_model(self) -> bool:
        """True: it asks a model."""
        return True

    def with_config(self, config: RunnableConfig) -> LangChainJudge:
        """The same judge in another run."""
        judge = LangChainJudge(self.llm, config=config, name=self._name)
        judge.__dict__["_structured"] = self._structured
        return judge

    def judge(self, brief: Brief) -> JudgeReply:
        """Judge every candidate of the brief in one completion.

        Raises:
            JudgeError: Time-out, connection, 429, 5xx, refusal, or nothing in the reply.
            ConfigurationError: 400, 401, 403, 404, a missing key or package.
        """
        try:
            answer = (self._structured or self.llm).invoke(self._messages(brief), self._run_config())
        except Exception as error:  # noqa: BLE001  # providers raise what they like; each is told apart and raised anew
            return self._rescued(error)
        return self._read(answer)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """As `judge`, by the model's own async form; by its sync form in a thread where that is of another loop."""
        try:
            answer = await (self._structured or self.llm).ainvoke(self._messages(brief), self._run_config())
        except Exception as error:  # noqa: BLE001  # providers raise what they like; each is told apart and raised anew
            if not of_another_loop(error):
                return self._rescued(error)
            log.warning("%s: %s", self._name, ELSEWHERE)
        else:
            return self._read(answer)
        try:
            reply = await run_in_executor(self.config, self.judge, brief)
        except JudgeError as failed:
            failed.attempts += 1
            raise
        # What was written into the connection of a closed loop may have reached the provider.
        return replace(reply, attempts=reply.attempts + 1)

    def request(self, brief: Brief) -> dict[str, Any]:
        """What this judge asks: the turns exactly as sent, and the model's settings that bear on a reply."""
        bound = getattr(self.llm, "kwargs", None)
        given = {
            name: value
            for holder in reversed(_held(self.llm))
            for name in _SETTINGS
            if (value := getattr(holder, name, None)) is not None
        }
        return {
            "model": _model_name(self.llm),
            "structured": self._structured is not None,
            **given,
            **(bound if isinstance(bound, Mapping) else {}),
            "messages": [{"role": _ROLES[m.type], "content": m.content} for m in self._messages(brief)],
        }

    @cached_property
    def _structured(self) -> Runnable[Any, Any] | None:
        """The model with Arbiter's schema; None when it takes none and must be asked in plain words."""
        model: Any = self.llm
        bound: dict[str, Any] = {}
        if isinstance(model, RunnableBinding):  # its own `with_structured_output` would forget what is bound
            model, bound = model.bound, dict(model.kwargs)
        make = getattr(model, "with_structured_output", None)
        if make is None:
            return None
        schema = {"title": SCHEMA_NAME, "description": "Every candidate's verdict, best first.", **reply_schema()}
        try:
            made: Runnable[Any, Any] = make(schema, include_raw=True, **_strict(make), **bound)
        except NotImplementedError:
            return None
        except Exception as error:
            if bound:
                return None
            raise judge_failure(error, self._name) from error
        return made.with_config(self.llm.config) if isinstance(self.llm, RunnableBinding) else made

    def _messages(self, brief: Brief) -> list[BaseMessage]:
        system = system_prompt(brief)
        if self._structured is None:
            system = f"{system}\n\n{plain_instructions()}"
        return [SystemMessage(system), HumanMessage(user_prompt(brief))]

    def _run_config(self) -> RunnableConfig:
        config: RunnableConfig = {**self.config} if self.config is not None else {}
        config["tags"] = [*(config.get("tags") or ()), *_TAGS]
        return config

    def _read(self, answer: Any) -> JudgeReply:
        if not (isinstance(answer, Mapping) and {"raw", "parsed"} <= answer.keys()):
            return self._reply(answer)
        error = answer.get("parsing_error")
        if "refusal" in type(error).__name__.casefold():
            raise self._failed(answer["raw"], f"refused to judge: {str(error)[:300]}", "refusal")
        # What LangChain's parsers made of it is not asked: they know no verdict in prose or in a call of another name.
        return self._reply(answer["raw"])

    def _reply(self, message: Any) -> JudgeReply:
        """The message's own text or tool arguments: a parser's guess at a reply cut short could name the wrong id."""
        refusal, reason = _refusal(message), _finish(message)
        if refusal or reason in _BLOCKED:
            raise self._failed(message, f"refused to judge: {refusal or 'content filter'}", "refusal")
        raw = _raw(message)
        if isinstance(raw, str) and not raw.strip():
            kind = "truncated" if reason in _CUT else "unusable"
            raise self._failed(message, "sent an empty reply.", kind)
        prompt, completion = _usage(message)
        return JudgeReply(raw, 1, prompt, completion, truncated=reason in _CUT)

    def _failed(self, message: Any, what: str, kind: str) -> JudgeError:
        prompt, completion = _usage(message)
        raw = _raw(message)
        return JudgeError(
            f"{self._name} {what}",
            kind=kind,
            prompt_tokens=prompt,
            completion_tokens=completion,
            raw=raw if isinstance(raw, str) else None,
        )

    def _rescued(self, error: Exception) -> JudgeReply:
        """The reply inside an exception, for OpenAI's client raises on one cut short; every other failure is raised."""
        body = getattr(error, "completion", None)
        choices: Any = getattr(body, "choices", None) or ()
        text = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
        if isinstance(text, str) and text.strip() and getattr(choices[0], "finish_reason", None) == "length":
            usage = getattr(body, "usage", None)
            prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
            return JudgeReply(text, 1, prompt, completion, truncated=True)
        raise judge_failure(error, self._name) from error


def _strict(make: Any) -> dict[str, bool]:
    """Ask for schema-bound decoding where JSON schema is the model's default way; elsewhere `strict` may be refused."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return {}
    method = parameters.get("method")
    return {"strict": True} if "strict" in parameters and method and method.default == "json_schema" else {}


def _model_name(llm: Any) -> str:
    for holder in _held(llm):
        for field in ("model_name", "model", "model_id", "deployment_name", "azure_deployment"):
            value = getattr(holder, field, None)
            if isinstance(value, str) and value:
                return value
    return type(llm).__name__


def _held(llm: Any) -> tuple[Any, ...]:
    """The model and, where it is dressed by `bind` or `with_fallbacks`, what is inside."""
    return tuple(h for h in (llm, getattr(llm, "bound", None), getattr(llm, "runnable", None)) if h is not None)


def _raw(message: Any) -> object:
    """What settle is to read, as it came: the arguments of the call asked for; else of any call, and the text."""
    if not isinstance(message, BaseMessage):
        return message
    calls = _calls(message)
    asked_for = [arguments for name, arguments in calls if name == SCHEMA_NAME and arguments.strip(" \n{}")]
    return "\n".join(asked_for or [part for part in (*(a for _, a in calls), str(message.text)) if part.strip()])


def _calls(message: BaseMessage) -> list[tuple[str | None, str]]:
    """Name and unparsed arguments of each call; of one whose arguments are no JSON too."""
    if isinstance(message, AIMessageChunk) and message.tool_call_chunks:
        return [(c["name"], c["args"] or "") for c in message.tool_call_chunks]
    if not isinstance(message, AIMessage):
        return []
    parsed = [(c["name"], json.dumps(c["args"], ensure_ascii=False)) for c in message.tool_calls]
    return [*parsed, *((c["name"], c["args"] or "") for c in message.invalid_tool_calls)]


def _refusal(message: Any) -> str | None:
    said = getattr(message, "additional_kwargs", {}).get("refusal")
    content = getattr(message, "content", None)
    if not said and isinstance(content, list):
        said = next((b.get("refusal") for b in content if isinstance(b, dict) and b.get("type") == "refusal"), None)
    return str(said)[:300] if said else None


def _finish(message: Any) -> str:
    """Why the model stopped, in whichever field its provider says so."""
    said = getattr(message, "response_metadata", {})
    detail = said.get("incomplete_details")
    names = ("finish_reason", "stop_reason", "done_reason", "finishReason")
    found = [said.get(name) for name in names] + [detail.get("reason") if isinstance(detail, Mapping) else None]
    return next((str(value).rpartition(".")[2].casefold() for value in reversed(found) if value), "")


def _usage(message: Any) -> tuple[int | None, int | None]:
    usage = getattr(message, "usage_metadata", None) or {}
    return usage.get("input_tokens"), usage.get("output_tokens")
