"""Every built-in store keeps the contract."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from trimtab._json import blob_id
from trimtab.blobs.files import FileStore
from trimtab.blobs.memory import MemoryStore
from trimtab.blobs.sqlite import SqliteStore
from trimtab.testing import StoreContract
from trimtab.testing.texts import by_id
from trimtab.types import BlobStore


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class TestMemoryStore(StoreContract):
    """In this process."""

    def make_store(self, tmp_path: Path) -> BlobStore:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    """In one SQLite file."""

    def make_store(self, tmp_path: Path) -> BlobStore:
        self.path = str(tmp_path / "texts.db")
        return SqliteStore(self.path)

    def reopen(self, store: BlobStore) -> BlobStore:
        return SqliteStore(self.path)


class TestFileStore(StoreContract):
    """In a folder."""

    def make_store(self, tmp_path: Path) -> BlobStore:
        self.path = str(tmp_path / "texts")
        return FileStore(self.path)

    def reopen(self, store: BlobStore) -> BlobStore:
        return FileStore(self.path)


def _memory(tmp_path: Path, clock: Clock) -> BlobStore:
    return MemoryStore(clock=clock)


def _sqlite(tmp_path: Path, clock: Clock) -> BlobStore:
    return SqliteStore(str(tmp_path / "texts.db"), clock=clock)


def _files(tmp_path: Path, clock: Clock) -> BlobStore:
    return FileStore(str(tmp_path / "texts"), clock=clock)


every_store = pytest.mark.parametrize("make", [_memory, _sqlite, _files])


@every_store
def test_grace_is_counted_from_the_last_put_or_hold(tmp_path: Path, make: Callable[[Path, Clock], BlobStore]) -> None:
    """A blob that nobody holds goes `grace` seconds after it was last put or held, and no second earlier."""
    clock = Clock()
    store = make(tmp_path, clock)
    (one,) = by_id("one")
    for touch in (partial(store.put, by_id("one"), owner="a"), partial(store.hold, "a", [one])):
        touch()
        store.release("a")
        clock.now += 9
        assert store.collect(10).blobs == 0
    clock.now += 1
    assert store.collect(10).blobs == 1
    store.close()


@every_store
def test_empty_names_keep_texts_apart(tmp_path: Path, make: Callable[[Path, Clock], BlobStore]) -> None:
    """Texts are named by what they say: calls without an id, or with the same one, do not share a file."""
    store = make(tmp_path, Clock())
    for text, owner in (("first", ""), ("second", ""), ("third", "s1"), ("fourth", "s2")):
        store.put(by_id(text), owner=owner)
    every = by_id("first", "second", "third", "fourth")
    assert {blob_id: store.get(blob_id) for blob_id in every} == every
    assert store.held("", every) == set(by_id("first", "second"))
    assert store.held("s1", every) == set(by_id("third"))
    store.close()


@every_store
def test_a_surrogate_has_one_id(tmp_path: Path, make: Callable[[Path, Clock], BlobStore]) -> None:
    """A lone surrogate is stored as it is, under the id that the same text has everywhere."""
    store = make(tmp_path, Clock())
    text = "cost \udcff each \ud83d"
    store.put({blob_id(text): text}, owner="a")
    assert store.get(blob_id(text)) == text
    assert store.size(blob_id(text)).bytes == len(text) - 2 + 2 * 3
    store.close()


@every_store
def test_a_blank_line_at_a_page_edge(tmp_path: Path, make: Callable[[Path, Clock], BlobStore]) -> None:
    """An empty line is a line, also where a page begins or ends."""
    store = make(tmp_path, Clock())
    text = "first\n\n\nlast\n"
    store.put(by_id(text), owner="a")
    (one,) = by_id(text)
    assert [store.lines(one, n, n + 1) for n in (1, 2, 3, 4, 5)] == ["first\n\n", "\n\n", "\nlast\n", "last\n", ""]
    assert [store.line_start(one, n) for n in (1, 2, 3, 4, 5)] == [1, 7, 8, 9, 14]
    store.close()
