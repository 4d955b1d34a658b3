"""What retriever and compressor share: who judges, how failures are met, what is handed on, how results are told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from arbiter_rag import (
    Arbiter,
    ConfigurationError,
    InputError,
    Lexicon,
    ParsedDocument,
    RetrievalResult,
    RetrievedCandidate,
    RuleJudge,
)
from arbiter_rag.audit import AuditLog
from arbiter_rag.judges.base import Judge
from langchain_arbiter.judge import LangChainJudge

log = logging.getLogger("langchain_arbiter")

Emitted = Literal["primary", "supporting", "tangential", "unjudged"]
EVENT = "arbiter_result"
"""Name of the custom event that carries each whole `RetrievalResult` to the run's callbacks."""


_RULES = "rules"


class Judging(BaseModel):
    """Fields about the judgement; neither `llm` nor `judge` means that rules decide."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    llm: Runnable[Any, Any] | None = None
    """The chat model that judges, once a question."""
    judge: Judge | None = None
    """A judge of your own (`RuleJudge()` needs no model) instead of `llm`."""
    instructions: str | None = None
    """Domain rules, added to the judge's prompt."""
    roles: tuple[Emitted, ...] = ("primary", "supporting", "tangential", "unjudged")
    """Which roles are handed on."""
    on_not_found: Literal["empty", "keep"] = "empty"
    """Whether tangential documents are handed on when the answer is not there."""
    on_error: Literal["fallback", "raise"] = "fallback"
    """When the model fails: let rules decide and say so (`arbiter_status` is "degraded"), or raise `JudgeError`."""
    on_unverified: Literal["demote", "flag", "discard"] = "demote"
    """What becomes of a primary whose quote is not in its passage."""
    max_prompt_tokens: int = Field(default=16_000, ge=1)
    """Budget of the judge's prompt; snippets shrink before a document is cut, and the cut is listed."""
    audit: AuditLog | None = None
    """Where each decision is recorded; its id stands in `arbiter_record_id`."""

    _asking: LangChainJudge | None = PrivateAttr(default=None)

    @field_validator("judge", mode="before")
    @classmethod
    def _by_name(cls, judge: Any) -> Any:
        # As `dumps` wrote it; any other name is refused as no judge.
        return RuleJudge() if isinstance(judge, str) and judge == _RULES else judge

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """What `dumps` writes in another way: the rules by name, for they need nothing to be made again."""
        return {"judge": _RULES} if type(self.judge) is RuleJudge and not self.judge.fallback else {}

    @model_validator(mode="after")
    def _one_judge(self) -> Judging:
        if self.llm is not None and self.judge is not None:
            raise ConfigurationError("Expected llm= or judge=, got both; leave one of them out.")
        return self

    def arbiter(
        self,
        config: RunnableConfig,
        *,
        embedder: Any = None,
        lexicon: Lexicon | None = None,
        max_candidates: int = 10,
        max_context_tokens: int = 1_500,
    ) -> Arbiter:
        """An arbiter for one run: it costs nothing to make, for what is slow is kept with documents and model."""
        return Arbiter(
            self._judge_of(config),
            embedder,
            lexicon,
            max_candidates=max_candidates,
            max_prompt_tokens=self.max_prompt_tokens,
            max_context_tokens=max_context_tokens,
            instructions=self.instructions,
            on_error=self.on_error,
            on_unverified=self.on_unverified,
            audit=self.audit,
        )

    def emitted(self, result: RetrievalResult) -> list[RetrievedCandidate]:
        """What is handed on; a text that stands inside one handed on before it is not handed on twice."""
        found = result.emitted(self.roles, self.on_not_found)
        ids = {c.candidate_id for c in found}
        return [c for c in found if c.text_in not in ids]

    def _judge_of(self, config: RunnableConfig) -> Judge | None:
        if self.llm is None:
            return self.judge
        if self._asking is None or self._asking.llm is not self.llm:
            self._asking = LangChainJudge(self.llm)
        return self._asking.with_config(config)


class PdfSources(BaseModel):
    """Fields about the PDFs that are searched; each is parsed when the object is made, and once."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    paths: tuple[str, ...] = ()
    """PDF files."""
    documents: tuple[ParsedDocument, ...] = ()
    """Documents parsed already, also by `ParsedDocument.from_frames`."""
    cache_dir: str | None = None
    """Where parsed documents and vectors may be kept; nothing is written without it."""

    _opened: tuple[tuple[ParsedDocument, str], ...] = PrivateAttr(default=())

    @field_validator("paths", "cache_dir", mode="before")
    @classmethod
    def _as_text(cls, given: Any) -> Any:
        # Text, so that a configuration can be written as JSON.
        if isinstance(given, list | tuple):
            return tuple(str(one) if isinstance(one, Path) else one for one in given)
        return str(given) if isinstance(given, Path) else given

    @model_validator(mode="after")
    def _open(self) -> PdfSources:
        by_path = [(ParsedDocument.from_pdf(path, cache_dir=self.cache_dir), path) for path in self.paths]
        found: dict[str, tuple[ParsedDocument, str]] = {}
        for document, source in [*by_path, *((d, d.name) for d in self.documents)]:
            found.setdefault(document.doc_id, (document, source))
        self._opened = tuple(found.values())
        return self

    @property
    def parsed(self) -> list[ParsedDocument]:
        """The documents, each once."""
        return [document for document, _ in self._opened]

    def source_of(self, doc_id: str | None) -> str:
        """Path, or name, of a document."""
        return next((source for document, source in self._opened if document.doc_id == doc_id), "")


Sources = str | Path | ParsedDocument | Sequence[str | Path | ParsedDocument]
"""One PDF or several: paths, or documents parsed already."""


def sources(given: Sources) -> dict[str, tuple[Any, ...]]:
    """`Sources` as the fields of `PdfSources`."""
    several = [given] if isinstance(given, str | Path | ParsedDocument) else list(given)
    return {
        "paths": tuple(str(one) for one in several if not isinstance(one, ParsedDocument)),
        "documents": tuple(one for one in several if isinstance(one, ParsedDocument)),
    }


def whole(value: object, name: str) -> int:
    """A number that counts documents, checked.

    Raises:
        InputError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is a whole number of at least 1; got {value!r}.")
    return value


def tell(result: RetrievalResult, manager: CallbackManager) -> None:
    """Tell log and callbacks the whole result: documents alone cannot say why there are none."""
    log.info("%s", _summary(result))
    manager.on_custom_event(EVENT, result, run_id=manager.parent_run_id)


async def atell(result: RetrievalResult, manager: AsyncCallbackManager) -> None:
    """The same for async callbacks."""
    log.info("%s", _summary(result))
    await manager.on_custom_event(EVENT, result, run_id=manager.parent_run_id)


def _summary(result: RetrievalResult) -> str:
    if result.not_found:
        return f"Not found ({result.judge}, {result.status}): {result.not_found_reason}"
    return (
        f"{len(result.candidates)} kept, {len(result.discarded)} discarded, {len(result.unjudged)} unjudged, "
        f"{len(result.cut)} cut ({result.judge}, {result.status})"
    )
