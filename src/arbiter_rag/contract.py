"""Everything that leaves the library: frozen pydantic models, written once, read by users, frameworks and auditors."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Role = Literal["primary", "supporting", "tangential", "discarded"]
"""The roles a judge may give."""

Verdict = Literal["primary", "supporting", "tangential", "discarded", "unjudged"]
"""Where a candidate ends: a judge's role, or `unjudged` when no usable word about it came back."""

QuoteStatus = Literal["exact", "folded", "weak", "elsewhere", "absent"]
"""What became of a quote: verbatim; found after folding; too short to count; in another candidate; nowhere."""

Status = Literal["ok", "partial", "degraded"]
"""`ok`; `partial` = something was left unjudged, demoted or repaired; `degraded` = the fallback judge decided."""

HeadingSource = Literal["outline", "printed", "fonts", "layout", "frames", "none"]
"""Where a document's sections came from."""

AnswerShape = Literal["amount", "percentage", "date", "duration", "number", "name", "yes_no", "list", "open"]
"""The form an answer will take."""

Intent = Literal["lookup", "condition", "definition", "section", "listing", "comparison", "reason", "open"]
"""What the question asks for; it picks the scopes (DESIGN 8)."""


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


ForeignScore = Annotated[float | None, AfterValidator(_finite)]
"""A score that others gave; one that is no number (NaN, infinite) is none: JSON cannot carry it."""


OwnScore = Annotated[float, AfterValidator(lambda score: score if math.isfinite(score) else 0.0)]
"""A detector's score; one that is no number counts nothing, the rank still tells the order."""


class Contract(BaseModel):
    """Base of all models here: frozen, and a field that nobody defined is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


# --- the question -----------------------------------------------------------------------------------------------


class Keyword(Contract):
    """One thing to look for.

    Attributes:
        text: The surface form to look for, as the question or lexicon writes it (one word or several).
        weight: 1.0 for a content word or primary variant, 0.5 for a secondary variant; less for vague words.
        source: `question`, `phrase` (quoted by the user), `lexicon:<concept>`, or `function_word` (the question holds
            nothing else: something to search for, no evidence of an answer).
        concept: Keywords with one concept are variants of one another; the question's own word is its own concept.
        is_name: A proper name, year, product or identifier: its absence from a document is telling.
    """

    text: str
    weight: float = 1.0
    source: str = "question"
    concept: str = ""
    is_name: bool = False


class PageHint(Contract):
    """ "On page 3", "page iv", "pages 3 to 5": `label` is what the user wrote for the first page, as a string."""

    label: str
    last_label: str | None = None


class SectionHint(Contract):
    """ "Section 5.2", "Article 12", "annexe B": `number` as written ("5.2", "B"), `kind` the folded word before it."""

    number: str
    kind: str = "section"


class ParsedQuestion(Contract):
    """A question, taken apart by rules.

    Attributes:
        text: The question as asked, stripped.
        language: ISO 639-1 code of the question, or `und`.
        keywords: What to look for; never function words.
        phrases: Quoted phrases, to be found as they stand.
        pages: Page hints.
        sections: Section hints.
        shape: The answer's form.
        intent: What is asked for.
        truncated: True when the question was longer than what is searched for (the text itself is kept whole).
    """

    text: str
    language: str = "und"
    keywords: tuple[Keyword, ...] = ()
    phrases: tuple[str, ...] = ()
    pages: tuple[PageHint, ...] = ()
    sections: tuple[SectionHint, ...] = ()
    shape: AnswerShape = "open"
    intent: Intent = "open"
    truncated: bool = False


class PlanStep(Contract):
    """One detector in the plan: whether it runs, why, and on which condition; `outcome` is filled by the main path."""

    detector: str
    run: bool
    reason: str
    condition: str | None = None
    outcome: str | None = None


class DispatchPlan(Contract):
    """Which detectors run for this question; decided by rules, never by a model."""

    steps: tuple[PlanStep, ...] = ()


# --- where things stand -----------------------------------------------------------------------------------------


class CandidateScope(Contract):
    """A run of lines: pages and lines are 1-based, both ends belong to it; a line number counts within its page."""

    doc_id: str
    page_start: int
    page_end: int
    line_start: int
    line_end: int
    section_id: str | None = None


class Box(Contract):
    """A rectangle on a page in PDF points, origin at the top left, as PyMuPDF gives it."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class QuoteScope(Contract):
    """Where a verified quote stands.

    Attributes:
        doc_id, page_start, page_end, line_start, line_end: As in `CandidateScope`; None for text without lines.
        char_start: Offset in the first line's text (or in the passage's text when there are no lines).
        char_end: Offset behind the last character in the last line's text (or in the passage's text).
        boxes: One box a line, where the document has coordinates.
    """

    doc_id: str | None = None
    page_start: int | None = None
    page_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    char_start: int
    char_end: int
    boxes: tuple[Box, ...] = ()


