"""Questions that a document does not answer, made from the development questions, and how well absence is noticed.

Three kinds, with deterministic draws:

- wrong company: a financial report is asked about a company that it never names, once by exchanging the name in one of
  its own questions, once with another report's question that names its company;
- wrong year: the years of a question are shifted, all by the same, to years that stand nowhere in the document;
- other product: another source's question in the document's language, about a named thing that its own document speaks
  of and this one never mentions.

A question that is caught is one to which `RuleJudge` says "not found". Reported per source of the document asked, with
the ones that the development set itself marks as unanswerable; AUROC says how well `confidence` tells answerable from
absent ones (0.5 is a coin's), the reliability table whether it means what it says.
"""

from __future__ import annotations

import argparse
import calendar
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache as remembered
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arbiter_rag import Arbiter
from arbiter_rag.evaluation.measure import share
from benchmarks.harness import Row, entry, markdown
from benchmarks.retrieval_data import CACHE, Question, document, questions, sources

SEED = 20_260_601
MOST = 40
"""Most generated questions of a kind for a source."""

FINANCE = ("financebench", "kgrag_10q")
KINDS = ("given", "wrong company", "wrong year", "other product")

_NAME = re.compile(r"[A-Z][\w&.-]*[A-Za-z](?:[ ][A-Z][\w&-]*[A-Za-z])*")
_YEAR = re.compile(r"(?<![\d/.])(?:19|20)\d\d(?!\d)")
"""A year; not that of a date of birth or the like (03/01/2014), which tells of the asker and not of the document."""
_MONTHS = frozenset(calendar.month_name[1:])
_OPENERS = ("Is", "Are", "Has", "Did", "Does", "Was", "What", "Which", "How", "Do")
_SHIFTS = tuple(range(3, 40))
_ENOUGH = 3
"""Lines on which a document must speak of a thing for a question about it to belong to that document."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A question put to a document that does not answer it."""

    kind: str
    source: str
    question: Question


@remembered
def text_of(source: str, doc: str) -> str:
    """A document's text with spaces for everything that is neither letter nor digit, for finding names in it."""
    return _flat("\n".join(document(source, doc).texts))


def mentions(source: str, doc: str, name: str) -> int:
    """How often a document mentions a name, as words or written as one."""
    text = text_of(source, doc)
    flat = _flat(name)
    return text.count(flat) + (text.count(flat.replace(" ", "")) if " " in flat.strip() else 0)


def proper(source: str, doc: str, name: str) -> bool:
    """Whether a document speaks of a name and never writes it like a common noun ("figure", "table")."""
    small = re.compile(rf"\b{re.escape(name.lower())}\b")
    return mentions(source, doc, name) >= _ENOUGH and not any(map(small.search, document(source, doc).texts))


def _flat(text: str) -> str:
    return f" {re.sub(r'[^a-z0-9]+', ' ', text.casefold()).strip()} "


def names_in(text: str) -> list[str]:
    """Capitalised names of a question; a sentence's first word counts only with a possessive s."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        name, start = match.group(), match.start()
        possessive = text[match.end() : match.end() + 2] in ("'s", "’s")
        if start == 0 or text[:start].rstrip().endswith((".", "?", "!", ":")):
            first, _, rest = name.partition(" ")
            name = name if possessive and not rest else rest
            if (
                possessive
                and rest
                and first in ("Is", "Are", "Has", "Did", "Does", "Was", "What", "Which", "How", "Do")
            ):
                name = rest
        if name and name not in _MONTHS and not any(c.isdigit() for c in name):
            found.append(name)
    return found


def documents_of(source: str) -> list[str]:
    """Names of a source's documents."""
    return sorted({q.doc for q in questions(source)})


def subject(source: str, doc: str) -> str | None:
    """The company a report is about: the name that most of its questions hold and that it mentions most."""
    held = Counter(n for q in questions(source) if q.doc == doc for n in set(names_in(q.text)))
    known = {n: mentions(source, doc, n) for n in held}
    names = [n for n in held if known[n] >= _ENOUGH]
    return max(names, key=lambda n: (held[n], known[n], n), default=None)


