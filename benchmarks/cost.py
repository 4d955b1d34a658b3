"""What a question costs: requests, tokens and time of Arbiter and of the rerankers it replaces, on the same passages.

Every system gets the same pools of passages of about 512 tokens and talks over HTTP to a scripted server that waits
200 ms a request and 5 ms a generated token (200 tokens a second). It replies in each system's own format about every
passage it was shown; Arbiter's reasons and quotes are as long as its prompt allows: 12 words for what is kept, 6 for
what is not, ten words of a sentence as quote. Tokens are estimated: four characters each, schemas and tools included.

- `judged`: passages whose beginning, or whose candidate, stands in a prompt. RankGPT cuts passages at 300 words.
- `waited`: the server's delays, one after the other; what sends requests side by side takes less in all.
- `wall`: one call, connections open. Arbiter writes reasons, so it generates more and often takes longer.
- `overhead`: wall less what was waited; n/a where requests go side by side.
- `CPU`: of the calling thread, HTTP client included; n/a where other threads work. Arbiter's async forms keep the
  event loop free: what they compute runs in another thread and does not stand here.

`cost-overhead` measures the core alone, without HTTP: what `Arbiter.rank` does before and after the one call, with
passages that the process has not met and with the same ones again, as retrievers hand them in.

What this does not show: how fast a real model generates, its cached prefixes, or whose ranking is better.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from arbiter_rag import Arbiter, OpenAIJudge, ParsedDocument, samples
from arbiter_rag.contract import Brief, Passage
from arbiter_rag.prompt import estimate_tokens
from arbiter_rag.testing import RecordedRequest, Reply, ScriptedJudge, ScriptedServer, candidates_in
from arbiter_rag.testing.judges import quote_from
from benchmarks.harness import Row, entry

QUESTION = "What is the deductible for water damage?"
POOLS = (5, 10, 30, 100)
PASSAGE_TOKENS = 512
SECONDS_A_REQUEST = 0.2
SECONDS_A_TOKEN = 0.005
RUNS = 7
SEED = 7

_KEPT_REASON = "states the amount that the policyholder pays before the insurer pays"
_REASON = "another cover, nothing about this"
_QUOTE_WORDS = 10


@dataclass(frozen=True, slots=True)
class System:
    """One reranker.

    Attributes:
        name: In the table.
        make: Given the server's address and how many passages there are: the call, sync and async.
        write: The reply to a request, given how many passages there are.
        threads: Whether it works in other threads than the caller's.
    """

    name: str
    make: Callable[[str, int], tuple[Callable[[], object], Callable[[], Awaitable[object]]]]
    write: Callable[[RecordedRequest, int], object]
    threads: bool = False


# --- passages and replies ---------------------------------------------------------------------------------------


@cache
def passages(count: int, seed: int = SEED) -> tuple[str, ...]:
    """Different passages of about 512 tokens, made of the samples' English lines in an order drawn once."""
    names = ("policy_en", "contract_amended_en")
    texts = [t for n in names for t in ParsedDocument.from_pdf(samples.path(n)).texts]
    lines = [t for t in texts if len(t) > 30 and ".  ." not in t]  # running text, no table of contents
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        text = ""
        while estimate_tokens(text) < PASSAGE_TOKENS:
            text += draw.choice(lines) + "\n"
        made.append(text.strip())
    return tuple(made)


def verdicts(shown: Sequence[tuple[str, str]]) -> dict[str, object]:
    """A reply about (id, snippet) pairs: one primary, two supporting, three tenths tangential, the others discarded."""
    rows = []
    for at, (candidate_id, snippet) in enumerate(shown):
        role = "primary" if at == 0 else "supporting" if at < 3 else "tangential" if at < 3 + len(shown) * 0.3 else None
        quote = " ".join((quote_from(snippet) or "").split(" ")[:_QUOTE_WORDS]) if at < 3 else None
        reason = _KEPT_REASON if role else _REASON
        rows.append({"candidate_id": candidate_id, "reason": reason, "role": role or "discarded", "quote": quote})
    return {"rankings": rows, "conflicts": []}


def write_verdicts(request: RecordedRequest, _: int) -> object:
    """Arbiter: a role, a reason and perhaps a quote for each candidate."""
    return verdicts([(c["candidate_id"], c["snippet"]) for c in candidates_in(request) or ()])


def write_choices(_: RecordedRequest, count: int) -> object:
    """`LLMRerank`: a line for each document of a batch of ten."""
    return "\n".join(f"Doc: {i}, Relevance: 5" for i in range(1, min(10, count) + 1))


def write_documents(_: RecordedRequest, count: int) -> object:
    """`StructuredLLMRerank`: the same as JSON."""
    return {"documents": [{"document_number": i, "relevance": 5} for i in range(1, min(10, count) + 1)]}


def write_permutation(_: RecordedRequest, count: int) -> object:
    """RankGPT: all numbers in order."""
    return " > ".join(f"[{i}]" for i in range(1, count + 1))


