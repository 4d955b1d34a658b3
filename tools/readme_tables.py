"""Writes the tables of benchmarks into the README, between markers that name them.

A marker `<!-- table: cost | passages=30 | way=sync | columns=system,requests -->` shows the rows of the benchmark
`cost` that hold these values, and of them these columns.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks.__main__ import load
from benchmarks.harness import ENTRIES, Row, SkippedError, markdown

README = Path(__file__).resolve().parents[1] / "README.md"
PLACE = re.compile(r"(<!-- table: ([^|>]+?)((?: \| [^|>]+)*) -->\n).*?(<!-- end table -->)", re.DOTALL)


def filled(text: str, names: list[str]) -> str:
    """The text with fresh tables of these benchmarks; all that it has a place for when there are no names."""

    def table(place: re.Match[str]) -> str:
        begin, name, filters, end = place.groups()
        if names and name not in names:
            return place[0]
        if name not in ENTRIES:
            print(f"{name}: there is no such benchmark; its place is left as it is")
            return place[0]
        try:
            rows = chosen(list(ENTRIES[name].run()), filters)
        except SkippedError as why:
            print(f"{name}: {why}; its place is left as it is")
            return place[0]
        print(f"{name}: {len(rows)} rows")
        return f"{begin}\n{markdown(rows)}\n\n{end}"

    return PLACE.sub(table, text)


def chosen(rows: list[Row], filters: str) -> list[Row]:
    """The rows and columns that a marker asks for."""
    wanted = dict(part.strip().split("=", 1) for part in filters.split("|") if part.strip())
    columns = wanted.pop("columns", "")
    kept = [row for row in rows if all(str(row.get(name)) == value for name, value in wanted.items())]
    return [{name: row.get(name) for name in columns.split(",")} for row in kept] if columns else kept


def main() -> None:
    """Run the benchmarks and write."""
    parser = argparse.ArgumentParser(description="Write the tables of benchmarks into the README.")
    parser.add_argument("names", nargs="*", metavar="name", help="which tables (default: all that the README has)")
    names = parser.parse_args().names
    load()
    README.write_text(filled(README.read_text(encoding="utf-8"), names), encoding="utf-8")


if __name__ == "__main__":
    main()
