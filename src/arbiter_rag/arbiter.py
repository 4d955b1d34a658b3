"""The main path on one screen: question and documents in, detectors propose, a judge decides, a settled result out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from arbiter_rag.audit import AuditLog, Decision, Settings, named_concepts
from arbiter_rag.brief import fit, shuffled
from arbiter_rag.candidates import candidates_of, gather, offer_sections
from arbiter_rag.contract import (
    Brief,
    Candidate,
    Cut,
    DispatchPlan,
    Fault,
    Hit,
    ParsedQuestion,
    Passage,
    PlanStep,
    RetrievalResult,
)
from arbiter_rag.coverage import confidence, survey
from arbiter_rag.detectors import (
    CaptionDetector,
    Embedder,
    EmbeddingDetector,
    KeywordDetector,
    PageDetector,
    TocDetector,
)
from arbiter_rag.detectors.index import index_of
from arbiter_rag.dispatch import DID_NOT_RUN, FAILED, FEW, HALF, dispatch, failed
from arbiter_rag.document import ParsedDocument
from arbiter_rag.embedders import CachedEmbedder
from arbiter_rag.errors import EmbeddingError, InputError, JudgeError
from arbiter_rag.judges.base import Judge, JudgeReply
from arbiter_rag.judges.rules import RuleJudge
from arbiter_rag.lexicon import Lexicon
from arbiter_rag.prompt import TokenCounter
from arbiter_rag.question import parse_question
from arbiter_rag.settle import settle, settle_empty
from arbiter_rag.steps import Ask, Conclude, Embed, Proceeding, Steps, adrive, drive

log = logging.getLogger("arbiter_rag")

LEAST_PROMPT = 1_000
"""Fewest tokens a prompt may have: the instructions to the judge alone take some 700."""

Documents = ParsedDocument | str | Path | Sequence[ParsedDocument | str | Path]
"""One document or several: parsed ones, or paths of PDF files."""


class Arbiter:
    """Detectors propose passages, one judge decides, the result accounts for all of them.

    Safe between threads and event loops; each document is indexed once, whoever asks.

    Args:
        judge: Who decides; rules when no model is configured.
        embedder: Adds the embedding detector; without one only words and titles propose.
        lexicon: The expert's dictionary: variants to look for beside the question's own words.
        max_candidates: Most candidates that the detectors propose; `rank` judges every passage given.
        max_prompt_tokens: Budget of the prompt; snippets shrink before a candidate is cut, and the cut is listed.
        max_context_tokens: Most tokens of a candidate's context.
        instructions: The user's domain rules, added to the judge's prompt.
        cache_dir: Where parsed documents and vectors may be kept; nothing is written without it.
        on_error: When the judge fails: decide by rules and say so (`status="degraded"`), or raise the `JudgeError`.
            Errors of the set-up (`ConfigurationError`) always raise.
        on_unverified: What becomes of a primary whose quote is not in its passage.
        shuffle_seed: Show the candidates in the order that this seed gives, instead of the document's.
        count_tokens: A tokenizer's count; by default four characters (one when CJK) are a token.
        audit: Where each decision is recorded; its id stands in the result's `record_id`.

    Example:
        >>> result = Arbiter().retrieve("When can I leave early?", ParsedDocument.from_pdf("policy.pdf"))
    """

    def __init__(
        self,
        judge: Judge | None = None,
        embedder: Embedder | None = None,
        lexicon: Lexicon | None = None,
        *,
        max_candidates: int = 10,
        max_prompt_tokens: int = 16_000,
        max_context_tokens: int = 1_500,
        instructions: str | None = None,
        cache_dir: str | Path | None = None,
        on_error: Literal["fallback", "raise"] = "fallback",
        on_unverified: Literal["demote", "flag", "discard"] = "demote",
        shuffle_seed: int | None = None,
        count_tokens: TokenCounter | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        _check_limit("max_candidates", max_candidates, 1)
        _check_limit("max_prompt_tokens", max_prompt_tokens, LEAST_PROMPT)
        _check_limit("max_context_tokens", max_context_tokens, 1)
        _check("judge", judge, Judge, "an object with judge() and ajudge(), such as RuleJudge() or OpenAIJudge(model)")
        _check("embedder", embedder, Embedder, "an object with embed() and aembed(), such as OpenAIEmbedder()")
        _check("lexicon", lexicon, Lexicon, "a Lexicon; read a file with Lexicon.load(path)")
        _check("audit", audit, AuditLog, "an AuditLog(path)")
        _check_choice("on_error", on_error, ("fallback", "raise"))
        _check_choice("on_unverified", on_unverified, ("demote", "flag", "discard"))
        self.judge = judge if judge is not None else RuleJudge()
        self.embedder = CachedEmbedder(embedder, cache_dir) if embedder is not None and cache_dir else embedder
        self.lexicon = lexicon
        self.max_candidates = max_candidates
        self.max_prompt_tokens = max_prompt_tokens
        self.max_context_tokens = max_context_tokens
        self.instructions = instructions
        self.cache_dir = cache_dir
        self.on_error = on_error
        self.on_unverified = on_unverified
        self.shuffle_seed = shuffle_seed
        self.count_tokens = count_tokens
        self.audit = audit

    # --- what users call: each form is the same path, driven with or without blocking -------------------------

    def propose(self, question: str, document: Documents) -> Brief:
        """Everything up to the judge: what it would be asked, with each candidate's anchor, context and methods."""
        return drive(self._propose(question, self._open(document)))

    async def apropose(self, question: str, document: Documents) -> Brief:
        """`propose` without blocking the event loop."""
        return await adrive(self._propose(question, await self._aopen(document)))

    def retrieve(self, question: str, document: Documents) -> RetrievalResult:
        """Passages of the documents that answer the question, each with role and reason; or not found, and why.

        Raises:
            InputError: The question is empty, or two documents share an id.
            DocumentError: A path cannot be opened as a PDF.
            ConfigurationError: A key or package is missing, or the model's service rejects the request.
            JudgeError: The judge failed and `on_error` is "raise".
            EmbeddingError: The embedder failed and `on_error` is "raise".
            AuditError: The decision could not be recorded.
        """
        with Proceeding("retrieve", question, self.audit) as proceeding:
            return drive(self._retrieve(question, self._open(document), proceeding), proceeding)

    async def aretrieve(self, question: str, document: Documents) -> RetrievalResult:
        """`retrieve` without blocking the event loop."""
        with Proceeding("retrieve", question, self.audit) as proceeding:
            return await adrive(self._retrieve(question, await self._aopen(document), proceeding), proceeding)

    def rank(self, question: str, passages: Sequence[Passage]) -> RetrievalResult:
        """Judge passages that others propose: every one of them, in one call."""
        with Proceeding("rank", question, self.audit) as proceeding:
            return drive(self._rank(question, passages, proceeding), proceeding)

    async def arank(self, question: str, passages: Sequence[Passage]) -> RetrievalResult:
        """`rank` without blocking the event loop."""
        with Proceeding("rank", question, self.audit) as proceeding:
            return await adrive(self._rank(question, passages, proceeding), proceeding)

    # --- the path ---------------------------------------------------------------------------------------------

    def _retrieve(
        self, question: str, documents: Sequence[ParsedDocument], proceeding: Proceeding
    ) -> Steps[RetrievalResult]:
        brief = yield from self._propose(question, documents)
        return (yield from self._decide(brief, {d.doc_id: d for d in documents}, (), proceeding))

    def _propose(self, text: str, documents: Sequence[ParsedDocument]) -> Steps[Brief]:
        question = parse_question(text, self.lexicon)
        plan = dispatch(
            question,
            has_sections=any(d.profile.headings != "none" for d in documents),
            has_embedder=self.embedder is not None,
            document_languages=[index_of(d).language for d in documents],
        )
        hits, plan = yield from self._detect(question, documents, plan)
        candidates, left_out = self._gather(question, documents, hits)
        if self.judge.calls_model and sum(c.evidence >= HALF / 2 for c in candidates) < FEW:
            candidates = offer_sections(question, documents, candidates, self.max_context_tokens)
        brief = self._brief(question, documents, candidates, plan, hits)
        return brief.model_copy(update={"cut": (*left_out, *brief.cut)})

    def _detect(
        self, question: ParsedQuestion, documents: Sequence[ParsedDocument], plan: DispatchPlan
    ) -> Steps[tuple[list[Hit], DispatchPlan]]:
        detectors = {d.name: d for d in (PageDetector(), CaptionDetector(), TocDetector(), KeywordDetector())}
        hits: list[Hit] = []
        steps: list[PlanStep] = []
        for step in plan.steps:
            found: list[Hit] = []
            ran = step.run and (step.condition is None or self._too_few(question, documents, hits))
            if ran and step.detector in detectors:
                found = [h for d in documents for h in detectors[step.detector].detect(question, d)]
            elif ran and self.embedder is not None:
                try:
                    for document in documents:
                        found += yield Embed(EmbeddingDetector(self.embedder), question, document)
                except EmbeddingError as error:
                    if self.on_error == "raise":
                        raise
                    log.warning("The embedder did not answer (%s): words and titles alone propose.", error)
                    steps.append(step.model_copy(update={"outcome": f"{FAILED}{error}"}))
                    continue
            hits += found
            steps.append(step.model_copy(update={"outcome": f"{len(found)} hits" if ran else DID_NOT_RUN}))
        return hits, DispatchPlan(steps=tuple(steps))

    def _too_few(self, question: ParsedQuestion, documents: Sequence[ParsedDocument], hits: Sequence[Hit]) -> bool:
        candidates, _ = self._gather(question, documents, hits)
        return sum(c.evidence >= HALF for c in candidates) < FEW

    def _gather(
        self, question: ParsedQuestion, documents: Sequence[ParsedDocument], hits: Sequence[Hit]
    ) -> tuple[list[Candidate], list[Cut]]:
        return gather(question, documents, hits, limit=self.max_candidates, context_tokens=self.max_context_tokens)

    def _rank(self, text: str, passages: Sequence[Passage], proceeding: Proceeding) -> Steps[RetrievalResult]:
        passages = list(passages)
        for passage in passages:
            if not isinstance(passage, Passage):
                raise InputError(f"rank needs Passage objects, got {type(passage).__name__}; see Passage(id=, text=).")
        question = parse_question(text, self.lexicon)
        methods = tuple(dict.fromkeys(m for p in passages for m in p.methods)) or ("retriever",)
        plan = DispatchPlan(steps=tuple(PlanStep(detector=m, run=True, reason="given by the caller") for m in methods))
        candidates, document = candidates_of(question, passages)
        brief = self._brief(question, [document] if passages else [], candidates, plan, [], given=True)
        return (yield from self._decide(brief, {}, passages, proceeding))

    def _brief(
        self,
        question: ParsedQuestion,
        documents: Sequence[ParsedDocument],
        candidates: Sequence[Candidate],
        plan: DispatchPlan,
        hits: Sequence[Hit],
        *,
        given: bool = False,
    ) -> Brief:
        ran = [s.detector for s in plan.steps if s.run and s.outcome != DID_NOT_RUN and not failed(s)]
        coverage = survey(question, documents, candidates, ran)
        brief = Brief(
            question=question,
            candidates=tuple(candidates),
            documents=() if given else tuple(d.ref for d in documents),
            plan=plan,
            hits=tuple(hits),
            coverage=coverage,
            confidence=confidence(question, coverage, candidates),
            instructions=self.instructions,
        )
        return fit(shuffled(brief, self.shuffle_seed), self.max_prompt_tokens, self.count_tokens)

    def _decide(
        self,
        brief: Brief,
        documents: Mapping[str, ParsedDocument],
        passages: Sequence[Passage],
        proceeding: Proceeding,
    ) -> Steps[RetrievalResult]:
        reply, failure, result = yield from self._judged(brief, documents)
        decision = Decision(
            kind=proceeding.kind,
            settings=self._settings(brief),
            judge=self.judge,
            brief=brief,
            documents=documents,
            passages=passages,
            reply=reply,
            failure=failure,
            result=result,
        )
        concluded: RetrievalResult | None = yield Conclude(proceeding, decision)
        if concluded is None:
            raise failure or JudgeError(f"{self.judge.name} did not decide.")
        return concluded

    def _judged(
        self, brief: Brief, documents: Mapping[str, ParsedDocument]
    ) -> Steps[tuple[JudgeReply | None, JudgeError | None, RetrievalResult | None]]:
        """The judge's reply, its failure and the result, as far as there are any; a failure may leave no result."""
        if not brief.candidates:
            return None, None, _with_failed_detectors(settle_empty(brief, judge=self.judge.name))
        reply: JudgeReply | None = None
        failure: JudgeError | None = None
        calls = int(self.judge.calls_model)
        try:
            reply = yield Ask(self.judge, brief)
            result = settle(brief, reply, judge=self.judge.name, documents=documents, on_unverified=self.on_unverified)
        except JudgeError as error:
            if self.on_error == "raise":
                return reply, error, None
            log.warning("%s did not decide (%s): the rules do, and the result is degraded.", self.judge.name, error)
            failure, result = error, self._by_rules(brief, documents, error)
        usage = result.usage.model_copy(update={"calls": calls, "forecast": brief.forecast_tokens if calls else 0})
        return reply, failure, _with_failed_detectors(result.model_copy(update={"usage": usage}))

    def _by_rules(self, brief: Brief, documents: Mapping[str, ParsedDocument], error: JudgeError) -> RetrievalResult:
        rules = RuleJudge(fallback=True)
        result = settle(brief, rules.judge(brief), judge=rules.name, documents=documents, error=str(error))
        usage = result.usage.model_copy(
            update={
                "attempts": error.attempts,
                "prompt_tokens": error.prompt_tokens,
                "completion_tokens": error.completion_tokens,
            }
        )
        return result.model_copy(update={"usage": usage})

    def _settings(self, brief: Brief) -> Settings:
        return Settings(
            max_candidates=self.max_candidates,
            max_prompt_tokens=self.max_prompt_tokens,
            max_context_tokens=self.max_context_tokens,
            instructions=self.instructions,
            on_error=self.on_error,
            on_unverified=self.on_unverified,
            shuffle_seed=self.shuffle_seed,
            judge=self.judge.name,
            calls_model=self.judge.calls_model,
            embedder=self.embedder.name if self.embedder is not None else None,
            lexicon=named_concepts(self.lexicon, brief),
            own_token_counter=self.count_tokens is not None,
        )

    # --- documents --------------------------------------------------------------------------------------------

    def _open(self, document: Documents) -> list[ParsedDocument]:
        given = [document] if isinstance(document, ParsedDocument | str | Path) else document
        if not isinstance(given, list | tuple) or not given:
            raise InputError(
                f"Expected a document, a path or a list of them, got {type(document).__name__} "
                "without any; parse a file with ParsedDocument.from_pdf(path)."
            )
        for one in given:
            if not isinstance(one, ParsedDocument | str | Path):
                raise InputError(f"Expected a ParsedDocument or a path, got {type(one).__name__}.")
        opened: dict[str, ParsedDocument] = {}
        for one in given:
            parsed = one if isinstance(one, ParsedDocument) else ParsedDocument.from_pdf(one, cache_dir=self.cache_dir)
            known = opened.setdefault(parsed.doc_id, parsed)
            same = known is parsed or (known.sha256 is not None and known.sha256 == parsed.sha256)
            if not same:
                raise InputError(
                    f"Two different documents have the id {parsed.doc_id!r}; give one of them another doc_id."
                )
        return list(opened.values())

    async def _aopen(self, document: Documents) -> list[ParsedDocument]:
        """Open and index outside the event loop: a first look at a long document takes seconds."""
        documents = await asyncio.to_thread(self._open, document)
        for parsed in documents:
            if parsed.peek("index") is None:
                await asyncio.to_thread(index_of, parsed)
        return documents


def _with_failed_detectors(result: RetrievalResult) -> RetrievalResult:
    """The result with each detector that failed as a fault: a pool that lacks one is not what was planned."""
    down = [s for s in result.plan.steps if failed(s)]
    if not down:
        return result
    faults = (Fault(kind="other", detail=f"The {s.detector} detector {s.outcome}") for s in down)
    status = "partial" if result.status == "ok" else result.status
    return result.model_copy(update={"faults": (*result.faults, *faults), "status": status})


def _check(name: str, value: object, kind: type, expected: str) -> None:
    """Refuse an argument of the wrong kind where it is given, not at the first question."""
    if value is not None and not isinstance(value, kind):
        raise InputError(f"{name} must be {expected}; got {type(value).__name__}.")


def _check_limit(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
