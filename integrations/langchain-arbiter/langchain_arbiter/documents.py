"""LangChain documents in, passages to judge; verdicts out, copies of the documents: nobody's own is touched."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.documents import Document

from arbiter_rag import Passage, RetrievalResult, RetrievedCandidate
from arbiter_rag.contract import metadata_of
from arbiter_rag.fusion import reciprocal_rank_fusion
from langchain_arbiter.places import place_of

_SCORES = ("relevance_score", "score")
_STORES_OWN = ("_id", "_collection_name", "pk")
"""What Qdrant and Milvus add to a document's metadata: it says where a copy is kept, not what it is."""

_UNJUDGED = 0.25
"""Upper end of the scores of what nobody judged."""


@dataclass(slots=True)
class _Entry:
    """One document, whoever proposed it."""

    document: Document
    methods: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """What is up for judgement, and the document behind each passage.

    Attributes:
        passages: Texts to judge in incoming order (fused, when several retrievers propose).
        unseen: Documents without text: no judge can see them, so none may reject them. They come out behind the
            judged ones as `unjudged`.
        documents: By passage id, the unseen ones too.
    """

    passages: tuple[Passage, ...]
    unseen: tuple[Passage, ...]
    documents: Mapping[str, Document]

    def complete(self, result: RetrievalResult) -> RetrievalResult:
        """The result with the unseen documents accounted for: unjudged, so that nothing is "not found"."""
        if not self.unseen:
            return result
        before = len(result.candidates) + len(result.unjudged)
        lowest = min((c.score for c in result.unjudged), default=_UNJUDGED)
        step = lowest / (len(self.unseen) + 1)
        behind = tuple(
            _unseen(f"n{len(self.passages) + n}", passage, rank=before + n, score=lowest - n * step)
            for n, passage in enumerate(self.unseen, 1)
        )
        return result.model_copy(
            update={
                "unjudged": (*result.unjudged, *behind),
                "not_found": False,
                "not_found_reason": None,
                "status": "partial" if result.status == "ok" else result.status,
            }
        )


def pool_of(lists: Mapping[str, Sequence[Document]]) -> Pool:
    """Documents by the retriever that proposed them (no name for "as the documents say"), each once.

    One document is: the same text and id, or the same text and metadata (scores and `arbiter_*` aside), for stores
    give ids of their own. The first that has an id stands for all.
    """
    twins = _Twins(document for documents in lists.values() for document in documents)
    entries: dict[_Key, _Entry] = {}
    rankings: list[list[_Key]] = []
    for method, documents in lists.items():
        ranking: dict[_Key, None] = {}
        for document in documents:
            key = twins.of(document)
            entry = entries.setdefault(key, _Entry(document))
            if document.id and not entry.document.id:
                entry.document = document
            entry.methods.update(dict.fromkeys([method] if method else _methods(document.metadata)))
            ranking[key] = None
        rankings.append(list(ranking))
    ordered = [entries[key] for key, _ in reciprocal_rank_fusion(rankings)]
    ids = _ids([entry.document for entry in ordered])
    passages = [_passage(i, entry) for i, entry in zip(ids, ordered, strict=True)]
    return Pool(
        tuple(p for p in passages if _visible(p.text)),
        tuple(p for p in passages if not _visible(p.text)),
        {i: entry.document for i, entry in zip(ids, ordered, strict=True)},
    )


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


_Key = tuple[str, str, str]


class _Twins:
    """Which documents are one: linked by what they share, also over a third that shares something with both."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._links: dict[_Key, _Key] = {}
        for document in documents:
            if document.id:
                self._links[self._root(("id", document.id, document.page_content))] = self.of(document)

    def of(self, document: Document) -> _Key:
        """One key for all that are this document."""
        return self._root(("metadata", _plain(document.metadata), document.page_content))

    def _root(self, key: _Key) -> _Key:
        while (link := self._links.get(key, key)) != key:
            key = link
        return key


def _plain(metadata: Mapping[str, Any]) -> str:
    aside = (*_SCORES, *_STORES_OWN)
    kept = {k: v for k, v in metadata.items() if k not in aside and not str(k).startswith("arbiter_")}
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
    place = place_of(metadata)
    return Passage(
        id=passage_id,
        text=entry.document.page_content,
        doc_id=place.document,
        page=place.page,
        page_label=place.label,
        section=place.section,
        methods=tuple(entry.methods),
        score=next((s for name in _SCORES if (s := _number(metadata.get(name))) is not None), None),
    )


def _unseen(candidate_id: str, passage: Passage, *, rank: int, score: float) -> RetrievedCandidate:
    return RetrievedCandidate(
        candidate_id=candidate_id,
        doc_id=passage.doc_id,
        page=passage.page,
        page_label=passage.page_label,
        section_title=passage.section,
        methods=passage.methods,
        role="unjudged",
        reason="a document without text, which no judge can see",
        rank=rank,
        score=score,
        original_id=passage.id,
        original_score=passage.score,
    )


def _visible(text: str) -> bool:
    """Whether there is anything to read: white space, and characters that only format or control, are nothing."""
    return any(not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf") for c in text)


def _methods(metadata: Mapping[str, Any]) -> list[str]:
    """Who proposed a document, where a retriever of Arbiter's wrote it down; else all known is "a retriever"."""
    found = metadata.get("arbiter_methods")
    names = [m for m in found if isinstance(m, str)] if isinstance(found, list | tuple) else []
    return names or ["retriever"]


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
