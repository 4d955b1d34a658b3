"""How quotes are checked: real evidence cut from the development documents, and mutations of it that must not pass."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arbiter_rag.contract import Candidate, SnippetLine
from arbiter_rag.document import ParsedDocument
from arbiter_rag.settle.boundaries import cuts_token, word_count
from arbiter_rag.settle.negation import cuts_negation, negations
from arbiter_rag.settle.quotes import QuoteBook
from benchmarks.harness import Row, data_folder, entry, markdown

COUNT = 200
"""Evidence strings, as the promise says."""

SEED = 20_260_101
_CONTEXT = 25
_LANGUAGE = re.compile(r"[.-](de|en|fr|it|nl|pt|ru|ja|ko|zh)(?:_CN)?\.pdf$")
_SOURCE_LANGUAGE = {"ffe_reglements_fr": "fr"}
_NOT = {
    "de": "nicht",
    "fr": "pas",
    "it": "non",
    "nl": "niet",
    "pt": "não",
    "ru": "не",
    "ja": "ない",
    "ko": "않",
    "zh": "不",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A string cut from a page, and the candidate that holds it.

    Attributes:
        kind: `gold` (the evidence of a question) or `cut` (a run of whole words of a page, over line breaks too).
    """

    source: str
    kind: str
    language: str
    text: str
    candidate: Candidate
    document: ParsedDocument
    row: int


def _language(path: Path, source: str) -> str:
    match = _LANGUAGE.search(path.name)
    return match.group(1) if match else _SOURCE_LANGUAGE.get(source, "en")


def _candidate(document: ParsedDocument, row: int, end: int) -> Candidate:
    first, last = max(0, row - _CONTEXT), min(len(document), end + _CONTEXT)
    shown = range(max(first, row - 1), min(last, row + 4))
    lines = tuple(SnippetLine(text=document.texts[r], page=document.pages[r], line=document.lines[r]) for r in shown)
    return Candidate(
        candidate_id=f"p{document.pages[row]}-l{document.lines[row]}",
        doc_id=document.doc_id,
        context=document.scope(first, last),
        text=document.text(first, last),
        snippet_lines=lines,
    )


def _cuts(document: ParsedDocument, language: str, source: str, dice: random.Random) -> Iterator[Evidence]:
    """Runs of 3 to 25 words over 1 to 3 lines, as a person would mark them: from word to word, no half number."""
    words = negations((language,))
    while True:
        row = dice.randrange(len(document))
        end = min(len(document), row + dice.randint(1, 3))
        if document.pages[end - 1] != document.pages[row]:
            continue
        text = document.text(row, end)
        starts = [m.start() for m in re.finditer(r"\S+", text)]
        ends = [m.end() for m in re.finditer(r"\S+", text)]
        if language in ("ja", "zh") and len(text) > 20:
            starts, ends = list(range(len(text) - 8)), list(range(8, len(text)))
        if len(starts) < 3:
            continue
        i = dice.randrange(len(starts))
        last = [e for e in ends if starts[i] + 12 <= e <= starts[i] + 160]
        if not last:
            continue
        stop = dice.choice(last)
        cut = text[starts[i] : stop]
        before, after = document.text(max(0, row - 1), row), document.text(end, min(len(document), end + 1))
        left, right = before + "\n" + text[: starts[i]], text[stop:] + "\n" + after
        if word_count(cut) < 3 or not re.search(r"[^\W\d_]{3}|[^\x00-\x7f]", cut) or ". . ." in cut:
            continue
        # No evidence begins inside a number or behind "not": the same string with its "not" is drawn as often.
        if any(cuts_negation(left, cut, right, words)) or cuts_token(left, cut, opening=True):
            continue
        if cuts_token(cut, right, opening=False) or cut.strip() != cut:
            continue
        yield Evidence(source, "cut", language, cut, _candidate(document, row, end), document, row)


def _golds(document: ParsedDocument, rows: list[dict[str, object]], language: str, source: str) -> Iterator[Evidence]:
    """Evidence of questions that stands on its page word for word, white space aside."""
    for question in rows:
        text = question.get("gold_text")
        pages = question.get("gold_pages")
        if not isinstance(text, str) or not isinstance(pages, list) or len(text.split()) < 3 or len(text) > 1200:
            continue
        for page in pages:
            if not 1 <= page <= document.profile.pages:
                continue
            start, end = document.page_rows(page)
            if (
                _plain(text)
                and _plain(text) in _plain(document.text(start, end))
                and not _clipped(text, document, start, end)
            ):
                yield Evidence(source, "gold", language, text, _page_candidate(document, start, end), document, start)
                break


