"""Arbiter beside what LangChain has for the same place: the same documents, model client and faults.

Every system talks through the real `langchain-openai` to a scripted server on loopback. Each case of the conformance
table is written in each system's own reply format: verdicts as JSON for Arbiter, a list of document numbers for
`LLMListwiseRerank`, YES or NO a document for `LLMChainFilter`. What a format cannot say is not run (n/a). Fusion asks
no model, so it is compared on requests and documents only.

What this does not show: how often a real model makes these mistakes, or whose ranking is better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pydantic
from langchain_classic.retrievers import EnsembleRetriever
from langchain_classic.retrievers.document_compressors import LLMChainFilter, LLMListwiseRerank
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI

from arbiter_rag import RetrievalResult, samples
from arbiter_rag.testing import RecordedRequest, Reply, ScriptedServer, answering, candidates_in
from benchmarks.harness import ROOT, Row, entry, markdown
from benchmarks.langchain_formats import arbiter_reply, filter_reply, listwise_reply
from langchain_arbiter import ArbiterDocumentCompressor, ArbiterPdfLoader, ArbiterRetriever
from tests.conformance.table import CASES, KEPT, PASSAGES, Case, Outcome, run_table

QUESTION = "What score did the base model reach?"
MANY = 20
"""Documents of the sample policy on which requests and prompts are counted."""

_IDS = {i: at for at, (i, _) in enumerate(PASSAGES)}


@entry("langchain")
def systems() -> Iterator[Row]:
    """Arbiter beside LangChain's reranker and filter: cost on 20 documents, and replies about six that go wrong"""
    for name, compressor, runner in SYSTEMS:
        with wire() as line:
            outcomes = [runner(line, case) for case in CASES]
        pairs = zip(CASES, outcomes, strict=True)
        rows = [row for case, outcome in pairs for row in run_table(lambda _, o=outcome: o, [case])]
        yield {
            "system": name,
            **(_cost(compressor) if compressor else {}),
            "replies": sum(row["ran"] for row in rows),
            "n/a": sum(not row["ran"] for row in rows),
            "query raises": sum(row["crash"] for row in rows),
            "rules decide, told": sum(o is not None and o.error is not None for o in outcomes),
            "wrong documents": sum(row["wrong"] > 0 for row in rows),
            "doubled": sum(row["doubled"] > 0 for row in rows),
            "silently lost": sum(row["lost"] > 0 for row in rows),
        }


@entry("langchain-replies")
def replies() -> Iterator[Row]:
    """The same reply by reply: what each system does with it"""
    with wire() as line:
        for case in CASES:
            yield {"reply": case.what, **{name: _verdict(case, runner(line, case)) for name, _, runner in SYSTEMS}}


@entry("langchain-fusion")
def fusion() -> Iterator[Row]:
    """Arbiter beside EnsembleRetriever: requests, and what becomes of 24 documents that two retrievers propose"""
    first, second = _two_lists()
    given = {_identity(d) for d in (*first, *second)}
    with ScriptedServer(_all_supporting) as server:
        retrievers = [_Fixed(found=first), _Fixed(found=second)]
        for name, retriever in (
            ("EnsembleRetriever", EnsembleRetriever(retrievers=retrievers)),
            ("ArbiterRetriever", ArbiterRetriever(retrievers=retrievers, llm=_llm(server), k=100)),
        ):
            before = len(server.requests)
            out = [_identity(d) for d in retriever.invoke("What is the deductible for water damage?")]
            yield {
                "system": name,
                "requests": len(server.requests) - before,
                "prompt characters": sum(_characters(r) for r in server.requests[before:]),
                "documents": len(given),
                "handed on": len(out),
                "lost": len(given - set(out)),
                "doubled": len(out) - len(set(out)),
            }


# --- running one reply through one system -----------------------------------------------------------------------


@dataclass(slots=True)
class Wire:
    """A scripted server whose script can be exchanged, and clients that talk to it."""

    server: ScriptedServer
    script: Callable[[RecordedRequest], Reply]
    llm: ChatOpenAI
    by_tool: ChatOpenAI


@contextmanager
def wire() -> Iterator[Wire]:
    """One server and one client of each kind for many replies."""
    with ScriptedServer(lambda request: line.script(request)) as server:
        line = Wire(server, lambda _: Reply(), _llm(server), _llm(server, by_tool=True))
        yield line


def documents() -> list[Document]:
    """The conformance table's passages as documents."""
    return [Document(text, id=i) for i, text in PASSAGES]


