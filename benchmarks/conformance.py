"""The conformance table run against every system that is installed: crashes, wrong passages, doubled, silently lost."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.harness import Row, entry, markdown
from tests.conformance.core import run_core
from tests.conformance.table import run_table, summary


@entry("conformance")
def rows() -> Iterable[Row]:
    """Replies, right, broken and hostile: in how many of them each system goes wrong"""
    yield summary("arbiter-rag", run_table(run_core))


def main() -> None:
    """Print the table."""
    print(markdown(list(rows())))


if __name__ == "__main__":
    main()
