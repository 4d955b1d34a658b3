"""What differs between two JSON values, named so that a person finds it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from arbiter_rag.audit.canonical import canonical
from arbiter_rag.contract import Contract

_CLIP = 160
_NAMES = ("candidate_id", "detector", "text", "doc_id")


class Difference(Contract):
    """One value that is not as recorded.

    Attributes:
        where: What differs: a document's line, or the path of a value in brief or result.
        recorded: The recorded value, clipped around the first character that differs.
        now: The value now.
    """

    where: str
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {self.recorded}, now {self.now}"


def between(where: str, recorded: Any, now: Any, loose: Collection[str] = ()) -> Iterator[Difference]:
    """The innermost differences of two JSON values; `loose` fields are not compared."""
    if type(recorded) is type(now) and isinstance(recorded, dict):
        for key in [*recorded, *(k for k in now if k not in recorded)]:
            if key not in loose:
                yield from between(f"{where}.{key}", recorded.get(key), now.get(key), loose)
        return
    if type(recorded) is type(now) and isinstance(recorded, list):
        yield from _lists(where, recorded, now, loose)
        return
    if canonical(recorded) != canonical(now):
        yield same_text(where, recorded, now)


def _lists(where: str, recorded: list[Any], now: list[Any], loose: Collection[str]) -> Iterator[Difference]:
    """Items by their names where they have any, in order; else by place."""
    before, after = _named(recorded), _named(now)
    if before is None or after is None:
        for i in range(max(len(recorded), len(now))):
            old = recorded[i] if i < len(recorded) else None
            new = now[i] if i < len(now) else None
            yield from between(f"{where}[{i}]", old, new, loose)
        return
    for name, item in before.items():
        if name not in after:
            yield Difference(where=f"{where}[{name}]", recorded="there", now="missing")
        else:
            yield from between(f"{where}[{name}]", item, after[name], loose)
    for name in after:
        if name not in before:
            yield Difference(where=f"{where}[{name}]", recorded="missing", now="there")
    if list(before) != list(after) and set(before) == set(after):
        yield Difference(where=f"{where}: order", recorded=", ".join(before), now=", ".join(after))


def _named(items: list[Any]) -> dict[str, Any] | None:
    for key in _NAMES:
        if items and all(isinstance(item, dict) and key in item for item in items):
            named = {str(item[key]): item for item in items}
            return named if len(named) == len(items) else None
    return None if items else {}


def same_text(where: str, recorded: Any, now: Any) -> Difference:
    """A difference with both values clipped to where they part."""
    if not isinstance(recorded, str) or not isinstance(now, str):
        return Difference(where=where, recorded=_shown(recorded, 0), now=_shown(now, 0))
    at = next((i for i, (a, b) in enumerate(zip(recorded, now, strict=False)) if a != b), min(len(recorded), len(now)))
    start = max(0, at - _CLIP // 3) if max(len(recorded), len(now)) > _CLIP else 0
    return Difference(where=where, recorded=_shown(recorded, start), now=_shown(now, start))


def _shown(value: Any, start: int) -> str:
    if value is None:
        return "nothing"
    text = value[start:] if isinstance(value, str) else canonical(value).decode()
    clipped = text if len(text) <= _CLIP else text[:_CLIP] + "…"
    return repr(("…" if start else "") + clipped) if isinstance(value, str) else clipped
