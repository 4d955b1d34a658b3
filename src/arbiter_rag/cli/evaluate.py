"""`arbiter-rag eval`: the benchmark's tables on a user's own questions, documents and model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.cli.arguments import UsageError
from arbiter_rag.cli.ask import chosen_judge, say_who_judged
from arbiter_rag.cli.open import cache_folder, open_documents
from arbiter_rag.cli.progress import progress_bar
from arbiter_rag.cli.terminal import console, harmless, print_json, say
from arbiter_rag.evaluation import Evaluation, Scores, evaluate, read_questions
from arbiter_rag.evaluation.measure import Share
from arbiter_rag.lexicon import Lexicon

_COLUMNS = {
    "@1": "@1",
    "@5": "@5",
    "@10": "@10",
    "First\nright": "first",
    "MRR": "MRR",
    "False\nNF": "false not found",
    "NF\nprec.": "nf precision",
    "NF\nrecall": "nf recall",
}
"""Column heads and the shares beneath them."""

_LEGEND = (
    "@k: a passage on a gold page among the first k. First right: the judge's first is one. NF: not found; of "
    "answerable questions (false), right where said (prec.), unanswerable ones caught (recall). ok/part/degr: results "
    "whole, with something demoted or unjudged, decided by rules because the model failed. Medians of {tokens} and ms."
)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate; 0."""
    questions = read_questions(arguments.questions)
    target = _target(arguments.json)
    judge = chosen_judge(arguments)
    cache = None if arguments.no_cache else cache_folder()
    arbiter = Arbiter(
        judge=judge,
        lexicon=Lexicon.load(arguments.lexicon) if arguments.lexicon else None,
        instructions=arguments.instructions,
        cache_dir=cache,
        on_error=arguments.on_error,
    )
    documents = open_documents(arguments.pdfs, arguments, cache)
    with progress_bar("Asking") as progress:
        evaluation = evaluate(arbiter, questions, documents, progress=progress)
    say_who_judged(judge, arguments)
    for message in _warnings(evaluation):
        say(message)
    as_json = evaluation.model_dump(mode="json")
    if arguments.json == "-":
        print_json(as_json)
        return 0
    if target is not None:
        target.write_text(json.dumps(as_json, indent=2) + "\n", encoding="utf-8")
    show(evaluation, console())
    return 0


def _target(given: str | None) -> Path | None:
    """Where the JSON goes, looked at before a model is paid for; None for nowhere and for stdout."""
    if given in (None, "-"):
        return None
    target = Path(str(given))
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"--json {given!r}: a file in a folder that exists was expected; choose another path")
    return target


def _warnings(evaluation: Evaluation) -> list[str]:
    messages = []
    if evaluation.skipped:
        names = ", ".join(list(evaluation.skipped)[:3]) + (", ..." if len(evaluation.skipped) > 3 else "")
        messages.append(f"{sum(evaluation.skipped.values())} questions left out: not given are the documents {names}")
    if evaluation.unasked:
        messages.append(f"no question is about {', '.join(evaluation.unasked[:3])}")
    degraded = [a for a in evaluation.asked if a.status == "degraded"]
    if degraded:
        of = f"{len(degraded)} of {len(evaluation.asked)} questions"
        messages.append(f"degraded: rules decided {of}, not {evaluation.judge} ({degraded[0].error})")
    return messages


def show(evaluation: Evaluation, out: Console) -> None:
    """Print an evaluation: who judged, a row a document and one for all, and how sure the figures are."""
    total = evaluation.total
    who = f"Judged by {harmless(evaluation.judge)}"
    out.print(Text(f"{who}: {total.answerable} answerable questions, {total.absent} unanswerable ones.", style="bold"))
    out.print(_table(evaluation))
    sure = [f"{name} {_interval(total.shares.get(key))}" for name, key in (("@10", "@10"), ("first right", "first"))]
    out.print(Text(f"95 % intervals over all questions: {', '.join(sure)}.", style="dim"))
    if evaluation.calls_model:
        spent = f"{total.prompt_tokens:,} prompt and {total.completion_tokens:,} completion tokens"
        out.print(Text(f"Spent in all: {spent}.", style="dim"))
    tokens = "prompt tokens" if evaluation.calls_model else "tokens that a model's prompt would have"
    out.print(Text(_LEGEND.format(tokens=tokens), style="dim"))


def _table(evaluation: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("Document", overflow="fold", min_width=10)
    for head in ("Asked", *_COLUMNS, "ok/part\n/degr", "Tokens", "ms"):
        table.add_column(head, justify="right", no_wrap=True)
    rows = [*evaluation.documents, evaluation.total] if len(evaluation.documents) > 1 else [evaluation.total]
    for scores in rows:
        name = scores.document if len(evaluation.documents) > 1 else evaluation.documents[0].document
        table.add_row(harmless(name), *_cells(scores), style="bold" if scores is rows[-1] else "")
    return table


def _cells(scores: Scores) -> list[str]:
    asked = f"{scores.answerable}+{scores.absent}" if scores.absent else str(scores.answerable)
    values = [scores.shares.get(name) for name in _COLUMNS.values()]
    statuses = "/".join(str(n) for n in scores.statuses.values())
    shares = ["-" if v is None else f"{v.mean:.2f}" for v in values]
    milliseconds = f"{scores.milliseconds:,.{0 if scores.milliseconds >= 10 else 1}f}"
    return [asked, *shares, statuses, f"{scores.tokens:,}", milliseconds]


def _interval(share: Share | None) -> str:
    return "-" if share is None else f"{share.low:.2f}\u2013{share.high:.2f}"
