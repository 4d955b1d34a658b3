"""What can be typed: the commands, their options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn

from arbiter_rag.errors import ArbiterError

PROGRAM = "arbiter-rag"

Parsed = tuple[Callable[[argparse.Namespace], int], argparse.Namespace]

_EPILOG = """\
commands:
  ask PDF [PDF ...] QUESTION   find the passages that answer a question, each with its role and reason
  inspect PDF                  show what is known about a document: sections, pages without text
  eval QUESTIONS PDF [PDF ...] measure retrieval and judge on your own questions
  audit COMMAND FILE           verify, read, replay and export the records that `ask --audit` writes

exit status: 0 found, 1 not found, 2 error
'arbiter-rag COMMAND --help' shows a command's options"""


_EVAL_EPILOG = """\
QUESTIONS.jsonl holds one JSON object a line; other fields than these are not read:
  question       what is asked
  doc            file name of the PDF it is asked of; may be missing where one PDF is given
  gold_pages     pages that hold the answer, the PDF's own count from 1; any of them counts
  answerable     false when the document does not hold the answer (default: whether there are gold_pages)
  gold_text      optional: words of the document that carry the answer
  exclude_pages  optional: pages that do not count, such as an index that repeats the question

  {"question": "What is the deductible?", "doc": "policy.pdf", "gold_pages": [4], "gold_text": "EUR 400"}
  {"question": "Who insures the bicycle?", "doc": "policy.pdf", "answerable": false}

exit status: 0 when measured, whatever the figures; 2 error"""


class UsageError(ArbiterError):
    """What was typed is not a command."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see '{self.prog} --help'")


def parse(argv: Sequence[str]) -> Parsed:
    """Read arguments: the command, which takes them and returns an exit status, and what it was given.

    Raises:
        UsageError: They are not a command.
    """
    # Each command's parser reads its own arguments, because only a parser of its own lets options stand anywhere
    # between PDF and QUESTION (`parse_intermixed_args` does not work with sub-parsers).
    top = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [--help] [--version] COMMAND ...",
        description="Detectors propose passages of a document; one judgement decides, with roles and reasons.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"{PROGRAM} {_version()}")
    top.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    top.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = top.parse_args(argv)
    if given.command is None:
        raise UsageError(f"a command is expected ({', '.join(_COMMANDS)}) and there is none; see '{PROGRAM} --help'")
    if given.command not in _COMMANDS:
        raise UsageError(f"there is no command {given.command!r}, only {', '.join(_COMMANDS)}; see '{PROGRAM} --help'")
    return _COMMANDS[given.command](given.rest)


def _ask(argv: Sequence[str]) -> Parsed:
    parser = Parser(
        prog=f"{PROGRAM} ask",
        usage="%(prog)s [options] PDF [PDF ...] QUESTION",
        description="Find the passages that answer a question, each with its role and reason.",
        epilog="exit status: 0 found, 1 not found, 2 error",
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", metavar="PDF", help="one PDF or several, then the question in quotes")
    _add_judge_options(parser)
    _add_document_options(parser)
    out = parser.add_argument_group("what is shown")
    out.add_argument("--json", action="store_true", help="print the whole result as JSON and nothing else")
    out.add_argument("--top-n", type=_positive, metavar="N", help="keep at most N candidates of the result")
    out.add_argument("--report", metavar="FILE.html", help="write the result as a page with the documents' pages")
    out.add_argument("--audit", metavar="FILE", help="append a record of the decision to this log (see 'audit --help')")
    given = parser.parse_intermixed_args(argv)
    if len(given.words) < 2:
        what = f"only {given.words[0]!r} was given" if given.words else "nothing was given"
        parser.error(f"a PDF and a question (in quotes) are expected, {what}")
    *given.pdfs, given.question = given.words
    from arbiter_rag.cli import ask  # after parsing: --help and usage errors need not wait for pandas

    return ask.run, given


def _inspect(argv: Sequence[str]) -> Parsed:
    parser = Parser(
        prog=f"{PROGRAM} inspect",
        usage="%(prog)s [options] PDF",
        description="Show a document's sections with pages and lines, pages without text, and the headings' source.",
        epilog="exit status: 0, or 2 on an error",
        allow_abbrev=False,
    )
    parser.add_argument("pdf", metavar="PDF", help="the file")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    _add_document_options(parser)
    given = parser.parse_intermixed_args(argv)
    from arbiter_rag.cli import inspect  # as above

    return inspect.run, given


def _eval(argv: Sequence[str]) -> Parsed:
    parser = Parser(
        prog=f"{PROGRAM} eval",
        usage="%(prog)s [options] QUESTIONS.jsonl PDF [PDF ...]",
        description="Measure retrieval and judge on your own questions: how often the pages that hold the answer are "
        "proposed, come first, and how well absence is noticed.",
        epilog=_EVAL_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("questions", metavar="QUESTIONS.jsonl", help="one JSON object a line, see below")
    parser.add_argument("pdfs", nargs="+", metavar="PDF", help="the documents that the questions are about")
    _add_judge_options(parser)
    _add_document_options(parser)
    out = parser.add_argument_group("what is shown")
    out.add_argument("--json", metavar="FILE", help="also write everything, each question too, as JSON; - for stdout")
    given = parser.parse_intermixed_args(argv)
    from arbiter_rag.cli import evaluate  # as above

    return evaluate.run, given


def _audit(argv: Sequence[str]) -> Parsed:
    from arbiter_rag.cli.audit_arguments import parse_audit  # it needs what is defined here

    return parse_audit(argv)


_COMMANDS: dict[str, Callable[[Sequence[str]], Parsed]] = {
    "ask": _ask,
    "inspect": _inspect,
    "eval": _eval,
    "audit": _audit,
}


def _add_judge_options(parser: argparse.ArgumentParser) -> None:
    judge = parser.add_argument_group("who judges")
    judge.add_argument(
        "--judge", choices=("rules", "openai"), help="rules need no model; openai: any OpenAI-compatible API"
    )
    judge.add_argument("--model", help="model name, e.g. gpt-5-mini; implies --judge openai")
    judge.add_argument("--base-url", metavar="URL", help="server, where it is not OpenAI's; implies --judge openai")
    judge.add_argument("--instructions", metavar="TEXT", help="your domain rules, added to the judge's prompt")
    judge.add_argument(
        "--on-error",
        choices=("fallback", "raise"),
        default="fallback",
        help="when the model fails: let rules decide and say so (default), or stop with status 2",
    )
    judge.add_argument("--lexicon", metavar="FILE", help="your dictionary of concepts and their variants")


def _add_document_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how files are read")
    group.add_argument("--password", metavar="P", help="password of encrypted files")
    group.add_argument(
        "--headings",
        choices=("auto", "outline", "printed", "fonts", "layout", "none"),
        default="auto",
        help="where sections are taken from; auto (default): outline, else printed contents, else fonts",
    )
    group.add_argument("--no-cache", action="store_true", help="write nothing to the user's cache folder")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is expected, not {text!r}")
    return number


def _version() -> str:
    try:
        return version("arbiter-rag")
    except PackageNotFoundError:
        return "(not installed)"
