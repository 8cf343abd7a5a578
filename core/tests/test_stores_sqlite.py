"""What the SQLite store keeps beyond the contract: foreign files, locks, damage, forks, space."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab._json import blob_id
from trimtab.blobs.sqlite import SqliteStore
from trimtab.errors import DamagedBlob, StoreError, StoreUnavailable
from trimtab.testing.texts import by_id
from trimtab.types import ALL

# Many chunks that are unlike one another.
_LONG = "".join(f"line {n}: {n * n}\n" for n in range(60_000))
_ID = blob_id(_LONG)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the store is, before there is one."""
    return str(tmp_path / "texts.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    """A store that waits for locks hardly at all."""
    store = SqliteStore(path, timeout=0.1)
    yield store
    store.close()


def _change(path: str, *statements: str) -> None:
    """Alter the file behind the store's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


# Files that are not ours.


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("CREATE TABLE blob (x)", "another program"),
        ("PRAGMA application_id = 7", "another program"),
        ("PRAGMA user_version = 7", "another program"),
    ],
)
def test_the_database_of_another_program_is_left_alone(path: str, statement: str, says: str) -> None:
    """A file with tables or marks of others is refused, and not a byte of it changes."""
    _change(path, statement)
    before = Path(path).read_bytes()
    with pytest.raises(StoreUnavailable, match=says):
        SqliteStore(path)
    assert Path(path).read_bytes() == before


def test_a_newer_schema_is_refused(path: str) -> None:
    """A store of a later release says which schema it has, and is not touched."""
    SqliteStore(path).close()
    _change(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match="schema 99"):
        SqliteStore(path)


