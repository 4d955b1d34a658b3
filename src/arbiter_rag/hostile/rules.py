"""Which concepts, close together, make a sentence address the judge: a table and the sweep that applies it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from arbiter_rag.hostile.lexicon import DENSE, Found


@dataclass(frozen=True, slots=True)
class Rule:
    """Concepts (one of each slot) within `width` words of one sentence; `ordered`: the slots follow in turn."""

    kind: str
    slots: tuple[frozenset[str], ...]
    width: int
    ordered: bool = False


def _rule(kind: str, slots: str, width: int, *, ordered: bool = False) -> Rule:
    return Rule(kind, tuple(frozenset(slot.split("|")) for slot in slots.split()), width, ordered)


JOINED = (("this_passage", "this", "passage", 2), ("others_passage", "others", "passage_strong", 3))
"""New concepts made of two neighbours: name, first, second, words between them at most."""

RULES = (
    _rule("instruction", "override prior orders", 9, ordered=True),
    _rule("instruction", "override orders prior", 7),
    _rule("instruction", "trigger", 1),
    _rule("instruction", "imperative_new", 1),
    _rule("instruction", "persona", 1),
    _rule("instruction", "judging", 1),
    _rule("instruction", "proof", 1),
    _rule("instruction", "your inner inner_orders", 4, ordered=True),
    _rule("instruction", "send_hard sensitive", 6),
    _rule("instruction", "send sensitive_soft", 6),
    _rule("instruction", "respond respond_only", 4, ordered=True),
    _rule("instruction", "only say_strong", 2, ordered=True),
    _rule("instruction", "identity model", 6, ordered=True),
    _rule("instruction", "free you|model", 5),
    _rule("instruction", "attach output_of_yours", 8),
    _rule("instruction", "decode obey", 9, ordered=True),
    _rule("instruction", "fake_state off", 4),
    _rule("instruction", "use_tool tool_name tool", 5, ordered=True),
    _rule("instruction", "say_strong not_found", 7, ordered=True),
    _rule("role_claim", "authoritative secret", 8, ordered=True),
    _rule("ranking", "others_passage not_found", 12),
    _rule("instruction", "secret disclose", 7),
    _rule("instruction", "secret me", 6),
    _rule("instruction", "say_strong only not_found", 14),
    _rule("instruction", "model you must", 8),
    _rule("instruction", "message model", 5, ordered=True),
    _rule("instruction", "candidate role_as|verdict_word", 10),
    _rule("ranking", "this_passage select top", 12),
    _rule("ranking", "this_passage top_strong", 7),
    _rule("ranking", "others_passage reject", 14),
    _rule("ranking", "this_passage others reject", 16),
    _rule("ranking", "this_passage others select", 12),
    _rule("ranking", "model select this_passage", 14),
    _rule("ranking", "model select|reject passage_strong|others must", 14),
    _rule("ranking", "this_passage reject others", 16),
    _rule("ranking", "sorter select|reject|you passage|passage_strong|this_passage|others", 12),
    _rule("ranking", "best_mark this_passage|others", 8),
    _rule("instruction", "you mission void", 6, ordered=True),
    _rule("role_claim", "role_as select", 9),
    _rule("role_claim", "authority this_passage authoritative", 16),
    _rule("role_claim", "authority passage_strong authoritative", 12),
    _rule("role_claim", "authority model authoritative|select", 10),
)
_BY_FIRST_SLOT: dict[str, list[int]] = defaultdict(list)
"""Places of the rules by the concepts of their first slot."""
for _at, _each in enumerate(RULES):
    for _concept in _each.slots[0]:
        _BY_FIRST_SLOT[_concept].append(_at)


def apply(found: list[Found], sentence_of: list[int]) -> Iterator[tuple[str, int, int]]:
    """Kind and place in the reading (start, end) of every match, at most one a rule, language and sentence.

    Args:
        found: Terms in reading order.
        sentence_of: Number of the sentence each of them stands in.
    """
    by_language: dict[str, list[tuple[Found, int]]] = defaultdict(list)
    for term, sentence in zip(found, sentence_of, strict=True):
        by_language[term.language].append((term, sentence))
    for language, terms in by_language.items():
        stretch = 2 if language in DENSE else 1
        events = _with_joined(terms, stretch)
        by_concept: dict[str, list[tuple[Found, int]]] = defaultdict(list)
        for event in events:
            by_concept[event[0].concept].append(event)
        present = by_concept.keys()
        for at in sorted({at for concept in present for at in _BY_FIRST_SLOT.get(concept, ())}):
            rule = RULES[at]
            if not any(map(present.isdisjoint, rule.slots)):
                yield from _sweep(rule, by_concept, stretch)


def _with_joined(terms: list[tuple[Found, int]], stretch: int) -> list[tuple[Found, int]]:
    out = list(terms)
    last: dict[str, Found] = {}
    for term, sentence in terms:
        for name, first, second, width in JOINED:
            before = last.get(first)
            if term.concept == second and before and 0 < term.first - before.last <= width * stretch:
                out.append((Found(before.first, term.last, before.start, term.end, term.language, name), sentence))
        last[term.concept] = term
    return out


def _sweep(rule: Rule, by_concept: dict[str, list[tuple[Found, int]]], stretch: int) -> Iterator[tuple[str, int, int]]:
    """One pass over the events of a rule: the latest token of every slot, compared at each step."""
    events = sorted(
        (event for concept in set().union(*rule.slots) for event in by_concept.get(concept, ())),
        key=lambda event: (event[0].first, event[0].last),
    )
    latest: list[Found | None] = [None] * len(rule.slots)
    width, now, done = rule.width * stretch, -1, False
    for term, sentence in events:
        if sentence != now:
            latest, now, done = [None] * len(rule.slots), sentence, False
        if done:
            continue
        _place(rule, latest, term)
        held = [f for f in latest if f is not None]
        if len(held) == len(rule.slots) and _close(held, width):
            yield rule.kind, min(f.start for f in held), max(f.end for f in held)
            done = True


def _place(rule: Rule, latest: list[Found | None], term: Found) -> None:
    """Put a term into the slot it fits whose holder is oldest: one word cannot stand for two concepts at once."""
    best = -1
    for i, slot in enumerate(rule.slots):
        if term.concept not in slot:
            continue
        if rule.ordered and i and latest[i - 1] is None:
            continue
        if best < 0 or _place_of(latest[i]) < _place_of(latest[best]):
            best = i
    if best >= 0:
        latest[best] = term


def _place_of(term: Found | None) -> int:
    return -1 if term is None else term.last


def _close(held: list[Found], width: int) -> bool:
    firsts = sorted((f.first, f.last) for f in held)
    apart = all(a[1] < b[0] for a, b in pairwise(firsts))
    return len(held) == 1 or (apart and firsts[-1][1] - firsts[0][0] <= width)
