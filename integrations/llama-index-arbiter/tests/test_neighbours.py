"""Before and behind the framework's own postprocessors."""

from __future__ import annotations

from itertools import pairwise

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import (
    LongContextReorder,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    SimilarityPostprocessor,
)
from llama_index.core.schema import Document, NodeRelationship, NodeWithScore, RelatedNodeInfo
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_scenes import QUESTION, TEXTS

from arbiter_rag import RuleJudge
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor


def run(nodes: list[NodeWithScore], *chain: object) -> list[NodeWithScore]:
    for post in chain:
        nodes = post.postprocess_nodes(nodes, query_str=QUESTION)  # type: ignore[attr-defined]  # each has it
    return nodes


@pytest.fixture
def arbiter() -> ArbiterNodePostprocessor:
    return ArbiterNodePostprocessor(judge=RuleJudge(), on_not_found="keep")


def ids(nodes: list[NodeWithScore]) -> list[str]:
    return [n.node_id for n in nodes]


def test_long_context_reorder(arbiter: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    alone = ids(run(nodes, arbiter))
    assert ids(run(nodes, LongContextReorder(), arbiter)) == alone
    behind = run(nodes, arbiter, LongContextReorder())
    assert sorted(ids(behind)) == sorted(alone)
    assert {n.node_id: n.metadata["arbiter_rank"] for n in behind} == {i: r for r, i in enumerate(alone, 1)}


def test_similarity_cutoffs_choose_roles(arbiter: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    before = run(nodes, SimilarityPostprocessor(similarity_cutoff=0.65), arbiter)
    assert "scope" not in ids(before)
    assert before[0].node_id == "answer"
    for cutoff, roles in ((0.75, {"primary"}), (0.5, {"primary", "supporting"})):
        kept = run(nodes, arbiter, SimilarityPostprocessor(similarity_cutoff=cutoff))
        assert {n.metadata["arbiter_role"] for n in kept} <= roles
        assert kept


def test_metadata_replacement(arbiter: ArbiterNodePostprocessor) -> None:
    text = "\n".join(TEXTS.values())
    # Its own splitter wants data of NLTK's, which a first run downloads.
    parser = SentenceWindowNodeParser.from_defaults(sentence_splitter=str.splitlines, window_size=1)
    sentences = parser.get_nodes_from_documents([Document(text=text)])
    scored = [NodeWithScore(node=node, score=0.5) for node in sentences]
    replace = MetadataReplacementPostProcessor(target_metadata_key="window")
    behind = run(scored, arbiter, replace)
    assert behind[0].metadata["original_text"].startswith("The deductible")
    assert behind[0].text == behind[0].metadata["window"]
    assert all(n.node.text == n.node.metadata["original_text"] for n in scored)  # the index's own nodes are untouched
    copies = [NodeWithScore(node=n.node.model_copy(), score=n.score) for n in scored]
    before = run(copies, replace, arbiter)
    assert TEXTS["answer"] in before[0].text
    assert before[0].metadata["arbiter_quote_status"] == "exact"


def test_prev_next(arbiter: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    for one, two in pairwise(nodes):
        one.node.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=two.node_id)
        two.node.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=one.node_id)
    store = SimpleDocumentStore()
    store.add_documents([n.node for n in nodes])
    neighbours = PrevNextNodePostprocessor(docstore=store, num_nodes=1, mode="both")
    behind = run(nodes, ArbiterNodePostprocessor(judge=RuleJudge(), roles=("primary",), top_n=1), neighbours)
    assert "answer" in ids(behind)
    assert len(behind) == 3
    before = run([nodes[2]], neighbours, arbiter)
    assert before[0].node_id == "answer"
    assert set(ids(before)) <= {"fire", "answer", "scope"}


def test_two_arbiters_in_a_row(arbiter: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    once, twice = run(nodes, arbiter), run(nodes, arbiter, arbiter)
    assert twice[0].node_id == once[0].node_id == "answer"
    assert set(ids(twice)) <= set(ids(once))
    assert twice[0].metadata["arbiter_original_score"] == once[0].score


def test_nodes_can_be_indexed_again(arbiter: ArbiterNodePostprocessor, nodes: list[NodeWithScore]) -> None:
    judged = [n.node for n in run(nodes, arbiter)]
    index = VectorStoreIndex(judged, embed_model=MockEmbedding(embed_dim=4))
    found = index.as_retriever(similarity_top_k=9).retrieve(QUESTION)
    assert sorted(ids(found)) == sorted(n.node_id for n in judged)