def test_the_file_says_whose_it_is(path: str, store: SqliteStore) -> None:
    """The file carries trimtab's application id and the schema's version, and keeps a write-ahead log."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"trmt"),)
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as one" * 20, b"a short note"])
def test_a_file_that_is_no_database(path: str, content: bytes) -> None:
    """Any other file is `StoreUnavailable`, and stays as it was."""
    Path(path).write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"not an SQLite database|another program"):
        SqliteStore(path)
    assert Path(path).read_bytes() == content


def test_an_empty_file_becomes_a_store(path: str) -> None:
    """What `tempfile` or a killed process leaves is as good as no file."""
    Path(path).touch()
    with closing(SqliteStore(path)) as store:
        store.put(by_id("one"), owner="a")
        assert store.get(blob_id("one")) == "one"


# Locks, full disks, files that vanish: nothing is written.


def test_a_lock_that_is_not_let_go_of(path: str, store: SqliteStore) -> None:
    """After the timeout a put is `StoreUnavailable`; reading goes on; when the lock is gone, so does writing."""
    store.put(by_id("one"), owner="a")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            store.put(by_id("two"), owner="a")
        assert store.get(blob_id("one")) == "one"
        other.execute("ROLLBACK")
    assert not store.has(blob_id("two"))
    store.put(by_id("two"), owner="a")
    assert store.get(blob_id("two")) == "two"


def test_a_full_database_takes_nothing_of_a_put(store: SqliteStore) -> None:
    """When the second text does not fit, the first is not stored and the owner holds nothing."""
    pages = 40
    store._database.read(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())
    noise = "".join(chr(33 + byte % 90) for byte in os.urandom(pages * 4096 * 2))
    with pytest.raises(StoreUnavailable, match="full"):
        store.put(by_id("small", noise), owner="a")
    assert list(store.ids()) == []
    assert store.stats().owners == 0
    assert list(store.verify()) == []


def test_a_read_only_file(path: str, store: SqliteStore) -> None:
    """A store that may only be read says so when something is put, and can be read."""
    store.put(by_id("one"), owner="a")
    store._database.read(lambda db: db.execute("PRAGMA query_only = 1").fetchall())
    with pytest.raises(StoreUnavailable, match="may not be written"):
        store.put(by_id("two"), owner="a")
    assert store.get(blob_id("one")) == "one"


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_a_file_deleted_under_the_store(path: str, store: SqliteStore) -> None:
    """What is put into a deleted or replaced file would be gone: the store says so instead."""
    store.put(by_id("one"), owner="a")
    os.rename(path, f"{path}.away")
    with pytest.raises(StoreUnavailable, match="gone"):
        store.put(by_id("two"), owner="a")
    Path(path).touch()
    with pytest.raises(StoreUnavailable, match="replaced"):
        store.put(by_id("two"), owner="a")


def test_a_closed_store(store: SqliteStore) -> None:
    """A store that was closed says so."""
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.put(by_id("one"), owner="a")


# Damage is never served.

_DAMAGE = {
    "a frame is gone": "DELETE FROM piece WHERE key = (SELECT max(key) FROM piece)",
    "frames changed places": (
        "UPDATE piece SET frame = (SELECT frame FROM piece ORDER BY key LIMIT 1)"
        " WHERE key = (SELECT key FROM piece ORDER BY key LIMIT 1 OFFSET 1)"
    ),
    "a frame is cut": "UPDATE piece SET frame = substr(frame, 1, length(frame) - 1)",
    "a frame is text": "UPDATE piece SET frame = 'text'",
    "the head is cut": "UPDATE blob SET head = substr(head, 1, 40)",
    "the head is empty": "UPDATE blob SET head = x''",
    "the head is another's": "UPDATE blob SET id = '0123456789abcdef0123456789abcdef'",
}


@pytest.mark.parametrize("statement", _DAMAGE.values(), ids=_DAMAGE)
def test_damage_is_found_and_mended_by_a_put(path: str, store: SqliteStore, statement: str) -> None:
    """An altered row is `DamagedBlob`, is told by `verify`, and is right again once the text is put."""
    store.put(by_id(_LONG), owner="a")
    _change(path, statement)
    (named,) = store.ids()
    with pytest.raises(DamagedBlob) as caught:
        store.get(named)
    assert caught.value.blob_id == named
    assert [fault.place for fault in store.verify()] == [f"blob {named}"]
    store.put(by_id(_LONG), owner="a")
    assert store.get(_ID) == _LONG
    assert store.held("a", [_ID]) == {_ID}


def test_a_hold_of_what_is_not_there_is_told(path: str, store: SqliteStore) -> None:
    """`verify` tells of holds whose text was deleted behind the store's back."""
    store.put(by_id("one"), owner="a")
    _change(path, "DELETE FROM blob")
    assert [fault.what for fault in store.verify()] == ["1 holds name texts that are not here"]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_no_wrong_text_from_a_damaged_file(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes of the file are overwritten or cut off, a text comes back right or as a `StoreError`."""
    path = str(tmp_path_factory.mktemp("damage") / "texts.db")
    texts = by_id("one", "two\n" * 3_000, "".join(f"{n * n}" for n in range(9_000)))
    with closing(SqliteStore(path)) as store:
        store.put(texts, owner="a")
    content = bytearray(Path(path).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + 8] = data.draw(st.binary(min_size=1, max_size=8))
    Path(path).write_bytes(content[: data.draw(st.sampled_from([None, len(content) // 2]))])
    try:
        store = SqliteStore(path, timeout=0.1)
    except StoreUnavailable:
        return
    for name, text in texts.items():
        with suppress(StoreError):
            assert store.get(name) == text
        with suppress(StoreError):
            assert store.slice(name, 2, 5) == text[1:5]
    assert all(fault.what for fault in store.verify())
    for ask in (
        partial(store.held, "a", texts),
        partial(store.find, ALL, texts),
        store.stats,
        partial(store.collect, 0),
    ):
        with suppress(StoreError):
            ask()
    with suppress(StoreError):
        store.put(by_id("new"), owner="b")
        assert store.get(blob_id("new")) == "new"
    store.close()


def test_a_page_reads_only_what_it_touches(path: str, store: SqliteStore) -> None:
    """A page of a long text comes from one frame: it is served though all others are gone."""
    store.put(by_id(_LONG), owner="a")
    middle = "line 30000: 900000000\n"
    at = _LONG.index(middle) + 1
    with closing(sqlite3.connect(path)) as db:
        frames = [key for (key,) in db.execute("SELECT key FROM piece ORDER BY key")]
    n = at // 128_000
    _change(path, f"DELETE FROM piece WHERE key != {frames[n]}")
    assert len(frames) > 5
    assert store.lines(_ID, 30_001, 30_001) == store.slice(_ID, at, at + len(middle) - 1) == middle
    assert store.line_at(_ID, at) == 30_001
    assert store.size(_ID).chars == len(_LONG)
    with pytest.raises(DamagedBlob):
        store.get(_ID)


# Space, forks.


def test_collecting_gives_space_back(path: str, store: SqliteStore) -> None:
    """After a collection the file is as small as before."""
    store.put(by_id("kept"), owner="a")
    noise = "".join(chr(33 + byte % 90) for byte in os.urandom(2_000_000))
    store.put(by_id(noise), owner="b")
    store.release("b")
    assert store.collect(0).blobs == 1
    store.close()
    assert os.path.getsize(path) < 100_000


def test_a_clock_that_is_behind_takes_no_grace_away(path: str) -> None:
    """When two processes' clocks differ, a blob keeps the later time."""
    with (
        closing(SqliteStore(path, clock=lambda: 1_000.0)) as ahead,
        closing(SqliteStore(path, clock=lambda: 10.0)) as behind,
    ):
        ahead.put(by_id("one"), owner="a")
        behind.put(by_id("one"), owner="a")
        ahead.release("a")
        assert ahead.collect(100).blobs == 0
        assert ahead.collect(0).blobs == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_both_sides_of_a_fork(path: str, store: SqliteStore) -> None:
    """Parent and child go on with the store; what the child puts after the parent has closed it is not lost."""
    store.put(by_id("before"), owner="a")
    (to_child, from_parent), (to_parent, from_child) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            store.put(by_id("child, first"), owner="b")
            os.write(from_child, b".")
            os.read(to_child, 1)
            store.put(by_id("child, second"), owner="b")
            code = 0
        finally:
            os._exit(code)
    os.read(to_parent, 1)
    store.put(by_id("parent"), owner="a")
    store.close()
    os.write(from_parent, b".")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for end in (to_child, from_parent, to_parent, from_child):
        os.close(end)
    with closing(SqliteStore(path)) as again:
        assert set(again.ids()) == set(by_id("before", "child, first", "child, second", "parent"))
        assert list(again.verify()) == []