def _clipped(text: str, document: ParsedDocument, start: int, end: int) -> bool:
    """Whether gold evidence was clipped inside a word or number (9.2 of 9.2.1): then it is no quote of its page."""
    page = " ".join(document.text(start, end).split())
    at = page.find(" ".join(text.split()))
    if at < 0:
        return False
    stop = at + len(" ".join(text.split()))
    return cuts_token(page[:at], page[at:], opening=True) or cuts_token(page[:stop], page[stop:], opening=False)


def _page_candidate(document: ParsedDocument, start: int, end: int) -> Candidate:
    lines = [
        SnippetLine(text=document.texts[r], page=document.pages[r], line=document.lines[r])
        for r in range(start, min(end, start + 4))
    ]
    return Candidate(
        candidate_id=f"p{document.pages[start]}-l1",
        doc_id=document.doc_id,
        context=document.scope(start, end),
        text=document.text(start, end),
        snippet_lines=tuple(lines),
    )


def _plain(text: str) -> str:
    return "".join(text.split())


def evidence(count: int = COUNT, seed: int = SEED, sources: frozenset[str] = frozenset()) -> list[Evidence]:
    """`count` evidence strings, spread evenly over the documents; gold evidence comes first where there is any.

    Args:
        sources: Only these sources; all of them when empty.
    """
    dice = random.Random(seed)
    pools: list[Iterator[Evidence]] = []
    for folder in sorted(p for p in (data_folder() / "dev").iterdir() if p.is_dir()):
        if sources and folder.name not in sources:
            continue
        rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        for path in sorted(folder.glob("*.pdf")):
            document = ParsedDocument.from_pdf(path, headings="none")
            language = _language(path, folder.name)
            own = [r for r in rows if Path(str(r["doc"])).stem == path.stem]
            pools.append(
                _alternate(_golds(document, own, language, folder.name), _cuts(document, language, folder.name, dice))
            )
    out: list[Evidence] = []
    while len(out) < count:
        out.extend(next(pool) for pool in pools)
    return out[:count]


def _alternate(golds: Iterator[Evidence], cuts: Iterator[Evidence]) -> Iterator[Evidence]:
    for cut in cuts:
        gold = next(golds, None)
        if gold is not None:
            yield gold
        yield cut


# --- mutations --------------------------------------------------------------------------------------------------

Mutation = Callable[[Evidence, random.Random], str | None]


def _digit(e: Evidence, dice: random.Random) -> str | None:
    places = [m.start() for m in re.finditer(r"[0-9]", e.text)]
    if not places:
        return None
    at = dice.choice(places)
    return e.text[:at] + dice.choice([d for d in "0123456789" if d != e.text[at]]) + e.text[at + 1 :]


def _digit_dropped(e: Evidence, dice: random.Random) -> str | None:
    # A number of one digit would go as a whole, and at an end of the string what is left is evidence again.
    places = [m.start() for m in re.finditer(r"(?<=[0-9])[0-9]|[0-9](?=[0-9])", e.text)]
    if not places:
        return None
    at = dice.choice(places)
    return e.text[:at] + e.text[at + 1 :]


def _sign(e: Evidence, dice: random.Random) -> str | None:
    signed = re.search(r"(?<![\w-])[-−–](?=[$€£]?\d)", e.text)
    if signed:
        return e.text[: signed.start()] + e.text[signed.end() :]
    numbers = [m.start() for m in re.finditer(r"(?<![\w.,/-])\d", e.text)]
    if not numbers:
        return None
    at = dice.choice(numbers)
    return e.text[:at] + "-" + e.text[at:]


def _negation(e: Evidence, dice: random.Random) -> str | None:
    words = negations((e.language,))
    said = [m for m in re.finditer(r"\w+", e.text) if m.group().lower() in words]
    if said:
        match = dice.choice(said)
        return (e.text[: match.start()] + e.text[match.end() :]).replace("  ", " ").strip()
    gaps = [m.start() for m in re.finditer(r"\s", e.text)] or [len(e.text) // 2]
    at = dice.choice(gaps)
    space = "" if e.language in ("ja", "zh") else " "
    return e.text[:at] + space + _NOT.get(e.language, "not") + e.text[at:]


def _swap(e: Evidence, dice: random.Random) -> str | None:
    words = e.text.split()
    places = [i for i in range(len(words) - 1) if words[i] != words[i + 1]]
    if not places:
        middle = len(e.text) // 2
        swapped = e.text[: middle - 1] + e.text[middle] + e.text[middle - 1] + e.text[middle + 1 :]
        return swapped if swapped != e.text else None
    i = dice.choice(places)
    words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words)


