"""How long work tells a caller how far it is: one kind of callback, called from the thread that works."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Takes how much is done and how much there is in all (pages, texts, questions); what it raises ends the work."""
