"""The retriever over PDFs and over other retrievers, and the detectors as retrievers."""

from __future__ import annotations

import asyncio
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, SummaryIndex, VectorStoreIndex
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import Document, ImageNode, IndexNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_scenes import QUESTION, TEXTS, MakeLLM, native
from pydantic import Field

from arbiter_rag import ConfigurationError, DocumentError, InputError, Lexicon, ParsedDocument, RuleJudge
from arbiter_rag.audit import AuditLog
from arbiter_rag.testing import Reply, ScriptedJudge, ScriptedServer, answering
from llama_index.postprocessor.arbiter import ArbiterResultEvent
from llama_index.retrievers.arbiter import ArbiterRetriever, EmbeddingRetriever, KeywordRetriever, TocRetriever

ABSENT = "Who won the chess tournament in Reykjavik?"


class Fixed(BaseRetriever):
    """Gives what it was made with; counts how many run at once."""

    running = most = 0

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        self.nodes = nodes
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        Fixed.running += 1
        Fixed.most = max(Fixed.most, Fixed.running)
        await asyncio.sleep(0.01)
        Fixed.running -= 1
        return self.nodes


class Vector(Fixed):
    """Another class's name."""


def given(*names: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=n, text=TEXTS[n]), score=1 / i) for i, n in enumerate(names, 1)]


# --- over PDFs --------------------------------------------------------------------------------------------------


async def test_from_pdf_cites_and_explains(policy: Path) -> None:
    with ScriptedServer() as server:
        retriever = ArbiterRetriever.from_pdf(policy, native(server), top_n=3)
        found = retriever.retrieve(QUESTION)
        again = await retriever.aretrieve(QueryBundle(QUESTION))
        assert server.count() == 2
    assert [n.model_dump() for n in found] == [n.model_dump() for n in again]
    assert len(found) == 3
    assert [n.metadata["arbiter_rank"] for n in found] == [1, 2, 3]
    scores = [n.score for n in found]
    assert scores == sorted(set(scores), reverse=True)
    for scored in found:
        assert scored.metadata["file_name"] == "policy_en.pdf"
        assert scored.node.ref_doc_id
        shown = scored.node.get_content(MetadataMode.LLM)
        assert "file_name: policy_en.pdf" in shown
        assert "page_label: " in shown
        assert "arbiter" not in shown
    assert any("section" in n.metadata for n in found)


async def test_rules_need_no_model_and_not_found_has_its_reason(policy: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="llama_index.postprocessor.arbiter")
    retriever = ArbiterRetriever.from_pdf(policy, judge=RuleJudge())
    best = retriever.retrieve(QUESTION)[0]
    assert "500" in best.text or "deductible" in best.text.lower()
    assert best.metadata["arbiter_role"] == "primary"
    assert "keyword" in best.metadata["arbiter_methods"]
    assert retriever.retrieve(ABSENT) == []
    assert await retriever.aretrieve(ABSENT) == []
    result = retriever.retrieve_result(ABSENT)
    assert result.not_found
    assert result.not_found_reason in caplog.text
    assert (await retriever.aretrieve_result(ABSENT)).not_found_reason == result.not_found_reason
    kept = ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), on_not_found="keep", roles=("tangential",))
    assert all(n.metadata["arbiter_role"] == "tangential" for n in kept.retrieve(QUESTION))


def test_several_documents_a_lexicon_and_frames(policy: Path) -> None:
    french = policy.with_name("policy_fr.pdf")
    retriever = ArbiterRetriever.from_pdf([policy, french], judge=RuleJudge(), top_n=20)
    assert {d.name for d in retriever.retrieve_result(QUESTION).documents} == {"policy_en.pdf", "policy_fr.pdf"}
    assert retriever.retrieve(QUESTION)[0].metadata["file_name"] == "policy_en.pdf"
    parsed = ParsedDocument.from_pdf(policy)
    over = ArbiterRetriever(documents=[parsed], judge=RuleJudge(), lexicon=Lexicon.shipped("insurance"))
    assert over.retrieve(QUESTION)[0].node.ref_doc_id == parsed.doc_id


