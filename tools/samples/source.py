"""The few block kinds in which the sample documents are written, and how their text becomes those blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["heading", "paragraph", "list", "table", "break"]

NO_BREAK = "\u00a0"


@dataclass(frozen=True, slots=True)
class Block:
    """One block: `level` for headings, `items` for lists, `rows` for tables; a break's text names what follows it."""

    kind: Kind
    text: str = ""
    level: int = 0
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A sample's text: its title page entries and its blocks."""

    name: str
    meta: dict[str, str] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()


def read(path: Path) -> Source:
    """Read a sample's text."""
    head, *paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    meta = dict(line.split(": ", 1) for line in head.splitlines())
    tidy = _french if meta["language"] == "fr" else str
    blocks: list[Block] = []
    caption = ""
    for paragraph in paragraphs:
        text = tidy(paragraph)
        if text.startswith("Table: "):
            caption = text.removeprefix("Table: ")
            continue
        blocks.append(_block(text, caption))
        caption = ""
    return Source(path.stem, {key: tidy(value) for key, value in meta.items()}, tuple(blocks))


def _block(text: str, caption: str) -> Block:
    if text.startswith("=== "):
        return Block("break", text.removeprefix("=== "))
    if heading := re.match(r"(#+) (.+)", text):
        return Block("heading", heading[2], level=len(heading[1]))
    lines = text.splitlines()
    if text.startswith("- "):
        return Block("list", items=tuple(line.removeprefix("- ") for line in lines))
    if text.startswith("|"):
        rows = tuple(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines)
        return Block("table", caption, rows=rows)
    return Block("paragraph", " ".join(lines))


def _french(text: str) -> str:
    # French sets a no-break space before high punctuation and units, and between groups of three digits.
    text = re.sub(r" (?=[:;?!€%])", NO_BREAK, text)
    return re.sub(r"(?<=\d) (?=\d{3}\b)", NO_BREAK, text)
