"""One reply of the conformance table in the format of each system that `benchmarks.langchain` compares.

None where a format cannot say it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import pydantic

from arbiter_rag.testing import RecordedRequest, Reply, candidates_in
from tests.conformance.table import PASSAGES, Alien, Case, Entry, arbiter_json

_AN_ID = re.compile(r"(?<![\w-])(?:" + "|".join(re.escape(i) for i, _ in PASSAGES) + r")(?![\w-])", re.IGNORECASE)


def arbiter_reply(case: Case) -> Callable[[RecordedRequest], Reply] | None:
    value = arbiter_json(case)
    if isinstance(value, bytes):
        return None
    text = value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)

    def script(request: RecordedRequest) -> Reply:
        shown = {c["snippet"]: c["candidate_id"] for c in candidates_in(request) or ()}
        ids = {i: shown[passage] for i, passage in PASSAGES}

        def own(match: re.Match[str]) -> str:
            found = match.group()
            return ids[found] if found in ids else ids[found.lower()].upper()

        content = None if text is None else _AN_ID.sub(own, text)
        calls = [("arbiter_output", content)] if request.body.get("tools") and case.entries else None
        return Reply(content, tool_calls=calls)

    return script


def listwise_reply(case: Case) -> Reply | None:
    """None where the format cannot say it: roles, reasons, spellings of an id, numbers that name another document."""
    if case.id.startswith(("role-", "reason-", "all-", "quote", "conflict", "contradiction", "extra-")):
        return None
    if case.id.startswith("id-") and case.id not in _LISTWISE_IDS:
        return None
    numbers: list[object] = []
    for one in case.entries:
        value = one.of.value if isinstance(one.of, Alien) else one.of
        if isinstance(one.of, Alien) and _names_a_document(value):
            return None
        numbers.append(value)
    text = json.dumps({"ranked_document_ids": numbers}, ensure_ascii=False)
    if case.came_as is None:
        return Reply(text)
    own = _LISTWISE_FORMS.get(case.id, case.came_as)
    try:
        came = own(text)
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    unsaid = isinstance(came, bytes | list | dict) or (came == text and bool(case.entries))
    return None if unsaid else Reply(came)


_LISTWISE_IDS = {"id-null", "id-list", "id-object", "id-title", "id-text", "id-two", "id-empty"}
"""What may stand where a number belongs; how an id may be misspelt has no counterpart in numbers."""

_LISTWISE_FORMS: dict[str, Callable[[str], object]] = {
    "trailing-comma": lambda t: t.replace("]", ",]"),
    "missing-comma": lambda t: t.replace(", ", " ", 1),
    "cut-after-comma": lambda t: t[: t.index(", ") + 2],
    "cut-at-once": lambda t: t[:12],
    "list-on-top": lambda t: json.dumps(json.loads(t)["ranked_document_ids"]),
    "single-object": lambda t: json.dumps({"ranked_document_ids": json.loads(t)["ranked_document_ids"][0]}),
    "field-case": lambda t: t.replace("ranked_document_ids", "rankedDocumentIds"),
    "duplicate-list": lambda t: t[:-1] + ', "ranked_document_ids": [5]}',
    "rankings-null": lambda t: t.replace("[", "[null, ", 1),
    "empty-rankings": lambda _: '{"ranked_document_ids": []}',
    "two-jsons": lambda t: t + '{"ranked_document_ids": []}',
}


def _names_a_document(value: object) -> bool:
    """Whether its parser takes this value for the number of one of the documents."""
    try:
        return 0 <= pydantic.TypeAdapter(int).validate_python(value) < len(PASSAGES)
    except pydantic.ValidationError:
        return False


_ANSWERS = {
    "role-case": "yes", "role-space": " YES ", "role-misspelt": "YSE", "role-french": "OUI", "role-synonym": "relevant",
    "role-two": "YES|NO", "role-homoglyph": "Y\u0415S", "role-number": "1",
}  # fmt: skip
_FILTER_FORMS = {
    "fenced", "prose-before", "prose-after", "thinking", "byte-order-mark", "twice-whole", "empty", "spaces", "none",
    "prose", "refusal", "empty-object", "empty-list", "null", "number", "brackets", "objects", "garbage", "html",
}  # fmt: skip


def filter_reply(case: Case, at: int) -> str | None:
    """The reply about one document; None where the format cannot say it: ids, JSON, and what stands around a list."""
    if any(isinstance(one.of, Alien) for one in case.entries) or "json" in case.id:
        return None
    if case.came_as is not None:
        if case.id not in _FILTER_FORMS:
            return None
        said = case.came_as(_word(case.entries, at))
        return "" if said is None else str(said)
    if at == 0 and case.id.startswith("role-"):
        return _ANSWERS.get(case.id)
    if at == 0 and case.id.startswith("reason-"):
        reason = case.entries[0].reason
        return f"{_word(case.entries, at)} {reason if isinstance(reason, str) else json.dumps(reason)}"
    return _word(case.entries, at)


def _word(entries: Sequence[Entry], at: int) -> str:
    named = [one.role for one in entries if one.of == at]
    return " ".join("NO" if role == "discarded" else "YES" for role in named)