class Hit(Contract):
    """One detector's finding.

    Attributes:
        method: `toc`, `keyword`, `embedding`, `page`, `caption`, or a user's retriever's name.
        scope: The lines that matched.
        score: The detector's own raw score; comparable within a detector only.
        rank: 1-based, within the detector's list for this question.
        matched: Keywords (as the question writes them) or the title that matched.
        note: One clause that says how it matched, e.g. `title matched exactly`.
    """

    method: str
    scope: CandidateScope
    score: OwnScore
    rank: int
    matched: tuple[str, ...] = ()
    note: str = ""


class Passage(Contract):
    """What others propose to `rank`: everything but the id is optional; a passage without text is judged unseen."""

    id: str
    text: str = ""
    doc_id: str | None = None
    page: int | None = Field(default=None, description="1-based PDF page")
    page_label: str | None = None
    section: str | None = None
    methods: tuple[str, ...] = ()
    score: ForeignScore = None


class SnippetLine(Contract):
    """One line as shown to the judge and where it comes from.

    Attributes:
        text: The line as shown (may be clipped).
        page, line: 1-based place in the document; None for text without lines.
        start: Offset of `text` in the source line, or in the passage's text when there are no lines.
        whole: False when the source line was clipped.
    """

    text: str
    page: int | None = None
    line: int | None = None
    start: int = 0
    whole: bool = True


class Candidate(Contract):
    """Hits merged into one structural unit.

    Attributes:
        candidate_id: Short, stable and readable (`p6-l14`, `d2-p6-l14`, `n3` for a passage without lines).
        anchor: Where the match landed, at most 15 lines; None for passages without lines.
        context: What generation gets; contains the anchor.
        text: The context's text.
        snippet_lines: The lines shown to the judge, in reading order.
        page: 1-based page on which the anchor begins, or the caller's for passages.
        evidence: How much of the question it holds, in [0, 1], on one scale for all questions; never shown.
        relevance: What orders the candidates of one question for `RuleJudge`; never shown.
        evidence_notes: What the evidence is made of, each one clause for a person.
        weak: True for a section that is merely offered: no detector found anything in it.
        incoming_rank: 1-based place in the caller's order (passages) or in RRF order (our detectors); never shown.
        original_id, original_score: The caller's own, for passages.
    """

    candidate_id: str
    doc_id: str | None = None
    anchor: CandidateScope | None = None
    context: CandidateScope | None = None
    page: int | None = None
    text: str = ""
    snippet_lines: tuple[SnippetLine, ...] = ()
    methods: tuple[str, ...] = ()
    matched_keywords: tuple[str, ...] = ()
    section_title: str | None = None
    breadcrumb: str | None = None
    page_label: str | None = None
    evidence: float = 0.0
    relevance: float = 0.0
    evidence_notes: tuple[str, ...] = ()
    weak: bool = False
    suspicious: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    incoming_rank: int = 0
    original_id: str | None = None
    original_score: ForeignScore = None

    @property
    def snippet(self) -> str:
        """The lines shown to the judge as one text."""
        return "\n".join(line.text for line in self.snippet_lines)


class CandidateBrief(Contract):
    """What the judge sees of one candidate."""

    candidate_id: str
    doc: str | None = None
    methods: tuple[str, ...] = ()
    section: str | None = None
    matched_keywords: tuple[str, ...] = ()
    snippet: str = ""


OVER_BUDGET = "the brief would exceed max_prompt_tokens"
"""How `Cut.why` begins for what the prompt had no room for: passages that nobody has judged."""


class Cut(Contract):
    """A candidate that never reached the judge, and why; `original_id` is the caller's, for passages."""

    candidate_id: str
    why: str
    original_id: str | None = None

    @property
    def over_budget(self) -> bool:
        """Whether the prompt had no room for it; the others were outside the best that detectors propose."""
        return self.why.startswith(OVER_BUDGET)


