"""What a parsed document is, and one file a source; the only room that opens documents."""

from arbiter_rag.document.model import FRONT, DocumentProfile, ParsedDocument, Section

__all__ = ["FRONT", "DocumentProfile", "ParsedDocument", "Section"]
