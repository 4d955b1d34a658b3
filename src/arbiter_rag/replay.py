"""Replaying a record: each deterministic step is taken again, with the recorded reply, and compared with the record."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.audit import AuditRecord, Decision
from arbiter_rag.audit.compare import Difference, between, same_text
from arbiter_rag.audit.lines import document_of
from arbiter_rag.audit.record import Settings
from arbiter_rag.contract import Brief, Contract, DocumentRef
from arbiter_rag.coverage import confidence
from arbiter_rag.dispatch import FAILED, dispatch, failed
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import EmbeddingError, InputError, JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.lexicon import Lexicon
from arbiter_rag.prompt import plain_instructions, system_prompt, user_prompt
from arbiter_rag.question import parse_question
from arbiter_rag.steps import Ask, Conclude, Embed, Proceeding, Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OPENED = ("outline", "printed", "fonts", "layout", "none")


class Replay(Contract):
    """What replaying a record showed.

    Attributes:
        record_id: The record.
        identical: True when every step that was taken again gave the same bytes.
        steps: The steps that were taken again.
        skipped: What was not, and why.
        differences: Where the record and the replay differ; what may have caused it comes first.
    """

    record_id: str
    identical: bool
    steps: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


def replay(
    record: AuditRecord,
    documents: Sequence[ParsedDocument | str | Path] = (),
    *,
    password: str | None = None,
) -> Replay:
    """Take every deterministic step of a decision again.

    Without the documents: parsing the question, dispatch, confidence, the prompts, and settling the recorded reply with
    the recorded lines. With all of them (and always for passages that a caller proposed) also detecting and gathering;
    what an embedder found is taken from the record, for a model is not deterministic.

    Args:
        record: From `AuditLog.records` or `AuditLog.get`.
        documents: The documents that were searched, parsed or as paths of PDF files.
        password: Of encrypted files.

    Raises:
        InputError: The documents are not those of the record in number.
        DocumentError: A file cannot be opened.
    """
    if record.redacted or (record.reply is not None and record.reply.form == "repr"):
        why = "its texts were redacted" if record.redacted else "its reply was no JSON"
        return Replay(record_id=record.record_id, identical=False, skipped=(f"everything: {why}",))
    opened, differences = _paired(record, documents, password) if documents and record.kind == "retrieve" else ([], [])
    differences += _changed_lines(record, opened)
    whole = bool(opened) or record.kind == "rank"
    differences += _compared(record, _whole(record, opened) if whole else _without_documents(record))
    if not whole:
        differences += _questioned(record)
    return Replay(
        record_id=record.record_id,
        identical=not differences,
        steps=("parse_question", "dispatch", *(("detect", "gather") if whole else ()), "brief", "settle"),
        skipped=tuple(_skipped(record, whole)),
        differences=tuple(differences),
    )


def _skipped(record: AuditRecord, whole: bool) -> Iterator[str]:
    if not whole:
        yield "detecting and gathering: the documents were not given"
    if record.settings.own_token_counter:
        yield "token counts: the caller counted in a way that is not recorded"
    if any(hit.method == "embedding" for hit in record.brief.hits):
        yield "embedding: its hits were taken from the record"


class _Recorded:
    """The recorded judge's name; its reply comes from the record, never from here."""

    def __init__(self, settings: Settings) -> None:
        self.name = settings.judge
        self.calls_model = settings.calls_model

    def judge(self, brief: Brief) -> JudgeReply:
        raise NotImplementedError

    async def ajudge(self, brief: Brief) -> JudgeReply:
        raise NotImplementedError


