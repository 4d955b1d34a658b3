"""What reaches a person's terminal: one-line messages on stderr, text made harmless, the console that draws tables."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Characters that turn the reading direction of what follows: they can make a terminal show another text than is there.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def harmless(text: str, *, keep: str = "") -> str:
    r"""Text from a document, a file name or a model, with nothing left in it that a terminal would obey.

    Control characters, escape sequences, direction marks, lone surrogates and unassigned code points are shown as
    escapes (`\x1b`); tabs become spaces.

    Args:
        text: Any text.
        keep: Control characters that stay, e.g. line ends.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep else _shown(c) for c in text)


def _shown(char: str) -> str:
    if char == "\t":
        return "  "
    # Cc control, Cs surrogate, Cn unassigned; separators of lines and paragraphs break a one-line message.
    if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs", "Cn", "Zl", "Zp"):
        return char.encode("unicode_escape").decode("ascii")
    return char


def say(message: str) -> None:
    """One line on stderr."""
    line = f"arbiter-rag: {harmless(' '.join(message.split(chr(10))))}\n"
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()


def print_json(value: Any) -> None:
    """JSON on stdout: UTF-8 whatever the locale, for it is data and no text for a terminal."""
    # A lone surrogate (a file name that is no UTF-8) cannot be encoded; its JSON escape can.
    text = json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2) + "\n"
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a caller put a text stream in place of stdout
        sys.stdout.write(text)
        return
    binary.write(text.encode("utf-8", "backslashreplace"))
    binary.flush()


def console() -> Console:
    """Where tables are drawn: colour only on a terminal, and not with NO_COLOR; 100 columns where there is none."""
    from rich.console import Console

    class Pipe(Console):
        """A console whose reader may leave: rich would exit with 1 then, which here means not found."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # a terminal that knows only ASCII shows what it can instead of failing
        reconfigure(errors="backslashreplace")
    plain = not sys.stdout.isatty()
    width = None if not plain or "COLUMNS" in os.environ else 100
    return Pipe(
        highlight=False, markup=False, emoji=False, width=width, color_system=None if plain else "auto", soft_wrap=False
    )