def test_texts_come_out_once(policy: Path) -> None:
    everything = {"roles": ("primary", "supporting", "tangential", "unjudged"), "top_n": 50, "max_candidates": 30}
    judge = ScriptedJudge(
        lambda b: {
            "rankings": [{"candidate_id": c.candidate_id, "reason": "r", "role": "supporting"} for c in b.candidates]
        }
    )
    found = ArbiterRetriever.from_pdf(policy, judge=judge, **everything).retrieve(QUESTION)
    texts = [n.text for n in found]
    assert all(texts)
    assert len(texts) == len(set(texts))
    assert len({n.node_id for n in found}) == len(found)


def test_an_embedding_model_joins_the_detectors(policy: Path) -> None:
    retriever = ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), embed_model=MockEmbedding(embed_dim=8))
    plan = retriever.retrieve_result("Why is that so?").plan
    assert any(s.detector == "embedding" and s.run for s in plan.steps)
    assert not any(
        s.detector == "embedding" and s.run
        for s in ArbiterRetriever.from_pdf(policy, judge=RuleJudge()).retrieve_result("Why is that so?").plan.steps
    )


def test_what_cannot_be_meant_is_refused(policy: Path, tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        ArbiterRetriever.from_pdf(tmp_path / "missing.pdf", judge=RuleJudge())
    for wrong in (
        lambda: ArbiterRetriever(judge=RuleJudge()),
        lambda: ArbiterRetriever([], judge=RuleJudge()),
        lambda: ArbiterRetriever([Fixed([])], judge=RuleJudge(), top_n=0),
        lambda: ArbiterRetriever([Fixed([])], judge=RuleJudge(), roles=("best",)),
        lambda: ArbiterRetriever.from_pdf([], judge=RuleJudge()),
        lambda: KeywordRetriever.from_pdf(policy, similarity_top_k=0),
    ):
        with pytest.raises(ValueError, match=r"expected|least|roles"):
            wrong()


@pytest.mark.parametrize("number", [None, "3", 2.5, 0, -1, True])
def test_numbers_must_be_numbers(policy: Path, number: Any) -> None:
    with pytest.raises(InputError, match="top_n="):
        ArbiterRetriever([Fixed([])], judge=RuleJudge(), top_n=number)
    with pytest.raises(InputError, match="top_n="):
        ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), top_n=number)
    with pytest.raises(InputError, match="similarity_top_k="):
        KeywordRetriever.from_pdf(policy, similarity_top_k=number)


@pytest.mark.parametrize(
    "proposers",
    [Fixed([]), {1: Fixed([])}, {"": Fixed([])}, {None: Fixed([])}, [None], ["bm25"], {"a": 5}, "bm25", 5, [Fixed], {}],
    ids=str,
)
def test_retrievers_must_be_some(proposers: Any) -> None:
    with pytest.raises(InputError, match="retriever"):
        ArbiterRetriever(proposers, judge=RuleJudge())


def test_choices_models_and_documents_must_be_such(policy: Path) -> None:
    for wrong, said in (
        ({"on_not_found": "drop"}, "on_not_found="),
        ({"on_not_found": None}, "on_not_found="),
        ({"roles": None}, "roles="),
        ({"roles": "primary"}, "roles="),
        ({"roles": []}, "roles="),
        ({"embed_model": "local"}, "embed_model="),
        ({"on_error": "ignore"}, "on_error"),
    ):
        with pytest.raises(InputError, match=said):
            ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), **wrong)
    with pytest.raises(InputError, match="embed_model="):
        EmbeddingRetriever.from_pdf(policy, "local")
    with pytest.raises(InputError, match="llm="):
        ArbiterRetriever([Fixed([])], "gpt-4o")
    with pytest.raises(InputError, match="lexicon="):
        KeywordRetriever.from_pdf(policy, lexicon="insurance")
    for source in (None, 5, [None]):
        with pytest.raises(InputError, match="path"):
            KeywordRetriever.from_pdf(source)


