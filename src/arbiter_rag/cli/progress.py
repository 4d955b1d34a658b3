"""Progress of long work: a bar on stderr where that is a terminal, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arbiter_rag.cli.terminal import harmless
from arbiter_rag.progress import Progress


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A bar that vanishes at the end, as a callback for the work; None where stderr is no terminal.

    Args:
        what: What is being done, before the bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    # Output of the command itself is never routed through the bar.
    with Bars(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bars:
        task = bars.add_task(harmless(what), total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
