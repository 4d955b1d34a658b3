"""What comes out of the postprocessor: copies with verdicts, of nodes of every kind."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest
from llama_index.core.schema import (
    Document,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_scenes import QUESTION, TEXTS, native

from arbiter_rag import RuleJudge
from arbiter_rag.testing import ScriptedJudge, ScriptedServer
from llama_index.postprocessor.arbiter import ArbiterNodePostprocessor

KEYS = {
    "arbiter_role", "arbiter_reason", "arbiter_rank", "arbiter_methods", "arbiter_matched_keywords", "arbiter_quote",
    "arbiter_quote_status", "arbiter_page", "arbiter_candidate_id", "arbiter_original_score", "arbiter_status",
    "arbiter_record_id",
}  # fmt: skip


def rules(**settings: Any) -> ArbiterNodePostprocessor:
    return ArbiterNodePostprocessor(judge=RuleJudge(), **settings)


# --- nodes ------------------------------------------------------------------------------------------------------


def test_verdicts_stand_in_flat_metadata_hidden_from_prompts(
    server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    best = ArbiterNodePostprocessor(native(server)).postprocess_nodes(nodes, query_str=QUESTION)[0]
    assert {k for k in best.metadata if k.startswith("arbiter_")} == KEYS
    assert best.metadata["arbiter_role"] == "primary"
    assert best.metadata["arbiter_reason"] == "scripted primary"
    assert best.metadata["arbiter_original_score"] == pytest.approx(0.7)
    assert best.metadata["arbiter_methods"] == ["retriever"]
    assert best.metadata["arbiter_quote_status"] == "exact"
    json.dumps(best.metadata)
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "arbiter" not in best.node.get_content(mode)
    assert "page_label: 3" in best.node.get_content(MetadataMode.LLM)


def test_joined_as_the_readme_says_a_flat_store_takes_it(nodes: list[NodeWithScore]) -> None:
    best = rules().postprocess_nodes(nodes, query_str=QUESTION)[0].node
    for key in ("arbiter_methods", "arbiter_matched_keywords"):
        with pytest.raises(ValueError, match=key):
            node_to_metadata_dict(best, flat_metadata=True)
        best.metadata[key] = ", ".join(best.metadata[key])
    assert node_to_metadata_dict(best, flat_metadata=True)["arbiter_methods"] == "retriever"


def test_expose_metadata_shows_it_even_if_an_earlier_run_hid_it(nodes: list[NodeWithScore]) -> None:
    hidden = rules().postprocess_nodes(nodes, query_str=QUESTION)
    shown = rules(expose_metadata=True).postprocess_nodes(hidden, query_str=QUESTION)
    assert "arbiter_role: primary" in shown[0].node.get_content(MetadataMode.LLM)
    assert "arbiter_role: primary" in shown[0].node.get_content(MetadataMode.EMBED)
    assert "file_name" not in shown[0].node.get_content(MetadataMode.LLM)  # the node's own exclusions stay


def test_the_callers_nodes_stay_byte_for_byte(server: ScriptedServer, nodes: list[NodeWithScore]) -> None:
    for scored in nodes:
        scored.node.relationships = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="doc")}
        scored.node.embedding = [0.5, 0.25]
        scored.node.metadata["nested"] = {"tags": ["a"], "deep": [{"b": 1}]}
        scored.node.relationships[NodeRelationship.SOURCE].metadata["tags"] = ["a"]
    before = pickle.dumps(nodes), [n.model_dump_json() for n in nodes]
    out = ArbiterNodePostprocessor(native(server)).postprocess_nodes(nodes, query_str=QUESTION)
    for scored in out:  # what later postprocessors do to what they get
        scored.node.metadata["more"] = 1
        scored.node.metadata["nested"]["tags"].append("changed")
        scored.node.metadata["nested"]["deep"][0]["b"] = 2
        scored.node.embedding.append(1.0)
        scored.node.relationships[NodeRelationship.SOURCE].metadata["tags"].append("changed")
        scored.node.excluded_llm_metadata_keys.append("more")
        scored.node.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="other")
        scored.node.set_content("changed")
        scored.score = 0.0
    assert (pickle.dumps(nodes), [n.model_dump_json() for n in nodes]) == before


def test_ids_text_relationships_and_class_are_kept(nodes: list[NodeWithScore]) -> None:
    nodes[2].node.relationships = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="doc")}
    best = rules().postprocess_nodes(nodes, query_str=QUESTION)[0]
    assert best.node_id == "answer"
    assert best.text == TEXTS["answer"]
    assert best.node.ref_doc_id == "doc"
    assert type(best.node) is TextNode


def test_scores_are_floats_that_fall_with_rank_within_role_bands(
    server: ScriptedServer, nodes: list[NodeWithScore]
) -> None:
    out = ArbiterNodePostprocessor(native(server)).postprocess_nodes(nodes, query_str=QUESTION)
    scores = [n.score for n in out]
    assert all(type(s) is float for s in scores)
    assert scores == sorted(set(scores), reverse=True)
    assert 0.75 < scores[0] <= 1
    assert 0.5 < scores[1] < 0.75
    assert 0.25 < scores[2] < 0.5


def test_all_nodes_are_judged_and_top_n_bounds_what_comes_out(nodes: list[NodeWithScore]) -> None:
    judge = ScriptedJudge(
        lambda b: {
            "rankings": [{"candidate_id": c.candidate_id, "reason": "r", "role": "tangential"} for c in b.candidates]
        }
    )
    many = [NodeWithScore(node=TextNode(id_=f"n{i}", text=f"Text number {i} about the deductible.")) for i in range(60)]
    out = ArbiterNodePostprocessor(judge=judge, top_n=7, on_not_found="keep").postprocess_nodes(
        many, query_str=QUESTION
    )
    assert len(out) == 7
    assert len(judge.briefs[0].candidates) == 60


def test_a_node_given_twice_is_judged_and_returned_once(nodes: list[NodeWithScore]) -> None:
    out = rules(on_not_found="keep").postprocess_nodes([*nodes, *nodes], query_str=QUESTION)
    assert len({n.node_id for n in out}) == len(out)
    result = rules().postprocess_result([*nodes, *nodes], query_str=QUESTION)
    assert len(result.candidates) + len(result.discarded) + len(result.unjudged) == 4


def test_nodes_with_one_text_and_different_ids_are_different_candidates() -> None:
    twins = [NodeWithScore(node=TextNode(id_=i, text=TEXTS["answer"])) for i in ("one", "two")]
    result = rules().postprocess_result(twins, query_str=QUESTION)
    assert {c.original_id for c in (*result.candidates, *result.discarded)} == {"one", "two"}


async def test_nodes_with_one_id_and_different_texts_are_all_judged_and_returned() -> None:
    same_id = [
        NodeWithScore(node=TextNode(id_="n", text=TEXTS[name]), score=0.5) for name in ("fire", "answer", "fire")
    ]
    post = rules(on_not_found="keep", roles=("primary", "supporting", "tangential", "unjudged"))
    result = post.postprocess_result(same_id, query_str=QUESTION)
    told = (*result.candidates, *result.discarded, *result.unjudged)
    assert sorted(c.original_id for c in told) == ["n", "n#2"]
    for found in (
        post.postprocess_nodes(same_id, query_str=QUESTION),
        await post.apostprocess_nodes(same_id, query_str=QUESTION),
    ):
        assert (found[0].node_id, found[0].text) == ("n", TEXTS["answer"])
        assert len({n.text for n in found}) == len(found)
    one_is_named_so = [*same_id, NodeWithScore(node=TextNode(id_="n#2", text=TEXTS["scope"]))]
    result = post.postprocess_result(one_is_named_so, query_str=QUESTION)
    assert len({c.original_id for c in (*result.candidates, *result.discarded, *result.unjudged)}) == 3


def test_section_page_and_document_reach_the_judge() -> None:
    given = [
        TextNode(
            text=TEXTS["answer"],
            metadata={"file_path": f"/x/policy_{year}.pdf", "header_path": "/Premium/Deductible/", "page": 2},
        )
        for year in (2023, 2024)
    ]
    judge = ScriptedJudge({"rankings": []})
    ArbiterNodePostprocessor(judge=judge).postprocess_nodes([NodeWithScore(node=n) for n in given], query_str=QUESTION)
    entries = judge.briefs[0].entries
    assert {e.section for e in entries} == {f"policy_{y}.pdf > Premium > Deductible" for y in (2023, 2024)}
    assert [c.page for c in judge.briefs[0].candidates] == [2, 2]
    assert all("deductible" in c.matched_keywords for c in judge.briefs[0].candidates)


def test_metadata_mode_judges_metadata_as_text() -> None:
    node = TextNode(text="It is 500 EUR per claim.", metadata={"topic": "deductible for water damage"})
    judge = ScriptedJudge({"rankings": []})
    for mode, held in ((MetadataMode.NONE, False), (MetadataMode.LLM, True)):
        post = ArbiterNodePostprocessor(judge=judge, metadata_mode=mode)
        post.postprocess_nodes([NodeWithScore(node=node)], query_str=QUESTION)
        assert ("topic: deductible" in judge.briefs[-1].candidates[0].text) is held


# --- other kinds of nodes ---------------------------------------------------------------------------------------


def test_images_are_passed_through_behind_the_others_whatever_roles_and_top_n(nodes: list[NodeWithScore]) -> None:
    images = [NodeWithScore(node=ImageNode(id_=f"img{i}", image_path=f"{i}.png"), score=0.9) for i in range(2)]
    media = NodeWithScore(node=Node(id_="media", image_resource=MediaResource(data=b"x", mimetype="image/png")))
    out = rules(top_n=1, roles=("primary",)).postprocess_nodes(
        [images[0], *nodes, images[1], media], query_str=QUESTION
    )
    assert [n.node_id for n in out] == ["answer", "img0", "img1", "media"]
    assert [type(n.node) for n in out[1:]] == [ImageNode, ImageNode, Node]
    assert [n.metadata["arbiter_role"] for n in out[1:]] == ["unjudged"] * 3
    scores = [n.score for n in out]
    assert scores == sorted(set(scores), reverse=True)
    assert 0 < scores[-1] < scores[1] < 0.25


def test_what_nobody_could_see_is_never_called_not_found() -> None:
    image = NodeWithScore(node=ImageNode(id_="img", image_path="a.png"))
    other = NodeWithScore(node=TextNode(id_="t", text="Nothing of the kind."))
    result = rules().postprocess_result([image, other], query_str=QUESTION)
    assert not result.not_found
    assert result.status == "partial"
    assert [c.original_id for c in result.unjudged] == ["img"]
    judge = ScriptedJudge({"rankings": []})
    only = ArbiterNodePostprocessor(judge=judge).postprocess_nodes([image], query_str=QUESTION)
    assert [n.node_id for n in only] == ["img"]
    assert judge.calls == 0


def test_a_captioned_image_a_document_and_an_index_node_are_judged_by_their_text() -> None:
    given = [
        ImageNode(id_="image", text=TEXTS["answer"], image_path="a.png"),
        Document(id_="document", text=TEXTS["scope"]),
        IndexNode(id_="index", text=TEXTS["fire"], index_id="x"),
    ]
    out = rules(on_not_found="keep", top_n=9).postprocess_nodes(
        [NodeWithScore(node=n) for n in given], query_str=QUESTION
    )
    assert out[0].node_id == "image"
    assert type(out[0].node) is ImageNode
    assert out[0].node.image_path == "a.png"


def test_what_an_index_node_stands_for_is_not_copied() -> None:
    target = object()
    node = IndexNode(id_="index", text=TEXTS["answer"], index_id="x", obj=target)
    (out,) = rules().postprocess_nodes([NodeWithScore(node=node)], query_str=QUESTION)
    assert out.node.obj is target


def test_a_question_that_is_an_image_alone_passes_everything_through(nodes: list[NodeWithScore]) -> None:
    query = QueryBundle(query_str="", image_path="photo.png")
    judge = ScriptedJudge({"rankings": []})
    post = ArbiterNodePostprocessor(judge=judge, top_n=1)
    assert post.postprocess_nodes(nodes, query) == nodes
    assert asyncio.run(post.apostprocess_nodes(nodes, query)) == nodes
    assert judge.calls == 0
