"""Function words of the eleven languages: closed-class words only, the ones that never say what a text is about.

The published collections merge every list anybody ever made and hold content words ("net", "home", "system", "Ordnung",
"valeur"); a search that drops those loses answers. Words of such a collection that are not listed here are only given
less weight in a question (see `arbiter_rag.question`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def function_words(language: str) -> tuple[str, ...]:
    """The function words of a language (ISO 639-1, one of the eleven), as they are written."""
    source = files("arbiter_rag.language").joinpath("function_words", f"{language}.txt")
    return tuple(dict.fromkeys(source.read_text(encoding="utf-8").split()))