def _other_page(e: Evidence, dice: random.Random) -> str | None:
    for _ in range(50):
        row = dice.randrange(len(e.document))
        text = " ".join(e.document.text(row, min(len(e.document), row + 2)).split())
        if len(text.split()) >= 3 and _plain(text) not in _plain(e.candidate.text) and not _furniture(e, row):
            return text
    return None


def _furniture(e: Evidence, row: int) -> bool:
    # Dot leaders and running heads stand on many pages: the "other" text may be here as well, spaced otherwise.
    return abs(row - e.row) <= 2 * _CONTEXT


def _separator(e: Evidence, dice: random.Random) -> str | None:
    places = [m.start() + 1 for m in re.finditer(r"\d[.,]\d", e.text)]
    if not places:
        return None
    at = dice.choice(places)
    return e.text[:at] + ("," if e.text[at] == "." else ".") + e.text[at + 1 :]


def _unit(e: Evidence, dice: random.Random) -> str | None:
    units = list(re.finditer(r"(?<=\d)\s?[%€$]|[$€£]\s?(?=\d)", e.text))
    if units:
        match = dice.choice(units)
        new = dice.choice([u for u in ("%", "$", "€", "£", "") if u != match.group().strip()])
        return e.text[: match.start()] + new + e.text[match.end() :]
    numbers = [m.end() for m in re.finditer(r"\d(?![\d.,])", e.text)]
    if not numbers:
        return None
    at = dice.choice(numbers)
    return e.text[:at] + "%" + e.text[at:]


def _inserted(e: Evidence, dice: random.Random) -> str | None:
    words = re.findall(r"[^\W\d_]{3,}", e.candidate.text)
    gaps = [m.start() for m in re.finditer(r"\s", e.text)] or [len(e.text) // 2]
    if not words:
        return None
    at = dice.choice(gaps)
    return f"{e.text[:at]} {dice.choice(words)}{e.text[at:]}"


def _dropped(e: Evidence, dice: random.Random) -> str | None:
    words = e.text.split()
    if len(words) < 4:
        at = len(e.text) // 2
        return e.text[:at] + e.text[at + 1 :] if not e.text[at].isspace() else None
    i = dice.randrange(1, len(words) - 1)
    return " ".join(words[:i] + words[i + 1 :])


def _half_token(e: Evidence, dice: random.Random) -> str | None:
    if not (e.text[-1].isalnum() and e.text[-2].isalnum() and e.text[-2:].isascii()):
        return None
    return e.text[:-1]


MUTATIONS: dict[str, Mutation] = {
    "a digit changed": _digit,
    "a digit dropped": _digit_dropped,
    "a sign added or removed": _sign,
    "a negation added or removed": _negation,
    "two words swapped": _swap,
    "another page's text": _other_page,
    "decimal separator changed": _separator,
    "unit or currency changed": _unit,
    "a word inserted": _inserted,
    "a word dropped": _dropped,
    "the last letter cut off": _half_token,
}


def accepted(e: Evidence, quote: str) -> str:
    """The quote's status in the evidence's own candidate."""
    book = QuoteBook((e.candidate,), {e.document.doc_id: e.document}, (e.language,), frozenset(), lambda c, t: ())
    found = book.check(e.candidate, quote)
    return found.status if found else "none"


def reflowed(text: str) -> str:
    """A quote as models copy it: on one line, with single spaces."""
    return " ".join(text.split())


@entry("quotes")
def rows() -> Iterable[Row]:
    """Quotes: evidence from the development documents accepted, and mutations of it that pass"""
    dice = random.Random(SEED)
    items = evidence()
    for kind in ("gold", "cut"):
        own = [e for e in items if e.kind == kind]
        good = sum(accepted(e, reflowed(e.text)) in ("exact", "folded") for e in own)
        languages = len({e.language for e in own})
        yield {
            "strings": f"evidence ({kind}, {languages} languages)",
            "count": len(own),
            "accepted": good,
            "share": share(good, len(own)),
        }
    total = passed = 0
    for name, mutate in MUTATIONS.items():
        mutants = [(e, m) for e in items if (m := mutate(e, dice)) is not None and m != e.text]
        good = sum(accepted(e, m) in ("exact", "folded") for e, m in mutants)
        total, passed = total + len(mutants), passed + good
        yield {"strings": name, "count": len(mutants), "accepted": good, "share": share(good, len(mutants))}
    yield {"strings": "all mutations", "count": total, "accepted": passed, "share": share(passed, total)}


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.2f} %" if whole else "n/a"


def main() -> None:
    """Print the table."""
    print(markdown(list(rows())))


if __name__ == "__main__":
    main()
