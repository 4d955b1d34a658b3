"""The retrieval figures as the table that the README shows between two markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness import Row, markdown

BEGIN = "<!-- retrieval table: written by `python -m benchmarks.retrieval --readme README.md` -->"
END = "<!-- end of retrieval table -->"


def write_between_markers(target: Path, results: dict[str, Any]) -> None:
    """Replace what stands between the markers.

    Raises:
        SystemExit: The file has no markers.
    """
    text = target.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text.split(BEGIN, 1)[1]:
        raise SystemExit(f"{target} has no place for the table; add these two lines to it:\n{BEGIN}\n{END}")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    target.write_text(f"{before}{BEGIN}\n\n{readme_table(results)}\n\n{END}{after}", encoding="utf-8")


def readme_table(results: dict[str, Any]) -> str:
    """One row a source and group: Arbiter beside the better of the two BM25s and the blind tiling."""
    systems: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for table in results["tables"]:
        if "shares" in table:
            systems.setdefault((table["source"], table["group"]), {})[table["system"]] = table
    return markdown([_row(source, group, by_name) for (source, group), by_name in sorted(systems.items())])


def _row(source: str, group: str, by_name: dict[str, dict[str, Any]]) -> Row:
    ours = by_name["Arbiter"]
    row: Row = {
        "source": source if group == "same language" else f"{source}, {group}",
        "questions": ours["questions"],
        "pool @10": _share(ours, "@10", interval=True),
        "@20": _share(ours, "@20"),
        "first right": _share(ours, "first", interval=True),
        "MRR": _share(ours, "MRR"),
        "false not found": _share(ours, "false not found"),
        "absent caught": _share(ours, "nf recall"),
    }
    for name, short in (("BM25 pages", "BM25 pages"), ("BM25 windows", "BM25 windows"), ("blind tiling", "blind")):
        if name in by_name:
            row[f"{short} @10"] = _share(by_name[name], "@10")
    for name in ("BM25 pages", "BM25 windows"):
        if name in by_name:
            row[f"{name} first"] = _share(by_name[name], "first")
    if "Arbiter, embeddings" in by_name:
        row["with embeddings @10"] = _share(by_name["Arbiter, embeddings"], "@10")
        row["RRF @10"] = _share(by_name["RRF"], "@10")
    return row


def _share(table: dict[str, Any], name: str, *, interval: bool = False) -> str:
    value = table["shares"].get(name)
    if not value:
        return ""
    mean = f"{value['mean']:.2f}"
    return f"{mean} ({value['low']:.2f}–{value['high']:.2f})" if interval else mean
