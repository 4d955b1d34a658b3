"""How the main path does IO without knowing how: it yields actions, and one of two drivers here performs them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from arbiter_rag.contract import Brief, Hit, ParsedQuestion
from arbiter_rag.detectors import EmbeddingDetector
from arbiter_rag.document import ParsedDocument
from arbiter_rag.judges.base import Judge, JudgeReply

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
        return self.judge.judge(self.brief)

    async def arun(self) -> JudgeReply:
        """Ask by the judge's own async form."""
        return await self.judge.ajudge(self.brief)


def drive(steps: Steps[R]) -> R:
    """Perform a path's actions one after the other and give back what it returns."""
    try:
        action = next(steps)
        while True:
            try:
                value = action.run()
            except Exception as error:  # noqa: BLE001 - raised again inside the path, at its yield
                action = steps.throw(error)
            else:
                action = steps.send(value)
    except StopIteration as end:
        result: R = end.value
        return result


async def adrive(steps: Steps[R]) -> R:
    """The same, awaiting each action; a cancellation is no failure of the action and ends the path."""
    try:
        action = next(steps)
        while True:
            try:
                value = await action.arun()
            except Exception as error:  # noqa: BLE001 - raised again inside the path, at its yield
                action = steps.throw(error)
            else:
                action = steps.send(value)
    except StopIteration as end:
        result: R = end.value
        return result