def wrong_company(source: str) -> Iterator[Absent]:
    """Reports asked about a company that they never name."""
    if source not in FINANCE:
        return
    companies = {(s, d): n for s in FINANCE for d in documents_of(s) if (n := subject(s, d))}
    for doc in documents_of(source):
        strangers = [k for k in companies if not mentions(source, doc, companies[k])]
        own = companies.get((source, doc))
        for question in (q for q in questions(source) if q.doc == doc and own and own in q.text):
            if strangers:
                name = companies[_dice(question.id).choice(strangers)]
                changed = question.text
                for said in {own, *(n for n in names_in(question.text) if _same(n, own))}:
                    changed = changed.replace(said, name)
                yield _absent("wrong company", source, question, doc, changed)
        foreign = [q for s, d in strangers for q in questions(s) if q.doc == d and companies[s, d] in q.text]
        for question in _dice(doc).sample(foreign, min(2, len(foreign))):
            yield _absent("wrong company", source, question, doc, question.text)


def _same(a: str, b: str) -> bool:
    return _flat(a).replace(" ", "") == _flat(b).replace(" ", "")


def wrong_year(source: str) -> Iterator[Absent]:
    """Questions whose years are moved to where the document has none."""
    for question in questions(source):
        years = {int(y) for y in _YEAR.findall(question.text)}
        if not years or not question.answerable or question.crosses:
            continue
        text = text_of(source, question.doc)
        dice = _dice(question.id)
        shifts = [sign * shift for shift in _SHIFTS for sign in dice.sample((-1, 1), 2)]
        for shift in shifts:
            if not any(str(year + shift) in text or f"fy{(year + shift) % 100:02}" in text for year in years):
                changed = _YEAR.sub(lambda m, by=shift: str(int(m.group()) + by), question.text)
                yield _absent("wrong year", source, question, question.doc, changed)
                break


def other_product(source: str) -> Iterator[Absent]:
    """Other sources' questions about things that a document never mentions."""
    for doc in documents_of(source):
        language = next(q.document_language for q in questions(source) if q.doc == doc)
        yield from (_absent("other product", source, q, doc, q.text) for q in _strangers(source, doc, language))


def _strangers(source: str, doc: str, language: str) -> list[Question]:
    # One question a foreign document, so that no single one decides the figure.
    chosen: list[Question] = []
    for other in sources():
        if other.split("_")[0] == source.split("_")[0]:
            continue
        for foreign in documents_of(other):
            fitting = [
                q
                for q in questions(other)
                if q.doc == foreign and q.answerable and not q.crosses and q.language == language
                if any(not mentions(source, doc, n) and proper(other, foreign, n) for n in names_in(q.text))
            ]
            if fitting:
                chosen.append(_dice(doc + foreign).choice(fitting))
    return chosen


def _absent(kind: str, source: str, question: Question, doc: str, text: str) -> Absent:
    asked = replace(question, doc=doc, text=text, answerable=False, gold=frozenset(), gold_text="")
    return Absent(kind, source, asked)


def _dice(key: str) -> random.Random:
    return random.Random(f"{SEED}:{key}")


def absent_questions(source: str) -> list[Absent]:
    """Those that the set itself marks, and at most `MOST` of each generated kind."""
    given = [Absent("given", source, q) for q in questions(source) if not q.answerable and not q.crosses]
    made: list[Absent] = []
    for make in (wrong_company, wrong_year, other_product):
        some = list(make(source))
        made += some if len(some) <= MOST else _dice(f"{source}:{make.__name__}").sample(some, MOST)
    return given + made


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's outcome."""

    kind: str
    text: str
    doc: str
    not_found: bool
    confidence: float


