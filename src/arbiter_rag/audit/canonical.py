"""Canonical JSON: the one way in which a value becomes bytes, on every machine and Python version."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")

# Without the search for circles, which values dumped from models cannot have.
_dumps = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def canonical(value: Any) -> bytes:
    """A JSON value as bytes: keys sorted, no white space, UTF-8, shortest floats that read back the same.

    Numbers that JSON does not know become the strings `NaN`, `Infinity` and `-Infinity`; lone surrogates, which no
    UTF-8 can hold, become JSON escapes.
    """
    try:
        text = _dumps(value)
    except ValueError:
        text = _dumps(_finite(value))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text).encode("utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
