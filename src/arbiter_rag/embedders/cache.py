"""Vectors on disk, by model name and text hash: any embedder asked once for a text and not again."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.errors import EmbeddingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

_CHUNK = 500  # keys a query: below SQLite's limit of variables in every build
_CHECK = 8
_WAIT_SECONDS = 10.0
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class CachedEmbedder:
    """An embedder that keeps its vectors in `cache_dir`, for questions and passages alike.

    One SQLite file a model name, safe with several processes and threads. Each vector carries a checksum over its key
    and bytes: what is damaged counts as absent and is computed anew. A cache that cannot be used (full, read-only)
    costs time and a warning, never an answer. Texts themselves are not stored, only their SHA-256.

    Args:
        embedder: The embedder; its `name` must change when its vectors do.
        cache_dir: Folder for the files; made with access for its owner only.
    """

    def __init__(self, embedder: Embedder, cache_dir: str | os.PathLike[str]) -> None:
        self._embedder = embedder
        folder = Path(cache_dir) / "vectors"
        digest = hashlib.sha256(embedder.name.encode("utf-8", "replace")).hexdigest()[:16]
        self.path = folder / f"{digest}.sqlite"

    @property
    def name(self) -> str:
        """The embedder's own name: vectors from the cache are its vectors."""
        return self._embedder.name

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Vectors of texts: from the file where it has them, else from the embedder."""
        lookup = _Lookup(self.path, texts, query)
        for missing in lookup.missing():
            lookup.add(missing, self._embedder.embed([texts[at] for at in missing], query=query))
        if lookup.mixed:
            places = lookup.start_over()
            lookup.add(places, self._embedder.embed([texts[at] for at in places], query=query))
        return lookup.result()

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As `embed`; the file is read and written in a thread."""
        lookup = await asyncio.to_thread(_Lookup, self.path, texts, query)
        for missing in lookup.missing():
            vectors = await self._embedder.aembed([texts[at] for at in missing], query=query)
            await asyncio.to_thread(lookup.add, missing, vectors)
        if lookup.mixed:
            places = lookup.start_over()
            vectors = await self._embedder.aembed([texts[at] for at in places], query=query)
            await asyncio.to_thread(lookup.add, places, vectors)
        return lookup.result()


class _Lookup:
    """One call's texts: which vectors the file has, which are still to come; filled into one array."""

    def __init__(self, path: Path, texts: Sequence[str], query: bool) -> None:
        self._path = path
        self._places: dict[bytes, list[int]] = {}
        for at, text in enumerate(texts):
            self._places.setdefault(_key(text, query), []).append(at)
        self._key_at = {where[0]: key for key, where in self._places.items()}
        self._size = len(texts)
        self._result: NDArray[np.float32] | None = None
        self._done: set[bytes] = set()
        self.mixed = False
        for key, vector in _read(path, list(self._places)):
            self._fill(key, vector)

    def missing(self) -> Iterator[list[int]]:
        """Places of texts without a vector, one a distinct text, in chunks so that an interruption loses little."""
        places = [at for at, key in self._key_at.items() if key not in self._done]
        for at in range(0, len(places), _CHUNK):
            yield places[at : at + _CHUNK]

    def add(self, places: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Take in and store the vectors of the texts at these places."""
        if len(vectors) != len(places):
            raise EmbeddingError(f"The embedder gave {len(vectors)} vectors for {len(places)} texts.", kind="unusable")
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        new = [(self._key_at[at], row) for at, row in zip(places, rows, strict=True)]
        for key, row in new:
            self._fill(key, row)
        _write(self._path, new)

    def start_over(self) -> list[int]:
        """Forget all vectors, since some are of another length: the model behind the name has changed."""
        self._result, self.mixed = None, False
        self._done.clear()
        return list(self._key_at)

    def result(self) -> NDArray[np.float32]:
        """The vectors in the order of the texts."""
        if self.mixed:
            raise EmbeddingError("The embedder gives vectors of different lengths under one name.", kind="unusable")
        return np.zeros((0, 0), dtype=np.float32) if self._result is None else self._result

    def _fill(self, key: bytes, vector: NDArray[np.float32]) -> None:
        if self._result is None:
            self._result = np.zeros((self._size, vector.shape[0]), dtype=np.float32)
        if vector.shape[0] != self._result.shape[1]:
            self.mixed = True
            return
        self._result[self._places[key]] = vector
        self._done.add(key)


def _key(text: str, query: bool) -> bytes:
    kind = b"q" if query else b"p"
    return hashlib.sha256(kind + text.encode("utf-8", "surrogatepass")).digest()


def _packed(key: bytes, vector: NDArray[np.float32]) -> bytes:
    data = vector.astype("<f4").tobytes()
    return hashlib.blake2b(key + data, digest_size=_CHECK).digest() + data


def _unpacked(key: bytes, blob: object) -> NDArray[np.float32] | None:
    if not isinstance(blob, bytes) or len(blob) <= _CHECK or len(blob) % 4:
        return None
    if hashlib.blake2b(key + blob[_CHECK:], digest_size=_CHECK).digest() != blob[:_CHECK]:
        return None
    return np.frombuffer(blob, dtype="<f4", offset=_CHECK).astype(np.float32, copy=False)


def _read(path: Path, keys: list[bytes]) -> Iterator[tuple[bytes, NDArray[np.float32]]]:
    """Those of the keys that the file holds intact, with their vectors."""
    if not path.exists():
        return
    try:
        with closing(_opened(path)) as connection:
            for at in range(0, len(keys), _CHUNK):
                some = keys[at : at + _CHUNK]
                marks = ",".join("?" * len(some))
                for key, blob in connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some):
                    vector = _unpacked(key, blob)
                    if vector is not None:
                        yield key, vector
    except (sqlite3.Error, OSError) as error:
        _unusable(path, error)


def _write(path: Path, new: Sequence[tuple[bytes, NDArray[np.float32]]]) -> None:
    rows = [(key, _packed(key, vector)) for key, vector in new]
    for again in (True, False):
        try:
            with closing(_opened(path)) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            return
        except (sqlite3.Error, OSError) as error:
            # A damaged file has been moved away: the second try begins a new one.
            if not (_unusable(path, error) and again):
                return


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite gives its side files the main file's mode, so the main file must be private before SQLite sees it.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


def _unusable(path: Path, error: Exception) -> bool:
    """Report a cache that cannot be used; True when it was damaged and has been moved out of the way."""
    damaged = type(error) is sqlite3.DatabaseError
    log.warning("The vector cache %s cannot be used (%s); vectors are computed anew.", path, error)
    if not damaged:
        return False
    try:
        os.replace(path, path.with_suffix(".damaged"))
        for side in ("-wal", "-shm"):
            path.with_name(path.name + side).unlink(missing_ok=True)
    except OSError:
        return False
    return True
