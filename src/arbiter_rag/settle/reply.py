"""A judge's raw reply taken apart into rows of plain values; every leniency is a fault, and no id is judged here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from arbiter_rag.contract import Fault
from arbiter_rag.errors import JudgeError
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle.jsontext import CUT_SHORT, Bytes, JsonObject, decoded, loads_strict, stages
from arbiter_rag.settle.wording import one_line, shown

_DEPTH = 8
"""How deep a wrapper may bury the rankings."""

_NODES = 2_000
"""How many values are looked at for the rankings."""

_FIELDS = {"candidateid": "candidate_id", "id": "candidate_id", "reason": "reason", "role": "role", "quote": "quote"}


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One entry of `rankings`, its values untouched; `clash` names fields given twice with different values."""

    candidate_id: object
    role: object
    reason: object
    quote: object
    clash: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyConflict:
    """One entry of `conflicts`: its reason and (candidate_id, quote) of each side, values untouched."""

    reason: object
    sides: tuple[tuple[object, object], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of a reply."""

    rows: tuple[ReplyRow, ...]
    conflicts: tuple[ReplyConflict, ...]
    faults: tuple[Fault, ...]


def read(reply: JudgeReply) -> Reading:
    """Read a reply: strict JSON first, then what was meant.

    Raises:
        JudgeError: No ranking can be read at all (kind `unusable`, or `truncated` when the reply was cut short).
    """
    notes: list[str] = []
    found = _find(reply.raw, notes)
    if found is None:
        raise _unusable(reply)
    rows = tuple(_rows(found[0], notes))
    if not any(row.candidate_id is not None for row in rows):
        raise _unusable(reply)
    conflicts = _conflicts(found[1], notes)
    return Reading(rows, conflicts, _faults(notes, reply.truncated))


def _find(raw: object, notes: list[str]) -> tuple[list[object], list[object]] | None:
    """The rankings and conflicts of the first reading that has any; a second JSON value with rankings is noted."""
    for lenient, values in _stages(raw):
        found: tuple[list[object], list[object]] | None = None
        for value in values:
            here: list[str] = []
            located = _locate(value, here)
            if located is None:
                continue
            if found is not None:
                notes.append("a second JSON value with rankings was ignored")
                break
            found = located
            notes.extend((*lenient, *here))
        if found is not None:
            return found
    return None


def _faults(notes: list[str], truncated: bool) -> tuple[Fault, ...]:
    cut = "The reply was cut short; entries that were not whole were not used."
    faults = [Fault(kind="truncated_reply", detail=cut)] if truncated or CUT_SHORT in notes else []
    lenient = [note for note in dict.fromkeys(notes) if note != CUT_SHORT]
    faults.extend(Fault(kind="repaired", detail=f"The reply was read leniently: {note}.") for note in lenient)
    return tuple(faults)


def _unusable(reply: JudgeReply) -> JudgeError:
    raw = reply.raw
    text = raw if isinstance(raw, str) else decoded(raw)[0] if isinstance(raw, Bytes) else None
    what = one_line(text, 80) if text is not None else f"a value of type {type(raw).__name__}"
    return JudgeError(
        f"Expected JSON with a list of rankings, got {what or 'nothing'!r}; ask again or let the rules decide.",
        kind="truncated" if reply.truncated else "unusable",
        attempts=reply.attempts,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        raw=text,
    )


def _stages(raw: object) -> Iterator[tuple[tuple[str, ...], list[object]]]:
    """The JSON values a reply may mean, the strictest reading first."""
    if isinstance(raw, BaseModel):
        yield (), [raw.model_dump()]
    elif isinstance(raw, str):
        yield from stages(raw)
    elif isinstance(raw, Bytes):
        text, encoding = decoded(raw)
        # JSON writes a NUL as an escape: bare ones tell that the bytes were in another encoding than was guessed.
        if "\x00" not in text:
            note = () if encoding == "utf-8" else (f"its bytes were {encoding.upper()}",)
            yield from (((*note, *lenient), values) for lenient, values in stages(text))
    elif isinstance(raw, Mapping | list | tuple):
        yield (), [raw]


def _letters(key: object) -> str:
    return re.sub(r"[^a-z]", "", key[:40].lower()) if isinstance(key, str) else ""


def _field(node: Mapping[Any, object], name: str) -> object:
    """The value of a field by exact name, else by its letters."""
    if name in node:
        return node[name]
    return next((v for k, v in node.items() if _letters(k) == _letters(name)), None)


def _is_row(node: object) -> bool:
    if not isinstance(node, Mapping):
        return False
    names = {_FIELDS.get(_letters(k)) for k in node}
    return {"candidate_id", "role"} <= names


def _listed(value: object) -> list[object] | None:
    """Rankings as a list: a list as it is, a single row, or rows keyed by id."""
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, Mapping):
        return None
    if _is_row(value):
        return [value]
    rows = [{"candidate_id": k, **v} for k, v in value.items() if isinstance(v, Mapping) and "role" in v]
    return list(rows) or None


def _locate(value: object, notes: list[str]) -> tuple[list[object], list[object]] | None:
    """The lists of rankings and conflicts in a value, looked for from the outside in."""
    nodes = list(_walk(value))
    for depth, node in nodes:
        if not isinstance(node, Mapping):
            continue
        rankings = _field(node, "rankings")
        rows = _listed(rankings)
        if rows is None:
            continue
        if depth:
            notes.append("the rankings stood inside a wrapper")
        if "rankings" not in node:
            notes.append("the field 'rankings' was spelt differently")
        if not isinstance(rankings, list | tuple):
            notes.append("'rankings' was not a list")
        if isinstance(node, JsonObject) and "rankings" in node.repeated:
            notes.append("the field 'rankings' came twice, the first counts")
        conflicts = _field(node, "conflicts")
        extra = [k for k in node if _letters(k) not in {"rankings", "conflicts"}]
        if extra and not depth:
            notes.append(f"fields not asked for were ignored: {shown(extra[0])}")
        if conflicts is not None and not isinstance(conflicts, list | tuple):
            notes.append("'conflicts' was not a list")
        return rows, list(conflicts) if isinstance(conflicts, list | tuple) else []
    for _, node in nodes:
        if isinstance(node, list | tuple) and any(_is_row(item) for item in node):
            notes.append("a bare list of rankings came")
            return list(node), []
        if _is_row(node):
            notes.append("a single ranking came instead of a list")
            return [node], []
    return None


def _walk(value: object) -> Iterator[tuple[int, object]]:
    """Values breadth first, within bounds; a string that is JSON itself is opened, rows and conflicts are not."""
    level = [value]
    seen = 0
    for depth in range(_DEPTH):
        below: list[object] = []
        for node in level:
            seen += 1
            if seen > _NODES:
                return
            if isinstance(node, str) and node.lstrip()[:1] in {"{", "["}:
                opened = loads_strict(node)
                below.extend([opened.value] if opened else [])
                continue
            yield depth, node
            if isinstance(node, Mapping) and not _is_row(node):
                below.extend(v for k, v in node.items() if _letters(k) not in {"conflicts", "sides"})
            elif isinstance(node, list | tuple) and not any(_is_row(item) for item in node[:50]):
                below.extend(node[:200])
        level = below


def _rows(items: list[object], notes: list[str]) -> list[ReplyRow]:
    rows: list[ReplyRow] = []
    extra: Counter[str] = Counter()
    odd = 0
    for item in items:
        if not isinstance(item, Mapping):
            odd += 1
            continue
        values, unknown, respelt = _fields_of(item)
        extra.update(unknown)
        if respelt:
            notes.append(f"a field was spelt differently: {shown(respelt[0])}")
        clash = _clashes(item)
        rows.append(
            ReplyRow(
                candidate_id=values.get("candidate_id"),
                role=values.get("role"),
                reason=values.get("reason"),
                quote=values.get("quote"),
                clash=clash,
            )
        )
    if odd:
        notes.append(f"{odd} of {len(items)} entries of 'rankings' were no objects and were ignored")
    if extra:
        notes.append(f"fields not asked for were ignored: {', '.join(shown(k) for k, _ in extra.most_common(3))}")
    return rows


def _fields_of(item: Mapping[object, object]) -> tuple[dict[str, object], list[str], list[str]]:
    """A row's values by field, the names that are no field, and the names spelt differently."""
    values: dict[str, object] = {}
    unknown: list[str] = []
    respelt: list[str] = []
    for key in sorted(item, key=lambda k: k not in _FIELDS.values()):  # exact names before look-alikes
        name = _FIELDS.get(_letters(key))
        if name is None or name in values:
            unknown.append(str(key) if isinstance(key, str | int | float) else type(key).__name__)
            continue
        values[name] = item[key]
        if key != name:
            respelt.append(str(key))
    return values, unknown, respelt


def _clashes(item: Mapping[object, object]) -> tuple[str, ...]:
    """Fields that came twice in one row with different values: which one was meant cannot be known."""
    if not isinstance(item, JsonObject):
        return ()
    named = ((_FIELDS.get(_letters(k)), v) for k, v in item.repeated.items())
    return tuple(name for name, differs in named if name in {"candidate_id", "role"} and differs)


def _conflicts(items: list[object], notes: list[str]) -> tuple[ReplyConflict, ...]:
    out: list[ReplyConflict] = []
    for item in items:
        node: Mapping[object, object] = item if isinstance(item, Mapping) else {}
        sides = _field(node, "sides")
        if not isinstance(sides, list | tuple):
            notes.append("an entry of 'conflicts' without sides was ignored")
            continue
        pairs = tuple(
            (_field(s, "candidate_id"), _field(s, "quote")) if isinstance(s, Mapping) else (s, None) for s in sides
        )
        out.append(ReplyConflict(_field(node, "reason"), pairs))
    return tuple(out)
