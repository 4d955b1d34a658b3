"""Writes the sample PDFs of `arbiter_rag.samples` from the texts in `tools/samples`."""

from __future__ import annotations

import sys
from pathlib import Path

from samples import layout, source

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "arbiter_rag" / "samples"


def main(target: Path = TARGET) -> None:
    """Write every sample into a folder."""
    for path in sorted((HERE / "samples").glob("*.md")):
        out = target / f"{path.stem}.pdf"
        layout.write(source.read(path), out)
        print(f"{out.name}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
