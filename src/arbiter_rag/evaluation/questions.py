"""Questions with known pages: the rows of a JSON Lines file, read and checked.

One JSON object a line, in UTF-8; empty lines are left out. Other fields than these are allowed and not read:

    question       what is asked
    doc            file name of the PDF it is asked of; may be missing where one PDF alone is evaluated
    gold_pages     pages that hold the answer, the PDF's own count from 1; any of them counts
    answerable     false when the document does not hold the answer (by default: whether there are gold pages)
    gold_text      optional: words of the document that carry the answer
    exclude_pages  optional: pages that do not count, such as an index that repeats the question
    id             optional: a name for the question (by default: "line" and its number)
    lang, doc_lang optional: language of the question, and of the document where it differs
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arbiter_rag.errors import InputError


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `gold` and `excluded` are 1-based PDF pages, `line` is where it stands in its file."""

    id: str
    doc: str
    text: str
    language: str
    document_language: str
    answerable: bool
    gold: frozenset[int]
    excluded: frozenset[int]
    gold_text: str
    line: int = 0

    @property
    def crosses(self) -> bool:
        """Whether it is asked in another language than its document's."""
        return self.language != self.document_language


def read_questions(path: str | Path) -> tuple[Question, ...]:
    """Questions of a JSON Lines file, in its order.

    Raises:
        InputError: The file cannot be read, holds no question, or a line (named in the message) is not as described.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: the file of questions cannot be read ({error.strerror}); check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: UTF-8 text was expected (JSON Lines); save the file as UTF-8.") from error
    questions = tuple(_rows(text, path.name))
    if not questions:
        raise InputError(f"{path}: at least one question was expected, a JSON object a line; the file has none.")
    return questions


def _rows(text: str, name: str) -> Iterator[Question]:
    # Not splitlines(): a JSON string may hold U+2028 and other characters at which that breaks lines.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _question(_object(line), number)
            except InputError as error:
                raise InputError(f"{name}, line {number}: {error}") from error


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError("a JSON object on one line was expected, and this is no JSON; write one object a line.") from (
            error
        )
    if not isinstance(row, dict):
        raise InputError(f"a JSON object was expected, not {_kind(row)}; write {{...}} on each line.")
    return row


def _question(row: dict[str, Any], number: int) -> Question:
    gold = _pages(row, "gold_pages")
    answerable = row.get("answerable")
    if answerable is None:
        answerable = bool(gold)
    if not isinstance(answerable, bool):
        raise InputError(f"'answerable' is true or false, not {_kind(answerable)}; leave it out to follow gold_pages.")
    if answerable and not gold:
        raise InputError("an answerable question needs 'gold_pages', and there are none; name at least one page.")
    question = _text(row, "question")
    if not question.strip():
        raise InputError("'question' was expected, and it is missing or empty; write what is asked.")
    language = _text(row, "lang").split("_")[0] or "und"
    return Question(
        id=str(row.get("id") or f"line {number}"),
        doc=_text(row, "doc"),
        text=question,
        language=language,
        document_language=_text(row, "doc_lang").split("_")[0] or language,
        answerable=answerable,
        gold=gold,
        excluded=_pages(row, "exclude_pages"),
        gold_text=_text(row, "gold_text"),
        line=number,
    )


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key!r} is text in quotes, not {_kind(value)}; write it as a JSON string.")
    return value


def _pages(row: dict[str, Any], key: str) -> frozenset[int]:
    value = row.get(key)
    pages = [] if value is None else value
    # JSON's true is an int to Python.
    if not isinstance(pages, list) or not all(type(p) is int and p >= 1 for p in pages):
        shown = json.dumps(value, ensure_ascii=False)[:60]
        raise InputError(f"{key!r} is a list of page numbers from 1 on, not {shown}; write e.g. [3, 4].")
    return frozenset(pages)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
