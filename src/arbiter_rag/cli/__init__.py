"""The command `arbiter-rag`: arguments in, text or JSON out, exit statuses as grep's; one file a command."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence

from arbiter_rag.cli.arguments import UsageError, parse
from arbiter_rag.cli.terminal import say
from arbiter_rag.errors import ArbiterError

FOUND, NOT_FOUND, ERROR = 0, 1, 2
_INTERRUPTED = 128 + signal.SIGINT
_BROKEN_PIPE = 141  # what a shell reports for a process that SIGPIPE ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; those of the process when None.

    Returns:
        0 when something was found, 1 when not, 2 on an error, 130 when interrupted.
    """
    try:
        # Warnings of libraries would reach stderr through logging's last resort; the result itself says what happened.
        logging.getLogger().addHandler(logging.NullHandler())
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader left, as `head` does; at exit Python would flush into the closed pipe once more and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE


def _run(argv: Sequence[str]) -> int:
    try:
        command, arguments = parse(argv)
        return command(arguments)
    except (ArbiterError, UsageError) as error:
        return _failed(str(error))
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    except OSError as error:
        name = f" ({error.filename})" if error.filename else ""
        why = error.strerror or error
        return _failed(f"the system refused{name}: {why}; check the path, its permissions and the disk")
    except Exception as error:  # a person at a terminal gets a sentence, never a traceback
        if os.environ.get("ARBITER_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        return _failed(f"a fault in arbiter-rag itself ({what}); set ARBITER_DEBUG=1 to see where, and report it")


def _failed(message: str) -> int:
    say(f"error: {message}")
    return ERROR
