"""Quotes looked up in the texts they claim to come from: verbatim, then folded, whole tokens, with their negations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arbiter_rag.contract import Candidate, QuoteScope, QuoteStatus
from arbiter_rag.document.model import ParsedDocument
from arbiter_rag.settle.boundaries import cuts_token, word_count
from arbiter_rag.settle.folding import Folded, fold, same_hyphens
from arbiter_rag.settle.negation import cuts_negation, holds_negation, negations
from arbiter_rag.settle.passages import SearchText, search_texts

Spans = Sequence[tuple[int, int]]
"""Offsets (start, end) in a text."""

_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++)?(?:\[\s*+(?:\.{3}|…)\s*+\]|\(\s*+(?:\.{3}|…)\s*+\)|\.{3,}+|…)\s*+")
_GAP = 400
"""Characters that an ellipsis may leave out: more is not one passage any more."""

_QUOTE_MARKS = "\"'“”„«»‘’‚"
_HYPHENS = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212\u00ad")

_LONGEST = 20_000
"""No context is as long; a quote beyond it is not looked for."""

_NO_CAPITALS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital: it tells no name there."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands in one text."""

    status: QuoteStatus
    scope: QuoteScope | None = None
    tainted: bool = False


_ABSENT = Found("absent")


@dataclass(frozen=True)
class QuoteBook:
    """The texts of one brief's candidates, prepared once.

    Attributes:
        candidates: All candidates of the brief.
        documents: By doc_id, for lines, boxes and what stands around a quote.
        languages: Of the documents: which negations count, and whether capitals tell names.
        names: Names of the question, folded: a short quote that holds one is not weak.
        marks: What in a text must not be quoted for a primary (spans that address the judge).
    """

    candidates: tuple[Candidate, ...]
    documents: Mapping[str, ParsedDocument]
    languages: tuple[str, ...]
    names: frozenset[str]
    marks: Callable[[Candidate, str], Spans]

    @cached_property
    def _texts(self) -> dict[str, tuple[SearchText, ...]]:
        return {}

    def texts(self, candidate: Candidate) -> tuple[SearchText, ...]:
        """The searchable texts of a candidate."""
        if candidate.candidate_id not in self._texts:
            self._texts[candidate.candidate_id] = search_texts(candidate, self.documents)
        return self._texts[candidate.candidate_id]

    def check(self, candidate: Candidate, quote: str | None, *, wary: bool = False) -> Found | None:
        """What became of a quote; None for a candidate without any text, which nobody can quote.

        Args:
            wary: Look for a place outside what addresses the judge, and say when there is none.
        """
        texts = self.texts(candidate)
        if not texts:
            return None
        if quote is None or len(quote) > _LONGEST:
            return _ABSENT
        found = self._search(candidate, texts, quote, wary)
        if found.status != "absent":
            return found
        elsewhere = any(
            self._search(other, self.texts(other), quote).status in ("exact", "folded") for other in self._likely(quote)
        )
        return Found("elsewhere") if elsewhere else _ABSENT

    def _search(self, candidate: Candidate, texts: tuple[SearchText, ...], quote: str, wary: bool = False) -> Found:
        words = negations(self.languages)
        fallback = _ABSENT
        for status, find in (("exact", _exact), ("folded", _folded), ("folded", _pieces(words))):
            for text in texts:
                for start, end in find(quote, text):
                    verdict = self._verdict(text, start, end, words)
                    if verdict == "absent":
                        continue
                    if verdict == "weak":
                        fallback = Found("weak")
                        continue
                    tainted = wary and any(a < end and start < b for a, b in self.marks(candidate, text.text))
                    found = Found("exact" if status == "exact" else "folded", text.scope(start, end), tainted)
                    if not tainted:
                        return found
                    fallback = found if fallback.status in ("absent", "weak") else fallback
            if fallback.tainted:
                return fallback
        return fallback

    def _verdict(self, text: SearchText, start: int, end: int, words: frozenset[str]) -> QuoteStatus:
        """Whether a place counts: `absent` inside a token, `weak` when short or torn from its negation."""
        before, after = text.around(start, end)
        quoted = text.text[start:end]
        if cuts_token(before, quoted + after, opening=True) or cuts_token(before + quoted, after, opening=False):
            return "absent"
        if any(cuts_negation(before, quoted, after, words)):
            return "weak"
        if word_count(quoted) < 3 and not self._tells(quoted, before):
            return "weak"
        return "exact"

    def _tells(self, quoted: str, before: str) -> bool:
        """Whether a short quote holds a number or a name."""
        if any(c.isdigit() for c in quoted):
            return True
        folded = fold(quoted).text.lower()
        if any(name in folded for name in self.names):
            return True
        words = re.findall(r"[^\W\d_]+", quoted)
        if any(not w.islower() and w[1:] and any(c.isupper() for c in w[1:]) for w in words):
            return True
        if set(self.languages) & _NO_CAPITALS or not words:
            return False
        starts_sentence = not before.strip() or bool(re.search(r"[.!?:;•\n\t]\s*$", before))
        return any(w[:1].isupper() for w in (words[1:] if starts_sentence else words))

    @cached_property
    def _index(self) -> dict[str, set[int]]:
        index: dict[str, set[int]] = defaultdict(set)
        for i, candidate in enumerate(self.candidates):
            for text in self.texts(candidate):
                for word in re.findall(r"\w+", text.folded.text):
                    index[word].add(i)
        return index

    def _likely(self, quote: str) -> Iterator[Candidate]:
        """Candidates that hold the quote's rarest word: a brief may hold thousands, and as many false quotes come."""
        words = re.findall(r"\w+", fold(quote).text)
        if len(words) < 3 or any(word_count(w) > 1 for w in words):  # unspaced scripts have no words to index
            yield from self.candidates[:50]
            return
        places = min((self._index.get(w, set()) for w in words), key=len)
        for i in sorted(places)[:50]:
            yield self.candidates[i]


