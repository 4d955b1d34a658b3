"""Arbiter beside LlamaIndex's LLM rerankers: the same nodes, each fault in each system's own reply format."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import LLM
from llama_index.core.postprocessor import LLMRerank, StructuredLLMRerank
from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai_like import OpenAILike

from arbiter_rag.errors import JudgeError
from arbiter_rag.testing import RecordedRequest, Reply, ScriptedServer, candidates_in
from benchmarks.harness import Row, entry
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor
from tests.conformance.table import CASES, KEPT, PASSAGES, Alien, Case, Entry, Outcome, arbiter_json, run_table

QUESTION = "What score did the base model reach?"
WIDE = 25  # nodes of the second measurement
CHUNK_WORDS = 750  # about the 1,024 tokens that the framework's node parsers cut by default

_RELEVANCE = {"primary": 9, "supporting": 7, "tangential": 4, "discarded": 1}
# Arbiter's ids and what comes of mistyping them: formats that number passages have nothing like them.
_OWN_ID = re.compile(r"[p\u0440]\W?\d")


class InexpressibleError(Exception):
    """The case cannot be written in this system's reply format."""


@dataclass(frozen=True, slots=True)
class System:
    """One reranker: how it is made, and how a case is written in its reply format.

    Attributes:
        name: In the table.
        llm: The LLM class, made for a server's address.
        make: The reranker, given the LLM and how many nodes may come out.
        write: The text the model replies for a case.
        omission: True where leaving a passage out is how the format rejects it.
        ranks_only: True where the format can only order, never reject.
    """

    name: str
    llm: Callable[[str, httpx.Client], LLM]
    make: Callable[[LLM, int], BaseNodePostprocessor]
    write: Callable[[Case, RecordedRequest], object]
    omission: bool = False
    ranks_only: bool = False


# --- reply formats ----------------------------------------------------------------------------------------------


def _role(role: object) -> str | None:
    return role.strip().lower() if isinstance(role, str) else None


def _known_roles(case: Case) -> None:
    """Formats with a number for a role express a wrong role as a wrong number; these cases have none to write."""
    if any(_role(e.role) not in _RELEVANCE or e.reason != "says so" for e in case.entries):
        raise InexpressibleError


def _value(of: int | Alien) -> object:
    """What stands where the passage's number belongs."""
    if not isinstance(of, Alien):
        return of + 1
    text = unicodedata.normalize("NFKC", str(of.value)).lower()
    number = text.strip().removesuffix(".0")
    if _OWN_ID.search(text) or (number.isdecimal() and len(number) < 3 and 1 <= int(number) <= len(PASSAGES)):
        raise InexpressibleError  # here it would be a passage's right number
    return of.value


def _as_text(case: Case, text: str) -> object:
    """A case of a format that is no JSON: replies that hold no verdicts at all come as they are."""
    if case.json_only:
        raise InexpressibleError
    came = case.came_as(text) if case.came_as is not None else text
    if not case.entries and not str(came or "").strip():
        raise InexpressibleError  # an empty list of choices is a right reply here
    return came


def write_choices(case: Case, _: RecordedRequest) -> object:
    """`LLMRerank`: one line a relevant document."""
    _known_roles(case)
    lines = [
        f"Doc: {_value(e.of)}, Relevance: {_RELEVANCE[str(_role(e.role))]}"
        for e in case.entries
        if _role(e.role) in KEPT
    ]
    return _as_text(case, "\n".join(lines) or "No document is relevant.")


def write_documents(case: Case, _: RecordedRequest) -> object:
    """`StructuredLLMRerank`: a JSON list of document numbers with their relevance."""
    _known_roles(case)
    rows = [
        {"document_number": _value(e.of), "relevance": _RELEVANCE[str(_role(e.role))], **e.extra}
        for e in case.entries
        if _role(e.role) in KEPT
    ]
    text = json.dumps({"documents": rows}, ensure_ascii=False)
    if case.came_as is None:
        return text
    try:
        came = case.came_as(text)
    except (LookupError, TypeError, ValueError):
        raise InexpressibleError from None  # it looks for what only Arbiter's format has
    if case.entries and (came == text or "candidate_id" in str(came) or "rankings" in str(came)):
        raise InexpressibleError
    return came


