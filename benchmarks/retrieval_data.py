"""The development data as values: questions of a source, their documents parsed once, and what counts as a hit."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache as remembered
from functools import lru_cache
from pathlib import Path
from typing import Any

from arbiter_rag.document import ParsedDocument
from benchmarks.harness import ROOT, data_folder

CACHE = ROOT / ".bench"
ANCHOR = 15
"""Most lines of an anchor that may count as a hit."""

_STRETCH = 60
_STEP = 15


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a source; `gold` and `excluded` are 1-based PDF pages."""

    id: str
    doc: str
    text: str
    language: str
    document_language: str
    answerable: bool
    gold: frozenset[int]
    excluded: frozenset[int]
    gold_text: str

    @property
    def crosses(self) -> bool:
        """Whether it is asked in another language than its document's."""
        return self.language != self.document_language


@dataclass(frozen=True, slots=True)
class Found:
    """One passage that a system proposes: the pages it stands on, its lines and its text."""

    pages: frozenset[int]
    lines: int
    text: str

    def hits(self, question: Question) -> bool:
        """Whether it is short enough, runs over one page break at most, and stands on a gold page."""
        return self.lines <= ANCHOR and len(self.pages) <= 2 and bool(self.pages & question.gold)


def sources() -> list[str]:
    """Names of the sources, from the one with the fewest bytes of PDF to the one with the most."""
    folders = [f for f in (data_folder() / "dev").iterdir() if (f / "questions.jsonl").is_file()]
    return [f.name for f in sorted(folders, key=lambda f: sum(p.stat().st_size for p in f.glob("*.pdf")))]


@remembered
def questions(source: str) -> tuple[Question, ...]:
    """Questions of a source, in the file's order."""
    with (data_folder() / "dev" / source / "questions.jsonl").open(encoding="utf-8") as lines:
        return tuple(_question(json.loads(line)) for line in lines)


def _question(row: dict[str, Any]) -> Question:
    language = row["lang"].split("_")[0]
    return Question(
        id=row["id"],
        doc=row["doc"],
        text=row["question"],
        language=language,
        document_language=(row.get("doc_lang") or language).split("_")[0],
        answerable=row["answerable"],
        gold=frozenset(row["gold_pages"]),
        excluded=frozenset(row.get("exclude_pages") or ()),
        gold_text=row.get("gold_text") or "",
    )


@lru_cache(maxsize=64)
def document(source: str, name: str, cache: Path = CACHE) -> ParsedDocument:
    """A document of a source; parsed once and kept under `cache`."""
    return ParsedDocument.from_pdf(data_folder() / "dev" / source / name, cache_dir=cache)


def counted(found: Collection[Found], question: Question) -> list[Found]:
    """What counts, in order: without passages that stand on excluded pages only."""
    return [f for f in found if not f.pages <= question.excluded]


def folded(text: str) -> str:
    """Letters and digits alone: spacing, hyphens, accents, ligatures and case differ between evidence and page."""
    flat = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in flat if c.isalnum())


def evidence_stands(gold_text: str, *texts: str) -> bool:
    """Whether the evidence stands in any of the texts, folded.

    Evidence may run over more lines than an anchor has; then a stretch of 60 of its letters and digits is enough.
    """
    gold = folded(gold_text)
    pieces = [gold[i : i + _STRETCH] for i in range(0, max(1, len(gold) - _STRETCH + 1), _STEP)]
    return any(piece in text for text in map(folded, texts) for piece in pieces if piece)
