"""Any LlamaIndex LLM as a judge: one completion a question, its text or tool arguments handed on as they came."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import unwrap
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.types import PydanticProgramMode
from pydantic import BaseModel, ConfigDict, Field

from arbiter_rag.contract import Brief
from arbiter_rag.errors import InputError, JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.prompt import SCHEMA_NAME, plain_instructions, reply_schema, system_prompt, user_prompt
from llama_index.postprocessor.arbiter.failures import arbiter_error

log = logging.getLogger(__name__)

Way = Literal["schema", "tool", "text"]
"""How the reply's form is asked for: native structured output, a function call, or in words."""

_SETTINGS = ("temperature", "top_p", "max_tokens", "reasoning_effort")
_OUTPUT_BASE, _OUTPUT_PER_CANDIDATE = 300, 60
_CUT_SHORT = ("length", "max_tokens", "max_output_tokens", "FinishReason.MAX_TOKENS", "MAX_TOKENS")
_FILTERED = ("content_filter", "refusal", "SAFETY", "FinishReason.SAFETY")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


# The reply's form once more, for frameworks that build a tool's schema from a class: every field required, as strict
# tools demand. A static schema: providers cache it. Names and descriptions reach the model; docstrings would too.
class _Ranking(_Closed):
    candidate_id: str
    reason: str
    role: Literal["primary", "supporting", "tangential", "discarded"]
    quote: str | None


class _Side(_Closed):
    candidate_id: str
    quote: str | None


class _Conflict(_Closed):
    reason: str
    sides: list[_Side]


class _Verdicts(_Closed):
    rankings: list[_Ranking] = Field(description="Every candidate exactly once, best first.")
    conflicts: list[_Conflict]


def _tool() -> FunctionTool:
    metadata = ToolMetadata("Hand in the verdicts on all candidates.", SCHEMA_NAME, _Verdicts)
    return FunctionTool(fn=_Verdicts, metadata=metadata)


class LlamaIndexJudge:
    """Asks a LlamaIndex LLM, by the best way it has: native structured output, a function call, or plain text.

    The prompt is Arbiter's own and whole: the LLM's `system_prompt` (a persona for answers) plays no part in judging,
    and no shared template is touched. Time-out, retries, temperature and output limit are the LLM's own settings.

    Args:
        llm: The model; of an `as_structured_llm(...)` the LLM inside.
        way: `schema`, `tool` or `text` instead of what the LLM says of itself.
    """

    calls_model = True

    def __init__(self, llm: LLM, way: Way | None = None) -> None:
        while isinstance(llm, StructuredLLM):
            llm = llm.llm
        if not isinstance(llm, LLM):
            raise InputError(f"llm= takes an LLM, such as OpenAI(model=...); got a {type(llm).__name__}.")
        self.llm = llm
        self._way = way

    def __repr__(self) -> str:
        return f"LlamaIndexJudge({self.name!r})"

    @property
    def name(self) -> str:
        """`<class name>:<model name>`, e.g. `openai_llm:gpt-5-mini`."""
        return f"{self.llm.class_name()}:{model_name(self.llm)}"

    def judge(self, brief: Brief) -> JudgeReply:
        """Judge every candidate of the brief in one completion.

        Raises:
            JudgeError: Time-out, connection, 429, 5xx, refusal, or nothing in the reply.
            ConfigurationError: 400, 401, 403, 404, a missing key or package, and other mistakes of set-up.
        """
        try:
            asked = self._asked(brief)
            if asked.tools:
                response = self.llm_with_tools.chat_with_tools(asked.tools, **asked.arguments)
            else:
                response = self.llm.chat(**asked.arguments)
        except Exception as error:
            raise arbiter_error(error, self._where()) from error
        return self._read(response)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """As `judge`, without blocking the event loop."""
        try:
            asked = self._asked(brief)
            if asked.tools:
                response = await self.llm_with_tools.achat_with_tools(asked.tools, **asked.arguments)
            elif isinstance(self.llm, CustomLLM) and unwrap(type(self.llm).achat) is unwrap(CustomLLM.achat):
                # Models that run in this process have only a blocking call behind their async one.
                response = await asyncio.to_thread(self.llm.chat, **asked.arguments)
            else:
                response = await self.llm.achat(**asked.arguments)
        except Exception as error:
            raise arbiter_error(error, self._where()) from error
        return self._read(response)

    @property
    def llm_with_tools(self) -> FunctionCallingLLM:
        """The LLM where it can call functions."""
        assert isinstance(self.llm, FunctionCallingLLM)
        return self.llm

    def _where(self) -> str:
        return f"The LLM {self.name}"

    def request(self, brief: Brief) -> dict[str, Any]:
        """What this judge asks: the turns exactly as sent, the way, and the LLM's settings that bear on a reply."""
        way = self._way or way_of(self.llm)
        system = system_prompt(brief)
        if way == "text":
            system = f"{system}\n\n{plain_instructions()}"
        turns = [(self.llm.metadata.system_role.value, system), (MessageRole.USER.value, user_prompt(brief))]
        settings = {name: value for name in _SETTINGS if (value := getattr(self.llm, name, None)) is not None}
        return {
            "model": model_name(self.llm),
            "way": way,
            **settings,
            **self._limit(len(brief.candidates)),
            "messages": [{"role": role, "content": content} for role, content in turns],
        }

    def _asked(self, brief: Brief) -> _Asked:
        request = self.request(brief)
        messages = [ChatMessage(role=turn["role"], content=turn["content"]) for turn in request["messages"]]
        limit = self._limit(len(brief.candidates))
        if request["way"] == "tool":
            return _Asked([_tool()], {"chat_history": messages, "tool_required": True, **limit})
        schema = _schema_arguments(self.llm) if request["way"] == "schema" else {}
        return _Asked([], {"messages": messages, **schema, **limit})

    def _limit(self, candidates: int) -> dict[str, Any]:
        """More room where the framework's default is too small for a reply; Anthropic's API demands a limit (512)."""
        needed = _OUTPUT_BASE + _OUTPUT_PER_CANDIDATE * candidates
        limit = getattr(self.llm, "max_tokens", None)
        if self.llm.class_name() == "Anthropic_LLM" and isinstance(limit, int) and limit < needed:
            return {"max_tokens": needed}
        return {}

    def _read(self, response: ChatResponse) -> JudgeReply:
        raw = response.raw
        prompt, completion = _usage(response)
        stopped = _stop_reason(raw)
        refusal = _at(raw, "choices", 0, "message", "refusal")
        text = response.message.content or ""
        found = _tool_arguments(self.llm, response)
        truncated = stopped in _CUT_SHORT

        def failed(message: str, kind: str) -> JudgeError:
            return JudgeError(
                f"{self._where()} {message}",
                kind=kind,
                prompt_tokens=prompt,
                completion_tokens=completion,
                raw=text or None,
            )

        if refusal or (stopped in _FILTERED and not found):
            raise failed(f"refused to judge: {' '.join(str(refusal or stopped).split())[:300]}", "refusal")
        if not found and not text.strip():
            if truncated:
                raise failed("reached its output limit before the first word; raise its max_tokens.", "truncated")
            raise failed("sent an empty reply.", "unusable")
        if truncated:
            log.warning("%s reached its output limit within its reply; raise its max_tokens.", self._where())
        return JudgeReply(found if found is not None else text, 1, prompt, completion, truncated)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One completion: the tools offered and the other arguments."""

    tools: Sequence[FunctionTool]
    arguments: Mapping[str, Any]


def way_of(llm: LLM) -> Way:
    """How to ask this LLM for the reply's form, by its metadata and class."""
    metadata = llm.metadata
    if metadata.is_chat_model and _schema_arguments(llm):
        return "schema"
    if metadata.is_function_calling_model and isinstance(llm, FunctionCallingLLM):
        return "tool"
    return "text"