Finder = Callable[[str, SearchText], Iterator[tuple[int, int]]]


def _exact(quote: str, text: SearchText) -> Iterator[tuple[int, int]]:
    wanted = quote.strip()
    at = text.text.find(wanted) if wanted else -1
    while at >= 0:
        yield at, at + len(wanted)
        at = text.text.find(wanted, at + 1)


def _variants(quote: str) -> Iterator[str]:
    """The quote, and without an ellipsis or quotation marks that only frame it."""
    yield quote
    bare = _ELLIPSIS.sub("", quote) if len(_ELLIPSIS.findall(quote)) <= 2 and _frames(quote) else quote
    bare = bare.strip()
    if bare[:1] in _QUOTE_MARKS and bare[-1:] in _QUOTE_MARKS and len(bare) > 2:
        bare = bare[1:-1]
    if bare != quote:
        yield bare


def _frames(quote: str) -> bool:
    stripped = quote.strip()
    inner = [m for m in _ELLIPSIS.finditer(stripped) if m.start() > 0 and m.end() < len(stripped)]
    return not inner


def _folded(quote: str, text: SearchText) -> Iterator[tuple[int, int]]:
    for variant in _variants(quote):
        yield from _matches(_trimmed(fold(variant)), text, 0)


def _trimmed(quote: Folded) -> Folded:
    """A folded quote without white space at its ends."""
    lead = len(quote.text) - len(quote.text.lstrip())
    body = quote.text.strip()
    hyphens = {p - lead: kind for p, kind in quote.hyphens.items()}
    return Folded(body, quote.starts[lead : lead + len(body)], quote.ends[lead : lead + len(body)], hyphens)


def _matches(quote: Folded, text: SearchText, start: int) -> Iterator[tuple[int, int]]:
    """Places in the source text where a folded quote stands; `start` is an offset in the source text."""
    source = text.folded
    # A quote may end with the hyphen at a line's end, which folding takes out of the source.
    broken = re.search(r"[^\W\d_]-$", quote.text) is not None
    if broken:
        quote = Folded(quote.text[:-1], quote.starts[:-1], quote.ends[:-1], quote.hyphens)
    if not quote.text:
        return
    at = source.text.find(quote.text)
    while at >= 0:
        begin, end = source.starts[at], source.ends[at + len(quote.text) - 1]
        if broken and text.text[end : end + 1] in _HYPHENS:
            end += 1
        elif broken:
            begin = -1
        if begin >= start and same_hyphens(quote, source, at):
            yield begin, end
        at = source.text.find(quote.text, at + 1)


def _pieces(words: frozenset[str]) -> Finder:
    """A finder for quotes with an ellipsis: whole pieces in order, and no negation in what was left out."""

    def find(quote: str, text: SearchText) -> Iterator[tuple[int, int]]:
        parts = [p for p in _ELLIPSIS.split(quote) if p.strip()]
        if not 2 <= len(parts) <= 6 or any(word_count(p) < 2 for p in parts):
            return
        folded = [_trimmed(fold(p)) for p in parts]
        for first in _matches(folded[0], text, 0):
            end = _chain(folded[1:], text, first, words)
            if end is not None:
                yield first[0], end

    return find


def _chain(parts: Sequence[Folded], text: SearchText, first: tuple[int, int], words: frozenset[str]) -> int | None:
    """The end of the last piece, when every piece follows the one before it closely enough."""
    end = first[1]
    for part in parts:
        place = next(_matches(part, text, end), None)
        if place is None or place[0] - end > _GAP or holds_negation(text.text[end : place[0]], words):
            return None
        before, inner = text.text[:end], text.text[end : place[0]]
        if cuts_token(before, inner, opening=False) or cuts_token(inner, text.text[place[0] :], opening=True):
            return None
        end = place[1]
    return end
