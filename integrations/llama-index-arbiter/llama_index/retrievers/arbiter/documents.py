"""Documents opened for retrieval, and candidates of a document as nodes with the citation keys people expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

from arbiter_rag import Candidate, InputError, ParsedDocument, RetrievedCandidate

Source = str | Path | ParsedDocument
Sources = Source | Sequence[Source]
"""A PDF's path, a parsed document, or several of either."""


def opened(sources: Sources, cache_dir: str | Path | None = None) -> tuple[ParsedDocument, ...]:
    """Parsed documents, each once.

    Raises:
        InputError: There is none.
        DocumentError: A path cannot be opened as a PDF.
    """
    given = [sources] if isinstance(sources, str | Path | ParsedDocument) else list(sources)
    if not given:
        raise InputError("At least one document was expected, none came.")
    parsed = [s if isinstance(s, ParsedDocument) else ParsedDocument.from_pdf(s, cache_dir=cache_dir) for s in given]
    return tuple({d.doc_id: d for d in parsed}.values())


def node_of(candidate: Candidate | RetrievedCandidate, documents: Sequence[ParsedDocument]) -> TextNode:
    """A candidate's context as a node.

    Visible metadata: `file_name`, `page_label` and `section`. The id is the same for the same lines, whoever asks.
    """
    names = {d.doc_id: d.ref.name for d in documents}
    doc_id = candidate.doc_id or ""
    shown: Mapping[str, Any] = {
        "file_name": names.get(doc_id, doc_id),
        "page_label": candidate.page_label,
        "section": candidate.breadcrumb or candidate.section_title,
    }
    return TextNode(
        id_=_id(candidate),
        text=candidate.text,
        metadata={key: value for key, value in shown.items() if value},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id)},
    )


def _id(candidate: Candidate | RetrievedCandidate) -> str:
    """`<document>/p3-l1-p4-l20`: the lines of the text."""
    c = candidate.context
    if c is None:
        return f"{candidate.doc_id}/{candidate.candidate_id}"
    return f"{c.doc_id}/p{c.page_start}-l{c.line_start}-p{c.page_end}-l{c.line_end}"
