"""The development data as values: questions of a source, and their documents parsed once."""

from __future__ import annotations

from functools import cache as remembered
from functools import lru_cache
from pathlib import Path

from arbiter_rag.document import ParsedDocument
from arbiter_rag.evaluation import Question, read_questions
from arbiter_rag.evaluation.measure import ANCHOR, Found
from benchmarks.harness import ROOT, data_folder

__all__ = ["ANCHOR", "CACHE", "Found", "Question", "document", "questions", "sources"]

CACHE = ROOT / ".bench"


def sources() -> list[str]:
    """Names of the sources, from the one with the fewest bytes of PDF to the one with the most."""
    folders = [f for f in (data_folder() / "dev").iterdir() if (f / "questions.jsonl").is_file()]
    return [f.name for f in sorted(folders, key=lambda f: sum(p.stat().st_size for p in f.glob("*.pdf")))]


@remembered
def questions(source: str) -> tuple[Question, ...]:
    """Questions of a source, in the file's order."""
    return read_questions(data_folder() / "dev" / source / "questions.jsonl")


@lru_cache(maxsize=64)
def document(source: str, name: str, cache: Path = CACHE) -> ParsedDocument:
    """A document of a source; parsed once and kept under `cache`."""
    return ParsedDocument.from_pdf(data_folder() / "dev" / source / name, cache_dir=cache)
