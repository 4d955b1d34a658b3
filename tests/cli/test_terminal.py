"""Text that reaches a terminal."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbiter_rag.cli.terminal import harmless, print_json, say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("caf\u00e9 \u6c34\u6f0f\u308c", "caf\u00e9 \u6c34\u6f0f\u308c"),
        ("a\tb", "a  b"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb\nc\x08", "a\\rb\\nc\\x08"),
        ("abc\u202edcb", "abc\\u202edcb"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("bad\udc80name", "bad\\udc80name"),
        ("\u0645\u0631\u062d\u0628\u0627", "\u0645\u0631\u062d\u0628\u0627"),
    ],
)
def test_nothing_a_terminal_would_obey_is_left(text: str, shown: str) -> None:
    assert harmless(text) == shown


@given(st.text())
def test_whatever_the_text(text: str) -> None:
    assert all(unicodedata.category(c) not in ("Cc", "Cs") for c in harmless(text))


def test_a_message_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("first\nsecond\x1b[2J")
    assert capsys.readouterr().err == "arbiter-rag: first second\\x1b[2J\n"


def test_json_is_utf8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    print_json({"text": "\u00e9\u20ac\x1b", "name": "bad\udc80"})
    assert json.loads(raw.getvalue()) == {"text": "\u00e9\u20ac\x1b", "name": "bad\udc80"}
