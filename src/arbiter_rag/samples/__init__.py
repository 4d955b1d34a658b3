"""Small PDFs written for this project, to try things on: nothing here but where they lie."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from arbiter_rag.errors import InputError

NAMES = ("policy_en", "policy_fr", "contract_amended_en", "contract_amended_fr")
"""A home insurance policy, and a fleet contract with two amendments, each in English and French."""


def path(name: str) -> Path:
    """Path of a sample PDF.

    Args:
        name: One of `NAMES`.

    Raises:
        InputError: There is no sample of this name.
    """
    if name not in NAMES:
        raise InputError(f"There is no sample {name!r}; the samples are {', '.join(NAMES)}.")
    return Path(str(files(__name__) / f"{name}.pdf"))
