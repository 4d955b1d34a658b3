"""No pattern of the library hangs: each is run on the texts that make careless ones take their square."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = r"""
import importlib, json, pkgutil, re, time
import arbiter_rag
from arbiter_rag.language import LANGUAGES
from arbiter_rag.question.tables import table

PIECES = ["a", "_", "1", "1 ", " ", ".", "(", ")", "[", "{", "a b ", "-", "é", "字", "\n", '"', "'", "“", "«", "A",
          "\t", "a-", "a.", "1.", "1,", "1.1", "111 ", ". ", "Aa ", "$", "<", "|", "\\", "\u00ad", "\u200b", "e\u0301",
          " ,"]
found = {}


def collect(value, name, depth=0):
    if isinstance(value, re.Pattern):
        found.setdefault((value.pattern, value.flags), (name, value))
    elif depth < 4 and isinstance(value, dict):
        for key, item in value.items():
            collect(item, f"{name}[{key!r}]", depth + 1)
    elif depth < 4 and isinstance(value, (list, tuple, set, frozenset)):
        for at, item in enumerate(value):
            collect(item, f"{name}[{at}]", depth + 1)


skipped = []
for module in pkgutil.walk_packages(arbiter_rag.__path__, "arbiter_rag."):
    if module.name.endswith("__main__"):
        continue
    try:
        loaded = importlib.import_module(module.name)
    except ImportError:  # an extra that is not installed
        skipped.append(module.name)
        continue
    for key, value in vars(loaded).items():
        collect(value, f"{module.name}.{key}")
for code in LANGUAGES:
    words = table(code)
    for field in words.__slots__:
        collect(getattr(words, field), f"question table {code}.{field}")

slow = []
for name, pattern in found.values():
    if not isinstance(pattern.pattern, str):
        continue
    for piece in PIECES:
        for length in (1000, 2000):
            text = (piece * length)[:length]
            worst = 0.0
            # The shorter one first, once: whatever takes the cube is caught before it takes minutes.
            for given in (text, text + "x\x00", "a1$ " + text)[: 3 if length == 2000 else 1]:
                start = time.perf_counter()
                for _ in pattern.finditer(given):
                    pass
                worst = max(worst, time.perf_counter() - start)
            if worst > BOUND:
                slow.append(f"{name} on {piece!r} * {length}: {worst:.1f} s")
                break
        if slow and slow[-1].startswith(f"{name} on"):
            break
print(json.dumps({"patterns": len(found), "skipped": skipped, "slow": slow}))
"""

BOUND = 2.0
"""Seconds for all matches in 2,000 characters: linear patterns take thousandths, so this is no measure of a machine."""


def test_no_pattern_hangs() -> None:
    script = SCRIPT.replace("BOUND", str(BOUND))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=True)
    told = json.loads(done.stdout)
    assert told["patterns"] > 100
    assert told["slow"] == []