def run_compressor(line: Wire, case: Case, *, by_tool: bool = False) -> Outcome | None:
    """Arbiter's compressor, with its default settings, fed a reply in its own format."""
    compressor = ArbiterDocumentCompressor(llm=line.by_tool if by_tool else line.llm, top_n=None)
    return _judged(line, case, lambda seen: compressor.compress_documents(documents(), QUESTION, callbacks=[seen]))


def run_retriever(line: Wire, case: Case) -> Outcome | None:
    """Arbiter's retriever over two retrievers that propose the same documents, fed a reply in its own format."""
    given = documents()
    retriever = ArbiterRetriever(retrievers=[_Fixed(found=given[:4]), _Fixed(found=given[2:])], llm=line.llm, k=100)
    return _judged(line, case, lambda seen: retriever.invoke(QUESTION, {"callbacks": [seen]}))


def run_listwise(line: Wire, case: Case) -> Outcome | None:
    """`LLMListwiseRerank`: its format is the documents' numbers, best first; it has neither roles nor a rejection."""
    reply = listwise_reply(case)
    if reply is None:
        return None
    line.script = lambda _: reply
    outcome = _ran(_listwise(line.llm, len(PASSAGES)))
    # It rejects nothing, so every document that the reply names may be handed on.
    named = {one.of for one in case.entries if isinstance(one.of, int)}
    ranked = tuple(at for at in outcome.kept if at in named - case.may_keep)
    return replace(outcome, kept=tuple(at for at in outcome.kept if at not in ranked), reported=ranked)


def run_filter(line: Wire, case: Case) -> Outcome | None:
    """`LLMChainFilter`: its format is YES or NO, asked for each document on its own; it has no ids."""
    words = [filter_reply(case, at) for at in range(len(PASSAGES))]
    if any(word is None for word in words):
        return None

    def script(request: RecordedRequest) -> Reply:
        prompt = request.body["messages"][0]["content"]
        return Reply(next(word for word, (_, text) in zip(words, PASSAGES, strict=True) if text in prompt))

    line.script = script
    outcome = _ran(LLMChainFilter.from_llm(line.llm))
    # A document that the reply rejects is dropped as asked, though nobody tells.
    rejected = sorted(case.may_drop - set(outcome.kept)) if outcome.crash is None else ()
    return replace(outcome, dropped=tuple(rejected))


def _judged(line: Wire, case: Case, run: Callable[[_Seen], Sequence[Document]]) -> Outcome | None:
    reply = arbiter_reply(case)
    if reply is None:
        return None
    line.script, seen = reply, _Seen()
    try:
        out = run(seen)
    except Exception as error:  # noqa: BLE001  # whatever comes out is what is counted
        return Outcome(crash=type(error).__name__)
    return _outcome(seen.results[0], out)


def _ran(compressor: BaseDocumentCompressor) -> Outcome:
    try:
        out = compressor.compress_documents(documents(), QUESTION)
    except Exception as error:  # noqa: BLE001  # as above
        return Outcome(crash=type(error).__name__)
    return Outcome(kept=tuple(_IDS[str(d.id)] for d in out))


def _outcome(result: RetrievalResult, out: Sequence[Document]) -> Outcome:
    """What came out of an Arbiter class: kept because of the reply, rejected by it, or handed on marked as unjudged."""
    came = [(_IDS[str(d.id)], d.metadata["arbiter_role"]) for d in out]
    dropped = tuple(_IDS[str(c.original_id)] for c in result.discarded)
    if result.status == "degraded":
        # Rules decided and each document says so: nothing is kept because of the reply. It counts as told only if
        # every document came out.
        told = "degraded" if len(came) == len(PASSAGES) else None
        return Outcome(reported=tuple(at for at, _ in came), dropped=dropped, error=told)
    kept = tuple(at for at, role in came if role in KEPT)
    named = {_IDS[str(c.original_id)] for c in result.candidates} if result.not_found else set()
    unjudged = (at for at, role in came if role not in KEPT)
    return Outcome(kept=kept, dropped=dropped, reported=(*unjudged, *sorted(named - set(kept))))


# --- systems and costs ------------------------------------------------------------------------------------------


class _Fixed(BaseRetriever):
    """Gives its documents, whatever the question."""

    found: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return list(self.found)


class _Seen(BaseCallbackHandler):
    """Keeps the whole results that Arbiter tells callbacks."""

    def __init__(self) -> None:
        self.results: list[RetrievalResult] = []

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        self.results.append(data)


