"""What can be typed behind `arbiter-rag audit`: its commands, their options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from arbiter_rag.cli.arguments import PROGRAM, Parsed, Parser, UsageError

_EPILOG = """\
commands:
  verify FILE              check that no record was changed, moved, added or removed
  checkpoint FILE          write the head of the chain, to be kept where the log's writers cannot reach
  list FILE                the records, one line each
  show FILE ID             one record, as text, as JSON or as a page
  replay FILE [ID]         take every deterministic step again and compare
  export FILE OUT          a table for pandas: CSV or Parquet

exit status: 0 well, 1 not (verify: not intact; replay: a difference), 2 error
'arbiter-rag audit COMMAND --help' shows a command's options"""


def parse_audit(argv: Sequence[str]) -> Parsed:
    """Read what stands behind `audit`."""
    program = f"{PROGRAM} audit"
    top = Parser(
        prog=program,
        usage=f"{program} [--help] COMMAND ...",
        description="The audit trail: verify, read, replay and export the records that `ask --audit FILE` writes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("command", metavar="COMMAND", nargs="?", help=argparse.SUPPRESS)
    top.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = top.parse_args(argv)
    if given.command not in _COMMANDS:
        what = f"there is no command {given.command!r}" if given.command else "there is none"
        raise UsageError(f"a command is expected ({', '.join(_COMMANDS)}), {what}; see '{program} --help'")
    about, options = _COMMANDS[given.command]
    parser = Parser(prog=f"{program} {given.command}", description=about, allow_abbrev=False)
    parser.add_argument("file", metavar="FILE", help="the audit log")
    options(parser)
    arguments = parser.parse_intermixed_args(given.rest)
    from arbiter_rag.cli import audit  # after parsing: --help and usage errors need not wait for pandas

    return audit.COMMANDS[given.command], arguments


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint", metavar="H", help="a checkpoint's file, or the hash of a line that must be there"
    )
    _key(parser, "checks the checkpoint's signature: a file with the secret, or the public key as PEM")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _checkpoint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="OUT", help="write it there instead of printing it")
    _key(parser, "signs it: a file with a secret (HMAC-SHA256), or with a private Ed25519 key as PEM")


def _list(parser: argparse.ArgumentParser) -> None:
    _period(parser)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the record's id, or its beginning")
    parser.add_argument("--json", action="store_true", help="print the whole record as JSON and nothing else")
    parser.add_argument("--report", metavar="OUT.html", help="write the record as a page")
    _documents(parser, "a document that was searched: its pages are drawn in the report")


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="the record's id, or its beginning; all records without it")
    _documents(parser, "a document that was searched: detecting and gathering are taken again, too")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="OUT", help="the file to write")
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv", help="csv (default) or parquet")
    parser.add_argument(
        "--table",
        choices=("records", "candidates"),
        default="records",
        help="one row a decision (default), or one row a candidate",
    )
    _period(parser)


def _documents(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--document", metavar="PDF", action="append", default=[], help=f"{about}; may be repeated")
    parser.add_argument("--password", metavar="P", help="password of encrypted files")


def _key(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--key", metavar="KEYFILE", help=about)


def _period(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="WHEN", type=_moment, help="from then on: 2026-03-01, 2026-03-01T08:00+01:00"
    )
    parser.add_argument("--until", metavar="WHEN", type=_moment, help="before then; without an offset it is UTC")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a date or time as 2026-03-01T08:00 is expected, not {text!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "verify": ("Check that no record was changed, moved, added or removed.", _verify),
    "checkpoint": ("Write the head of the chain, to be kept where the log's writers cannot reach.", _checkpoint),
    "list": ("List the records.", _list),
    "show": ("Show one record.", _show),
    "replay": ("Take every deterministic step again, with the recorded reply, and compare.", _replay),
    "export": ("Write a table for pandas.", _export),
}
