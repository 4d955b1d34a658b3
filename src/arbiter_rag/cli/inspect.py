"""`arbiter-rag inspect`: what is known about a document before any question."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arbiter_rag.cli.open import cache_folder, open_document
from arbiter_rag.cli.terminal import console, harmless, print_json
from arbiter_rag.document import ParsedDocument

_SOURCES = {
    "outline": "the file's outline",
    "printed": "the printed table of contents",
    "fonts": "fonts and numbering",
    "layout": "the layout model",
    "frames": "the tables handed in",
    "none": "nowhere: none were found",
}


def run(arguments: argparse.Namespace) -> int:
    """Show a document; 0."""
    document = open_document(arguments.pdf, arguments, None if arguments.no_cache else cache_folder())
    about = describe(document)
    if arguments.json:
        print_json(about)
    else:
        _show(about, console())
    return 0


def describe(document: ParsedDocument) -> dict[str, Any]:
    """A document as plain values: its identity, its profile and its sections, with 1-based pages and lines."""
    labels = document.page_labels
    sections = [
        {
            "section_id": row["section_id"],
            "level": int(row["level"]),
            "number": row["number"],
            "title": row["title"],
            "breadcrumb": row["breadcrumb"],
            "page": int(row["page"]),
            "page_label": labels[int(row["page"]) - 1],
            "line": int(row["line"]),
            "page_end": int(row["full_page_end"]),
            "line_end": int(row["full_line_end"]),
            "source": row["source"],
        }
        for row in document.toc_df.to_dict("records")
    ]
    return {
        "doc_id": document.doc_id,
        "name": document.name,
        "sha256": document.sha256,
        "pages": document.profile.pages,
        "page_labels": list(labels),
        "lines": len(document),
        "pages_without_text": list(document.profile.pages_without_text),
        "headings": document.profile.headings,
        "notes": list(document.profile.notes),
        "sections": sections,
    }


def _show(about: dict[str, Any], out: Console) -> None:
    out.print(Text(harmless(about["name"]), style="bold"))
    out.print(Text(f"{about['pages']} pages, {about['lines']} lines, {len(about['sections'])} sections"))
    out.print(Text(f"Headings come from {_SOURCES.get(about['headings'], about['headings'])}."))
    without = about["pages_without_text"]
    out.print(Text(f"Pages without text: {_ranges(without) if without else 'none'}."))
    for note in about["notes"]:
        out.print(Text(f"Note: {harmless(note)}", style="yellow"))
    if about["sections"]:
        out.print(_sections(about["sections"]))


def _sections(sections: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Section", overflow="fold")
    table.add_column("Page", justify="right", no_wrap=True)
    table.add_column("From line", justify="right", no_wrap=True)
    table.add_column("To page, line", justify="right", no_wrap=True)
    for section in sections:
        number, title = section["number"], section["title"]
        name = title if not number or title.startswith(number) else f"{number} {title}"
        name = name or "(before the first heading)"
        table.add_row(
            Text("  " * max(section["level"] - 1, 0) + harmless(name)),
            page_name(section["page"], section["page_label"]),
            str(section["line"]),
            f"{section['page_end']}, {section['line_end']}",
        )
    return table


def page_name(page: int, label: str | None) -> str:
    """A page as a reader and a viewer find it: the printed label, and the PDF's own count where they differ."""
    return str(page) if not label or label == str(page) else f"{harmless(label)} (PDF {page})"


def _ranges(pages: list[int]) -> str:
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