async def test_a_query_must_be_one(policy: Path) -> None:
    for retriever in (
        ArbiterRetriever.from_pdf(policy, judge=RuleJudge()),
        ArbiterRetriever([Fixed(given("answer"))], judge=RuleJudge()),
        KeywordRetriever.from_pdf(policy),
    ):
        for query in (None, "", " "):
            with pytest.raises(ValueError, match=r"[Qq]uer|[Qq]uestion"):
                retriever.retrieve(query)
            with pytest.raises(ValueError, match=r"[Qq]uer|[Qq]uestion"):
                await retriever.aretrieve(query)


# --- over other retrievers --------------------------------------------------------------------------------------


async def test_retrievers_propose_and_are_kept_as_methods(make_llm: MakeLLM, server: ScriptedServer) -> None:
    proposers = {"bm25": Fixed(given("fire", "answer")), "vector": Fixed(given("answer", "office", "scope"))}
    retriever = ArbiterRetriever(proposers, make_llm(server))
    for found in (retriever.retrieve(QUESTION), await retriever.aretrieve(QUESTION)):
        assert [n.node_id for n in found] == ["answer", "scope", "fire"]
        assert [n.metadata["arbiter_methods"] for n in found] == [["bm25", "vector"], ["vector"], ["bm25"]]
        assert [n.metadata["arbiter_original_score"] for n in found] == pytest.approx([0.5, 1 / 3, 1.0])
    assert server.count() == 2
    result = retriever.retrieve_result(QUESTION)
    assert [c.original_id for c in result.discarded] == ["office"]
    assert set(result.methods_used) >= {"bm25", "vector"}


def test_names_of_a_list_of_retrievers(policy: Path) -> None:
    retriever = ArbiterRetriever(
        [Fixed(given("answer")), Vector(given("answer")), Vector(given("answer")), KeywordRetriever.from_pdf(policy)],
        judge=RuleJudge(),
    )
    methods = retriever.retrieve(QUESTION)[0].metadata["arbiter_methods"]
    assert methods in (["Fixed", "Vector", "Vector-2"], ["keyword"])
    assert list(retriever._retrievers) == ["Fixed", "Vector", "Vector-2", "keyword"]


async def test_retrievers_run_at_once_in_async_and_their_nodes_stay_unchanged() -> None:
    Fixed.most = 0
    nodes = given("fire", "answer")
    before = pickle.dumps(nodes)
    await ArbiterRetriever([Fixed(nodes), Fixed(nodes), Fixed(nodes)], judge=RuleJudge()).aretrieve(QUESTION)
    assert Fixed.most == 3
    assert pickle.dumps(nodes) == before


class Failing(Fixed):
    """Fails at once."""

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise RuntimeError("no connection")


class Blocking(Fixed):
    """Has forgotten that the async form must be awaited."""

    def aretrieve(self, str_or_query_bundle: Any) -> Any:
        return self.nodes


