"""Nodes in, passages out; a result in, nodes out: copies, so that the caller's nodes stay as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from llama_index.core.schema import BaseNode, ImageNode, IndexNode, MetadataMode, NodeWithScore

from arbiter_rag.contract import Passage, RetrievalResult, RetrievedCandidate, metadata_of
from arbiter_rag.fusion import reciprocal_rank_fusion
from llama_index.postprocessor.arbiter.places import Place, place_of
from llama_index.postprocessor.arbiter.settings import OnNotFound, Roles

UNJUDGED = 0.25
"""Upper end of the scores of what nobody judged."""

_SCORES = ("score", "retrieval_score", "relevance_score", "rerank_score")
"""Where retrievers and rerankers write a number about this question into the metadata."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """One node, whoever proposed it how often: judged once.

    Attributes:
        key: The node's id; where nodes of one id differ in text, the later ones' with a number behind it.
        scored: As it was first proposed.
        methods: Names of those who proposed it.
        text: What is judged.
    """

    key: str
    scored: NodeWithScore
    methods: tuple[str, ...]
    text: str

    @property
    def node(self) -> BaseNode:
        """The caller's node; never changed."""
        return self.scored.node


@dataclass(slots=True)
class _Merging:
    """Which nodes are one: those with one id and text; where `by_text`, also those with one text and metadata."""

    mode: MetadataMode
    by_text: bool
    known: dict[tuple[str, ...], str] = field(default_factory=dict)
    first: dict[str, tuple[NodeWithScore, str]] = field(default_factory=dict)
    methods: dict[str, dict[str, None]] = field(default_factory=dict)

    def key(self, scored: NodeWithScore, method: str) -> str:
        node, text = scored.node, _text(scored.node, self.mode)
        signs = [("id", node.node_id, text)]
        if self.by_text and text.strip() and _is_text_alone(node):
            signs.append(("text", text, _own_metadata(node)))
        key = next((self.known[s] for s in signs if s in self.known), None) or self._free(node.node_id)
        for sign in signs:
            self.known.setdefault(sign, key)
        self.first.setdefault(key, (scored, text))
        self.methods.setdefault(key, {}).update(dict.fromkeys([method] if method else _methods_of(node)))
        return key

    def _free(self, node_id: str) -> str:
        numbered = (f"{node_id}#{n}" for n in count(2))
        return next(key for key in chain([node_id], numbered) if key not in self.first)


@dataclass(frozen=True, slots=True)
class Pool:
    """What is up for judgement.

    Attributes:
        judged: Nodes with text, best first as far as the caller's order says.
        unseen: Images and other nodes without text: no judge can see them, so none may reject them. They come out
            behind the judged ones as `unjudged`, whatever `roles` and `top_n`.
    """

    judged: tuple[Proposed, ...]
    unseen: tuple[Proposed, ...]
    by_key: Mapping[str, Proposed] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        lists: Mapping[str, Sequence[NodeWithScore]],
        mode: MetadataMode = MetadataMode.NONE,
        *,
        by_text: bool = False,
    ) -> Pool:
        """Merge lists of nodes; several lists by reciprocal rank fusion, one list in its own order.

        Args:
            lists: Who proposed (the method; empty for "as the nodes say") -> nodes, best first.
            mode: Which metadata is judged as part of a node's text.
            by_text: Whether nodes of different ids are one when text and metadata are equal: two indices over the
                same documents give the same chunk an id each.
        """
        merging = _Merging(mode, by_text)
        ranked = [list(dict.fromkeys(merging.key(n, method) for n in nodes)) for method, nodes in lists.items()]
        all_ = [
            Proposed(key, merging.first[key][0], tuple(merging.methods[key]), merging.first[key][1])
            for key, _ in reciprocal_rank_fusion(ranked)
        ]
        seen, unseen = [p for p in all_ if p.text.strip()], [p for p in all_ if not p.text.strip()]
        return cls(tuple(seen), tuple(unseen), {p.key: p for p in all_})

    @property
    def as_given(self) -> list[NodeWithScore]:
        """Every node once, unjudged and unchanged."""
        return [proposed.scored for proposed in self.by_key.values()]

    @property
    def passages(self) -> list[Passage]:
        """The judged nodes as passages, in the pool's order."""
        places = [place_of(p.node.metadata) for p in self.judged]
        many = len({p.document for p in places if p.document}) > 1
        return [
            Passage(
                id=p.key,
                text=p.text,
                doc_id=place.document or p.node.ref_doc_id,
                page=place.page,
                page_label=place.label,
                section=_section(place, many),
                methods=p.methods,
                score=p.scored.score,
            )
            for p, place in zip(self.judged, places, strict=True)
        ]

    def complete(self, result: RetrievalResult) -> RetrievalResult:
        """The result with the unseen nodes accounted for: unjudged, which also means that nothing is "not found"."""
        if not self.unseen:
            return result
        last = (*result.candidates, *result.unjudged)
        lowest = min((c.score for c in result.unjudged), default=UNJUDGED)
        step = lowest / (len(self.unseen) + 1)
        behind = tuple(
            _unseen(f"n{len(self.judged) + n}", proposed, rank=len(last) + n, score=lowest - n * step)
            for n, proposed in enumerate(self.unseen, 1)
        )
        return result.model_copy(
            update={
                "unjudged": (*result.unjudged, *behind),
                "not_found": False,
                "not_found_reason": None,
                "status": "partial" if result.status == "ok" else result.status,
            }
        )

    def emit(
        self, result: RetrievalResult, *, roles: Roles, on_not_found: OnNotFound, top_n: int, expose: bool
    ) -> list[NodeWithScore]:
        """New nodes for what the result keeps, best first, at most `top_n` and behind them every unseen one."""
        unseen = {p.key for p in self.unseen}
        kept = [c for c in result.emitted(roles, on_not_found) if c.original_id not in unseen][:top_n]
        kept += [c for c in result.unjudged if c.original_id in unseen]
        return [
            verdict_node(self.by_key[c.original_id].node, c, result, expose=expose)
            for c in kept
            if c.original_id is not None
        ]


