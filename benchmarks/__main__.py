"""`python -m benchmarks [name ...] [--json FILE]`: runs benchmarks and prints their tables."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks.harness import ENTRIES, Entry, SkippedError, markdown

_NO_ENTRIES = {"__main__", "harness"}


def main(argv: list[str] | None = None) -> int:
    """Run; 0 unless an entry failed."""
    broken = load()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks and print their tables.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones (default: all): {', '.join(ENTRIES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.names if name not in ENTRIES]:
        parser.error(f"there is no benchmark {unknown[0]!r}, only {', '.join(ENTRIES)}")
    if given.list:
        print("\n".join(f"{e.name}: {e.title}" for e in ENTRIES.values()))
        return 0
    about = machine()
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    done = {name: run(ENTRIES[name]) for name in given.names or ENTRIES}
    if given.json:
        given.json.write_text(json.dumps({"machine": about, "entries": done}, indent=2) + "\n", encoding="utf-8")
    return int(broken or any("error" in result for result in done.values()))


def load() -> bool:
    """Import every file that may register entries; one whose packages are missing is told and left out."""
    broken = False
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name in _NO_ENTRIES:
            continue
        try:
            importlib.import_module(f"benchmarks.{module.name}")
        except ImportError as error:
            print(f"benchmarks/{module.name} cannot be loaded: {error}", file=sys.stderr)
            broken = True
    return broken


def run(entry: Entry) -> dict[str, Any]:
    """Run one entry and print its table; a failure is told and does not stop the others."""
    print(f"\n## {entry.name}: {entry.title}\n", flush=True)
    start = time.perf_counter()
    result: dict[str, Any] = {"title": entry.title}
    try:
        result["rows"] = list(entry.run())
        print(markdown(result["rows"]))
    except SkippedError as why:
        result["skipped"] = str(why)
        print(f"skipped: {why}")
    except Exception as error:  # noqa: BLE001  # the other entries still have something to tell
        result["error"] = f"{type(error).__name__}: {error}"
        print(f"failed: {result['error']}", file=sys.stderr)
    result["seconds"] = round(time.perf_counter() - start, 2)
    return result


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    packages = {name: version(name) for name in ("arbiter-rag", "numpy", "pandas", "pymupdf")}
    return {"Python": platform.python_version(), "cores": str(os.cpu_count()), "system": platform.system(), **packages}


if __name__ == "__main__":
    raise SystemExit(main())
