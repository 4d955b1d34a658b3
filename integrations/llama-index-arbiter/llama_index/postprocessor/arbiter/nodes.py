"""Nodes in, passages out; a result in, nodes out: copies, so that the caller's nodes stay as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_index.core.schema import BaseNode, ImageNode, MetadataMode, NodeWithScore

from arbiter_rag.contract import Passage, RetrievalResult, RetrievedCandidate, Verdict, metadata_of
from arbiter_rag.errors import InputError
from arbiter_rag.fusion import reciprocal_rank_fusion
from llama_index.postprocessor.arbiter.places import Place, place_of

Roles = tuple[Verdict, ...]
OnNotFound = Literal["empty", "keep"]

ROLES: Roles = ("primary", "supporting", "tangential", "unjudged")
UNJUDGED = 0.25
"""Upper end of the scores of what nobody judged."""


def roles_of(names: Sequence[str]) -> Roles:
    """Roles that may come out, checked.

    Raises:
        InputError: One is none of these.
    """
    if isinstance(names, str) or any(name not in ROLES for name in names):
        raise InputError(f"roles= takes some of {', '.join(ROLES)}; got {names!r}.")
    return tuple(role for role in ROLES if role in names)


@dataclass(frozen=True, slots=True)
class Proposed:
    """One node, whoever proposed it how often: judged once.

    Attributes:
        scored: As it was first proposed.
        methods: Names of those who proposed it.
        text: What is judged.
    """

    scored: NodeWithScore
    methods: tuple[str, ...]
    text: str

    @property
    def node(self) -> BaseNode:
        """The caller's node; never changed."""
        return self.scored.node


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
    by_id: Mapping[str, Proposed] = field(default_factory=dict)

    @classmethod
    def of(cls, lists: Mapping[str, Sequence[NodeWithScore]], mode: MetadataMode = MetadataMode.NONE) -> Pool:
        """Merge lists of nodes by node id; several lists by reciprocal rank fusion, one list in its own order.

        Args:
            lists: Who proposed (the method; empty for "as the nodes say") -> nodes, best first.
            mode: Which metadata is judged as part of a node's text.
        """
        first: dict[str, NodeWithScore] = {}
        methods: dict[str, dict[str, None]] = {}
        for method, nodes in lists.items():
            for scored in nodes:
                first.setdefault(scored.node.node_id, scored)
                known = methods.setdefault(scored.node.node_id, {})
                known.update(dict.fromkeys([method] if method else _methods_of(scored.node)))
        fused = reciprocal_rank_fusion([list(dict.fromkeys(n.node.node_id for n in nodes)) for nodes in lists.values()])
        all_ = [Proposed(first[i], tuple(methods[i]), _text(first[i].node, mode)) for i, _ in fused]
        seen, unseen = [p for p in all_ if p.text.strip()], [p for p in all_ if not p.text.strip()]
        return cls(tuple(seen), tuple(unseen), {p.node.node_id: p for p in all_})

    @property
    def as_given(self) -> list[NodeWithScore]:
        """Every node once, unjudged and unchanged."""
        return [proposed.scored for proposed in self.by_id.values()]

    @property
    def passages(self) -> list[Passage]:
        """The judged nodes as passages, in the pool's order."""
        places = [place_of(p.node.metadata) for p in self.judged]
        many = len({p.document for p in places if p.document}) > 1
        return [
            Passage(
                id=p.node.node_id,
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
        unseen = {p.node.node_id for p in self.unseen}
        kept = [c for c in result.emitted(roles, on_not_found) if c.original_id not in unseen][:top_n]
        kept += [c for c in result.unjudged if c.original_id in unseen]
        return [
            verdict_node(self.by_id[c.original_id].node, c, result, expose=expose)
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
    # model_copy shares every dict and list with the original, and the framework's own postprocessors write into them.
    return node.model_copy(
        update={
            "metadata": {**node.metadata, **added},
            "relationships": dict(node.relationships),
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
        original_id=proposed.node.node_id,
        original_score=proposed.scored.score,
    )
