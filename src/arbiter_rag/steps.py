"""How the main path does IO without knowing how: it yields actions, and one of two drivers here performs them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from arbiter_rag.audit import AuditLog, Decision, record_of
from arbiter_rag.contract import Brief, Hit, ParsedQuestion, RetrievalResult
from arbiter_rag.detectors import EmbeddingDetector
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import Judge, JudgeReply
from arbiter_rag.tracing import Kind, Trace

R = TypeVar("R")


class Action(Protocol):
    """One piece of IO, in both forms; what either raises is raised in the path at the point of its yield."""

    def run(self) -> Any:
        """Do it and block."""
        ...

    async def arun(self) -> Any:
        """Do it without blocking the event loop."""
        ...


Steps = Generator[Action, Any, R]
"""A path that yields actions, is sent what they give, and returns an `R`."""


@dataclass(frozen=True, slots=True)
class Embed:
    """Ask an embedding detector for hits in one document."""

    detector: EmbeddingDetector
    question: ParsedQuestion
    document: ParsedDocument

    def run(self) -> tuple[Hit, ...]:
        """Embed in this thread."""
        return self.detector.detect(self.question, self.document)

    async def arun(self) -> tuple[Hit, ...]:
        """Embed by the embedder's own async form."""
        return await self.detector.adetect(self.question, self.document)


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a judge for its verdicts: the one completion of a question."""

    judge: Judge
    brief: Brief

    def run(self) -> JudgeReply:
        """Ask and wait."""
        with self._told():
            return self._checked(self.judge.judge(self.brief))

    async def arun(self) -> JudgeReply:
        """Ask by the judge's own async form."""
        with self._told():
            return self._checked(await self.judge.ajudge(self.brief))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What Python itself raises for a service that is away is a failed judge, as DESIGN's failures go."""
        try:
            yield
        except (TimeoutError, ConnectionError) as error:
            kind = "timeout" if isinstance(error, TimeoutError) else "connection"
            raise JudgeError(f"{self.judge.name} could not be reached ({error}).", kind=kind) from error

    def _checked(self, reply: object) -> JudgeReply:
        if not isinstance(reply, JudgeReply):
            raise JudgeError(
                f"{self.judge.name} gave {type(reply).__name__} where a JudgeReply was expected; "
                "a judge returns JudgeReply(raw=...).",
                kind="unusable",
            )
        return reply


class Proceeding:
    """One arbitration as it runs: its clock, its trace and the log that keeps it; the path itself knows none of them.

    Args:
        kind: What was called.
        question: The question.
        audit: Where the decision is recorded, if anywhere.
    """

    def __init__(self, kind: Kind, question: str, audit: AuditLog | None = None) -> None:
        self.kind = kind
        self.audit = audit
        self.trace = Trace(kind, question)
        self._started = time.perf_counter()
        self._spent: dict[str, float] = {}

    def __enter__(self) -> Self:
        self.trace.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.trace.end(error)

    @contextmanager
    def doing(self, action: Action) -> Iterator[None]:
        """Time an action and trace it."""
        name = "judge" if isinstance(action, Ask) else "embed" if isinstance(action, Embed) else None
        started = time.perf_counter()
        with ExitStack() as stack:
            stack.enter_context(self.trace.current())
            if isinstance(action, Ask):
                stack.enter_context(self.trace.judging(action.brief, action.judge.name))
            try:
                yield
            finally:
                if name is not None:
                    self._spent[name] = self._spent.get(name, 0.0) + (time.perf_counter() - started) * 1000

    def milliseconds(self) -> dict[str, float]:
        """What was spent so far: in all, and on the actions that wait for others."""
        return {**self._spent, "total": (time.perf_counter() - self._started) * 1000}


@dataclass(frozen=True, slots=True)
class Conclude:
    """Put the time on a decision's result, and the decision into the log; gives the result, None if there is none."""

    proceeding: Proceeding
    decision: Decision

    def run(self) -> RetrievalResult | None:
        """Write in this thread."""
        return self._told(self._written())

    async def arun(self) -> RetrievalResult | None:
        """Write in another thread: files and locks block."""
        return self._told(await asyncio.to_thread(self._written) if self.proceeding.audit else self._written())

    def _written(self) -> RetrievalResult | None:
        spent = self.proceeding.milliseconds()
        result, log = self.decision.result, self.proceeding.audit
        if result is not None:
            usage = result.usage.model_copy(update={"milliseconds": round(spent["total"], 3)})
            result = result.model_copy(update={"usage": usage})
        if log is None:
            return result
        return log.append(record_of(self.decision, result, spent)).result

    def _told(self, result: RetrievalResult | None) -> RetrievalResult | None:
        if result is not None:
            self.proceeding.trace.concluded(result)
        return result


def drive(steps: Steps[R], proceeding: Proceeding | None = None) -> R:
    """Perform a path's actions one after the other and give back what it returns."""
    try:
        action = next(steps)
        while True:
            try:
                with proceeding.doing(action) if proceeding else nullcontext():
                    value = action.run()
            except Exception as error:  # noqa: BLE001 - raised again inside the path, at its yield
                action = steps.throw(error)
            else:
                action = steps.send(value)
    except StopIteration as end:
        result: R = end.value
        return result


async def adrive(steps: Steps[R], proceeding: Proceeding | None = None) -> R:
    """The same, awaiting each action; a cancellation is no failure of the action and ends the path.

    What lies between two actions is computed in a thread, so that many questions at once leave the event loop free.
    """
    reached = await asyncio.to_thread(_advance, steps, None, None)
    while not isinstance(reached, _Returned):
        try:
            with proceeding.doing(reached) if proceeding else nullcontext():
                value = await reached.arun()
        except Exception as error:  # noqa: BLE001 - raised again inside the path, at its yield
            reached = await asyncio.to_thread(_advance, steps, None, error)
        else:
            reached = await asyncio.to_thread(_advance, steps, value, None)
    result: R = reached.value
    return result


@dataclass(frozen=True, slots=True)
class _Returned:
    """What a path returned; StopIteration itself cannot cross from a thread to the event loop."""

    value: Any


def _advance(steps: Steps[R], value: object, error: Exception | None) -> Action | _Returned:
    try:
        return steps.send(value) if error is None else steps.throw(error)
    except StopIteration as end:
        return _Returned(end.value)
