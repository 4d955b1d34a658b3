"""What Arbiter tells an application that watches: its own event, the frame around reranking, and one log line."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # re-exported without saying so
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.schema import NodeWithScore, QueryBundle

from arbiter_rag.contract import RetrievalResult

log = logging.getLogger(__name__)
dispatcher = get_dispatcher(__name__)


class ArbiterResultEvent(BaseEvent):
    """A whole result: roles, reasons, what was discarded, and why nothing was found.

    Attributes:
        result: The result.
        cut: How many of the nodes were never judged, since `max_prompt_tokens` had no room for them.
    """

    result: RetrievalResult
    cut: int = 0

    @classmethod
    def class_name(cls) -> str:
        """`ArbiterResultEvent`."""
        return "ArbiterResultEvent"


class Reranking:
    """What the frame around one reranking is told before it ends."""

    def __init__(self) -> None:
        self.nodes: Sequence[NodeWithScore] = ()
        self.result: RetrievalResult | None = None


def announce(result: RetrievalResult) -> None:
    """Send the result to whoever listens, and one line to the log."""
    cut = _cut(result)
    dispatcher.event(ArbiterResultEvent(result=result, cut=cut))
    left_out = [f"{cut} cut by max_prompt_tokens"] if cut else []
    if result.not_found:
        found = ", ".join(["not found", *left_out])
        log.info("%s (%s, %s): %s", found, result.judge, result.status, result.not_found_reason)
        return
    roles = [c.role for c in (*result.candidates, *result.unjudged, *result.discarded)]
    counts = ", ".join([*(f"{roles.count(role)} {role}" for role in dict.fromkeys(roles)), *left_out])
    log.info("%s (%s, %s)", counts or "nothing proposed", result.judge, result.status)


@contextmanager
def reranking(
    callbacks: CallbackManager, query: QueryBundle, nodes: Sequence[NodeWithScore], top_n: int, model: str
) -> Iterator[Reranking]:
    """Start and end events and the legacy callback, ended also when the reranking fails."""
    told = Reranking()
    dispatcher.event(ReRankStartEvent(query=query, nodes=list(nodes), top_n=top_n, model_name=model))
    payload: dict[str, Any] = {
        EventPayload.NODES: list(nodes),
        EventPayload.MODEL_NAME: model,
        EventPayload.QUERY_STR: query.query_str,
        EventPayload.TOP_K: top_n,
    }
    tags: dict[str, str] = {}
    try:
        with callbacks.event(CBEventType.RERANKING, payload=payload) as event:
            yield told
            tags = _tags(told.result)
            event.on_end(payload={EventPayload.NODES: list(told.nodes), EventPayload.ADDITIONAL_KWARGS: tags})
    except BaseException as error:  # a cancelled task ends its events, too
        tags = {"arbiter_error": said_of(error)}
        raise
    finally:
        dispatcher.event(ReRankEndEvent(nodes=list(told.nodes), tags=tags))


def said_of(error: BaseException) -> str:
    """An error in the tags of an end event; a cancellation has no words of its own."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _cut(result: RetrievalResult) -> int:
    return sum("max_prompt_tokens" in cut.why for cut in result.cut)


def _tags(result: RetrievalResult | None) -> dict[str, str]:
    if result is None:
        return {}
    reason = {"arbiter_not_found_reason": result.not_found_reason or ""} if result.not_found else {}
    cut = {"arbiter_cut": str(_cut(result))} if _cut(result) else {}
    return {"arbiter_status": result.status, **cut, **reason}
