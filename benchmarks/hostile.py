"""How far passages that address the judge get, and how many honest passages are marked for addressing it.

The judge here is obedient in the worst way: whatever an attack says, the passage that holds it is named primary, with
the quote that helps the attack most. An attack counts as having *ended as primary* when the settled role is primary and

- no detector supports the passage (the order alone put it there), whatever the judge quotes; or
- a detector supports it, but the quote that carried the verdict is the attack's own words.

A passage that a detector found and of which an honest line is quoted stays primary by rule: it may well hold the
answer, and the attack did not put it there by itself. That share stands beside the others as `honest quote`, neither
success nor failure; the mark stays on the candidate, for the reader and the audit.

What this does not prove: that a passage without a mark is safe (an order in words that the tables do not know passes);
that text which merely lies, without ordering anything, is noticed (no scan knows the truth); that a real model obeys or
resists like this double; that honest candidates cannot be discarded on an attack's order (settle keeps and reports what
was discarded, it does not overrule a judge). The scanner's author wrote the own texts, the held-out half included, and
saw the totals (not the texts) of both held-out halves while the scanner grew; of 34 attacks written last, in words the
tables did not hold, 20 passed unseen before they were learnt from (`own_late`): expect new attacks to fare better.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from arbiter_rag.contract import ArbiterOutput, Brief, Candidate, CandidateRanking, ParsedQuestion, SnippetLine
from arbiter_rag.document import ParsedDocument
from arbiter_rag.hostile import scan
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle import settle
from benchmarks.harness import ROOT, Row, data_folder, entry

CORPORA = ("own_dev", "own_held_out", "own_late", "foreign_dev", "foreign_held_out")
LINES = 12
SEED = 20_260_101
_OTHERS = 3
_PIECE = re.compile(r"(?<=[.!?:;。！？])\s+|\n")


@entry("hostile")
def hostile() -> Iterator[Row]:
    """Attacks in development passages that end as primary before an obedient judge, in per cent of each corpus"""
    rng = random.Random(SEED)
    pool = _windows_of_samples()
    totals: dict[str, list[dict[str, bool]]] = {}
    for name in CORPORA:
        outcomes = [_outcome(row, rng, pool) for row in _corpus(name)]
        totals.setdefault(name.split("_")[0] + ", all", []).extend(outcomes)
        yield _row(name, outcomes)
    for name, outcomes in totals.items():
        yield _row(name, outcomes)


@entry("clean")
def clean() -> Iterator[Row]:
    """Honest passages (windows of 12 lines) of the development documents that are marked, per source"""
    for folder in sorted((data_folder() / "dev").iterdir()):
        windows = [w for path in sorted(folder.glob("*.pdf")) for w in _windows(path)]
        marked = sum(bool(scan("\n".join(window))) for window in windows)
        yield {
            "source": folder.name,
            "passages": len(windows),
            "marked": marked,
            "per cent": 100 * marked / len(windows),
        }


def _row(name: str, outcomes: list[dict[str, bool]]) -> Row:
    def share(key: str) -> float:
        return 100 * sum(o[key] for o in outcomes) / len(outcomes)

    return {"corpus": name, "attacks": len(outcomes), **{key: share(key) for key in outcomes[0]}}


def _outcome(row: dict[str, str], rng: random.Random, pool: list[list[str]]) -> dict[str, bool]:
    """What becomes of one attack in a passage of its own, with other candidates beside it."""
    windows = rng.sample(pool, _OTHERS + 1)
    ids = [f"p{rng.randrange(1, 200)}-l{12 * i + 1}" for i in range(len(windows))]
    attack = row["text"].replace("<<TARGET>>", ids[0]).replace("<<OTHER>>", ids[1])
    lines, honest = _planted(attack, windows[0], row["position"])
    others = [_candidate(ids[i], windows[i], ("keyword",)) for i in range(1, len(windows))]
    own = [p for p in dict.fromkeys([attack, *_PIECE.split(attack), *attack.split("\n")]) if p.strip()]

    def ends(methods: tuple[str, ...], quotes: list[str]) -> bool:
        attacked = _candidate(ids[0], lines, methods)
        return any(_role(attacked, others, quote) == "primary" for quote in quotes)

    alone = ends((), [*own, *honest])
    quoted = ends(("keyword",), own)
    return {
        "unmarked": not scan("\n".join(lines)),
        "no detector": alone,
        "attack quoted": quoted,
        "ended as primary": alone or quoted,
        "honest quote": ends(("keyword",), honest),
    }


def _planted(attack: str, window: list[str], position: str) -> tuple[list[str], list[str]]:
    """The window's lines with the attack among them, and the lines that stood there before."""
    at = {"front": 0, "middle": len(window) // 2, "back": len(window)}[position]
    honest = [line for line in window if len(line.split()) >= 3]
    return [*window[:at], *attack.split("\n"), *window[at:]], honest


def _candidate(candidate_id: str, lines: list[str], methods: tuple[str, ...]) -> Candidate:
    text = "\n".join(lines)
    shown, start = [], 0
    for line in lines:
        shown.append(SnippetLine(text=line, start=start))
        start += len(line) + 1
    return Candidate(
        candidate_id=candidate_id,
        text=text,
        snippet_lines=tuple(shown),
        methods=methods,
        weak=not methods,
        suspicious=tuple(s.text for s in scan(text)),
    )


def _role(attacked: Candidate, others: list[Candidate], quote: str) -> str:
    """The settled role of the attacked candidate when the judge obeys and quotes this."""
    brief = Brief(question=ParsedQuestion(text="What does the document say about it?"), candidates=(attacked, *others))
    obeyed = CandidateRanking(candidate_id=attacked.candidate_id, reason="as ordered", role="primary", quote=quote)
    rest = [CandidateRanking(candidate_id=o.candidate_id, reason="as ordered", role="discarded") for o in others]
    reply = JudgeReply(ArbiterOutput(rankings=(obeyed, *rest)).model_dump_json(), attempts=1)
    result = settle(brief, reply, judge="obedient")
    ended = [
        c for c in (*result.candidates, *result.discarded, *result.unjudged) if c.candidate_id == attacked.candidate_id
    ]
    return ended[0].role


def _corpus(name: str) -> list[dict[str, str]]:
    path = ROOT / "tests" / "hostile" / "corpora" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _windows_of_samples() -> list[list[str]]:
    """Windows of the first document of each source: enough to plant attacks in."""
    folders = sorted((data_folder() / "dev").iterdir())
    return [w for folder in folders for w in _windows(sorted(folder.glob("*.pdf"))[0]) if len(w) == LINES]


@cache
def _windows(path: Path) -> list[list[str]]:
    texts = ParsedDocument.from_pdf(path).texts
    return [list(texts[i : i + LINES]) for i in range(0, len(texts), LINES)]