class _Named:
    """The recorded embedder's name: the driver below gives the recorded hits instead of asking it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        raise NotImplementedError

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        raise NotImplementedError


def _arbiter(settings: Settings) -> Arbiter:
    return Arbiter(
        judge=_Recorded(settings),
        embedder=_Named(settings.embedder) if settings.embedder else None,
        lexicon=_lexicon(settings),
        max_candidates=settings.max_candidates,
        max_prompt_tokens=settings.max_prompt_tokens,
        max_context_tokens=settings.max_context_tokens,
        instructions=settings.instructions,
        on_error=settings.on_error,
        on_unverified=settings.on_unverified,
        shuffle_seed=settings.shuffle_seed,
    )


def _lexicon(settings: Settings) -> Lexicon | None:
    return None if settings.lexicon is None else Lexicon(concepts=settings.lexicon)


def _whole(record: AuditRecord, documents: Sequence[ParsedDocument]) -> Decision:
    proceeding = Proceeding(record.kind, record.question)
    arbiter = _arbiter(record.settings)
    if record.kind == "rank":
        return _drive(arbiter._rank(record.question, record.passages, proceeding), record)
    return _drive(arbiter._retrieve(record.question, documents, proceeding), record)


def _without_documents(record: AuditRecord) -> Decision:
    names = {ref.doc_id: ref for ref in record.brief.documents}
    documents = {
        part.doc_id: document_of(part, names[part.doc_id].name, names[part.doc_id].pages or 1)
        for part in record.lines
        if part.doc_id in names
    }
    proceeding = Proceeding(record.kind, record.question)
    return _drive(_arbiter(record.settings)._decide(record.brief, documents, record.passages, proceeding), record)


def _drive(steps: Steps[Any], record: AuditRecord) -> Decision:
    """Perform a path's actions from the record, up to its decision."""
    action = next(steps)
    while not isinstance(action, Conclude):
        try:
            value = _answer(action, record)
        except (JudgeError, EmbeddingError) as error:
            action = steps.throw(error)
        else:
            action = steps.send(value)
    steps.close()
    return action.decision


def _answer(action: object, record: AuditRecord) -> Any:
    if isinstance(action, Embed):
        for step in record.brief.plan.steps:
            if step.detector == action.detector.name and failed(step):
                raise EmbeddingError((step.outcome or "").removeprefix(FAILED))
        doc_id = action.document.doc_id
        return [h for h in record.brief.hits if h.method == action.detector.name and h.scope.doc_id == doc_id]
    if isinstance(action, Ask):
        if record.reply is not None:
            return record.reply.as_given()
        raise record.failure.as_error() if record.failure else JudgeError("The record holds no reply.")
    raise InputError(f"A replay cannot perform {type(action).__name__}; this is a fault of the library.")


# --- the documents --------------------------------------------------------------------------------------------


def _paired(
    record: AuditRecord, given: Sequence[ParsedDocument | str | Path], password: str | None
) -> tuple[list[ParsedDocument], list[Difference]]:
    """The given documents under the recorded ids, in the recorded order, and which of them are other files."""
    refs = record.brief.documents
    if len(given) != len(refs):
        names = ", ".join(ref.name for ref in refs)
        raise InputError(f"Expected the {len(refs)} documents of the record ({names}), got {len(given)}.")
    headings = {part.doc_id: part.headings for part in record.lines}
    waiting = [d if isinstance(d, ParsedDocument) else _open(d, password) for d in given]
    found: dict[str, ParsedDocument] = {}
    for same in (_is_same, _has_name, _is_next):
        for ref in refs:
            match = next((d for d in waiting if same(d, ref)), None)
            if ref.doc_id not in found and match is not None:
                found[ref.doc_id] = match
                waiting.remove(match)
    paths = {id(d): path for d, path in _paths(given, found)}
    out: list[ParsedDocument] = []
    changes: list[Difference] = []
    for ref in refs:
        document, wanted = found[ref.doc_id], headings.get(ref.doc_id, "none")
        path = paths.get(id(document))
        if path is not None and document.profile.headings != wanted and wanted in _OPENED:
            document = ParsedDocument.from_pdf(path, password=password, headings=cast(Any, wanted))
        if document.sha256 != ref.sha256:
            where = f"document {ref.name}: SHA-256"
            changes.append(Difference(where=where, recorded=str(ref.sha256), now=str(document.sha256)))
        # A copy: whoever gave it keeps it under its own id.
        document = copy.copy(document)
        document.doc_id, document.name, document.sha256 = ref.doc_id, ref.name, ref.sha256
        out.append(document)
    return out, changes


