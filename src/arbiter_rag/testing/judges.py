"""Judges that need no model, for tests: scripted ones, and ones with a known bias."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from arbiter_rag.contract import ArbiterOutput, Brief, CandidateBrief, CandidateRanking
from arbiter_rag.errors import InputError
from arbiter_rag.judges.base import JudgeReply

ScriptedReply = JudgeReply | ArbiterOutput | dict[str, object] | list[object] | str | BaseException
"""What `ScriptedJudge` can be told to say; an exception is raised."""


class ScriptedJudge:
    """Says what it is told and keeps what it was asked.

    Args:
        replies: Replies consumed in turn (the last one repeats), or a function of the brief.
        calls_model: Whether it passes for a judge that asks a model.
        name: How results name it.
    """

    def __init__(
        self,
        replies: ScriptedReply | Iterable[ScriptedReply] | Callable[[Brief], ScriptedReply],
        *,
        calls_model: bool = True,
        name: str = "scripted",
    ) -> None:
        if callable(replies):
            self._reply: Callable[[Brief], ScriptedReply] = replies
        else:
            single = isinstance(replies, (JudgeReply, ArbiterOutput, dict, str, BaseException))
            self._reply = _in_turn([cast(ScriptedReply, replies)] if single else list(cast(Iterable[Any], replies)))
        self._calls_model = calls_model
        self._name = name
        self._lock = threading.Lock()
        self.briefs: list[Brief] = []

    @property
    def name(self) -> str:
        """How results name it."""
        return self._name

    @property
    def calls_model(self) -> bool:
        """Whether it passes for a judge that asks a model."""
        return self._calls_model

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.briefs)

    def judge(self, brief: Brief) -> JudgeReply:
        """The next scripted reply."""
        with self._lock:
            self.briefs.append(brief)
            reply = self._reply(brief)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, JudgeReply):
            return reply
        raw = reply.model_dump_json() if isinstance(reply, ArbiterOutput) else reply
        return JudgeReply(raw, attempts=1)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """The next scripted reply."""
        return self.judge(brief)


class FirstJudge:
    """Always prefers what it is shown first: what a judge with a position bias would cost."""

    name = "first"
    calls_model = True

    def judge(self, brief: Brief) -> JudgeReply:
        """The first candidate is primary, the others tangential in the order shown."""
        return _preferring(brief.entries)

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """As `judge`."""
        return self.judge(brief)


class LastJudge:
    """Always prefers what it is shown last."""

    name = "last"
    calls_model = True

    def judge(self, brief: Brief) -> JudgeReply:
        """The last candidate is primary, the others tangential from the end backwards."""
        return _preferring(brief.entries[::-1])

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """As `judge`."""
        return self.judge(brief)


def quote_from(snippet: str, *, avoid: Callable[[str], bool] = lambda line: False) -> str | None:
    """A verbatim quote for doubles: the first line of three words or more that is not to be avoided."""
    lines = [line.strip() for line in snippet.split("\n") if line.strip()]
    wanted = [line for line in lines if len(line.split()) >= 3 and not avoid(line)]
    return next(iter(wanted or lines), None)


def _preferring(entries: Sequence[CandidateBrief]) -> JudgeReply:
    rankings = [
        CandidateRanking(
            candidate_id=entry.candidate_id,
            reason="preferred for its place" if at == 0 else "not in the preferred place",
            role="primary" if at == 0 else "tangential",
            quote=quote_from(entry.snippet) if at == 0 else None,
        )
        for at, entry in enumerate(entries)
    ]
    return JudgeReply(ArbiterOutput(rankings=tuple(rankings)).model_dump_json(), attempts=1)


def _in_turn(replies: list[ScriptedReply]) -> Callable[[Brief], ScriptedReply]:
    if not replies:
        raise InputError("A scripted judge needs at least one reply; got none.")
    left = iter(replies)

    def following(_: Brief) -> ScriptedReply:
        return next(left, replies[-1])

    return following
