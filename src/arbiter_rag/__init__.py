"""Detectors propose passages of a document, one structured LLM call decides: roles, reasons, or "not found"."""

from arbiter_rag.arbiter import Arbiter
from arbiter_rag.contract import (
    ArbiterOutput,
    Brief,
    Candidate,
    CandidateScope,
    Passage,
    RetrievalResult,
    RetrievedCandidate,
)
from arbiter_rag.document import ParsedDocument
from arbiter_rag.errors import ArbiterError, ConfigurationError, DocumentError, InputError, JudgeError
from arbiter_rag.judges import OpenAIJudge, RuleJudge
from arbiter_rag.lexicon import Lexicon
from arbiter_rag.question import parse_question

__all__ = [
    "Arbiter",
    "ArbiterError",
    "ArbiterOutput",
    "Brief",
    "Candidate",
    "CandidateScope",
    "ConfigurationError",
    "DocumentError",
    "InputError",
    "JudgeError",
    "Lexicon",
    "OpenAIJudge",
    "ParsedDocument",
    "Passage",
    "RetrievalResult",
    "RetrievedCandidate",
    "RuleJudge",
    "parse_question",
]

__version__ = "0.1.0"
