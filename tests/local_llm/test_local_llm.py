"""The contract with a real small model behind llama.cpp: schema, ids, truncation, accounting; never relevance."""

from __future__ import annotations

import asyncio

import pytest

from arbiter_rag import Arbiter, OpenAIJudge, Passage, RetrievalResult
from arbiter_rag.contract import ArbiterOutput, Brief, Candidate, ParsedQuestion, SnippetLine
from arbiter_rag.errors import ConfigurationError, JudgeError
from arbiter_rag.prompt import forecast
from arbiter_rag.settle import settle

pytestmark = pytest.mark.local_llm

# Half a billion parameters on a busy machine are slow; what is measured here is the contract.
PATIENCE = 900.0
TEXTS = ("The notice period is thirty days.", "The premium is 500 euros a year.", "Words in bold are defined.")


def brief_of(*texts: str, question: str = "How long is the notice period?", language: str = "en") -> Brief:
    return Brief(
        question=ParsedQuestion(text=question, language=language),
        candidates=tuple(
            Candidate(candidate_id=f"p{at}-l1", text=text, snippet_lines=(SnippetLine(text=text),))
            for at, text in enumerate(texts, 1)
        ),
    )


def judge_of(url: str, **options: object) -> OpenAIJudge:
    settings = {"base_url": url, "temperature": 0.0, "timeout": PATIENCE, **options}
    return OpenAIJudge("local", **settings)  # type: ignore[arg-type]  # options vary by test


def accounted(result: RetrievalResult) -> list[str]:
    return sorted(c.candidate_id for c in (*result.candidates, *result.discarded, *result.unjudged))


def test_schema_ids_and_accounting(local_url: str) -> None:
    brief = brief_of(*TEXTS)
    judge = judge_of(local_url)
    reply = judge.judge(brief)
    assert not reply.truncated
    output = ArbiterOutput.model_validate_json(str(reply.raw))  # the grammar keeps to the schema
    assert isinstance(output.rankings, tuple)
    assert reply.attempts == 1
    assert reply.prompt_tokens is not None
    assert reply.completion_tokens is not None
    assert reply.prompt_tokens <= forecast(brief) <= 2.5 * reply.prompt_tokens
    assert 0 < reply.completion_tokens <= 300 + 60 * 3
    result = settle(brief, reply, judge=judge.name)
    assert accounted(result) == ["p1-l1", "p2-l1", "p3-l1"]


def test_a_truncated_reply_loses_nobody(local_url: str) -> None:
    brief = brief_of(*TEXTS)
    judge = judge_of(local_url, max_output_tokens=60)
    reply = judge.judge(brief)
    assert reply.truncated
    assert reply.completion_tokens == 60
    result = settle(brief, reply, judge=judge.name)
    assert accounted(result) == ["p1-l1", "p2-l1", "p3-l1"]
    assert result.unjudged
    assert not result.not_found


def test_template_tokens_in_a_passage_stay_text(local_url: str) -> None:
    def cost(text: str) -> int:
        tokens = judge_of(local_url, max_output_tokens=1).judge(brief_of(text)).prompt_tokens
        assert tokens is not None
        return tokens

    # As real turn boundaries they would be one token each.
    assert cost("x" + "<|im_end|>" * 20) - cost("x") > 20 * 4


async def test_async_and_two_at_once(local_url: str) -> None:
    judge = judge_of(local_url, max_output_tokens=40)
    french = brief_of("Le préavis est de trente jours.", question="Quel est le préavis ?", language="fr")
    replies = await asyncio.gather(judge.ajudge(brief_of(TEXTS[0])), judge.ajudge(french))
    assert all(str(reply.raw).lstrip().startswith("{") for reply in replies)


def test_prose_from_a_model_without_schema_is_settled_or_refused(local_url: str) -> None:
    brief = brief_of(TEXTS[0])
    reply = judge_of(local_url, structured=False, max_output_tokens=120).judge(brief)
    try:
        everyone = accounted(settle(brief, reply, judge="local"))
    except JudgeError:
        everyone = ["p1-l1"]  # nothing readable came: the main path falls back to rules
    assert everyone == ["p1-l1"]


def test_the_main_path(local_url: str) -> None:
    arbiter = Arbiter(judge=judge_of(local_url))
    passages = [Passage(id=f"id-{number}", text=text) for number, text in enumerate(TEXTS)]
    result = arbiter.rank("How long is the notice period?", passages)
    everyone = (*result.candidates, *result.discarded, *result.unjudged)
    assert sorted(c.original_id or "" for c in everyone) == ["id-0", "id-1", "id-2"]
    assert (result.usage.calls, result.usage.attempts) == (1, 1)
    assert result.usage.prompt_tokens
    assert result.status in ("ok", "partial")


def test_timeout_and_wrong_address(local_url: str) -> None:
    with pytest.raises(JudgeError) as caught:
        judge_of(local_url, timeout=0.05).judge(brief_of(*TEXTS))
    assert caught.value.kind == "timeout"
    with pytest.raises(ConfigurationError, match="base_url"):
        judge_of(local_url.removesuffix("/v1") + "/nowhere").judge(brief_of(*TEXTS))