class Brief(Contract):
    """Everything one judgement rests on.

    Attributes:
        question: The parsed question.
        candidates: In the order shown: by document, page, line; passages without position by SHA-256 of their text.
        documents: The documents searched.
        plan: Which detectors ran and why.
        hits: Every hit of every detector, for the audit.
        coverage: What was searched and what was not.
        confidence: Retrieval evidence in [0, 1] that the documents hold an answer, before any judge.
        cut: Candidates left out, and why.
        truncated: Ids of candidates whose snippet was shortened to fit.
        instructions: The user's domain rules.
        forecast_tokens: Estimated prompt tokens.
        shuffle_seed: When set, candidates are shown in the order this seed gives.
    """

    question: ParsedQuestion
    candidates: tuple[Candidate, ...] = ()
    documents: tuple[DocumentRef, ...] = ()
    plan: DispatchPlan = DispatchPlan()
    hits: tuple[Hit, ...] = ()
    coverage: Coverage = Field(default_factory=lambda: Coverage())
    confidence: float = 0.0
    cut: tuple[Cut, ...] = ()
    truncated: tuple[str, ...] = ()
    instructions: str | None = None
    forecast_tokens: int = 0
    shuffle_seed: int | None = None

    @property
    def entries(self) -> tuple[CandidateBrief, ...]:
        """What the judge sees, one entry a candidate, in the order shown."""
        many = len(self.documents) > 1
        return tuple(
            CandidateBrief(
                candidate_id=c.candidate_id,
                doc=c.doc_id if many else None,
                methods=c.methods,
                section=c.breadcrumb or c.section_title,
                matched_keywords=c.matched_keywords,
                snippet=c.snippet,
            )
            for c in self.candidates
        )


# --- the judge's reply ------------------------------------------------------------------------------------------


class CandidateRanking(Contract):
    """One candidate's verdict in a reply. The reason precedes the role: field order is generation order."""

    candidate_id: str
    reason: str
    role: Role
    quote: str | None = None


class ConflictSide(Contract):
    """One side of a conflict in a reply."""

    candidate_id: str
    quote: str | None = None


class ConflictReply(Contract):
    """Passages that say different things on one point, as a judge reports it."""

    reason: str
    sides: tuple[ConflictSide, ...]


class ArbiterOutput(Contract):
    """The judge's reply."""

    rankings: tuple[CandidateRanking, ...]
    conflicts: tuple[ConflictReply, ...] = ()


# --- the result -------------------------------------------------------------------------------------------------


class DocumentRef(Contract):
    """Which document was searched: its id, its name for a person, the SHA-256 of its bytes where known, its pages."""

    doc_id: str
    name: str
    sha256: str | None = None
    pages: int | None = None


class RetrievedCandidate(Contract):
    """One candidate with its verdict.

    Attributes:
        page: 1-based page on which the anchor begins, or the caller's for passages.
        text: The context's text; empty when `text_in` names a better ranked candidate whose text contains it.
        rank: 1-based over the kept candidates and, behind them, the unjudged ones; 0 for discarded ones.
        score: Falls strictly with rank, in role bands: primary (0.75, 1], supporting (0.5, 0.75],
            tangential (0.25, 0.5], unjudged (0, 0.25], discarded 0.
        quote_scope: Where the verified quote stands.
        unsupported: Numbers, years, currencies and names of the reason that nothing shown supports.
        suspicious: Spans of the passage that address the judge instead of informing a reader.
        demoted_from: The role the judge gave, where settling lowered it.
        text_in: The candidate whose `text` holds this one's context.
    """

    candidate_id: str
    doc_id: str | None = None
    anchor: CandidateScope | None = None
    context: CandidateScope | None = None
    page: int | None = None
    snippet: str = ""
    text: str = ""
    methods: tuple[str, ...] = ()
    matched_keywords: tuple[str, ...] = ()
    section_title: str | None = None
    breadcrumb: str | None = None
    page_label: str | None = None
    role: Verdict
    reason: str = ""
    rank: int = 0
    score: float = 0.0
    quote: str | None = None
    quote_status: QuoteStatus | None = None
    quote_scope: QuoteScope | None = None
    unsupported: tuple[str, ...] = ()
    suspicious: tuple[str, ...] = ()
    demoted_from: Role | None = None
    text_in: str | None = None
    original_id: str | None = None
    original_score: ForeignScore = None


class SettledSide(Contract):
    """One side of a conflict, its quote checked."""

    candidate_id: str
    quote: str | None = None
    quote_status: QuoteStatus | None = None
    quote_scope: QuoteScope | None = None


class Conflict(Contract):
    """Kept candidates that say different things on the same point; nothing is picked silently."""

    reason: str
    sides: tuple[SettledSide, ...]


class Fault(Contract):
    """Something in the reply that was not as asked: reported, never repaired in silence.

    Attributes:
        kind: `unknown_id`, `repeated_id`, `repaired`, `bad_role`, `bad_conflict`, `truncated_reply`, `omitted` (no
            verdict on some candidates), `demoted`, `unverified` (a primary without a verified quote),
            `truncated_snippet` (shortened before the call to fit; no fault of the reply) or `other`.
        detail: One sentence; text from the reply is quoted and clipped.
        candidate_id: The candidate concerned, where there is one.
    """

    kind: str
    detail: str
    candidate_id: str | None = None