def write_ids(_: RecordedRequest, count: int) -> object:
    """`LLMListwiseRerank`: all numbers in order."""
    return {"ranked_document_ids": list(range(count))}


def write_yes(_: RecordedRequest, __: int) -> object:
    """`LLMChainFilter`: a word for each document."""
    return "YES"


# --- systems ----------------------------------------------------------------------------------------------------


def _core(url: str, count: int) -> tuple[Callable[[], object], Callable[[], Awaitable[object]]]:
    arbiter = Arbiter(OpenAIJudge("m", base_url=url, api_key="k"), on_error="raise")
    given = [Passage(id=f"node-{i}", text=text, score=1 - i / 1000) for i, text in enumerate(passages(count))]
    return lambda: arbiter.rank(QUESTION, given), lambda: arbiter.arank(QUESTION, given)


def llama_index() -> list[System]:
    """LlamaIndex's LLM rerankers and ours.

    Raises:
        ImportError: The framework is not installed.
    """
    from llama_index.core.postprocessor import LLMRerank, StructuredLLMRerank
    from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.llms.openai import OpenAI

    from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor

    def making(reranker: Callable[[Any, int], Any]) -> Any:
        def make(url: str, count: int) -> Any:
            made = reranker(OpenAI(model="gpt-4o-mini", api_base=url, api_key="k", max_retries=0), count)
            nodes = [
                NodeWithScore(node=TextNode(id_=f"node-{i}", text=text), score=1 - i / 1000)
                for i, text in enumerate(passages(count))
            ]
            return (
                lambda: made.postprocess_nodes(nodes, query_str=QUESTION),
                lambda: made.apostprocess_nodes(nodes, query_str=QUESTION),
            )

        return make

    return [
        System("LlamaIndex LLMRerank", making(lambda llm, n: LLMRerank(llm=llm, top_n=n)), write_choices),
        System(
            "LlamaIndex StructuredLLMRerank",
            making(lambda llm, n: StructuredLLMRerank(llm=llm, top_n=n)),
            write_documents,
        ),
        System("LlamaIndex RankGPTRerank", making(lambda llm, n: RankGPTRerank(llm=llm, top_n=n)), write_permutation),
        System(
            "ArbiterNodePostprocessor",
            making(lambda llm, n: ArbiterNodePostprocessor(llm, top_n=n, on_error="raise")),
            write_verdicts,
        ),
    ]


def langchain() -> list[System]:
    """LangChain's LLM compressors and ours.

    Raises:
        ImportError: The framework is not installed.
    """
    from langchain_classic.retrievers.document_compressors import LLMChainFilter, LLMListwiseRerank
    from langchain_core.documents import Document
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    from langchain_arbiter import ArbiterDocumentCompressor

    def making(compressor: Callable[[Any, int], Any]) -> Any:
        def make(url: str, count: int) -> Any:
            llm = ChatOpenAI(model="m", api_key=SecretStr("k"), base_url=url, max_retries=0)
            made = compressor(llm, count)
            documents = [Document(text, id=f"node-{i}") for i, text in enumerate(passages(count))]
            return (
                lambda: made.compress_documents(documents, QUESTION),
                lambda: made.acompress_documents(documents, QUESTION),
            )

        return make

    return [
        System(
            "LangChain LLMListwiseRerank",
            making(lambda llm, n: LLMListwiseRerank.from_llm(llm, top_n=n)),
            write_ids,
            threads=True,
        ),
        System(
            "LangChain LLMChainFilter", making(lambda llm, _: LLMChainFilter.from_llm(llm)), write_yes, threads=True
        ),
        System(
            "ArbiterDocumentCompressor",
            making(lambda llm, n: ArbiterDocumentCompressor(llm=llm, top_n=n, on_error="raise")),
            write_verdicts,
        ),
    ]


def systems() -> tuple[list[System], list[str]]:
    """All that can be run here, and the frameworks that are not installed."""
    found = [System("Arbiter (core)", _core, write_verdicts)]
    missing = []
    for name, load in (("LlamaIndex", llama_index), ("LangChain", langchain)):
        try:
            found += load()
        except ImportError as error:
            missing.append(f"{name}: {error}")
    return found, missing


# --- measuring --------------------------------------------------------------------------------------------------