def verdict_node(
    node: BaseNode, candidate: RetrievedCandidate, result: RetrievalResult, *, expose: bool = False
) -> NodeWithScore:
    """A copy of a node with its verdict in flat `arbiter_*` metadata, hidden from prompts and vectors by default."""
    return NodeWithScore(node=with_metadata(node, metadata_of(candidate, result), expose=expose), score=candidate.score)


def with_metadata(node: BaseNode, added: Mapping[str, Any], *, expose: bool = False) -> BaseNode:
    """A copy of a node, of the same class and id, with further metadata."""
    hidden = () if expose else tuple(added)
    # model_copy shares every dict and list with the original, however deep, and postprocessors write into them. Not
    # deep=True: an IndexNode may hold a whole query engine.
    return node.model_copy(
        update={
            "metadata": {**deepcopy(node.metadata), **added},
            "relationships": deepcopy(node.relationships),
            "embedding": None if node.embedding is None else list(node.embedding),
            "excluded_llm_metadata_keys": _joined(node.excluded_llm_metadata_keys, added, hidden),
            "excluded_embed_metadata_keys": _joined(node.excluded_embed_metadata_keys, added, hidden),
        }
    )


def _joined(excluded: Iterable[str], added: Iterable[str], hidden: Iterable[str]) -> list[str]:
    """Keys to leave out of a text: the node's own, and ours as this run wants them, whatever an earlier one did."""
    ours = set(added)
    return list(dict.fromkeys([*(key for key in excluded if key not in ours), *hidden]))


def _methods_of(node: BaseNode) -> list[str]:
    """Who proposed a node, where a retriever of Arbiter's wrote it down; else all that is known is "a retriever"."""
    found = node.metadata.get("arbiter_methods")
    names = [m for m in found if isinstance(m, str)] if isinstance(found, list | tuple) else []
    return names or ["retriever"]


def _is_text_alone(node: BaseNode) -> bool:
    """Whether text and metadata say all: not so for a captioned image, or a node that stands for something else."""
    media = (getattr(node, f"{kind}_resource", None) for kind in ("image", "audio", "video"))
    return not isinstance(node, ImageNode | IndexNode) and not any(media)


def _own_metadata(node: BaseNode) -> str:
    """A node's metadata without what retrievers, rerankers and Arbiter wrote about one question."""
    items = ((k, v) for k, v in node.metadata.items() if not k.startswith("arbiter_") and k not in _SCORES)
    return repr(sorted(items, key=lambda item: item[0]))


def _text(node: BaseNode, mode: MetadataMode) -> str:
    own = node.get_content(metadata_mode=MetadataMode.NONE)
    # Metadata alone says nothing about an image.
    return node.get_content(metadata_mode=mode) if own.strip() and mode != MetadataMode.NONE else own


def _section(place: Place, many: bool) -> str | None:
    """The section; with its document in front where there are several: "in the 2023 report" may be what is asked."""
    parts = [place.document if many else None, place.section]
    return " > ".join(p for p in parts if p) or None


def _unseen(candidate_id: str, proposed: Proposed, *, rank: int, score: float) -> RetrievedCandidate:
    place = place_of(proposed.node.metadata)
    kind = "an image" if isinstance(proposed.node, ImageNode) else "a node"
    return RetrievedCandidate(
        candidate_id=candidate_id,
        doc_id=place.document or proposed.node.ref_doc_id,
        page=place.page,
        page_label=place.label,
        section_title=place.section,
        methods=proposed.methods,
        role="unjudged",
        reason=f"{kind} without text, which no judge can see",
        rank=rank,
        score=score,
        original_id=proposed.key,
        original_score=proposed.scored.score,
    )
