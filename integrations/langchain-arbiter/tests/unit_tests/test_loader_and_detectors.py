"""The loader's sections and the detector retrievers that give them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from arbiter_rag import ConfigurationError, DocumentError, InputError, Lexicon, ParsedDocument, samples
from arbiter_rag.detectors import KeywordDetector, TocDetector
from arbiter_rag.errors import EmbeddingError
from langchain_arbiter import ArbiterPdfLoader, EmbeddingRetriever, KeywordRetriever, TocRetriever, detectors
from langchain_arbiter.sections import parts_of

QUESTION = "What is the deductible for water damage?"
PATH = samples.path("policy_en")


def test_every_line_is_loaded_once(policy: ParsedDocument) -> None:
    documents = ArbiterPdfLoader(PATH).load()
    kept = [t for t, f in zip(policy.texts, policy.furniture, strict=True) if not f and t.strip()]
    assert "\n".join(d.page_content for d in documents).split("\n") == kept
    assert len({d.id for d in documents}) == len(documents)
    assert [d.id for d in documents] == [d.id for d in ArbiterPdfLoader(str(PATH)).load()]


def test_one_document_an_own_section_with_its_page(policy: ParsedDocument) -> None:
    documents = ArbiterPdfLoader(PATH, max_chars=20_000).load()
    assert len(documents) == sum(s.own_end > s.start for s in policy.sections)
    for section in (s for s in policy.sections if s.own_end > s.start):
        document = next(d for d in documents if d.id == f"{policy.doc_id}:{section.section_id}")
        page = policy.pages[section.start]
        assert document.metadata == {
            "source": str(PATH),
            "page": page - 1,
            "page_label": policy.page_labels[page - 1],
            "section": section.title,
            "breadcrumb": section.breadcrumb,
            "part": 1,
            "parts": 1,
        }


def test_long_sections_are_split_at_the_ends_of_paragraphs() -> None:
    whole = {d.id: d for d in ArbiterPdfLoader(PATH, max_chars=20_000).load()}
    parts = ArbiterPdfLoader(PATH, max_chars=600).load()
    assert all(len(d.page_content) <= 600 for d in parts)
    split = [d for d in parts if d.metadata["parts"] > 1]
    assert split
    for document in split:
        assert str(document.id).endswith(f".{document.metadata['part']}")
        assert document.page_content in whole[str(document.id).rpartition(".")[0]].page_content


def test_a_line_longer_than_a_part_is_cut() -> None:
    lines = pd.DataFrame({"page": [1, 1, 1], "line": [1, 2, 3], "text": ["Start.", "word " * 1000, "y" * 2500]})
    parts = parts_of(ParsedDocument.from_frames(lines, name="own"), "own", 1000)
    assert all(0 < len(p.document.page_content) <= 1000 for p in parts)
    text = "".join(p.document.page_content for p in parts)
    assert (text.count("word"), text.count("y")) == (1000, 2500)


def test_loading_is_lazy(tmp_path: Path) -> None:
    documents = ArbiterPdfLoader(tmp_path / "missing.pdf").lazy_load()
    with pytest.raises(DocumentError):
        next(documents)
    with pytest.raises(InputError):
        ArbiterPdfLoader(PATH, max_chars=0)


async def test_loading_async() -> None:
    assert await ArbiterPdfLoader(PATH).aload() == ArbiterPdfLoader(PATH).load()


def test_titles_find_sections() -> None:
    documents = TocRetriever.from_pdf(PATH, k=2).invoke("How does the deductible work?")
    assert documents[0].metadata["section"] == "How the deductible works"
    assert documents[0].metadata["score"] >= documents[1].metadata["score"]


def test_a_heading_without_text_gives_what_stands_under_it(policy: ParsedDocument) -> None:
    documents = TocRetriever.from_pdf(policy).invoke("Premium and deductibles")
    assert all(len(d.page_content.split("\n")) > 1 for d in documents)
    assert documents[0].metadata["breadcrumb"].startswith("5 Premium and deductibles >")


def test_keywords_find_sections_and_the_page_of_the_match() -> None:
    documents = KeywordRetriever.from_pdf(PATH).invoke(QUESTION)
    assert "EUR 400" in documents[0].page_content
    ids = {d.id for d in ArbiterPdfLoader(PATH).load()}
    assert {d.id for d in documents} <= ids


def test_words_of_nowhere_find_nothing() -> None:
    assert KeywordRetriever.from_pdf(PATH).invoke("Reykjavik chess tournament") == []
    assert TocRetriever.from_pdf(PATH).invoke("Reykjavik chess tournament") == []


def test_a_lexicon_brings_variants() -> None:
    lexicon = Lexicon.shipped("insurance")
    assert KeywordRetriever.from_pdf(PATH, lexicon=lexicon).invoke("Wie hoch ist die franchise?")


def test_settings_that_cannot_be_meant() -> None:
    with pytest.raises(ConfigurationError):
        KeywordRetriever()
    with pytest.raises(InputError):
        TocRetriever.from_pdf(PATH).invoke(QUESTION, k=0)


def test_a_cache_folder_keeps_what_was_parsed_and_embedded(tmp_path: Path) -> None:
    embeddings = DeterministicFakeEmbedding(size=32)
    retriever = EmbeddingRetriever.from_pdf(PATH, embeddings=embeddings, cache_dir=tmp_path)
    expected = retriever.invoke(QUESTION)
    assert any(tmp_path.rglob("*"))
    assert EmbeddingRetriever.from_pdf(PATH, embeddings=embeddings, cache_dir=tmp_path).invoke(QUESTION) == expected


async def test_embeddings_find_sections() -> None:
    retriever = EmbeddingRetriever.from_pdf(PATH, embeddings=DeterministicFakeEmbedding(size=32), k=4)
    assert len(retriever.invoke(QUESTION)) == 4
    assert await retriever.ainvoke(QUESTION) == retriever.invoke(QUESTION)


class Failing(Embeddings):
    """Embeddings whose service is down, or whose key is wrong."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise self.error

    def embed_query(self, text: str) -> list[float]:
        raise self.error