class TermCoverage(Contract):
    """One thing searched for: on how many lines it (or a variant) stands; `is_name` as in `Keyword`."""

    text: str
    lines: int
    variants: tuple[str, ...] = ()
    is_name: bool = False


class NearMiss(Contract):
    """A passage that was close and why it fell short."""

    page: int | None = None
    section: str | None = None
    score: float = 0.0
    why: str = ""


class Coverage(Contract):
    """What was searched, with what, and what could not be.

    Attributes:
        detectors: Detectors that ran.
        terms: What was looked for, with counts.
        missing_names: Named things of the question that occur nowhere.
        near_misses: The best of what fell short.
        pages: PDF pages searched, over all documents.
        pages_without_text: (doc_id, page) of pages that hold no text.
        question_language: ISO 639-1, or `und`.
        document_languages: Likewise, of the documents.
        bridged: False when question and document languages differ and no embedder could bridge them.
        notes: Sentences for a person.
    """

    detectors: tuple[str, ...] = ()
    terms: tuple[TermCoverage, ...] = ()
    missing_names: tuple[str, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    pages: int = 0
    pages_without_text: tuple[tuple[str, int], ...] = ()
    question_language: str = "und"
    document_languages: tuple[str, ...] = ()
    bridged: bool = True
    notes: tuple[str, ...] = ()


class Usage(Contract):
    """What the judgement cost.

    Attributes:
        calls: Completions asked for (0 or 1).
        attempts: Requests sent, retries included.
        prompt_tokens, completion_tokens: As the provider counted; None where it did not say.
        forecast: Prompt tokens estimated before the call.
        milliseconds: Wall time of the whole retrieval.
    """

    calls: int = 0
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    forecast: int = 0
    milliseconds: float = 0.0


class RetrievalResult(Contract):
    """The answer to "which passages, and why": every candidate stands in exactly one of three lists.

    Attributes:
        candidates: Kept ones, best first.
        discarded: Rejected ones with their reasons.
        unjudged: Candidates about which no usable word came back.
        cut: Candidates that never reached the judge.
        faults: What was wrong with the reply.
        not_found: True only if nothing was proposed, or if the judge named no primary and no supporting and left
            nothing unjudged; never because something failed.
        confidence: Retrieval evidence in [0, 1] that the documents hold an answer, before any judge.
        judge: Name of the judge that decided.
        error: Why the chosen judge did not decide, when `status` is `degraded`.
    """

    question: str
    documents: tuple[DocumentRef, ...] = ()
    candidates: tuple[RetrievedCandidate, ...] = ()
    discarded: tuple[RetrievedCandidate, ...] = ()
    unjudged: tuple[RetrievedCandidate, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    cut: tuple[Cut, ...] = ()
    faults: tuple[Fault, ...] = ()
    methods_used: tuple[str, ...] = ()
    plan: DispatchPlan = DispatchPlan()
    not_found: bool = False
    not_found_reason: str | None = None
    coverage: Coverage = Coverage()
    confidence: float = 0.0
    judge: str = ""
    status: Status = "ok"
    error: str | None = None
    usage: Usage = Usage()
    record_id: str | None = None

    def _repr_html_(self) -> str:
        """The short form that notebooks show; `arbiter_rag.report.report` makes the whole page."""
        from arbiter_rag.notebook import short_html

        return short_html(self)

    def emitted(self, roles: tuple[str, ...], on_not_found: Literal["empty", "keep"]) -> tuple[RetrievedCandidate, ...]:
        """What an integration hands on: kept, then unjudged candidates of these roles; by default none if not found."""
        if self.not_found and on_not_found == "empty":
            return ()
        return tuple(c for c in (*self.candidates, *self.unjudged) if c.role in roles)


Brief.model_rebuild()


def metadata_of(candidate: RetrievedCandidate, result: RetrievalResult) -> dict[str, Any]:
    """The flat `arbiter_*` metadata that both frameworks get: this list and no other (DESIGN 3)."""
    return {
        "arbiter_role": candidate.role,
        "arbiter_reason": candidate.reason,
        "arbiter_rank": candidate.rank,
        "arbiter_methods": list(candidate.methods),
        "arbiter_matched_keywords": list(candidate.matched_keywords),
        "arbiter_quote": candidate.quote,
        "arbiter_quote_status": candidate.quote_status,
        "arbiter_page": candidate.page,
        "arbiter_candidate_id": candidate.candidate_id,
        "arbiter_original_score": candidate.original_score,
        "arbiter_status": result.status,
        "arbiter_record_id": result.record_id,
    }
