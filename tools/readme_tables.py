"""Writes the tables of benchmarks into the README, between the markers that name them."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks.__main__ import load
from benchmarks.harness import ENTRIES, SkippedError, markdown

README = Path(__file__).resolve().parents[1] / "README.md"
PLACE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end table -->)", re.DOTALL)


def filled(text: str, names: list[str]) -> str:
    """The text with fresh tables of these benchmarks; all that it has a place for when there are no names."""

    def table(place: re.Match[str]) -> str:
        begin, name, end = place.groups()
        if names and name not in names:
            return place[0]
        if name not in ENTRIES:
            print(f"{name}: there is no such benchmark; its place is left as it is")
            return place[0]
        try:
            rows = list(ENTRIES[name].run())
        except SkippedError as why:
            print(f"{name}: {why}; its place is left as it is")
            return place[0]
        print(f"{name}: {len(rows)} rows")
        return f"{begin}\n{markdown(rows)}\n\n{end}"

    return PLACE.sub(table, text)


def main() -> None:
    """Run the benchmarks and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="which tables (default: all that the README has)")
    names = parser.parse_args().names
    load()
    README.write_text(filled(README.read_text(encoding="utf-8"), names), encoding="utf-8")


if __name__ == "__main__":
    main()
