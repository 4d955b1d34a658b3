"""The frameworks' own fusion retrievers over the same windows, the same BM25 and the same vectors; only they fuse."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from arbiter_rag.detectors import Embedder
from arbiter_rag.document import ParsedDocument
from benchmarks.retrieval_baselines import (
    DEPTH,
    Dense,
    System,
    best_of_pages,
    section_lexical,
    section_windows,
)
from benchmarks.retrieval_data import Found, Question

Best = Callable[[str], list[int]]
"""A question's windows, best first, by number."""


class LlamaFusion:
    """LlamaIndex `QueryFusionRetriever`: reciprocal rerank, one query (no model writes further ones)."""

    name = "LlamaIndex QueryFusion"

    def __init__(self, embedder: Embedder) -> None:
        self.dense = Dense(embedder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import llama_index.core  # noqa: F401  # so that a missing package is noticed here

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """The best window of each page."""
        from llama_index.core.base.base_retriever import BaseRetriever
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.schema import NodeWithScore, TextNode

        runs = section_windows(document)
        nodes = [TextNode(id_=str(i), text=document.text(*run) or " ") for i, run in enumerate(runs)]

        class Side(BaseRetriever):
            """One side of the fusion."""

            def __init__(self, best: Best) -> None:
                super().__init__()
                self.best = best

            def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
                order = self.best(query_bundle.query_str)[:DEPTH]
                return [NodeWithScore(node=nodes[i], score=1.0 / (n + 1)) for n, i in enumerate(order)]

        retriever = QueryFusionRetriever(
            [Side(best) for best in _sides(document, self.dense)],
            llm=MockLLM(),
            mode="reciprocal_rerank",
            num_queries=1,
            similarity_top_k=DEPTH,
            use_async=False,
        )
        found = retriever.retrieve(question.text)
        return best_of_pages(document, [runs[int(n.node.node_id)] for n in found])


class LangChainEnsemble:
    """LangChain `EnsembleRetriever` with equal weights."""

    name = "LangChain Ensemble"

    def __init__(self, embedder: Embedder) -> None:
        self.dense = Dense(embedder)
        import langchain_classic.retrievers  # noqa: F401  # so that a missing package is noticed here

    def rank(self, question: Question, document: ParsedDocument, k: int) -> list[Found]:
        """The best window of each page."""
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_core.documents import Document
        from langchain_core.runnables import RunnableLambda

        runs = section_windows(document)

        def side(best: Best) -> Any:
            def retrieve(text: str) -> list[Document]:
                return [Document(page_content=document.text(*runs[i]), metadata={"id": i}) for i in best(text)[:DEPTH]]

            return RunnableLambda(retrieve)

        sides = [side(best) for best in _sides(document, self.dense)]
        retriever = EnsembleRetriever(retrievers=sides, weights=[0.5, 0.5], id_key="id")
        return best_of_pages(document, [runs[d.metadata["id"]] for d in retriever.invoke(question.text)])


def _sides(document: ParsedDocument, dense: Dense) -> tuple[Best, Best]:
    return section_lexical(document).best, lambda text: dense.best(text, document)


FRAMEWORKS: tuple[Callable[[Embedder], System], ...] = (LlamaFusion, LangChainEnsemble)


def framework_systems(embedder: Embedder) -> list[System]:
    """Those whose package is installed."""
    systems: list[System] = []
    for make in FRAMEWORKS:
        try:
            systems.append(make(embedder))
        except ImportError:
            continue
    return systems
