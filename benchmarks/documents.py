"""The documents that speed is measured on: some of the development data, and one of 3,000 pages joined from it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf

from benchmarks.harness import data_folder

JOINED_PAGES = 3_000

SPEED = (
    "attention/1706.03762v7.pdf",
    "debian_faq/debian-faq.en.pdf",
    "backofbook_index/R-intro.pdf",
    "financebench/AMAZON_2017_10K.pdf",
    "debian_manuals/install.fr.pdf",
    "debian_manuals/install.zh_CN.pdf",
)


def speed_documents() -> list[Path]:
    """Documents of different kind and length."""
    return [data_folder() / "dev" / name for name in SPEED]


def questions_of(path: Path) -> list[str]:
    """The questions that the development data asks about a document."""
    with (path.parent / "questions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows if Path(row["doc"]).stem == path.stem]


@contextmanager
def joined_document() -> Iterator[tuple[Path, list[str]]]:
    """One PDF of `JOINED_PAGES` pages made of the development documents, outlines included, and their questions."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "joined.pdf"
        used: list[Path] = []
        toc: list[list[object]] = []
        with pymupdf.open() as joined:
            for path in sorted((data_folder() / "dev").glob("*/*.pdf")):
                with pymupdf.open(path) as part:
                    room = JOINED_PAGES - len(joined)
                    if room <= 0:
                        break
                    shift = len(joined)
                    entries = [[lv, title, p + shift] for lv, title, p in part.get_toc() if 0 < p <= room]
                    joined.insert_pdf(part, to_page=min(len(part), room) - 1)
                toc += [[1, path.stem, shift + 1], *([int(lv) + 1, title, p] for lv, title, p in entries)]
                used.append(path)
            joined.set_toc(_nested(toc))
            joined.save(target)
        yield target, [question for path in used for question in questions_of(path)]


def _nested(toc: list[list[object]]) -> list[list[object]]:
    # PyMuPDF refuses an outline that skips a level; some of the documents' own do.
    before = 0
    for row in toc:
        before = row[0] = min(int(str(row[0])), before + 1)
    return toc
