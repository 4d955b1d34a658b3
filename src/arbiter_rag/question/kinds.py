"""What a question asks for: the form of its answer and its intent, decided by the language's table."""

from __future__ import annotations

import re

from arbiter_rag.contract import AnswerShape, Intent
from arbiter_rag.question.tables import UNSPACED, Table

_FOCUS_WORDS = 6
_SHORT_QUERY = 4
_WORD = re.compile(r"\w+")
_ASKED = re.compile(r"[?？]\W*$")
# How Japanese and Korean sentences end that ask without a question word, with or without a question mark.
_QUESTION_ENDING = {
    "ja": re.compile(r"か[?？。.]?$"),
    "ko": re.compile(r"(?:까|나요|가요|는가|는지)[?？.]?$"),
}


def shape_of(question: str, table: Table) -> AnswerShape:
    """The answer's form; `question` is folded."""
    for shape, pattern in table.asks:
        if pattern.search(question):
            return shape
    focus = _focus(question, table)
    for shape, pattern in table.nouns:
        if pattern.search(focus):
            return shape
    if _asks_yes_or_no(question, table):
        return "yes_no"
    return "list" if dict(table.intents)["listing"].search(question) else "open"


def intent_of(question: str, table: Table, shape: AnswerShape, has_section: bool) -> Intent:
    """What is asked for; `question` is folded, `has_section` says that it names a section."""
    for intent, pattern in table.intents:
        if intent == "open" and shape not in {"open", "list"}:
            continue
        if pattern.search(question):
            return intent
    if has_section and shape == "open":
        return "section"
    return "listing" if shape == "list" else "lookup"


def _focus(question: str, table: Table) -> str:
    """The words that say what is wanted: those behind the question word, or all of a query of a few words."""
    asked = table.question_word.search(question)
    if table.language in UNSPACED:
        return question
    words = list(_WORD.finditer(question))
    if asked is None:
        return question if len(words) <= _SHORT_QUERY else ""
    behind = [word for word in words if word.start() >= asked.end()][:_FOCUS_WORDS]
    return question[asked.end() : behind[-1].end()] if behind else ""


def _asks_yes_or_no(question: str, table: Table) -> bool:
    """A sentence that asks without a question word can only be answered by yes or no."""
    if table.question_word.search(question):
        return False
    ending = _QUESTION_ENDING.get(table.language)
    if ending is not None:
        return ending.search(question) is not None
    return _ASKED.search(question) is not None and (table.language in UNSPACED or len(_WORD.findall(question)) >= 3)
