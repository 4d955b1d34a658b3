"""What the tests share: nodes with a known answer, and real LLM classes against a scripted server."""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.llms import LLM
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai_like import OpenAILike

from arbiter_rag.testing import ScriptedServer

QUESTION = "What is the deductible for water damage?"
TEXTS = {
    "answer": "The deductible for water damage is 500 EUR per claim and is borne by the insured.",
    "scope": "Water damage means damage by tap water that escapes from pipes against its purpose.",
    "fire": "Damage by fire, lightning and explosion is insured up to the sum that was agreed.",
    "office": "Our office in the main street is open from nine to five on working days.",
}
VERDICTS = {"answer": "primary", "scope": "supporting", "fire": "tangential", "office": "discarded"}

MakeLLM = Callable[..., LLM]


# A client that is kept leaves its connections to the garbage collector, which warnings as errors do not forgive.
_SETTINGS = {"api_key": "k", "max_retries": 0, "reuse_client": False}


def native(server: ScriptedServer, **settings: object) -> LLM:
    """The `OpenAI` class with native structured output."""
    return OpenAI(**{"model": "gpt-4o-mini", "api_base": server.base_url, **_SETTINGS, **settings})


def calling(server: ScriptedServer, **settings: object) -> LLM:
    """The `OpenAILike` class with function calling."""
    given = {"model": "m", "api_base": server.base_url, "is_chat_model": True, "is_function_calling_model": True}
    return OpenAILike(**{**given, "context_window": 32_000, **_SETTINGS, **settings})


def plain(server: ScriptedServer, **settings: object) -> LLM:
    """The `OpenAILike` class with text alone."""
    return calling(server, is_function_calling_model=False, **settings)


WAYS = {"schema": native, "tool": calling, "text": plain}


def by_text(verdicts: dict[str, str]) -> Callable[[list[dict[str, object]]], dict[str, str]]:
    """A script's verdicts by the name of a text instead of a candidate's id."""

    def given(candidates: list[dict[str, object]]) -> dict[str, str]:
        of = {str(c["snippet"]): str(c["candidate_id"]) for c in candidates}
        named = {name: of[text] for name, text in TEXTS.items() if text in of}
        return {named[name]: role for name, role in verdicts.items() if name in named}

    return given
