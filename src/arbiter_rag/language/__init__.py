"""What the core knows about languages: detecting them, folding text, and turning it into terms."""

from arbiter_rag.language.analysis import LANGUAGES, Analyzer, Token, analyzer
from arbiter_rag.language.detect import detect_language
from arbiter_rag.language.fold import encodable, fold

__all__ = ["LANGUAGES", "Analyzer", "Token", "analyzer", "detect_language", "encodable", "fold"]
