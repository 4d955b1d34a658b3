"""The judge that asks no model: evidence decides, every reason names it. The default, and the others' fallback."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arbiter_rag.contract import ArbiterOutput, Brief, Candidate, CandidateRanking, Role, SnippetLine
from arbiter_rag.coverage import FOUND
from arbiter_rag.judges.base import JudgeReply
from arbiter_rag.settle.conflicts import obvious_conflicts

TANGENTIAL = 0.1
"""Evidence under which a passage shares no more than a word with the question."""

CLOSE = 0.85
"""Share of the best candidate's relevance from which another one is primary too."""

MOST_PRIMARY = 3

LONGEST_QUOTE = 400
"""Most characters of a quote."""

LONGEST_REASON = 200
"""Most characters of a reason; the weaker notes are left out."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


class RuleJudge:
    """Judges by the evidence that the detectors gathered: deterministic, offline, in no time.

    Args:
        fallback: Set when it stands in for a model that failed: then it rejects nothing and never says not found;
            what has no evidence is left out of the reply and so stays `unjudged`.
    """

    calls_model = False

    def __init__(self, *, fallback: bool = False) -> None:
        self.fallback = fallback

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    def judge(self, brief: Brief) -> JudgeReply:
        """Give every candidate a role by its evidence."""
        ranked = sorted(brief.candidates, key=lambda c: (-c.relevance, c.incoming_rank))
        found = bool(ranked) and _answers(ranked, brief)
        rankings = [r for place, c in enumerate(ranked) if (r := self._ranking(c, place, ranked, found, brief))]
        output = ArbiterOutput(
            rankings=tuple(rankings), conflicts=tuple(obvious_conflicts(brief.question, brief.candidates))
        )
        return JudgeReply(raw=output.model_dump(mode="json"))

    async def ajudge(self, brief: Brief) -> JudgeReply:
        """The same; there is nothing to wait for."""
        return self.judge(brief)

    def _ranking(
        self, candidate: Candidate, place: int, ranked: Sequence[Candidate], found: bool, brief: Brief
    ) -> CandidateRanking | None:
        role = _role(candidate, place, ranked, found)
        if self.fallback and (not found or role == "discarded"):
            return None
        reason = _lacking(candidate, brief) if role == "discarded" else _reason(candidate)
        return CandidateRanking(
            candidate_id=candidate.candidate_id,
            reason=reason or "no evidence of its own",
            role=role,
            quote=_quote(candidate) if role in ("primary", "supporting") else None,
        )


def pinned(candidate: Candidate) -> bool:
    """Whether the question names this candidate's page, caption or section."""
    return any(h.method in ("page", "caption") or h.note.startswith("section number") for h in candidate.hits)


def _answers(ranked: Sequence[Candidate], brief: Brief) -> bool:
    """Whether the evidence is enough for an answer to be there."""
    if pinned(ranked[0]):
        return True
    return brief.confidence >= FOUND


def _role(candidate: Candidate, place: int, ranked: Sequence[Candidate], found: bool) -> Role:
    top = ranked[0]
    if not found or candidate.weak:
        return "discarded"
    share = candidate.relevance / top.relevance if top.relevance > 0 else 0.0
    enough = candidate.evidence >= FOUND or pinned(candidate)
    if place == 0 or (enough and share >= CLOSE and place < MOST_PRIMARY):
        return "primary"
    if enough or share >= CLOSE:
        return "supporting"
    return "tangential" if candidate.evidence >= TANGENTIAL else "discarded"


def _reason(candidate: Candidate) -> str:
    """The evidence in words, strongest first."""
    reason = ""
    for note in candidate.evidence_notes:
        longer = f"{reason}; {note}" if reason else note
        if reason and len(longer) > LONGEST_REASON:
            break
        reason = longer
    return reason


def _lacking(candidate: Candidate, brief: Brief) -> str:
    lacking = [t.text for t in brief.coverage.terms if t.text not in candidate.matched_keywords]
    if candidate.weak:
        return "; ".join(candidate.evidence_notes) or "offered, nothing found in it"
    if not candidate.matched_keywords:
        return "none of the question's words"
    held = ", ".join(repr(m) for m in candidate.matched_keywords[:2])
    return f"only {held}; lacks {', '.join(repr(w) for w in lacking[:2])}" if lacking else f"only {held}"


def _runs(candidate: Candidate) -> list[str]:
    """The snippet's text, cut where it leaves lines out: a quote is never joined over a gap."""
    runs: list[list[str]] = []
    before: SnippetLine | None = None
    for line in candidate.snippet_lines:
        follows = before is not None and (
            (line.page == before.page and line.line == (before.line or 0) + 1 and before.whole and line.whole)
            or (line.line is None and candidate.text[before.start + len(before.text) : line.start].strip() == "")
        )
        if follows:
            runs[-1].append(line.text)
        else:
            runs.append([line.text])
        before = line
    return ["\n".join(run) for run in runs]


def _quote(candidate: Candidate) -> str | None:
    """The shown sentence (a line, where sentences are too long) that holds most of the keywords, verbatim.

    A whole sentence, because half of one may leave out the "not" that stands on the line before.
    """
    keywords = [k.casefold() for k in candidate.matched_keywords]
    sentences = [s.strip() for run in _runs(candidate) for s in _SENTENCE_END.split(run)]
    lines = [line.text.strip() for line in candidate.snippet_lines]
    fitting = [s for s in sentences if s and len(s) <= LONGEST_QUOTE] or [s for s in lines if s]
    if not fitting:
        return None
    return max(fitting, key=lambda t: (sum(k in t.casefold() for k in keywords), len(t.split()) >= 3, -len(t)))
