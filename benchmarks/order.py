"""What a judge with a position bias would cost: doubles that always prefer the first or the last candidate shown."""

from __future__ import annotations

from collections.abc import Iterator

from arbiter_rag import Arbiter, RetrievalResult
from arbiter_rag.judges import Judge, RuleJudge
from arbiter_rag.testing import FirstJudge, LastJudge
from benchmarks.harness import Row, entry
from benchmarks.retrieval_data import Question, document, questions

SOURCES = ("attention", "nist", "debian_faq_noheadings")
SEED = 7


@entry("order")
def order() -> Iterator[Row]:
    """First candidate right before judges that decide by position, in document order and shuffled (in per cent)"""
    for source in SOURCES:
        asked = [q for q in questions(source) if q.answerable and not q.crosses]
        for name, judge, seed in (
            ("rules", RuleJudge(), None),
            ("first shown", FirstJudge(), None),
            ("last shown", LastJudge(), None),
            ("first shown, shuffled", FirstJudge(), SEED),
            ("last shown, shuffled", LastJudge(), SEED),
        ):
            yield {
                "source": source,
                "questions": len(asked),
                "judge": name,
                "first right": _right(source, asked, judge, seed),
            }


def _right(source: str, asked: list[Question], judge: Judge, seed: int | None) -> float:
    # The doubles quote nothing, so their primaries would be demoted; the order is what is measured here.
    arbiter = Arbiter(judge=judge, shuffle_seed=seed, on_unverified="flag")
    right = sum(_on_gold(arbiter.retrieve(q.text, document(source, q.doc)), q) for q in asked)
    return round(100 * right / len(asked), 1)


def _on_gold(result: RetrievalResult, question: Question) -> bool:
    anchor = result.candidates[0].anchor if result.candidates else None
    return anchor is not None and not {anchor.page_start, anchor.page_end}.isdisjoint(question.gold)