def outcomes(source: str, arbiter: Arbiter, cache: Path = CACHE) -> list[Asked]:
    """Every absent question of a source, and its answerable ones in the document's language."""
    rows = [("answerable", q) for q in questions(source) if q.answerable and not q.crosses]
    rows += [(a.kind, a.question) for a in absent_questions(source)]
    asked: list[Asked] = []
    for kind, question in rows:
        result = arbiter.retrieve(question.text, document(source, question.doc, cache))
        asked.append(Asked(kind, question.text, question.doc, result.not_found, result.confidence))
    return asked


def auroc(answerable: Sequence[float], absent: Sequence[float]) -> float | None:
    """Chance that an answerable question's confidence is above an absent one's; equal ones count half."""
    if not answerable or not absent:
        return None
    a, b = np.asarray(answerable)[:, None], np.asarray(absent)[None, :]
    return float(((a > b) + 0.5 * (a == b)).mean())


def summary(source: str, asked: Sequence[Asked]) -> Row:
    """Caught shares per kind, false alarms, AUROC."""
    row: Row = {"source": source}
    answerable = [a for a in asked if a.kind == "answerable"]
    row["answerable"] = len(answerable)
    false = share([a.not_found for a in answerable])
    row["false not found"] = round(false.mean, 3) if false else None
    for kind in KINDS:
        caught = share([a.not_found for a in asked if a.kind == kind])
        row[kind] = f"{caught.mean:.2f} of {caught.n} ({caught.low:.2f}–{caught.high:.2f})" if caught else ""
    confident = [a.confidence for a in answerable]
    for name, kinds in (("AUROC given", ("given",)), ("AUROC all", KINDS)):
        value = auroc(confident, [a.confidence for a in asked if a.kind in kinds])
        row[name] = None if value is None else round(value, 3)
    return row


def reliability(by_source: dict[str, Sequence[Asked]]) -> list[Row]:
    """Confidence in ten bins: what share is answerable, every source weighing the same (shares per source as well)."""
    rows: list[Row] = []
    for low, high in pairwise(round(0.1 * i, 1) for i in range(11)):
        shares: dict[str, float] = {}
        confidences: list[float] = []
        for source, asked in by_source.items():
            inside = [a for a in asked if low <= a.confidence < high or (high == 1.0 and a.confidence == 1.0)]
            if inside:
                shares[source] = sum(a.kind == "answerable" for a in inside) / len(inside)
                confidences += [a.confidence for a in inside]
        row: Row = {"confidence": f"{low:.1f}–{high:.1f}", "questions": len(confidences)}
        row["mean confidence"] = round(float(np.mean(confidences)), 3) if confidences else None
        row["answerable, mean of sources"] = round(float(np.mean(list(shares.values()))), 3) if shares else None
        rows.append(row | {source: round(shares[source], 2) if source in shares else None for source in by_source})
    return rows


@entry("absent")
def absent() -> Iterable[Row]:
    """Unanswerable questions, given and generated: how many are caught, false alarms, and AUROC of confidence"""
    arbiter = Arbiter()
    for source in sources():
        yield summary(source, outcomes(source, arbiter))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.absent", description="Measure how absence is noticed.")
    parser.add_argument("--source", action="append", metavar="NAME", help="a source; may be given again (default: all)")
    parser.add_argument("--cache-dir", type=Path, default=CACHE, help="parsed documents (default: .bench)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures and questions")
    given = parser.parse_args(argv)
    arbiter = Arbiter()
    by_source = {s: outcomes(s, arbiter, given.cache_dir) for s in given.source or sources()}
    rows = [summary(source, asked) for source, asked in by_source.items()]
    bins = reliability(by_source)
    print(f"{markdown(rows)}\n\n{markdown(bins)}")
    if given.json:
        asked: dict[str, Any] = {
            s: [[a.kind, a.doc, a.text, a.not_found, a.confidence] for a in some] for s, some in by_source.items()
        }
        given.json.write_text(json.dumps({"sources": rows, "reliability": bins, "asked": asked}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
