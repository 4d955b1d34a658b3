"""Puts questions with known pages to an `Arbiter` and sums up what came: a document at a time, and in all."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.contract import Brief, Contract, RetrievalResult, RetrievedCandidate, Status
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import InputError
from arbiter_rag.evaluation.measure import KS, Found, Outcome, Share, absences, costs, found_at, outcome_of, summed
from arbiter_rag.evaluation.questions import Question
from arbiter_rag.judges.rules import RuleJudge
from arbiter_rag.progress import Progress


class Asked(Contract):
    """One question and what became of it.

    Attributes:
        rank: 1-based rank of the first hit among the first ten candidates, in the order of `Evaluation`; None without.
        first_right: Whether the candidate that the judge put first is right; a "not found" is wrong.
        text_found: Whether `gold_text` stands in one of the ten; None where none was given.
        judge: Who decided: another one than the evaluation's when `status` is `degraded`.
        prompt_tokens: As the provider counted; where it did not say, and for rules, the forecast for this prompt.
        completion_tokens: As the provider counted.
    """

    id: str
    document: str
    question: str
    answerable: bool
    gold_pages: tuple[int, ...]
    rank: int | None
    first_right: bool
    text_found: bool | None
    not_found: bool
    confidence: float
    judge: str
    status: Status
    error: str | None
    prompt_tokens: int
    completion_tokens: int | None
    milliseconds: float


class Scores(Contract):
    """Questions summed up.

    Attributes:
        document: File name; `all` for all of them together.
        shares: Means with their 95 % intervals, None where nothing was to be measured: `@1`, `@5`, `@10` (a hit among
            the first k), `first` (the judge's first is right), `MRR`, `text` (the evidence stands in the pool), `false
            not found` of the answerable questions; `nf precision` (of those said to be not found, how many are
            unanswerable) and `nf recall` (of the unanswerable, how many were said to be).
        statuses: How many results were `ok`, `partial` and `degraded`.
        tokens: Median of the prompt's tokens.
        milliseconds: Median of a question, the judge's time included, with the document read and indexed.
        prompt_tokens, completion_tokens: Sums.
    """

    document: str
    answerable: int
    absent: int
    shares: dict[str, Share | None]
    statuses: dict[Status, int]
    tokens: int
    milliseconds: float
    prompt_tokens: int
    completion_tokens: int


class Evaluation(Contract):
    """Figures of one judge on one set of questions.

    A question's candidates are ordered as the judge left them: kept ones best first, then unjudged ones, then discarded
    ones as `RuleJudge` would rank them. The ten first are the whole pool as long as `max_candidates` is ten, so `@10`
    says what was proposed, whoever judges.

    Attributes:
        judge: Who was asked to judge; no figure says anything about another one.
        calls_model: Whether it asks a model.
        documents: One entry a document, in the order given.
        total: All questions together.
        asked: Every question.
        skipped: Questions about documents that were not given, by file name.
        unasked: Documents about which there was no question.
    """

    judge: str
    calls_model: bool
    documents: tuple[Scores, ...]
    total: Scores
    asked: tuple[Asked, ...]
    skipped: dict[str, int]
    unasked: tuple[str, ...]


def evaluate(
    arbiter: Arbiter,
    questions: Sequence[Question],
    documents: Sequence[ParsedDocument],
    *,
    progress: Progress | None = None,
) -> Evaluation:
    """Put each question to its document and measure.

    Args:
        arbiter: As it is used in earnest: judge, embedder, lexicon, limits.
        questions: From `read_questions`.
        documents: The documents asked about; a question names one by its file name.
        progress: Called with the questions done and those in all.

    Raises:
        InputError: Two documents have one name, no question is about any of them, or a page is not in its document.
        ArbiterError: As `Arbiter.retrieve`.
    """
    chosen, skipped = _chosen(questions, documents)
    asked: list[tuple[Asked, Outcome]] = []
    for done, (question, document) in enumerate(chosen):
        if progress:
            progress(done, len(chosen))
        asked.append(_ask(arbiter, question, document))
    if progress:
        progress(len(chosen), len(chosen))
    by_name = {d.name: [pair for pair in asked if pair[0].document == d.name] for d in documents}
    return Evaluation(
        judge=arbiter.judge.name,
        calls_model=arbiter.judge.calls_model,
        documents=tuple(_scores(name, pairs) for name, pairs in by_name.items() if pairs),
        total=_scores("all", asked),
        asked=tuple(a for a, _ in asked),
        skipped=skipped,
        unasked=tuple(name for name, pairs in by_name.items() if not pairs),
    )


def _chosen(
    questions: Sequence[Question], documents: Sequence[ParsedDocument]
) -> tuple[list[tuple[Question, ParsedDocument]], dict[str, int]]:
    """Each question with its document, those of one document together; and how many are about others."""
    by_name: dict[str, ParsedDocument] = {}
    for document in documents:
        if by_name.setdefault(_name(document.name), document) is not document:
            raise InputError(f"Two documents are named {document.name!r}, and questions name one; rename one of them.")
    alone = documents[0] if len(documents) == 1 else None
    chosen: list[tuple[Question, ParsedDocument]] = []
    skipped: Counter[str] = Counter()
    for question in questions:
        if not question.doc and alone is None:
            raise InputError(
                f"{_at(question)} 'doc' was expected, since there are {len(documents)} documents; name one."
            )
        found = by_name.get(_name(question.doc)) if question.doc else alone
        if found is None:
            skipped[question.doc] += 1
            continue
        if beyond := [p for p in question.gold if p > found.profile.pages]:
            have = f"{found.name} has {found.profile.pages} pages"
            raise InputError(f"{_at(question)} gold page {max(beyond)} was given, but {have}; count the PDF's pages.")
        chosen.append((question, found))
    if not chosen:
        named = ", ".join(repr(n) for n in list(skipped)[:3])
        raise InputError(f"No question is about a document that was given; they are about {named or 'none'}.")
    order = {id(d): at for at, d in enumerate(documents)}
    return sorted(chosen, key=lambda pair: order[id(pair[1])]), dict(skipped)


def _name(path: str) -> str:
    # File systems differ in how they compose accents.
    return unicodedata.normalize("NFC", PurePath(path).name)


def _at(question: Question) -> str:
    return f"Line {question.line} ({question.id}):"


def _ask(arbiter: Arbiter, question: Question, document: ParsedDocument) -> tuple[Asked, Outcome]:
    # Proposing first also reads, indexes and embeds, so that the time below is a question's own.
    brief = arbiter.propose(question.text, document)
    result = arbiter.retrieve(question.text, document)
    ordered = _ordered(brief, result)
    pool = [_found(c, document) for c in ordered]
    outcome = outcome_of(question, dict.fromkeys(KS, pool), result.usage.milliseconds)
    first = [_found(c, document) for c in result.candidates[:1]]
    tokens = result.usage.prompt_tokens
    outcome = replace(
        outcome,
        first=any(f.hits(question) and not f.pages <= question.excluded for f in first),
        not_found=result.not_found,
        confidence=result.confidence,
        tokens=brief.forecast_tokens if tokens is None else tokens,
    )
    asked = Asked(
        id=question.id,
        document=document.name,
        question=question.text,
        answerable=question.answerable,
        gold_pages=tuple(sorted(question.gold)),
        rank=round(1 / outcome.reciprocal) if outcome.reciprocal else None,
        first_right=outcome.first,
        text_found=outcome.text,
        not_found=result.not_found,
        confidence=result.confidence,
        judge=result.judge,
        status=result.status,
        error=result.error,
        prompt_tokens=outcome.tokens or 0,
        completion_tokens=result.usage.completion_tokens,
        milliseconds=result.usage.milliseconds,
    )
    return asked, outcome


def _ordered(brief: Brief, result: RetrievalResult) -> list[RetrievedCandidate]:
    if not brief.candidates:
        return []
    reply: Any = RuleJudge().judge(brief).raw
    place = {ranking["candidate_id"]: at for at, ranking in enumerate(reply["rankings"])}
    discarded = sorted(result.discarded, key=lambda c: place.get(c.candidate_id, len(place)))
    return [*result.candidates, *result.unjudged, *discarded]


def _found(candidate: RetrievedCandidate, document: ParsedDocument) -> Found:
    assert candidate.anchor is not None  # candidates of a document have one
    return found_at(candidate.anchor, candidate.snippet, document)


def _scores(name: str, pairs: Sequence[tuple[Asked, Outcome]]) -> Scores:
    asked, outcomes = [a for a, _ in pairs], [o for _, o in pairs]
    spent = costs(outcomes)
    counts = Counter(a.status for a in asked)
    statuses: tuple[Status, ...] = ("ok", "partial", "degraded")
    return Scores(
        document=name,
        answerable=sum(a.answerable for a in asked),
        absent=sum(not a.answerable for a in asked),
        shares=summed(outcomes) | absences(outcomes),
        statuses={status: counts[status] for status in statuses},
        tokens=int(spent["tokens"] or 0),
        milliseconds=float(spent["ms"] or 0.0),
        prompt_tokens=sum(a.prompt_tokens for a in asked),
        completion_tokens=sum(a.completion_tokens or 0 for a in asked),
    )