def write_permutation(case: Case, _: RecordedRequest) -> object:
    """RankGPT: an order of numbers."""
    _known_roles(case)
    if case.entries and all(_role(e.role) == "discarded" for e in case.entries):
        raise InexpressibleError
    return _as_text(case, " > ".join(f"[{_value(e.of)}]" for e in case.entries))


def write_arbiter(case: Case, request: RecordedRequest) -> object:
    """Arbiter's own: ids as the prompt shows them."""
    shown = {c["snippet"]: c["candidate_id"] for c in candidates_in(request) or ()}
    own = {real: shown[text] for real, text in PASSAGES}
    ids = tuple(own.values())
    # The table's ids are two letters longer than these; what is cut or mistyped there is cut and mistyped here.
    entries = tuple(
        replace(e, of=Alien(_back(e.of.value, own))) if isinstance(e.of, Alien) else e for e in case.entries
    )
    return (
        _back(arbiter_json(replace(case, entries=entries), tuple(own)), own)
        if case.came_as
        else arbiter_json(replace(case, entries=entries), ids)
    )


def _back(value: object, own: dict[str, str]) -> object:
    """The table's ids replaced by those of the prompt, in a text or a value; the longest first."""
    if isinstance(value, str):
        for real in sorted(own, key=len, reverse=True):
            value = value.replace(f'"{real}"', f'"{own[real]}"').replace(f"'{real}'", f"'{own[real]}'")
        return value
    if isinstance(value, list):
        return [own.get(v, v) if isinstance(v, str) else _back(v, own) for v in value]
    if isinstance(value, dict):
        return {own.get(k, k): own.get(v, v) if isinstance(v, str) else _back(v, own) for k, v in value.items()}
    return value


# --- systems ----------------------------------------------------------------------------------------------------


def native(url: str, http: httpx.Client) -> LLM:
    """OpenAI's class with native structured output."""
    return OpenAI(model="gpt-4o-mini", api_base=url, api_key="k", max_retries=0, http_client=http)


def calling(url: str, http: httpx.Client, *, tools: bool = True) -> LLM:
    """A compatible server's class with function calling."""
    return OpenAILike(
        model="m",
        api_base=url,
        api_key="k",
        max_retries=0,
        http_client=http,
        is_chat_model=True,
        is_function_calling_model=tools,
        context_window=32_000,
    )


def plain(url: str, http: httpx.Client) -> LLM:
    """A compatible server's class with text alone."""
    return calling(url, http, tools=False)


def _ours(llm: LLM, n: int) -> BaseNodePostprocessor:
    return ArbiterNodePostprocessor(llm, top_n=n, on_not_found="keep", on_error="raise")


SYSTEMS: tuple[System, ...] = (
    System("LLMRerank", native, lambda llm, n: LLMRerank(llm=llm, top_n=n), write_choices, omission=True),
    System(
        "StructuredLLMRerank",
        native,
        lambda llm, n: StructuredLLMRerank(llm=llm, top_n=n),
        write_documents,
        omission=True,
    ),
    System("RankGPTRerank", native, lambda llm, n: RankGPTRerank(llm=llm, top_n=n), write_permutation, ranks_only=True),
    System("Arbiter, structured output", native, _ours, write_arbiter),
    System("Arbiter, function call", calling, _ours, write_arbiter),
    System("Arbiter, plain text", plain, _ours, write_arbiter),
)
OURS = tuple(s for s in SYSTEMS if s.write is write_arbiter)


def nodes() -> list[NodeWithScore]:
    """The table's passages as nodes."""
    return [
        NodeWithScore(node=TextNode(id_=f"node-{at}", text=text), score=1 - at / 10)
        for at, (_, text) in enumerate(PASSAGES)
    ]