class _ByTool(ChatOpenAI):
    """A model whose structured output comes as a tool call, as most providers' does."""

    def with_structured_output(self, schema: Any = None, **kwargs: Any) -> Any:
        return super().with_structured_output(schema, method="function_calling", include_raw=kwargs["include_raw"])


def _llm(server: ScriptedServer, *, by_tool: bool = False) -> ChatOpenAI:
    kind = _ByTool if by_tool else ChatOpenAI
    return kind(model="scripted-model", api_key=pydantic.SecretStr("k"), base_url=server.base_url, max_retries=0)


def _listwise(llm: ChatOpenAI, top_n: int) -> BaseDocumentCompressor:
    return LLMListwiseRerank.from_llm(llm, top_n=top_n)


def _cost(make: Callable[[ChatOpenAI], BaseDocumentCompressor]) -> dict[str, int]:
    """Requests and prompt characters (schema included) of one query over the policy's sections."""
    sections = ArbiterPdfLoader(samples.path("policy_en")).load()[:MANY]
    numbers = {"ranked_document_ids": list(range(MANY))}

    def script(request: RecordedRequest) -> Reply:
        if candidates_in(request) is not None:
            return answering()(request)
        listwise = "ranked_document_ids" in json.dumps(request.body)
        return Reply(numbers if listwise else "YES")

    with ScriptedServer(script) as server:
        make(_llm(server)).compress_documents(sections, "What is the deductible for water damage?")
        return {"requests": server.count(), "prompt characters": sum(_characters(r) for r in server.requests)}


def _characters(request: RecordedRequest) -> int:
    body = request.body
    schema = body.get("response_format") or body.get("tools")
    return sum(len(m["content"]) for m in body["messages"]) + (len(json.dumps(schema)) if schema else 0)


def _all_supporting(request: RecordedRequest) -> Reply:
    return answering(lambda shown: {c["candidate_id"]: "supporting" for c in shown})(request)


def _two_lists() -> tuple[list[Document], list[Document]]:
    """A vector store's view (ids, scores) and a keyword index's (no ids): 16 documents of 20 in common.

    Two pairs of the other documents have the same text and different sources, as standard clauses do.
    """
    sections = ArbiterPdfLoader(samples.path("policy_en")).load()[:MANY]
    clause = "This clause is governed by the law of the insured place."
    twins = [Document(clause, metadata={"source": f"contract-{n}.pdf", "page": n}) for n in range(4)]
    scored = [d.model_copy(update={"metadata": {**d.metadata, "score": 1 / n}}) for n, d in enumerate(sections, 1)]
    plain = [Document(d.page_content, metadata=dict(d.metadata)) for d in sections]
    return [*scored[:18], *twins[:2]], [*plain[2:], *twins[2:]]


def _identity(document: Document) -> tuple[str, str, object]:
    return document.page_content, document.metadata["source"], document.metadata["page"]


def _verdict(case: Case, outcome: Outcome | None) -> str:
    (row,) = run_table(lambda _: outcome, [case])
    if not row["ran"]:
        return "n/a"
    if row["crash"]:
        return "query raises"
    wrong = [f"{row[key]} {key}" for key in ("wrong", "doubled", "lost") if row[key]]
    return ", ".join(wrong) or ("rules decide, told" if outcome and outcome.error else "right")


System = tuple[str, Callable[[ChatOpenAI], BaseDocumentCompressor] | None, Callable[[Wire, Case], Outcome | None]]
SYSTEMS: Iterable[System] = (
    ("ArbiterDocumentCompressor", lambda llm: ArbiterDocumentCompressor(llm=llm), run_compressor),
    ("the same by tool call", None, partial(run_compressor, by_tool=True)),
    ("ArbiterRetriever", None, run_retriever),
    ("LLMListwiseRerank", lambda llm: _listwise(llm, MANY), run_listwise),
    ("LLMChainFilter", lambda llm: LLMChainFilter.from_llm(llm), run_filter),
)


def renew(readme: Path) -> None:
    """Write the tables between their marks in the integration's README."""
    text = readme.read_text(encoding="utf-8")
    for name, rows in (("systems", systems()), ("fusion", fusion())):
        table = f"<!-- {name} -->\n{markdown(list(rows))}\n<!-- end -->"
        text = re.sub(rf"<!-- {name} -->\n.*?<!-- end -->", lambda _, t=table: t, text, flags=re.DOTALL)  # type: ignore[misc]  # a default in a lambda
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew(ROOT / "integrations" / "langchain-arbiter" / "README.md")
