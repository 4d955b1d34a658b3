"""`arbiter-rag ask`: one question, one document or several, one result."""

from __future__ import annotations

import argparse
from pathlib import Path

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.audit import AuditLog
from arbiter_rag.cli.arguments import UsageError
from arbiter_rag.cli.open import cache_folder, open_documents
from arbiter_rag.cli.terminal import console, print_json, say
from arbiter_rag.cli.verdicts import show
from arbiter_rag.contract import RetrievalResult
from arbiter_rag.judges.base import Judge
from arbiter_rag.judges.rules import RuleJudge
from arbiter_rag.lexicon import Lexicon
from arbiter_rag.report import report, template


def run(arguments: argparse.Namespace) -> int:
    """Answer; 0 when found, 1 when not."""
    judge = chosen_judge(arguments)
    if arguments.report:
        template()  # a missing package is said before a model is asked
    cache = None if arguments.no_cache else cache_folder()
    arbiter = Arbiter(
        judge=judge,
        lexicon=Lexicon.load(arguments.lexicon) if arguments.lexicon else None,
        instructions=arguments.instructions,
        cache_dir=cache,
        on_error=arguments.on_error,
        audit=AuditLog(arguments.audit) if arguments.audit else None,
    )
    _check_files(arguments.pdfs)
    documents = open_documents(arguments.pdfs, arguments, cache)
    result = arbiter.retrieve(arguments.question, documents)
    if result.status == "degraded":
        say(f"degraded: {judge.name} gave no usable verdict ({result.error}); rules decided instead")
    if arguments.report:
        record = AuditLog(arguments.audit).get(result.record_id) if arguments.audit and result.record_id else None
        page = report(record or result, documents, password=arguments.password)
        Path(arguments.report).write_text(page, encoding="utf-8")
    say_who_judged(judge, arguments)
    shown = _cut(result, arguments.top_n)
    if arguments.json:
        print_json(shown.model_dump(mode="python"))
    else:
        show(shown, console(), hidden=len(result.candidates) - len(shown.candidates))
    return 1 if result.not_found else 0


def say_who_judged(judge: Judge, arguments: argparse.Namespace) -> None:
    """One line on stderr where rules judged because no model was named; said with a result, never with an error."""
    if arguments.judge is None and isinstance(judge, RuleJudge):
        say("no model was named, so rules judge (RuleJudge); for a model: --model NAME [--base-url URL]")


def chosen_judge(arguments: argparse.Namespace) -> Judge:
    """The judge that the options name."""
    named = arguments.judge or ("openai" if arguments.model or arguments.base_url else None)
    if named != "openai":
        if arguments.model or arguments.base_url:
            raise UsageError("--judge rules asks no model, but --model or --base-url was given too; leave one out")
        return RuleJudge()
    if not arguments.model:
        raise UsageError("a judge that asks a model needs its name; add --model NAME, e.g. --model gpt-5-mini")
    from arbiter_rag.judges.openai import OpenAIJudge

    return OpenAIJudge(arguments.model, base_url=arguments.base_url)


def _check_files(pdfs: list[str]) -> None:
    # A question without its quotes arrives as many words, of which the first that is no file deserves a hint.
    missing = [pdf for pdf in pdfs if not Path(pdf).exists()]
    if len(pdfs) > 1 and missing and Path(missing[0]).suffix == "":
        raise UsageError(f"there is no file {missing[0]!r}; put the question in quotes if it is a part of it")


def _cut(result: RetrievalResult, top_n: int | None) -> RetrievalResult:
    if top_n is None or len(result.candidates) <= top_n:
        return result
    return result.model_copy(update={"candidates": result.candidates[:top_n]})