async def test_failures_of_embeddings_are_told_apart() -> None:
    for error, raised in ((TimeoutError(), EmbeddingError), (ValueError("no api_key given"), ConfigurationError)):
        retriever = EmbeddingRetriever.from_pdf(PATH, embeddings=Failing(error))
        with pytest.raises(raised):
            retriever.invoke(QUESTION)
        with pytest.raises(raised):
            await retriever.ainvoke(QUESTION)


class AnotherLoop(DeterministicFakeEmbedding):
    """Embeddings whose async client belongs to another event loop."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        raise RuntimeError("Event loop is closed")

    aembed_query = aembed_documents  # type: ignore[assignment]  # both fail in the same way


async def test_embeddings_of_another_event_loop_are_asked_in_a_thread() -> None:
    retriever = EmbeddingRetriever.from_pdf(PATH, embeddings=AnotherLoop(size=32))
    assert await retriever.ainvoke(QUESTION) == retriever.invoke(QUESTION)


async def test_searching_leaves_the_event_loop_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    here = threading.get_ident()
    threads: dict[str, set[int]] = {}
    for name in ("parse_question", "parts_of", "index_of"):
        _note_threads(monkeypatch, detectors, name, threads)
    for detector in (KeywordDetector, TocDetector):
        _note_threads(monkeypatch, detector, "detect", threads)
    for made, settings in (
        (KeywordRetriever, {}),
        (TocRetriever, {}),
        (EmbeddingRetriever, {"embeddings": DeterministicFakeEmbedding(size=32)}),
    ):
        document = ParsedDocument.from_pdf(PATH)
        assert len(await made.from_pdf(document, **settings).ainvoke(QUESTION, k=2)) == 2
    assert threads.keys() == {"parse_question", "parts_of", "index_of", "detect"}
    assert not any(here in seen for seen in threads.values())


def _note_threads(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str, threads: dict[str, set[int]]) -> None:
    real = getattr(holder, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        threads.setdefault(name, set()).add(threading.get_ident())
        return real(*args, **kwargs)

    monkeypatch.setattr(holder, name, noted)


def test_vectors_of_different_models_are_kept_apart(policy: ParsedDocument) -> None:
    for size in (8, 16):
        assert EmbeddingRetriever.from_pdf(policy, embeddings=DeterministicFakeEmbedding(size=size)).invoke(QUESTION)
