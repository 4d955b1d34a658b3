"""LangChain documents in, passages to judge; verdicts out, copies of the documents: nobody's own is touched."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.documents import Document

from arbiter_rag import Passage, RetrievalResult, RetrievedCandidate
from arbiter_rag.contract import metadata_of
from arbiter_rag.fusion import reciprocal_rank_fusion

_SCORES = ("relevance_score", "score")
_SECTIONS = ("breadcrumb", "section")


@dataclass(slots=True)
class _Entry:
    """One document, whoever proposed it."""

    document: Document
    methods: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages to judge in incoming order (fused, when several retrievers propose), and the document behind each."""

    passages: tuple[Passage, ...]
    documents: Mapping[str, Document]


def pool_of(lists: Mapping[str, Sequence[Document]]) -> Pool:
    """Documents by the retriever that proposed them, each once.

    One document is: the same id and text; or, where either has no id, the same text and metadata (scores aside).
    """
    entries: list[_Entry] = []
    by_id: dict[tuple[str, str], int] = {}
    by_text: dict[tuple[str, str], int] = {}
    rankings: list[list[int]] = []
    for method, documents in lists.items():
        ranking: dict[int, None] = {}
        for document in documents:
            at = _place(document, entries, by_id, by_text)
            entries[at].methods[method] = None
            ranking[at] = None
        rankings.append(list(ranking))
    order = [at for at, _ in reciprocal_rank_fusion(rankings)]
    ids = _ids([entries[at].document for at in order])
    passages = tuple(_passage(i, entries[at]) for i, at in zip(ids, order, strict=True))
    return Pool(passages, {i: entries[at].document for i, at in zip(ids, order, strict=True)})


def emitted_copies(pool: Pool, result: RetrievalResult, candidates: Iterable[RetrievedCandidate]) -> list[Document]:
    """The candidates' documents as copies with `arbiter_*` and `relevance_score` added."""
    copies: list[Document] = []
    for candidate in candidates:
        document = pool.documents[str(candidate.original_id)]
        metadata = {**_copied(document.metadata), **verdict(candidate, result)}
        copies.append(document.model_copy(update={"metadata": metadata}))
    return copies


def verdict(candidate: RetrievedCandidate, result: RetrievalResult) -> dict[str, Any]:
    """What judged documents carry."""
    return {**metadata_of(candidate, result), "relevance_score": candidate.score}


def _place(
    document: Document,
    entries: list[_Entry],
    by_id: dict[tuple[str, str], int],
    by_text: dict[tuple[str, str], int],
) -> int:
    text = document.page_content
    key = (text, _plain(document.metadata))
    at = by_id.get((document.id, text)) if document.id else None
    if at is None:
        twin = by_text.get(key)
        if twin is not None and not (document.id and entries[twin].document.id):
            at = twin
    if at is None:
        at = len(entries)
        entries.append(_Entry(document))
    elif document.id and not entries[at].document.id:
        entries[at].document = document
    if document.id:
        by_id.setdefault((document.id, text), at)
    by_text.setdefault(key, at)
    return at


def _plain(metadata: Mapping[str, Any]) -> str:
    kept = {k: v for k, v in metadata.items() if k not in _SCORES and not str(k).startswith("arbiter_")}
    return repr(sorted(kept.items(), key=lambda item: str(item[0])))


def _ids(documents: Sequence[Document]) -> list[str]:
    """The documents' own ids; where one is missing or names two texts, an id of our own."""
    taken = {d.id for d in documents if d.id}
    used: set[str] = set()
    ids: list[str] = []
    for n, document in enumerate(documents, 1):
        own = document.id or f"document-{n}"
        while own in used or (own in taken and own != document.id):
            own = f"{own}'"
        used.add(own)
        ids.append(own)
    return ids


def _passage(passage_id: str, entry: _Entry) -> Passage:
    metadata = entry.document.metadata
    label, source = metadata.get("page_label"), metadata.get("source")
    return Passage(
        id=passage_id,
        text=entry.document.page_content,
        doc_id=source if isinstance(source, str) else None,
        page=_page(metadata),
        page_label=label if isinstance(label, str) else None,
        section=_section(metadata),
        methods=tuple(entry.methods),
        score=next((s for name in _SCORES if (s := _number(metadata.get(name))) is not None), None),
    )


def _page(metadata: Mapping[str, Any]) -> int | None:
    """1-based page: LangChain's loaders write `page` 0-based; `page_number` is what 1-based ones write."""
    page, number = metadata.get("page"), metadata.get("page_number")
    if isinstance(page, int) and not isinstance(page, bool) and page >= 0:
        return page + 1
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 1 else None


def _section(metadata: Mapping[str, Any]) -> str | None:
    """A heading as our loader or LangChain's header splitters write it."""
    for name in _SECTIONS:
        value = metadata.get(name)
        if isinstance(value, str) and value:
            return value
    headers = [metadata.get(f"Header {level}") for level in range(1, 7)]
    return " > ".join(h for h in headers if isinstance(h, str) and h) or None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _copied(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata whose containers are nobody else's; what cannot be copied (a client, a lock) is shared."""
    copied: dict[str, Any] = {}
    for key, value in metadata.items():
        try:
            copied[key] = copy.deepcopy(value)
        except Exception:  # noqa: BLE001  # objects refuse in ways of their own
            copied[key] = value
    return copied
