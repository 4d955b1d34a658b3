"""What every retriever here shares: a query that must be one, and events that end also on failure."""

from __future__ import annotations

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # re-exported without saying so
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryType

from arbiter_rag import InputError
from llama_index.postprocessor.arbiter.events import said_of

dispatcher = get_dispatcher(__name__)


class EventfulRetriever(BaseRetriever):
    """The framework's retriever, which itself leaves `RetrievalStartEvent` without its end on failure."""

    def retrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """Nodes for a query, best first.

        Raises:
            InputError: There is no query, or an empty one (a `ValueError`).
        """
        _require(str_or_query_bundle)
        try:
            return super().retrieve(str_or_query_bundle)
        except BaseException as error:
            _ended(str_or_query_bundle, error)
            raise

    async def aretrieve(self, str_or_query_bundle: QueryType) -> list[NodeWithScore]:
        """`retrieve` without blocking the event loop."""
        _require(str_or_query_bundle)
        try:
            return await super().aretrieve(str_or_query_bundle)
        except BaseException as error:  # a cancelled task ends its events, too
            _ended(str_or_query_bundle, error)
            raise


def _require(query: QueryType | None) -> None:
    if query is None:
        raise InputError("A query was expected, None came; pass a string or a QueryBundle.")


def _ended(query: QueryType, error: BaseException) -> None:
    tags = {"arbiter_error": said_of(error)}
    dispatcher.event(RetrievalEndEvent(str_or_query_bundle=query, nodes=[], tags=tags))
