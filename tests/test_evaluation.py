"""Measuring on a user's own questions: reading them, what counts, and how it is summed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arbiter_rag import Arbiter, ParsedDocument, samples
from arbiter_rag.contract import Brief
from arbiter_rag.embedders import CachedEmbedder
from arbiter_rag.embedders.progress import ProgressEmbedder
from arbiter_rag.errors import InputError, JudgeError
from arbiter_rag.evaluation import Evaluation, Question, evaluate, read_questions
from arbiter_rag.evaluation.measure import Found, counted, evidence_stands
from arbiter_rag.testing import HashEmbedder, ScriptedJudge

DEDUCTIBLE = {"question": "What is the deductible for water damage?", "doc": "policy_en.pdf", "gold_pages": [6]}
ABSENT = {"question": "Who won the chess tournament in Reykjavik?", "doc": "policy_en.pdf", "answerable": False}
NOTICE = {"question": "What notice period does the amendment set?", "doc": "contract_amended_en.pdf"}


@pytest.fixture(scope="module")
def policy() -> ParsedDocument:
    return ParsedDocument.from_pdf(samples.path("policy_en"))


@pytest.fixture(scope="module")
def contract() -> ParsedDocument:
    return ParsedDocument.from_pdf(samples.path("contract_amended_en"))


def _file(folder: Path, *rows: object) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows) + "\n", encoding="utf-8")
    return path


def _questions(folder: Path, *rows: object) -> tuple[Question, ...]:
    return read_questions(_file(folder, *rows))


# --- reading ----------------------------------------------------------------------------------------------------


def test_fields_and_their_defaults(tmp_path: Path) -> None:
    full = DEDUCTIBLE | {"id": "q1", "exclude_pages": [1], "gold_text": "EUR 400", "lang": "en_GB", "doc_lang": "fr"}
    one, two, three = _questions(tmp_path, full | {"mine": 1}, "", ABSENT, {"question": "A?", "gold_pages": [2, 3]})
    assert (one.id, one.gold, one.excluded, one.gold_text) == ("q1", {6}, {1}, "EUR 400")
    assert (one.language, one.document_language, one.crosses, one.answerable) == ("en", "fr", True, True)
    assert (two.id, two.line, two.answerable, two.crosses) == ("line 3", 3, False, False)
    assert (three.doc, three.gold, three.answerable) == ("", {2, 3}, True)


def test_a_byte_order_mark_and_odd_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(ABSENT | {"question": "a\u2028b"}, ensure_ascii=False).encode() + b"\r\n\r\n"
    )
    (question,) = read_questions(path)
    assert question.text == "a\u2028b"


WRONG: list[tuple[Any, str]] = [
    ("not json", "JSON"),
    ("[" * 100_000, "JSON"),
    ([1], "a list"),
    ({"gold_pages": [1]}, "'question'"),
    ({"question": " ", "gold_pages": [1]}, "'question'"),
    ({"question": 3, "gold_pages": [1]}, "a number"),
    ({"question": "A?", "answerable": True}, "'gold_pages'"),
    ({"question": "A?", "answerable": "no"}, "'answerable'"),
    ({"question": "A?", "gold_pages": 3}, "'gold_pages'"),
    ({"question": "A?", "gold_pages": ["3"]}, "'gold_pages'"),
    ({"question": "A?", "gold_pages": [0]}, "'gold_pages'"),
    ({"question": "A?", "gold_pages": [True]}, "'gold_pages'"),
    ({"question": "A?", "gold_pages": [1], "exclude_pages": [1.5]}, "'exclude_pages'"),
    ({"question": "A?", "gold_pages": [1], "doc": 7}, "'doc'"),
]


@pytest.mark.parametrize(("row", "said"), WRONG, ids=[s + str(n) for n, (_, s) in enumerate(WRONG)])
def test_a_wrong_line_is_named(row: object, said: str, tmp_path: Path) -> None:
    path = _file(tmp_path, ABSENT, row)
    with pytest.raises(InputError, match=r"questions\.jsonl, line 2: ") as caught:
        read_questions(path)
    assert said in str(caught.value)


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    empty, latin = tmp_path / "empty.jsonl", tmp_path / "latin.jsonl"
    empty.write_text("\n\n", encoding="utf-8")
    latin.write_bytes(b'{"question": "caf\xe9"}')
    for path in (empty, latin, tmp_path, tmp_path / "missing.jsonl"):
        with pytest.raises(InputError) as caught:
            read_questions(path)
        assert path.name in str(caught.value)


# --- what counts ------------------------------------------------------------------------------------------------


def test_what_is_a_hit(tmp_path: Path) -> None:
    (question,) = _questions(tmp_path, {"question": "A?", "gold_pages": [4, 9], "exclude_pages": [9]})
    assert Found(frozenset({4}), 15, "").hits(question)
    assert Found(frozenset({3, 4}), 2, "").hits(question)
    assert not Found(frozenset({4}), 16, "").hits(question)
    assert not Found(frozenset({3, 4, 5}), 2, "").hits(question)
    assert not Found(frozenset({5}), 2, "").hits(question)
    assert counted([Found(frozenset({9}), 1, ""), Found(frozenset({8, 9}), 1, "")], question) == [
        Found(frozenset({8, 9}), 1, "")
    ]


def test_evidence_is_compared_by_letters_and_digits() -> None:
    assert evidence_stands("Net in\ufb02ow: 1 234", "the net\ninflow:\t1,234 of")
    assert not evidence_stands("1234", "1243")
    assert not evidence_stands("", "anything")
    long = " ".join(f"word{n}" for n in range(100))
    assert evidence_stands(long, " ".join(f"word{n}" for n in range(40, 60)))


# --- the figures ------------------------------------------------------------------------------------------------


def test_each_document_and_all(policy: ParsedDocument, contract: ParsedDocument, tmp_path: Path) -> None:
    notice = NOTICE | {"gold_pages": list(range(1, contract.profile.pages + 1))}
    seen: list[tuple[int, int]] = []
    got = evaluate(
        Arbiter(),
        _questions(tmp_path, notice, DEDUCTIBLE, ABSENT),
        [policy, contract],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert [(s.document, s.answerable, s.absent) for s in got.documents] == [
        ("policy_en.pdf", 1, 1),
        ("contract_amended_en.pdf", 1, 0),
    ]
    assert (got.judge, got.calls_model, got.total.document) == ("rules", False, "all")
    means = {name: share.mean if share else None for name, share in got.total.shares.items()}
    assert (means["@10"], means["nf precision"], means["nf recall"], means["false not found"]) == (1, 1, 1, 0)
    assert means["text"] is None
    assert got.total.tokens > 500  # rules send nothing: what a model's prompt would have
    assert got.total.prompt_tokens == sum(a.prompt_tokens for a in got.asked)
    assert got.documents[1].shares["nf recall"] is None
    assert Evaluation.model_validate_json(got.model_dump_json()) == got


def _page_six_last(brief: Brief) -> dict[str, object]:
    """What a model would say that takes the right page for the worst."""
    ordered = sorted(brief.candidates, key=lambda c: c.anchor is not None and c.anchor.page_end == 6)
    rows = [{"candidate_id": c.candidate_id, "reason": "r", "role": "supporting", "quote": None} for c in ordered]
    return {"rankings": rows}


def test_ranks_are_the_judges(policy: ParsedDocument, tmp_path: Path) -> None:
    questions = _questions(tmp_path, DEDUCTIBLE)
    ours, theirs = (evaluate(Arbiter(judge), questions, [policy]) for judge in (None, ScriptedJudge(_page_six_last)))
    assert ours.asked[0].rank is not None
    assert theirs.asked[0].rank is not None
    assert ours.asked[0].first_right
    assert theirs.asked[0].rank > ours.asked[0].rank
    assert not theirs.asked[0].first_right
    assert theirs.total.shares["@10"] == ours.total.shares["@10"]
    assert (theirs.judge, theirs.calls_model) == ("scripted", True)


def test_a_judge_that_fails_is_seen(policy: ParsedDocument, tmp_path: Path) -> None:
    judge = ScriptedJudge([JudgeError("no reply"), JudgeError("no reply")], name="m")
    got = evaluate(Arbiter(judge), _questions(tmp_path, DEDUCTIBLE, ABSENT), [policy])
    assert got.judge == "m"
    assert got.total.statuses["degraded"] == judge.calls
    assert {a.judge for a in got.asked if a.status == "degraded"} == {"rules"}
    with pytest.raises(JudgeError):
        evaluate(Arbiter(judge, on_error="raise"), _questions(tmp_path, DEDUCTIBLE), [policy])


def test_what_is_not_asked_is_told(policy: ParsedDocument, contract: ParsedDocument, tmp_path: Path) -> None:
    got = evaluate(Arbiter(), _questions(tmp_path, DEDUCTIBLE, ABSENT | {"doc": "other.pdf"}), [policy, contract])
    assert got.skipped == {"other.pdf": 1}
    assert got.unasked == ("contract_amended_en.pdf",)
    assert len(got.asked) == 1


def test_questions_that_do_not_fit_the_documents(
    policy: ParsedDocument, contract: ParsedDocument, tmp_path: Path
) -> None:
    twin = ParsedDocument.from_pdf(samples.path("policy_en"))
    for row, documents, said in (
        (DEDUCTIBLE | {"gold_pages": [8]}, [policy], "Line 1 .*8.*7 pages"),
        (ABSENT | {"doc": "other.pdf"}, [policy], "other.pdf"),
        ({"question": "A?", "gold_pages": [1]}, [policy, contract], "'doc'"),
        (DEDUCTIBLE, [policy, twin], "Two documents"),
    ):
        with pytest.raises(InputError, match=said):
            evaluate(Arbiter(), _questions(tmp_path, row), documents)


def test_one_document_needs_no_name(policy: ParsedDocument, tmp_path: Path) -> None:
    row = {key: value for key, value in DEDUCTIBLE.items() if key != "doc"}
    assert evaluate(Arbiter(), _questions(tmp_path, row), [policy]).asked[0].document == "policy_en.pdf"


def test_the_figures_are_the_benchmarks(data: Path) -> None:
    from benchmarks.retrieval import ArbiterSystem

    paper = ParsedDocument.from_pdf(data / "dev" / "attention" / "1706.03762v7.pdf")
    questions = read_questions(data / "dev" / "attention" / "questions.jsonl")
    system = ArbiterSystem.make("rules")
    theirs = [system.ask(question, paper) for question in questions]
    ours = evaluate(Arbiter(), questions, [paper]).asked
    assert [a.first_right for a in ours] == [o.first for o in theirs]
    assert [a.rank for a in ours] == [round(1 / o.reciprocal) if o.reciprocal else None for o in theirs]
    assert [a.not_found for a in ours] == [o.not_found for o in theirs]
    assert [a.text_found for a in ours] == [o.text for o in theirs]


# --- progress of the work before --------------------------------------------------------------------------------


def test_reading_tells_its_pages(tmp_path: Path) -> None:
    def read() -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []
        ParsedDocument.from_pdf(
            samples.path("policy_en"), cache_dir=tmp_path, progress=lambda done, total: seen.append((done, total))
        )
        return seen

    assert read() == [(n, 7) for n in range(8)]
    assert read() == []  # from the cache


async def test_embedding_tells_its_texts(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    told = ProgressEmbedder(
        CachedEmbedder(HashEmbedder(), tmp_path), lambda done, total: seen.append((done, total)), batch=2
    )
    texts = ["one", "two words", "three", "four", "five"]
    plain = HashEmbedder().embed(texts)
    assert np.array_equal(told.embed(texts), plain)
    assert seen == [(0, 5), (2, 5), (4, 5), (5, 5)]
    assert np.array_equal(await told.aembed(texts), plain)
    assert seen[4:] == seen[:4]
    assert len(told.embed(["q"], query=True)) == len(await told.aembed(["q"], query=True)) == 1
    assert len(told.embed([])) == 0
    assert len(seen) == 8
    assert told.name == HashEmbedder().name