class Slow(Fixed):
    """Never comes to an end; tells what became of it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        super().__init__([])

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        try:
            self.told.append("begun")
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # cleaning up takes its time
            self.told.append("ended")
        return []


async def test_when_one_retriever_fails_none_is_left_running() -> None:
    slow = Slow()
    before = asyncio.all_tasks()
    with pytest.raises(RuntimeError, match="no connection"):
        await ArbiterRetriever([slow, Failing([]), slow], judge=RuleJudge()).aretrieve(QUESTION)
    assert slow.told == ["begun", "begun", "ended", "ended"]
    with pytest.raises(TypeError):
        await ArbiterRetriever([slow, Blocking([])], judge=RuleJudge()).aretrieve(QUESTION)
    assert asyncio.all_tasks() == before


async def test_cancellation_ends_retrievers_and_events() -> None:
    slow, handler = Slow(), Heard(events=[])
    get_dispatcher().add_event_handler(handler)
    try:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ArbiterRetriever([slow], judge=RuleJudge()).aretrieve(QUESTION), 0.05)
    finally:
        get_dispatcher().event_handlers.remove(handler)
    assert slow.told == ["begun", "ended"]
    ends = [e for e in handler.events if isinstance(e, RetrievalEndEvent)]
    assert [e.tags["arbiter_error"] for e in ends] == ["CancelledError"]


async def test_one_chunk_of_two_indices_is_judged_and_returned_once() -> None:
    embed = MockEmbedding(embed_dim=4)
    documents = [Document(text=text, metadata={"file_name": "policy.pdf"}) for text in TEXTS.values()]
    indices = [VectorStoreIndex.from_documents(documents, embed_model=embed) for _ in range(2)]
    proposers = {name: i.as_retriever(similarity_top_k=4) for name, i in zip("ab", indices, strict=True)}
    first_ids = {n.node_id for n in proposers["a"].retrieve(QUESTION)}
    retriever = ArbiterRetriever(proposers, judge=RuleJudge(), on_not_found="keep", top_n=9)
    for found in (retriever.retrieve(QUESTION), await retriever.aretrieve(QUESTION)):
        assert len({n.text for n in found}) == len(found)
        assert {n.node_id for n in found} <= first_ids
        assert all(n.metadata["arbiter_methods"] == ["a", "b"] for n in found)


def test_what_is_one_node_and_what_is_not() -> None:
    def text(id_: str, **metadata: Any) -> NodeWithScore:
        return NodeWithScore(node=TextNode(id_=id_, text=TEXTS["answer"], metadata=metadata))

    def ids_of(*lists: list[NodeWithScore]) -> set[str]:
        judge = ScriptedJudge({"rankings": []})
        ArbiterRetriever([Fixed(nodes) for nodes in lists], judge=judge).retrieve(QUESTION)
        return {c.original_id for c in judge.briefs[0].candidates}

    judged_once = [text("a", page=1, file="f")], [text("b", file="f", page=1, retrieval_score=0.3, arbiter_rank=2)]
    assert ids_of(*judged_once) == {"a"}
    assert ids_of([text("a", page=1)], [text("b", page=2)]) == {"a", "b"}
    assert ids_of([text("a")], [text("a", later=True)]) == {"a"}
    assert ids_of([text("a")], [NodeWithScore(node=TextNode(id_="a", text=TEXTS["fire"]))]) == {"a", "a#2"}
    images = [NodeWithScore(node=ImageNode(id_=i, text="A pipe.", image_path=f"{i}.png")) for i in "xy"]
    assert ids_of(images[:1], images[1:]) == {"x", "y"}
    links = [NodeWithScore(node=IndexNode(id_=i, text="A pipe.", index_id=i)) for i in "xy"]
    assert ids_of(links[:1], links[1:]) == {"x", "y"}


def test_incoming_order_is_rank_fusion_and_images_pass_through() -> None:
    image = NodeWithScore(node=ImageNode(id_="img", image_path="a.png"), score=1.0)
    seen = ScriptedJudge({"rankings": []})
    retriever = ArbiterRetriever(
        {"a": Fixed([image, *given("fire", "answer")]), "b": Fixed(given("answer"))}, judge=seen, top_n=1
    )
    found = retriever.retrieve(QUESTION)
    ranks = {c.original_id: c.incoming_rank for c in seen.briefs[0].candidates}
    assert ranks == {"answer": 1, "fire": 2}
    assert found[-1].node_id == "img"
    assert len(found) == 2


async def test_a_question_that_is_an_image_alone_passes_everything_through(server: ScriptedServer) -> None:
    nodes = given("fire", "answer")
    retriever = ArbiterRetriever([Fixed(nodes), Fixed(nodes)], native(server), top_n=1)
    query = QueryBundle(query_str="", image_path="photo.png")
    assert retriever.retrieve(query) == nodes
    assert await retriever.aretrieve(query) == nodes
    assert server.count() == 0


def test_nothing_proposed_costs_no_call(server: ScriptedServer) -> None:
    retriever = ArbiterRetriever([Fixed([])], native(server))
    assert retriever.retrieve(QUESTION) == []
    assert retriever.retrieve_result(QUESTION).not_found
    assert server.count() == 0


def test_in_place_of_query_fusion_on_its_own_inputs(server: ScriptedServer) -> None:
    llm, embed = native(server), MockEmbedding(embed_dim=4)
    texts = [n.node for n in given(*TEXTS)]
    indices = [VectorStoreIndex(texts[:2], embed_model=embed), VectorStoreIndex(texts[1:], embed_model=embed)]
    proposers = [i.as_retriever(similarity_top_k=4) for i in indices]
    proposers.append(SummaryIndex(texts).as_retriever())
    fused = QueryFusionRetriever(proposers, llm=llm, num_queries=1, use_async=False, similarity_top_k=4).retrieve(
        QUESTION
    )
    judged = ArbiterRetriever(proposers, llm).retrieve(QUESTION)
    assert server.count() == 1
    assert {n.node_id for n in judged} <= {n.node_id for n in fused}
    assert judged[0].node_id == "answer"
    assert judged[0].metadata["arbiter_methods"][0] == "VectorIndexRetriever"


# --- events, pickling -------------------------------------------------------------------------------------------


class Heard(BaseEventHandler):
    """Every event in order."""

    events: list[Any] = Field(default_factory=list)

    def handle(self, event: Any, **kwargs: Any) -> None:
        self.events.append(event)


@pytest.mark.parametrize("form", ["sync", "async"])
def test_events_end_also_on_failure(policy: Path, form: str) -> None:
    handler = Heard(events=[])
    get_dispatcher().add_event_handler(handler)
    try:
        for status in (200, 401):
            handler.events.clear()
            with ScriptedServer(answering() if status == 200 else (lambda _: Reply("no", status=401))) as server:
                retriever = ArbiterRetriever.from_pdf(policy, native(server))
                call = (
                    (lambda r=retriever: r.retrieve(QUESTION))
                    if form == "sync"
                    else (lambda r=retriever: asyncio.run(r.aretrieve(QUESTION)))
                )
                if status == 401:
                    with pytest.raises(ConfigurationError):
                        call()
                else:
                    call()
            starts = [e for e in handler.events if isinstance(e, RetrievalStartEvent)]
            ends = [e for e in handler.events if isinstance(e, RetrievalEndEvent)]
            assert (len(starts), len(ends)) == (1, 1)
            assert len([e for e in handler.events if isinstance(e, ArbiterResultEvent)]) == (status == 200)
    finally:
        get_dispatcher().event_handlers.remove(handler)


def test_pickling(policy: Path, server: ScriptedServer) -> None:
    for retriever in (
        ArbiterRetriever.from_pdf(policy, native(server), embed_model=MockEmbedding(embed_dim=4)),
        ArbiterRetriever([KeywordRetriever.from_pdf(policy)], judge=RuleJudge()),
        TocRetriever.from_pdf(policy),
        EmbeddingRetriever.from_pdf(policy, MockEmbedding(embed_dim=4)),
    ):
        again = pickle.loads(pickle.dumps(retriever))
        assert [n.node_id for n in again.retrieve(QUESTION)] == [n.node_id for n in retriever.retrieve(QUESTION)]


def test_prompts_are_none_and_callbacks_are_kept(policy: Path) -> None:
    retriever = ArbiterRetriever.from_pdf(policy, judge=RuleJudge())
    assert retriever.get_prompts() == {}
    retriever.update_prompts({})


# --- detectors as retrievers ------------------------------------------------------------------------------------


async def test_detectors_are_ordinary_retrievers(policy: Path) -> None:
    embed = MockEmbedding(embed_dim=4)
    for retriever in (
        TocRetriever.from_pdf(policy),
        KeywordRetriever.from_pdf(policy, similarity_top_k=3),
        EmbeddingRetriever.from_pdf(policy, embed),
    ):
        found = retriever.retrieve(QUESTION)
        assert found
        assert [n.model_dump() for n in await retriever.aretrieve(QUESTION)] == [n.model_dump() for n in found]
        scores = [n.score for n in found]
        assert scores == sorted(scores, reverse=True)
        assert all(type(s) is float for s in scores)
        assert len({n.node_id for n in found}) == len(found) <= 5
        assert all(n.metadata["arbiter_methods"] == [retriever.method] for n in found)
        assert all("arbiter" not in n.node.get_content(MetadataMode.LLM) for n in found)


def test_titles_and_numbers_find_sections(policy: Path) -> None:
    best = TocRetriever.from_pdf(policy).retrieve("What does section 5.2 say?")[0]
    assert "5.2" in best.metadata["section"]
    assert TocRetriever.from_pdf(policy).retrieve(ABSENT) == []
    assert KeywordRetriever.from_pdf(policy).retrieve(ABSENT) == []


def test_detectors_in_somebody_elses_fusion_and_then_judged(policy: Path, server: ScriptedServer) -> None:
    proposers = [TocRetriever.from_pdf(policy), KeywordRetriever.from_pdf(policy)]
    fusion = QueryFusionRetriever(
        proposers, llm=native(server), num_queries=1, use_async=False, mode="reciprocal_rerank", similarity_top_k=6
    )
    assert 0 < len(fusion.retrieve(QUESTION)) <= 6
    merged = ArbiterRetriever(proposers, judge=RuleJudge()).retrieve(QUESTION)
    assert any(n.metadata["arbiter_methods"] == ["toc", "keyword"] for n in merged)


@pytest.mark.parametrize("expose", [False, True])
def test_detectors_that_agree_are_one_node_in_somebody_elses_fusion(
    policy: Path, server: ScriptedServer, expose: bool
) -> None:
    proposers = [
        retriever(similarity_top_k=10, expose_metadata=expose)
        for retriever in (
            lambda **given: TocRetriever.from_pdf(policy, **given),
            lambda **given: KeywordRetriever.from_pdf(policy, **given),
            lambda **given: EmbeddingRetriever.from_pdf(policy, MockEmbedding(embed_dim=4), **given),
        )
    ]
    lists = [p.retrieve(QUESTION) for p in proposers]
    agreed = {n.node_id for n in lists[0]} & {n.node_id for n in lists[1]}
    assert agreed
    fusion = QueryFusionRetriever(
        proposers, llm=native(server), num_queries=1, use_async=False, mode="reciprocal_rerank", similarity_top_k=50
    )
    fused = fusion.retrieve(QUESTION)
    assert len({n.node_id for n in fused}) == len(fused)
    assert {n.node_id for n in fused} == {n.node_id for nodes in lists for n in nodes}
    scores = {n.node_id: n.score for n in fused}
    for node_id in agreed:
        places = [[n.node_id for n in nodes].index(node_id) for nodes in lists if node_id in {n.node_id for n in nodes}]
        assert scores[node_id] == pytest.approx(sum(1 / (60 + place) for place in places))


def test_a_sections_hash_knows_text_and_what_others_added(policy: Path) -> None:
    one, two, *_ = (n.node for n in KeywordRetriever.from_pdf(policy).retrieve(QUESTION))
    judged = next(
        n.node
        for n in ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), on_not_found="keep", top_n=20).retrieve(QUESTION)
        if n.node_id == one.node_id
    )
    assert judged.hash == one.hash != two.hash
    known = one.hash
    one.metadata["tenant"] = "acme"
    assert one.hash != known
    assert two.class_name() == "TextNode"  # stores write the class's name down, and know the framework's own


def test_decisions_are_recorded(policy: Path, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    found = ArbiterRetriever.from_pdf(policy, judge=RuleJudge(), audit=log).retrieve(QUESTION)
    assert found[0].metadata["arbiter_record_id"]
    assert log.verify().ok
