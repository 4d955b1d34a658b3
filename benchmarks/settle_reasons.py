"""The reason check: numbers, years, currencies and names swapped in reasons made of the documents' own words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from arbiter_rag.settle.reasons import Ground, unsupported
from benchmarks.harness import Row, entry, markdown
from benchmarks.quotes import SEED, Evidence, evidence, share

COUNT = 1_000
_NO_CAPITALS = {"de"}


def _reason(e: Evidence, dice: random.Random) -> str | None:
    """Up to 12 words of the candidate's context that hold a number or a name, behind a verb of our own."""
    words = e.candidate.text.split()
    if len(words) < 30:
        return None
    at = dice.randrange(len(words) - 12)
    return "Says that " + " ".join(words[at : at + dice.randint(5, 12)]).strip(".,;:")


def _swaps(reason: str, e: Evidence, names: list[str], dice: random.Random) -> Iterable[tuple[str, str, str]]:
    """(kind, what was put in, the reason with it); nothing that the context holds is put in."""
    text = e.candidate.text
    years = list(re.finditer(r"(?<![\w.,])(?:19|20)\d\d(?![\w.,]*\d)", reason))
    numbers = [m for m in re.finditer(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/-])", reason) if m.group() not in
               {y.group() for y in years}]  # fmt: skip
    if years:
        match = dice.choice(years)
        new = str(dice.choice([y for y in range(1950, 2060) if str(y) not in text]))
        yield "year", new, reason[: match.start()] + new + reason[match.end() :]
    if numbers:
        match = dice.choice(numbers)
        for _ in range(30):
            new = re.sub(r"\d", lambda _: dice.choice("123456789"), match.group())
            if new not in text and new != match.group():
                yield "number", new, reason[: match.start()] + new + reason[match.end() :]
                break
    money = re.search(r"[$€£](?=\s?\d)", reason)
    if money:
        new = dice.choice([c for c in "$€£¥" if c not in text] or ["₩"])
        yield "currency", new, reason[: money.start()] + new + reason[money.end() :]
    capitals = list(re.finditer(r"(?<=[a-zà-ÿа-я,] )[A-ZÀ-ÝА-Я][^\W\d_]{3,}", reason))
    if capitals and e.language not in _NO_CAPITALS:
        match = dice.choice(capitals)
        new = dice.choice([n for n in names if n.lower() not in text.lower()])
        yield "name", new, reason[: match.start()] + new + reason[match.end() :]


@entry("reasons")
def rows() -> Iterable[Row]:
    """Reason check: swapped numbers, years, currencies and names that are flagged (recall), flags that are right"""
    dice = random.Random(SEED)
    items = evidence(COUNT)
    names = sorted({n for e in items for n in re.findall(r"(?<=[a-z] )[A-Z][a-z]{5,}", e.candidate.text)})
    caught: dict[str, list[int]] = {kind: [0, 0] for kind in ("number", "year", "currency", "name")}
    clean = clean_flagged = flags = right = 0
    for e in items:
        reason = _reason(e, dice)
        if reason is None:
            continue
        ground = (Ground((e.candidate.snippet,)), Ground((e.candidate.text,)))
        found = unsupported(reason, ground, e.language)
        clean, clean_flagged, flags = clean + 1, clean_flagged + bool(found), flags + len(found)
        for kind, new, swapped in _swaps(reason, e, names, dice):
            found = unsupported(swapped, ground, e.language)
            hit = any(new in f or f in new for f in found)
            caught[kind][0] += 1
            caught[kind][1] += hit
            flags, right = flags + len(found), right + hit
    for kind, (count, good) in caught.items():
        yield {"reasons": f"with a swapped {kind}", "count": count, "flagged": good, "share": share(good, count)}
    yield {"reasons": "as they stand", "count": clean, "flagged": clean_flagged, "share": share(clean_flagged, clean)}
    yield {
        "reasons": "flags that are right (precision)",
        "count": flags,
        "flagged": right,
        "share": share(right, flags),
    }


def main() -> None:
    """Print the table."""
    print(markdown(list(rows())))


if __name__ == "__main__":
    main()