class Scene:
    """A server that takes its time, one system before it, and what was asked and waited."""

    def __init__(self, system: System, count: int) -> None:
        self.system, self.count = system, count
        self.server = ScriptedServer(self._reply)
        self.patient = False
        self.waited = 0.0
        self.completion = 0

    def __enter__(self) -> Scene:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.__exit__(None, None, None)

    def _reply(self, request: RecordedRequest) -> Reply:
        said = Reply(self.system.write(request, self.count))
        tokens = estimate_tokens(said.text or "")
        delay = SECONDS_A_REQUEST + SECONDS_A_TOKEN * tokens if self.patient else 0.0
        self.waited += delay
        self.completion += tokens
        return Reply(said.content, delay=delay, completion_tokens=tokens)

    def measure(self, call: Callable[[], object]) -> Row:
        """Warm up without waiting, so that connections and caches are there, then measure one call."""
        call()
        before = len(self.server.requests)
        self.patient, self.waited, self.completion = True, 0.0, 0
        wall, cpu = time.perf_counter(), time.thread_time()
        out = call()
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
        self.patient = False
        requests = self.server.requests[before:]
        beside = wall < self.waited
        return {
            "requests": len(requests),
            "judged": self._judged(requests),
            "out": len(getattr(out, "candidates", out)),  # type: ignore[arg-type]  # a result or a list
            "prompt tokens": sum(map(prompt_tokens, requests)),
            "completion": self.completion,
            "a candidate": round(self.completion / self.count, 1),
            "waited s": round(self.waited, 2),
            "wall s": round(wall, 2),
            "overhead ms": "n/a" if beside else f"{1000 * (wall - self.waited):.1f}",
            "CPU ms": "n/a" if self.system.threads else f"{1000 * cpu:.1f}",
        }

    def _judged(self, requests: Sequence[RecordedRequest]) -> int:
        """Passages that stand in a request: as candidates, else by the beginning of their text."""
        ours = [c["candidate_id"] for r in requests for c in candidates_in(r) or ()]
        if ours:
            return len(set(ours))
        texts = [_words(_text(r)) for r in requests]
        return sum(any(_words(passage[:100]) in text for text in texts) for passage in passages(self.count))


def _words(text: str) -> str:
    return " ".join(text.replace("\\n", " ").split())


def prompt_tokens(request: RecordedRequest) -> int:
    """Estimated tokens of a request: what its messages say, its schema and its tools."""
    return estimate_tokens(_text(request))


def _text(request: RecordedRequest) -> str:
    body = request.body
    said = "".join(
        m["content"] if isinstance(m["content"], str) else json.dumps(m["content"]) for m in body["messages"]
    )
    shapes = [body[key] for key in ("response_format", "tools") if body.get(key)]
    return said + "".join(json.dumps(shape, ensure_ascii=False) for shape in shapes)


def _rows(system: System, count: int, runner: asyncio.Runner) -> Iterator[Row]:
    with Scene(system, count) as scene:
        sync, asynchronous = system.make(scene.server.base_url, count)
        yield {"system": system.name, "way": "sync", "passages": count, **scene.measure(sync)}

        async def awaited() -> object:
            return await asynchronous()

        row = scene.measure(lambda: runner.run(awaited()))
        yield {"system": system.name, "way": "async", "passages": count, **row}


@entry("cost")
def cost() -> Iterator[Row]:
    """Requests, tokens and time of one question: Arbiter beside the rerankers of LlamaIndex and LangChain"""
    found, missing = systems()
    with asyncio.Runner() as runner, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # frameworks speak of their own deprecations
        for count in POOLS:
            rows = [row for system in found for row in _rows(system, count, runner)]
            base = next((r["prompt tokens"] for r in rows if r["system"] == "LlamaIndex LLMRerank"), None)
            for row in rows:
                share = round(float(row["prompt tokens"] or 0) / float(base), 2) if base else None
                yield {**row, "of LLMRerank's prompt": share}
        gc.collect()
        runner.run(asyncio.sleep(0.1))  # clients that are gone close their connections in the loop
    for why in missing:
        yield {"system": f"not measured: {why}"}


@entry("cost-overhead")
def overhead() -> Iterator[Row]:
    """What `Arbiter.rank` does around the one call, in milliseconds: best of seven, without HTTP"""
    for count in POOLS:
        again = [_rank_once(_given(count, SEED)) for _ in range(RUNS)][1:]
        first = [_rank_once(_given(count, SEED + run)) for run in range(1, RUNS)]
        yield {
            "passages": count,
            **{f"{what}, wall ms": round(1000 * min(w for w, _ in took), 1) for what, took in _named(first, again)},
            **{f"{what}, CPU ms": round(1000 * min(c for _, c in took), 1) for what, took in _named(first, again)},
        }


def _named(first: list[tuple[float, float]], again: list[tuple[float, float]]) -> list[tuple[str, Any]]:
    return [("new passages", first), ("seen before", again)]


def _given(count: int, seed: int) -> list[Passage]:
    return [Passage(id=f"node-{i}", text=text, score=1 - i / 1000) for i, text in enumerate(passages(count, seed))]


def _rank_once(given: Sequence[Passage]) -> tuple[float, float]:
    """Wall and CPU seconds of one call, without the time in which the double writes its reply."""
    wrote = [0.0, 0.0]

    def reply(brief: Brief) -> str:
        wall, cpu = time.perf_counter(), time.thread_time()
        said = json.dumps(verdicts([(c.candidate_id, c.snippet) for c in brief.entries]))
        wrote[:] = [time.perf_counter() - wall, time.thread_time() - cpu]
        return said

    arbiter = Arbiter(ScriptedJudge(reply), on_error="raise")
    wall, cpu = time.perf_counter(), time.thread_time()
    arbiter.rank(QUESTION, given)
    return time.perf_counter() - wall - wrote[0], time.thread_time() - cpu - wrote[1]
