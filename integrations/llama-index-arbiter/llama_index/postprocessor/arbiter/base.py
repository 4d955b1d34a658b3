"""The node postprocessor: nodes in, one judgement, the nodes that answer out, each with its role and reason."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from llama_index.core.bridge.pydantic import Field, field_serializer, field_validator
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from pydantic import ValidationError

from arbiter_rag import Arbiter, ConfigurationError, InputError, RetrievalResult, RuleJudge
from arbiter_rag.audit import AuditLog
from arbiter_rag.judges.base import Judge
from llama_index.postprocessor.arbiter.events import announce, reranking
from llama_index.postprocessor.arbiter.judge import LlamaIndexJudge
from llama_index.postprocessor.arbiter.nodes import Pool
from llama_index.postprocessor.arbiter.settings import (
    ROLES,
    OnNotFound,
    Roles,
    number_of,
    on_not_found_of,
    refused,
    roles_of,
)

RULES = "rules"
"""How `RuleJudge` stands in `to_dict`: the one judge that needs nothing to be made again."""


def judge_of(llm: LLM | None, judge: Judge | None) -> Judge:
    """The judge that these two settings mean: the judge, else the LLM, else `Settings.llm`."""
    if judge is not None and llm is not None:
        raise InputError("Either llm= or judge= was expected, both came; give one of them.")
    return judge if judge is not None else LlamaIndexJudge(llm if llm is not None else default_llm())


def default_llm() -> LLM:
    """`Settings.llm`.

    Raises:
        ConfigurationError: There is none: its package or key is missing.
    """
    try:
        return Settings.llm
    except Exception as error:
        why = " ".join(str(error).replace("*", " ").split())
        raise ConfigurationError(
            f"llm= was expected, or a Settings.llm that works, or judge=RuleJudge(); Settings.llm says: {why[:300]}"
        ) from error


def question_of(query: QueryBundle | str | None) -> QueryBundle:
    """The query as a bundle.

    Raises:
        InputError: There is none (a `ValueError`, as the framework's own postprocessors raise).
    """
    if query is None:
        raise InputError("A query was expected, None came; pass query_bundle= or query_str=.")
    return QueryBundle(query) if isinstance(query, str) else query


def speechless(query: QueryBundle) -> bool:
    """Whether a query has an image and no words: nothing that nodes could be judged by."""
    return not query.query_str.strip() and query.image_path is not None


class ArbiterNodePostprocessor(BaseNodePostprocessor):
    """Gives every node a role and a reason in one LLM call; drop-in for `LLMRerank` and other rerankers.

    All nodes given are judged; `top_n` bounds what comes out. Nodes without text (images) are passed through behind
    the others. The caller's nodes are never changed: what comes out are copies with flat `arbiter_*` metadata.

    Args:
        llm: Who judges; by default `Settings.llm`.
        top_n: Most nodes that come out.
        judge: A judge of Arbiter's instead of an LLM; `RuleJudge()` needs no model.
        roles: Which roles come out.
        on_not_found: `empty` returns no node when none holds the answer, `keep` returns what has one of the roles.
        expose_metadata: Show `arbiter_*` metadata to the LLM that answers and to embedding models.
        metadata_mode: Which of a node's metadata is judged as part of its text; by default none: section, page and
            file name are read from it and shown to the judge by themselves.
        instructions: Your domain rules, added to the judge's prompt.
        max_prompt_tokens: Budget of the judge's prompt; snippets shrink before a node is cut, cut ones are listed.
        on_error: When the LLM fails: decide by rules and say so (`arbiter_status` is `degraded`), or raise.
        on_unverified: What becomes of a primary whose quote does not stand in its node.
        audit: Where each decision is recorded; its id stands in `arbiter_record_id`.

    Example:
        >>> index.as_query_engine(similarity_top_k=10, node_postprocessors=[ArbiterNodePostprocessor(top_n=5)])
    """

    llm: LLM | None = Field(default=None, exclude=True, description="Who judges; a key must not end up in to_dict.")
    judge: Any = Field(default=None, description="A judge instead of an LLM.")
    top_n: int = Field(default=5, ge=1, description="Most nodes that come out.")
    roles: Roles = Field(default=ROLES, description="Which roles come out.")
    on_not_found: OnNotFound = "empty"
    expose_metadata: bool = False
    metadata_mode: MetadataMode = MetadataMode.NONE
    instructions: str | None = None
    max_prompt_tokens: int = Field(default=16_000, ge=1)
    on_error: Literal["fallback", "raise"] = "fallback"
    on_unverified: Literal["demote", "flag", "discard"] = "demote"
    audit: AuditLog | None = Field(default=None, description="Where each decision is recorded.")

    def __init__(
        self,
        llm: LLM | None = None,
        top_n: int = 5,
        *,
        judge: Judge | str | None = None,
        roles: Sequence[str] = ROLES,
        on_not_found: OnNotFound = "empty",
        expose_metadata: bool = False,
        metadata_mode: MetadataMode = MetadataMode.NONE,
        instructions: str | None = None,
        max_prompt_tokens: int = 16_000,
        on_error: Literal["fallback", "raise"] = "fallback",
        on_unverified: Literal["demote", "flag", "discard"] = "demote",
        audit: AuditLog | Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if llm is not None and judge is not None and not isinstance(judge, str):
            judge_of(llm, judge)  # refuses both
        if llm is None and judge is None:
            llm = default_llm()
        settings: dict[str, Any] = {
            "llm": llm,
            "judge": judge if llm is None else None,  # from_dict(data, llm=...): a name was written down, of another
            "top_n": number_of("top_n", top_n),
            "roles": roles_of(roles),
            "on_not_found": on_not_found_of(on_not_found),
            "expose_metadata": expose_metadata,
            "metadata_mode": metadata_mode,
            "instructions": instructions,
            "max_prompt_tokens": number_of("max_prompt_tokens", max_prompt_tokens),
            "on_error": on_error,
            "on_unverified": on_unverified,
            "audit": AuditLog(**audit) if isinstance(audit, Mapping) else audit,
            "callback_manager": callback_manager or CallbackManager(),
        }
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise refused(error) from error

    @field_validator("judge", mode="before")
    @classmethod
    def _known_judge(cls, judge: Any) -> Any:
        if judge is None or isinstance(judge, Judge):
            return judge
        if judge == RULES:
            return RuleJudge()
        raise InputError(f"A judge was expected, {judge!r} came; pass judge= or llm= to from_dict as well.")

    @field_serializer("judge")
    def _judge_by_name(self, judge: Any) -> str | None:
        return None if judge is None else str(judge.name)

    @field_serializer("audit")
    def _audit_by_path(self, audit: AuditLog | None) -> dict[str, Any] | None:
        return None if audit is None else {"path": str(audit.path), "redact": audit.redact, "fsync": audit.fsync}

    @classmethod
    def class_name(cls) -> str:
        """`ArbiterNodePostprocessor`."""
        return "ArbiterNodePostprocessor"

    def __getstate__(self) -> dict[str, Any]:
        """As the framework does it, except that a judge is never lost: another one would decide after unpickling."""
        state = super().__getstate__()
        lost = [name for name in ("llm", "judge") if name not in state["__dict__"]]
        if lost:
            raise pickle.PicklingError(f"The {lost[0]} of this postprocessor cannot be pickled; give it one that can.")
        return state

    def _get_prompts(self) -> PromptDictType:
        """None: the judge's prompt is a contract with settling and no template; domain rules go into `instructions`."""
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Nothing to update."""

    # --- the whole result -----------------------------------------------------------------------------------------

    def postprocess_result(
        self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> RetrievalResult:
        """As `postprocess_nodes`, but everything: discarded nodes with reasons, faults, and why nothing was found."""
        query, pool = self._prepared(nodes, _one_of(query_bundle, query_str))
        result = pool.complete(self._arbiter().rank(query.query_str, pool.passages))
        announce(result)
        return result

    async def apostprocess_result(
        self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> RetrievalResult:
        """`postprocess_result` without blocking the event loop."""
        query, pool = self._prepared(nodes, _one_of(query_bundle, query_str))
        result = pool.complete(await self._arbiter().arank(query.query_str, pool.passages))
        announce(result)
        return result

    # --- what the framework calls -----------------------------------------------------------------------------------

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query, pool = self._prepared(nodes, query_bundle)
        if not nodes or speechless(query):
            return list(nodes)
        with reranking(self.callback_manager, query, nodes, self.top_n, self._model_name()) as told:
            told.result = pool.complete(self._arbiter().rank(query.query_str, pool.passages))
            told.nodes = emitted = self._emitted(pool, told.result)
        return emitted

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query, pool = self._prepared(nodes, query_bundle)
        if not nodes or speechless(query):
            return list(nodes)
        with reranking(self.callback_manager, query, nodes, self.top_n, self._model_name()) as told:
            told.result = pool.complete(await self._arbiter().arank(query.query_str, pool.passages))
            told.nodes = emitted = self._emitted(pool, told.result)
        return emitted

    def _prepared(self, nodes: Sequence[NodeWithScore], query: QueryBundle | None) -> tuple[QueryBundle, Pool]:
        return question_of(query), Pool.of({"": nodes}, self.metadata_mode)

    def _emitted(self, pool: Pool, result: RetrievalResult) -> list[NodeWithScore]:
        announce(result)
        return pool.emit(
            result, roles=self.roles, on_not_found=self.on_not_found, top_n=self.top_n, expose=self.expose_metadata
        )

    def _arbiter(self) -> Arbiter:
        # Made anew, so that setting a field (`postprocessor.llm = ...`) has its effect; it holds nothing worth keeping.
        return Arbiter(
            judge_of(self.llm, self.judge),
            instructions=self.instructions,
            max_prompt_tokens=self.max_prompt_tokens,
            on_error=self.on_error,
            on_unverified=self.on_unverified,
            audit=self.audit,
        )

    def _model_name(self) -> str:
        return judge_of(self.llm, self.judge).name


def _one_of(query_bundle: QueryBundle | None, query_str: str | None) -> QueryBundle | None:
    if query_bundle is not None and query_str is not None:
        raise InputError("Either query_bundle= or query_str= was expected, both came; give one of them.")
    return QueryBundle(query_str) if query_str is not None else query_bundle