class Stage:
    """One system before a server that replies as told; a context manager."""

    def __init__(self, system: System, top_n: int) -> None:
        self._system, self._top_n = system, top_n
        self._http = httpx.Client()
        self._says: Callable[[RecordedRequest], Reply] = lambda _: Reply("")
        self.server = ScriptedServer(lambda request: self._says(request))

    def __enter__(self) -> Stage:
        self.server.__enter__()
        self.reranker = self._system.make(self._system.llm(self.server.base_url, self._http), self._top_n)
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
        self.server.__exit__(None, None, None)

    def ask(self, given: list[NodeWithScore], says: Callable[[RecordedRequest], Reply]) -> list[NodeWithScore]:
        """What comes out when the model says this."""
        self._says = says
        return self.reranker.postprocess_nodes(given, query_str=QUESTION)


def run_case(stage: Stage, system: System, case: Case) -> Outcome | None:
    """Feed one case to one system over HTTP; None where its format cannot express the case."""
    inexpressible: list[bool] = []

    def says(request: RecordedRequest) -> Reply:
        try:
            said = system.write(case, request)
        except InexpressibleError:
            inexpressible.append(True)
            return Reply("")
        text = said.decode("latin-1") if isinstance(said, bytes) else said
        return Reply(text, tool_calls=_call(request, text))

    try:
        out = stage.ask(nodes(), says)
    except JudgeError as error:
        outcome = Outcome(error=error.kind)
    except Exception as error:  # noqa: BLE001  # any other exception is what the table counts
        outcome = Outcome(crash=type(error).__name__)
    else:
        outcome = _outcome(system, case, out)
    return None if inexpressible else outcome


def _call(request: RecordedRequest, said: object) -> list[tuple[str, Any]] | None:
    """The reply as the arguments of a tool call, where the request offers a tool and there is something to say."""
    tools = request.body.get("tools") or ()
    return (
        [(tools[0]["function"]["name"], said if isinstance(said, str) else json.dumps(said))]
        if tools and said
        else None
    )


def _outcome(system: System, case: Case, out: Sequence[NodeWithScore]) -> Outcome:
    at = [int(n.node_id.removeprefix("node-")) for n in out]
    if system.write is write_arbiter:
        roles = [n.metadata["arbiter_role"] for n in out]
        kept = tuple(i for i, role in zip(at, roles, strict=True) if role in KEPT)
        reported = tuple(i for i, role in zip(at, roles, strict=True) if role == "unjudged")
        # What it leaves out it has rejected, and its result says so; the table checks that the reply rejects it.
        return Outcome(kept, tuple(sorted(set(range(len(PASSAGES))) - set(at))), reported)
    if system.ranks_only:
        named = list(dict.fromkeys(e.of for e in case.entries if isinstance(e.of, int)))
        # It orders and never rejects: passages that the reply does not name follow at the end, as announced.
        tail = at[len(named) :] if at[: len(named)] == named else []
        return Outcome(kept=tuple(at[: len(at) - len(tail)]), reported=tuple(tail))
    rejected = tuple(i for i in sorted(set(range(len(PASSAGES))) - set(at)) if i in case.may_drop)
    return Outcome(kept=tuple(at), dropped=rejected)


def _as_read(system: System, case: Case) -> Case | None:
    """The case as this format means it: what an omission rejects is rejected, what only ranks keeps everything."""
    named = {e.of for e in case.entries if isinstance(e.of, int)}
    omitted = sorted(set(range(len(PASSAGES))) - named)
    aliens = any(isinstance(e.of, Alien) for e in case.entries)
    if system.omission and case.entries and not aliens:
        if omitted and len(case.entries) == len(named):
            return None  # leaving passages out is all that is wrong with it, and here that is no fault
        return replace(case, entries=(*case.entries, *(Entry(i, "discarded") for i in omitted)))
    if system.ranks_only:
        return replace(
            case,
            entries=tuple(replace(e, role="tangential") if _role(e.role) == "discarded" else e for e in case.entries),
        )
    return case


def conformance(system: System, cases: Iterable[Case] = CASES) -> list[dict[str, Any]]:
    """The rows of the table for one system."""
    rows = []
    with Stage(system, len(PASSAGES)) as stage:
        for case in cases:
            read = _as_read(system, case)
            outcome = run_case(stage, system, case) if read is not None else None
            rows += run_table(lambda _, o=outcome: o, [read or case])  # type: ignore[misc]  # the default binds it
    return rows


