"""Conflicts found by rule: false ones on the development questions, and the amended samples' own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.document import ParsedDocument
from arbiter_rag.samples import path as sample
from arbiter_rag.settle import obvious_conflicts
from benchmarks.harness import Row, data_folder, entry, markdown

_MOST = 60
"""Questions of a source, spread evenly."""

SAMPLES = {
    "contract_amended_en": ("What is the annual premium?", "How much is the deductible?", "What is the notice period?"),
    "contract_amended_fr": ("Quelle est la prime annuelle ?", "Quelle est la franchise ?", "Quel est le préavis ?"),
}


def _questions(folder: Path) -> Iterator[tuple[Path, str]]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    paths = {path.stem: path for path in folder.glob("*.pdf")}
    chosen = rows[:: max(1, len(rows) // _MOST)]
    for row in sorted(chosen, key=lambda row: str(row["doc"])):
        yield paths[Path(str(row["doc"])).stem], str(row["question"])


@entry("conflicts")
def rows() -> Iterable[Row]:
    """Conflicts by rule: how many are reported where there is none, and how many of the samples' six are found"""
    arbiter = Arbiter()
    for folder in sorted(p for p in (data_folder() / "dev").iterdir() if p.is_dir()):
        asked = reported = 0
        opened: dict[Path, ParsedDocument] = {}
        for path, question in _questions(folder):
            if path not in opened:
                opened = {path: ParsedDocument.from_pdf(path)}
            brief = arbiter.propose(question, opened[path])
            asked, reported = asked + 1, reported + bool(obvious_conflicts(brief.question, brief.candidates))
        yield {"source": folder.name, "questions": asked, "with a conflict": reported}
    for name, questions in SAMPLES.items():
        document = ParsedDocument.from_pdf(sample(name))
        briefs = [arbiter.propose(question, document) for question in questions]
        found = sum(bool(obvious_conflicts(b.question, b.candidates)) for b in briefs)
        yield {"source": f"sample {name}", "questions": len(questions), "with a conflict": found}


def main() -> None:
    """Print the table."""
    print(markdown(list(rows())))


if __name__ == "__main__":
    main()
