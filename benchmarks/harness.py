"""What every benchmark needs: registering entries, timing side by side, and rows as a Markdown table or JSON."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

Value = str | int | float | bool | None
Row = dict[str, Value]

ROOT = Path(__file__).resolve().parents[1]


class SkippedError(Exception):
    """What an entry raises when something that it needs is not here; the message says what."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One benchmark: `run` gives its rows, `title` is its docstring's first line."""

    name: str
    title: str
    run: Callable[[], Iterable[Row]]


ENTRIES: dict[str, Entry] = {}


def entry(name: str) -> Callable[[Callable[[], Iterable[Row]]], Callable[[], Iterable[Row]]]:
    """Register a function without arguments that returns or yields rows; its docstring's first line is the title."""

    def register(run: Callable[[], Iterable[Row]]) -> Callable[[], Iterable[Row]]:
        if name in ENTRIES:
            raise ValueError(f"there are two benchmarks {name!r}; give one another name")
        ENTRIES[name] = Entry(name, (run.__doc__ or name).strip().splitlines()[0], run)
        return run

    return register


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of repeated runs."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest run: the one that other work on the machine disturbed least."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The run in the middle."""
        return median(self.seconds)


def timed(run: Callable[[], object], *, repeat: int = 5) -> Timing:
    """Time a function."""
    return side_by_side([run], repeat=repeat)[0]


def side_by_side(runs: Sequence[Callable[[], object]], *, repeat: int = 5) -> list[Timing]:
    """Time functions in turn, round by round, so that a busy spell of the machine hits all of them."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(repeat):
        for i, run in enumerate(runs):
            gc.collect()
            start = time.perf_counter()
            run()
            seconds[i].append(time.perf_counter() - start)
    return [Timing(tuple(s)) for s in seconds]


def data_folder() -> Path:
    """Folder of the development data.

    Raises:
        SkippedError: It is not here.
    """
    folder = Path(os.environ.get("ARBITER_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        raise SkippedError(f"development data is not at {folder}; set ARBITER_DATA")
    return folder


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; columns in the order in which rows bring them."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    numeric = [all(not isinstance(row.get(c), str) for row in rows) for c in columns]
    lines = [
        "| " + " | ".join(_pad(*each) for each in zip(line, widths, numeric, strict=True)) + " |" for line in cells
    ]
    rule = "| " + " | ".join("-" * (w - 1) + (":" if n else "-") for w, n in zip(widths, numeric, strict=True)) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def _pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value.replace("|", "\\|")
