"""How retrievers are set up: serialised, pickled, copied, configured at run time, shared; and what cannot be meant."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.load import dumps, loads
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField
from langchain_openai import ChatOpenAI
from pydantic import Field, ValidationError

from arbiter_rag import (
    ConfigurationError,
    DocumentError,
    InputError,
    ParsedDocument,
    RuleJudge,
    samples,
)
from arbiter_rag.testing import answering
from langchain_arbiter import (
    ArbiterRetriever,
    KeywordRetriever,
    TocRetriever,
)

Serve = Callable[..., Any]
QUESTION = "What is the deductible for water damage?"
SILENT: dict[str, object] = {
    "rankings": [{"candidate_id": "none", "reason": "", "role": "discarded", "quote": None}],
    "conflicts": [],
}
PATH = samples.path("policy_en")


class Fixed(BaseRetriever):
    """Gives its documents, whatever the question."""

    found: list[Document] = Field(default_factory=list)
    wait: float = 0.0

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return list(self.found)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(self.wait)
        return list(self.found)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_configuration_is_serialisable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    given = ArbiterRetriever.from_pdf(PATH, llm=ChatOpenAI(model="gpt-5-mini"), k=3, roles=("primary",))
    again = loads(
        dumps(given), allowed_objects=[ArbiterRetriever, ChatOpenAI], valid_namespaces=["langchain_arbiter"],
        secrets_map={"OPENAI_API_KEY": "k"},
    )  # fmt: skip
    assert (again.k, again.roles, again.llm.model_name, again.paths) == (3, ("primary",), "gpt-5-mini", (str(PATH),))
    fused = ArbiterRetriever(retrievers=[KeywordRetriever.from_pdf(PATH, k=4), TocRetriever.from_pdf(PATH)])
    again = loads(
        dumps(fused), allowed_objects=[ArbiterRetriever, KeywordRetriever, TocRetriever],
        valid_namespaces=["langchain_arbiter"],
    )  # fmt: skip
    assert again.invoke(QUESTION) == fused.invoke(QUESTION)


def test_a_retriever_can_be_pickled_and_copied() -> None:
    retriever = ArbiterRetriever.from_pdf(PATH, k=2)
    expected = retriever.invoke(QUESTION)
    assert pickle.loads(pickle.dumps(retriever)).invoke(QUESTION) == expected
    assert len(retriever.model_copy(update={"k": 1}).invoke(QUESTION)) == 1


def test_fields_can_be_configured_at_run_time(policy: ParsedDocument) -> None:
    retriever = ArbiterRetriever.from_pdf(policy).configurable_fields(k=ConfigurableField(id="how_many"))
    assert len(retriever.invoke(QUESTION, {"configurable": {"how_many": 1}})) == 1


def test_configuration_reaches_the_retrievers() -> None:
    found = [Document(f"Deductible {n}", id=str(n)) for n in range(3)]
    child = Fixed(found=found).configurable_fields(found=ConfigurableField(id="found"))
    retriever = ArbiterRetriever(retrievers={"child": child})
    result = retriever.retrieve_result(QUESTION, {"configurable": {"found": found[:1]}})
    assert len(result.candidates) + len(result.discarded) + len(result.unjudged) == 1


def test_a_model_that_is_exchanged_is_asked(serve: Serve) -> None:
    first, one = serve()
    second, other = serve()
    retriever = ArbiterRetriever.from_pdf(PATH, llm=one)
    retriever.invoke(QUESTION)
    retriever.model_copy(update={"llm": other}).invoke(QUESTION)
    assert (first.count(), second.count()) == (1, 1)


def test_threads_share_a_retriever(serve: Serve) -> None:
    server, llm = serve(answering(delay=0.02))
    retriever = ArbiterRetriever.from_pdf(PATH, llm=llm)
    assert len({str(d) for d in retriever.batch([QUESTION] * 12)}) == 1
    assert server.count() == 12


def test_settings_that_cannot_be_meant(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        ArbiterRetriever()
    with pytest.raises(ConfigurationError):
        ArbiterRetriever(paths=(str(PATH),), retrievers=[Fixed()])
    with pytest.raises(ConfigurationError):
        ArbiterRetriever(retrievers=[Fixed()], embeddings=DeterministicFakeEmbedding(size=8))
    with pytest.raises(DocumentError):
        ArbiterRetriever.from_pdf(tmp_path / "missing.pdf")
    with pytest.raises(ValidationError):
        ArbiterRetriever.from_pdf(PATH, similarity_top_k=3)
    with pytest.raises(ValidationError):
        ArbiterRetriever.from_pdf(PATH, k=0)
    with pytest.raises(InputError):
        ArbiterRetriever.from_pdf(PATH).invoke(" ")


@pytest.mark.parametrize("k", [0, -1, "3", 2.5, True])
async def test_a_number_of_documents_that_cannot_be_meant(k: Any) -> None:
    for retriever in (
        ArbiterRetriever.from_pdf(PATH),
        ArbiterRetriever(retrievers=[Fixed()]),
        KeywordRetriever.from_pdf(PATH),
    ):
        with pytest.raises(InputError, match="whole number"):
            retriever.invoke(QUESTION, k=k)
        with pytest.raises(InputError, match="whole number"):
            await retriever.ainvoke(QUESTION, k=k)


@pytest.mark.parametrize("k", [None, 0, 2.5, "many"])
def test_a_default_number_of_documents_that_cannot_be_meant(k: Any) -> None:
    for made in (ArbiterRetriever, KeywordRetriever):
        with pytest.raises(ValidationError):
            made.from_pdf(PATH, k=k)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Fixed(), "a single Fixed"),
        ("bm25", "a single str"),
        ({1: Fixed()}, "1: Fixed"),
        ({"": Fixed()}, "'': Fixed"),
        ({"own": print}, "'own': builtin_function_or_method"),
        ([Fixed(), 3], "Fixed, int"),
        ([], "got \\[\\]"),
        ({}, "got {}"),
    ],
)
def test_retrievers_that_cannot_be_meant(given: Any, told: str) -> None:
    with pytest.raises(ValueError, match=f"list of retrievers .*{told}") as caught:
        ArbiterRetriever(retrievers=given)
    assert str(caught.value).count("retrievers=") == 1


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_rules_are_serialised_by_name() -> None:
    given = ArbiterRetriever.from_pdf(PATH, judge=RuleJudge(), k=2)
    again = loads(dumps(given), allowed_objects=[ArbiterRetriever], valid_namespaces=["langchain_arbiter"])
    assert isinstance(again.judge, RuleJudge)
    assert again.invoke(QUESTION) == given.invoke(QUESTION)