def measured(system: System, given: list[NodeWithScore]) -> tuple[int, int, int]:
    """Requests, characters of all prompts (schemas and tools included), and nodes out, for a right reply."""
    with Stage(system, len(given)) as stage:
        out = stage.ask(given, lambda request: Reply(_everything(system, request, len(given))))
        return stage.server.count(), sum(_characters(r) for r in stage.server.requests), len(out)


def chunks() -> list[NodeWithScore]:
    """More nodes than one batch of those rerankers that work in batches of ten, as long as the framework cuts them."""
    sentence = "Step {n} of part {part} was repeated with other settings and gave nothing that need be told here."
    texts = [
        " ".join([PASSAGES[at % 6][1], *(sentence.format(n=n, part=at) for n in range(CHUNK_WORDS // 17))])
        for at in range(WIDE)
    ]
    return [NodeWithScore(node=TextNode(id_=f"n{at}", text=text), score=1 - at / 100) for at, text in enumerate(texts)]


def _everything(system: System, request: RecordedRequest, count: int) -> object:
    """A reply that keeps every passage of the request."""
    batch = min(10, count)
    if system.write is write_arbiter:
        rows = [
            {"candidate_id": c["candidate_id"], "reason": "says so", "role": "tangential", "quote": None}
            for c in candidates_in(request) or ()
        ]
        return {"rankings": rows, "conflicts": []}
    if system.write is write_documents:
        return {"documents": [{"document_number": i, "relevance": 5} for i in range(1, batch + 1)]}
    if system.write is write_choices:
        return "\n".join(f"Doc: {i}, Relevance: 5" for i in range(1, batch + 1))
    return " > ".join(f"[{i}]" for i in range(1, count + 1))


def _characters(request: RecordedRequest) -> int:
    parts = {k: request.body[k] for k in ("messages", "tools", "response_format") if k in request.body}
    return len(json.dumps(parts, ensure_ascii=False))


def _fusion() -> Row:
    """`QueryFusionRetriever` writes no verdicts: requests, characters and nodes alone."""
    texts = [n.node for n in nodes()]
    index = VectorStoreIndex(texts, embed_model=MockEmbedding(embed_dim=4))
    queries = "base model score\nscore of the base model\nresult"
    with ScriptedServer(lambda _: Reply(queries)) as server, httpx.Client() as http:
        retrievers = [index.as_retriever(similarity_top_k=6) for _ in range(2)]
        fused = QueryFusionRetriever(retrievers, llm=native(server.base_url, http), use_async=False, similarity_top_k=6)
        out = fused.retrieve(QUESTION)
        return {
            "system": "QueryFusionRetriever",
            "requests": server.count(),
            "prompt characters": sum(_characters(r) for r in server.requests),
            "nodes out of 6": len(out),
            f"requests, {WIDE} chunks": server.count(),
            f"characters, {WIDE} chunks": sum(_characters(r) for r in server.requests),
        }


@entry("llama-index")
def rows() -> Iterable[Row]:
    """LlamaIndex: requests and prompt for 6 nodes, and in how many faulty replies nodes come out wrong"""
    yield _fusion() | dict.fromkeys(("replies", "crashes", "wrong nodes", "doubled", "silently lost"), "n/a")
    for system in SYSTEMS:
        requests, characters, out = measured(system, nodes())
        wide, long, _ = measured(system, chunks())
        ran = [row for row in conformance(system) if row["ran"]]
        columns = {"crashes": "crash", "wrong nodes": "wrong", "doubled": "doubled", "silently lost": "lost"}
        yield {
            "system": system.name,
            "requests": requests,
            "prompt characters": characters,
            "nodes out of 6": out,
            f"requests, {WIDE} chunks": wide,
            f"characters, {WIDE} chunks": long,
            "replies": str(len(ran)),
            **{column: str(sum(row[key] > 0 for row in ran)) for column, key in columns.items()},
        }
