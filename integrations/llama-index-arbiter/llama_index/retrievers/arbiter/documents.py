"""Documents opened for retrieval, and candidates of a document as nodes with the citation keys people expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

from arbiter_rag import Candidate, InputError, ParsedDocument, RetrievedCandidate

Source = str | Path | bytes | BinaryIO | ParsedDocument
Sources = Source | Sequence[Source]
"""A PDF (path, bytes, or a file opened in binary mode), a parsed document, or several of either."""

_SHOWN = ("file_name", "page_label", "section")
"""Where a match landed; of one text, two detectors may name different pages."""


class SectionNode(TextNode):
    """Lines of a document; for every fusion the same node, whichever detectors found it.

    The framework's fusion knows nodes by `hash`, which takes in all metadata: what a detector says of its own finding
    would keep two that agree apart.
    """

    @property
    def hash(self) -> str:
        """Of the lines, which the id names, their text, and what metadata others added."""
        added = {k: v for k, v in self.metadata.items() if k not in _SHOWN and not k.startswith("arbiter_")}
        identity = repr((self.node_id, self.text, sorted(added.items(), key=lambda item: item[0])))
        return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def opened(sources: Sources, cache_dir: str | Path | None = None) -> tuple[ParsedDocument, ...]:
    """Parsed documents, each once.

    Raises:
        InputError: There is none, or it is nothing that can be read.
        DocumentError: A path cannot be opened as a PDF.
    """
    given: list[Any] = list(sources) if isinstance(sources, list | tuple) else [sources]
    if not given:
        raise InputError("At least one document was expected, none came.")
    for source in given:
        if not isinstance(source, str | Path | bytes | ParsedDocument) and not hasattr(source, "read"):
            kind = type(source).__name__
            raise InputError(f"A PDF's path, a ParsedDocument, or a list of them was expected; got {kind}.")
    parsed = [s if isinstance(s, ParsedDocument) else ParsedDocument.from_pdf(s, cache_dir=cache_dir) for s in given]
    return tuple({d.doc_id: d for d in parsed}.values())


def node_of(candidate: Candidate | RetrievedCandidate, documents: Sequence[ParsedDocument]) -> SectionNode:
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
    return SectionNode(  # extra_info: by this alias type checkers know `metadata` in a subclass
        id_=_id(candidate),
        text=candidate.text,
        extra_info={key: value for key, value in shown.items() if value},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id)},
    )


def _id(candidate: Candidate | RetrievedCandidate) -> str:
    """`<document>/p3-l1-p4-l20`: the lines of the text."""
    c = candidate.context
    if c is None:
        return f"{candidate.doc_id}/{candidate.candidate_id}"
    return f"{c.doc_id}/p{c.page_start}-l{c.line_start}-p{c.page_end}-l{c.line_end}"
