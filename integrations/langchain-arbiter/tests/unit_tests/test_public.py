"""The public names and the version."""

from __future__ import annotations

import langchain_arbiter


def test_public_names() -> None:
    assert langchain_arbiter.__all__ == [
        "ArbiterDocumentCompressor",
        "ArbiterPdfLoader",
        "ArbiterRetriever",
        "EmbeddingRetriever",
        "KeywordRetriever",
        "LangChainJudge",
        "TocRetriever",
    ]
    assert all(hasattr(langchain_arbiter, name) for name in langchain_arbiter.__all__)