def model_name(llm: LLM) -> str:
    """The model's name; some LLMs fail to tell when they do not know their own model."""
    try:
        return str(llm.metadata.model_name)
    except Exception:  # noqa: BLE001  # a name for logs must not be what fails; the call itself will tell
        return str(getattr(llm, "model", "unknown"))


def _schema_arguments(llm: LLM) -> dict[str, Any]:
    """What makes this LLM's chat call bind the reply to the schema; empty where it has no such argument."""
    if llm.pydantic_program_mode != PydanticProgramMode.DEFAULT:
        return {}
    if llm.class_name() == "Ollama_llm":
        return {"format": reply_schema()}
    supported = getattr(llm, "_should_use_structure_outputs", None)  # OpenAI and everything built on it
    if callable(supported) and supported():
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": reply_schema()}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def _tool_arguments(llm: LLM, response: ChatResponse) -> object:
    """The arguments of the tool calls, unparsed where the provider sends text; None where there is no call."""
    found = [
        arguments
        for block in getattr(response.message, "blocks", ())
        if (arguments := getattr(block, "tool_kwargs", None)) is not None
    ]
    if not found:
        calls = response.message.additional_kwargs.get("tool_calls") or ()
        found = [arguments for call in calls if (arguments := _call_arguments(call)) is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else list(found)


def _call_arguments(call: object) -> object:
    """The arguments of a call in one of the shapes that providers' message objects have."""
    for path in (("function", "arguments"), ("arguments",), ("input",), ("args",), ("tool_kwargs",)):
        if (value := _at(call, *path)) is not None:
            return value
    return None


def _usage(response: ChatResponse) -> tuple[int | None, int | None]:
    places = (response.additional_kwargs, _at(response.raw, "usage"), _at(response.raw, "usage_metadata"), response.raw)
    prompt = _count(places, ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count"))
    completion = _count(places, ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count"))
    return prompt, completion


def _count(places: Sequence[object], names: Sequence[str]) -> int | None:
    values = (_at(place, name) for place in places for name in names)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool)), None)


def _stop_reason(raw: object) -> str:
    paths: tuple[tuple[str | int, ...], ...] = (
        ("choices", 0, "finish_reason"),
        ("stop_reason",),
        ("incomplete_details", "reason"),
        ("done_reason",),
        ("candidates", 0, "finish_reason"),
        ("stopReason",),
    )
    return next((str(value) for path in paths if (value := _at(raw, *path)) is not None), "")


def _at(value: Any, *path: str | int) -> Any:
    """What stands at this path of dicts, lists and objects; None where it ends early."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list | tuple) and len(value) > key else None
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = getattr(value, key, None)
    return value