def _open(path: str | Path, password: str | None) -> ParsedDocument:
    return ParsedDocument.from_pdf(path, password=password)


def _paths(
    given: Sequence[ParsedDocument | str | Path], found: Mapping[str, ParsedDocument]
) -> Iterator[tuple[ParsedDocument, str | Path]]:
    names = {Path(g).name: g for g in given if not isinstance(g, ParsedDocument)}
    for document in found.values():
        if document.name in names and not any(document is g for g in given):
            yield document, names[document.name]


def _is_same(document: ParsedDocument, ref: DocumentRef) -> bool:
    return document.sha256 is not None and document.sha256 == ref.sha256


def _has_name(document: ParsedDocument, ref: DocumentRef) -> bool:
    return document.doc_id == ref.doc_id or document.name == ref.name


def _is_next(document: ParsedDocument, ref: DocumentRef) -> bool:
    return True


def _changed_lines(record: AuditRecord, documents: Sequence[ParsedDocument]) -> Iterator[Difference]:
    """Recorded lines that the documents no longer have where they stood: the likely cause of every other difference."""
    by_id = {document.doc_id: document for document in documents}
    for part in record.lines:
        document = by_id.get(part.doc_id)
        if document is None:
            continue
        texts = {
            (page, line): text for page, line, text in zip(document.pages, document.lines, document.texts, strict=True)
        }
        for run in part.runs:
            for line, text in enumerate(run.texts, start=run.line):
                now = texts.get((run.page, line))
                if now != text:
                    where = f"document {document.name}, page {run.page}, line {line}"
                    yield same_text(where, text, now)


# --- comparing ------------------------------------------------------------------------------------------------


def _compared(record: AuditRecord, decision: Decision) -> Iterator[Difference]:
    loose = {"forecast_tokens", "truncated", "forecast"} if record.settings.own_token_counter else set()
    yield from between(
        "brief",
        record.brief.model_dump(mode="json", exclude={"instructions"}),
        decision.brief.model_dump(mode="json", exclude={"instructions"}),
        loose,
    )
    if record.request is not None:
        yield from _prompts(record.request.system, record.request.user, decision.brief)
    apart: dict[str, Any] = {"record_id": True, "usage": {"milliseconds"}}
    before = None if record.result is None else record.result.model_dump(mode="json", exclude=cast(Any, apart))
    now = None if decision.result is None else decision.result.model_dump(mode="json", exclude=cast(Any, apart))
    shared = {"documents", "plan", "coverage", "cut", "confidence"}  # compared with the brief already
    yield from between("result", before, now, loose | shared)


def _prompts(system: str, user: str, brief: Brief) -> Iterator[Difference]:
    """A judge may add to the prompts (a model without a schema needs more words), never take away."""
    own = system_prompt(brief)
    if not system.startswith(own):
        yield same_text("system prompt", system, own)
    elif system[len(own) :].strip() not in ("", plain_instructions()):
        yield same_text("system prompt, behind its own text", system[len(own) :], "")
    if user_prompt(brief) not in user:
        yield same_text("user prompt", user, user_prompt(brief))


def _questioned(record: AuditRecord) -> Iterator[Difference]:
    """The steps before detection, for a replay without documents."""
    brief = record.brief
    question = parse_question(record.question, _lexicon(record.settings))
    yield from between("question", brief.question.model_dump(mode="json"), question.model_dump(mode="json"))
    plan = dispatch(
        question,
        has_sections=any(part.headings != "none" for part in record.lines),
        has_embedder=record.settings.embedder is not None,
        document_languages=brief.coverage.document_languages,
    )
    planned = [step.model_dump(mode="json", exclude={"outcome"}) for step in brief.plan.steps]
    yield from between("plan", planned, [s.model_dump(mode="json", exclude={"outcome"}) for s in plan.steps])
    trust = confidence(brief.question, brief.coverage, brief.candidates)
    yield from between("confidence", brief.confidence, trust)
