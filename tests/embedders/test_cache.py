"""The vector cache: asked once, safe with several processes, damaged files recomputed."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sqlite3
import stat
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from arbiter_rag.detectors.base import Embedder
from arbiter_rag.embedders.cache import CachedEmbedder
from arbiter_rag.errors import EmbeddingError
from arbiter_rag.testing import HashEmbedder

TEXTS = ["one text", "another text", "one text", "", "bad \ud800"]


def test_second_time_from_disk(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    assert isinstance(cached, Embedder)
    assert cached.name == inner.name
    first = cached.embed(TEXTS)
    assert inner.texts_embedded == 4  # the repeated one once
    again = CachedEmbedder(inner, tmp_path).embed(TEXTS[::-1])
    assert inner.texts_embedded == 4
    np.testing.assert_array_equal(first, HashEmbedder().embed(TEXTS))
    np.testing.assert_array_equal(again, first[::-1])
    assert first.dtype == np.float32
    assert again.flags.writeable


async def test_async_likewise(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    np.testing.assert_array_equal(await cached.aembed(TEXTS), cached.embed(TEXTS))
    assert inner.texts_embedded == 4


def test_questions_and_passages_are_kept_apart(tmp_path: Path) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    cached.embed(["text"])
    cached.embed(["text"], query=True)
    cached.embed(["text"], query=True)
    assert inner.texts_embedded == 2


def test_models_are_kept_apart(tmp_path: Path) -> None:
    assert CachedEmbedder(HashEmbedder(8), tmp_path).embed(["a"]).shape == (1, 8)
    assert CachedEmbedder(HashEmbedder(16), tmp_path).embed(["a"]).shape == (1, 16)


def test_no_texts(tmp_path: Path) -> None:
    assert CachedEmbedder(HashEmbedder(), tmp_path).embed([]).shape == (0, 0)
    assert not list(tmp_path.iterdir())


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashEmbedder(), tmp_path / "made")
    cached.embed(TEXTS)
    with closing(sqlite3.connect(cached.path)) as connection:
        connection.execute("SELECT count(*) FROM vectors").fetchone()
        for file in cached.path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cached.path.parent.stat().st_mode) == 0o700
    assert not any(text.encode() in cached.path.read_bytes() for text in TEXTS[:2])


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough " * 99, b"SQLite format 3\0"])
def test_a_damaged_file_is_recomputed(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, tmp_path)
    cached.path.parent.mkdir(parents=True)
    cached.path.write_bytes(content)
    expected = HashEmbedder().embed(TEXTS)
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(cached.embed(TEXTS), expected)
    np.testing.assert_array_equal(cached.embed(TEXTS), expected)
    assert inner.texts_embedded == 4  # and the new file serves


def test_every_flipped_byte_is_survived(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashEmbedder(8), tmp_path)
    expected = cached.embed(TEXTS)
    with closing(sqlite3.connect(cached.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = cached.path.read_bytes()
    for at in range(0, len(whole), 37):
        cached.path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        np.testing.assert_array_equal(cached.embed(TEXTS), expected)


def test_a_cache_that_cannot_be_written_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cached = CachedEmbedder(HashEmbedder(), tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        assert cached.embed(TEXTS).shape == (5, 256)
    assert "cannot be used" in caplog.text


class _Changing:
    """A model that changes behind its name."""

    name = "changing"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return HashEmbedder(self.dimensions).embed(texts)

    async def aembed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return self.embed(texts)


async def test_a_model_that_changed_behind_its_name(tmp_path: Path) -> None:
    CachedEmbedder(_Changing(8), tmp_path).embed(TEXTS[:2])
    assert CachedEmbedder(_Changing(16), tmp_path).embed(TEXTS).shape == (5, 16)
    assert (await CachedEmbedder(_Changing(8), tmp_path).aembed([*TEXTS, "new"])).shape == (6, 8)


def test_an_embedder_that_miscounts(tmp_path: Path) -> None:
    class Short(_Changing):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
            return super().embed(texts)[:-1]

    with pytest.raises(EmbeddingError, match="vectors for"):
        CachedEmbedder(Short(8), tmp_path).embed(TEXTS)


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashEmbedder(), tmp_path)
    wrong: list[int] = []

    def run(number: int) -> None:
        texts = [f"text {n % 40}" for n in range(number, number + 60)]
        if not np.array_equal(cached.embed(texts), HashEmbedder().embed(texts)):
            wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def _fill(folder: str, start: int) -> None:
    cached = CachedEmbedder(HashEmbedder(32), folder)
    for at in range(start, start + 30):
        texts = [f"text {at}", f"text {at + 1}"]
        if not np.array_equal(cached.embed(texts), HashEmbedder(32).embed(texts)):
            os._exit(1)


def test_processes_share_one_cache(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(str(tmp_path), start)) for start in (0, 10, 20)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    inner = HashEmbedder(32)
    CachedEmbedder(inner, tmp_path).embed([f"text {n}" for n in range(51)])
    assert inner.texts_embedded == 0
