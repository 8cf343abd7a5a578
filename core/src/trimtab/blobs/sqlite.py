"""`sqlite:///path`: texts in one SQLite file, shared by threads and processes.

A put is one transaction, safely on the disk when it returns: texts and holds, all or nothing, also when the
process is killed or the disk is full.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar

from trimtab._json import utf8
from trimtab.blobs.chunks import Chunked, Packed, pack, read_head
from trimtab.blobs.connections import Database, is_corrupt
from trimtab.blobs.ids import admit, check_grace, check_owner, ids_of, is_handle, is_id
from trimtab.blobs.paging import PagedStore, PagedText
from trimtab.errors import DamagedBlob, LostBlob, StoreUnavailable
from trimtab.types import BlobFault, Collected, Everything, Owner, StoreStats

__all__ = ["SqliteStore"]

Answer = TypeVar("Answer")

# Blobs to one transaction of `collect` and one step of `ids`: others get their turn in between.
_BATCH = 500

# Pages that `collect` gives back to the file system in one transaction.
_SHRINK = 2_000

# Number of the frame within its blob, the low bits of `piece.key`.
_FRAME_BITS = 20

_GONE = (
    "SELECT key, stored FROM blob WHERE touched <= ?"
    " AND NOT EXISTS (SELECT 1 FROM hold WHERE hold.blob = blob.key) LIMIT ?"
)


class SqliteStore(PagedStore):
    """Blobs in one SQLite file (write-ahead log, every commit waits for the disk).

    Safe to share between threads and to use on both sides of a fork. `put` of a text that is there reads it back and
    mends it if it is damaged.

    Args:
        path: of the database file; made if there is none, its folder must exist.
        timeout: seconds to wait for another process's lock.
        clock: seconds since 1970, for the grace of `collect`.

    Raises:
        PolicyError: a path that is no file.
        StoreUnavailable: cannot be opened, not an SQLite database, another program's, or a newer trimtab's.
    """

    def __init__(self, path: str, *, timeout: float = 30.0, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._database = Database(path, timeout=timeout)

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        """Store texts by id and hold them for `owner`, all or nothing.

        Raises:
            CallerError: not a blob id, or not this text's; nothing was stored.
            StoreUnavailable: nothing was stored and nothing is held that was not before.
        """
        texts = admit(blobs, owner)
        if not texts:
            return
        # Packed before the write lock is taken: others write meanwhile.
        fresh = {blob_id: pack(blob_id, text) for blob_id, text in texts.items() if not self._is_stored(blob_id, text)}
        self._database.write(lambda db: self._store(db, texts, fresh, owner))

    def _is_stored(self, blob_id: str, text: str) -> bool:
        """Whether exactly this text is here, undamaged."""

        def compare(db: sqlite3.Connection) -> bool:
            key, head = _find(db, blob_id)
            return head.same(_frames(db, key), text)

        try:
            return self._database.read(compare, blob_id=blob_id)
        except (LostBlob, DamagedBlob):
            return False

    def _store(self, db: sqlite3.Connection, texts: dict[str, str], fresh: dict[str, Packed], owner: str) -> None:
        now = self._clock()
        keys = []
        for blob_id, text in texts.items():
            key = _key(db, blob_id)
            if key is None or blob_id in fresh:
                # Not fresh and yet not here: collected since it was looked for.
                key = _insert(db, key, blob_id, fresh.get(blob_id) or pack(blob_id, text), now)
            keys.append(key)
        _hold(db, owner, keys, now)

    def get(self, blob_id: str) -> str:
        """The whole text. Raises LostBlob, DamagedBlob, StoreUnavailable."""

        def read(db: sqlite3.Connection) -> str:
            key, head = _find(db, blob_id)
            return head.whole(_frames(db, key))

        return self._database.read(read, blob_id=blob_id)

    def has(self, blob_id: str) -> bool:
        """Whether the text is in this store, whoever holds it."""
        return is_id(blob_id) and self._database.read(lambda db: _key(db, blob_id)) is not None

    def _ask(self, blob_id: str, question: Callable[[PagedText], Answer]) -> Answer:
        def answer(db: sqlite3.Connection) -> Answer:
            key, head = _find(db, blob_id)
            return question(PagedText(head.marks, lambda n: head.text(n, _frame(db, key, n))))

        return self._database.read(answer, blob_id=blob_id)

    def hold(self, owner: str, ids: Iterable[str]) -> None:
        """Hold blobs that are stored already. Raises LostBlob for one that is not; then none is held."""
        check_owner(owner)
        wanted = list(ids)

        def work(db: sqlite3.Connection) -> None:
            keys = []
            for blob_id in wanted:
                key = _key(db, blob_id) if is_id(blob_id) else None
                if key is None:
                    raise LostBlob(blob_id)
                keys.append(key)
            _hold(db, owner, keys, self._clock())

        if wanted:
            self._database.write(work)

    def release(self, owner: str) -> None:
        """Let go of everything `owner` holds. Deletes nothing; an unknown owner is no error."""
        name = utf8(check_owner(owner))

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM hold WHERE owner = (SELECT key FROM owner WHERE name = ?)", (name,))
            db.execute("DELETE FROM owner WHERE name = ?", (name,))

        self._database.write(work)

    def held(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that are stored and held for `owner` (`ALL`: stored at all)."""
        return {blob_id for _, blob_id in self._match("blob.id = asked.value", owner, ids_of(ids))}

    def find(self, owner: Owner, handles: Iterable[str]) -> dict[str, list[str]]:
        """For each handle (16 to 32 hex digits), ids that begin with it and are held for `owner`, ascending."""
        found: dict[str, list[str]] = {handle: [] for handle in handles}
        # "g" sorts after every hex digit: a range of the index.
        near = "blob.id >= asked.value AND blob.id < asked.value || 'g'"
        for handle, blob_id in self._match(near, owner, list(filter(is_handle, found))):
            found[handle].append(blob_id)
        return found

    def _match(self, condition: str, owner: Owner, asked: list[str]) -> list[tuple[str, str]]:
        """(what was asked, blob id) of those for `owner`, ids ascending. `asked` holds hex digits only."""
        sql = f"SELECT asked.value, blob.id FROM json_each(?) AS asked CROSS JOIN blob ON {condition}"
        values: list[str | bytes] = ["[" + ",".join(f'"{item}"' for item in asked) + "]"]
        if not isinstance(owner, Everything):
            sql += " CROSS JOIN hold ON hold.blob = blob.key AND hold.owner = (SELECT key FROM owner WHERE name = ?)"
            values.append(utf8(check_owner(owner)))
        if not asked:
            return []
        return self._database.read(lambda db: db.execute(f"{sql} ORDER BY blob.id", values).fetchall())

    def collect(self, grace: float) -> Collected:
        """Delete blobs that no owner holds and that were last put or held `grace` seconds ago or earlier."""
        before = self._clock() - check_grace(grace)

        def batch(db: sqlite3.Connection) -> list[tuple[int, int]]:
            gone: list[tuple[int, int]] = db.execute(_GONE, (before, _BATCH)).fetchall()
            for key, _ in gone:
                _delete(db, key)
            return gone

        blobs = size = 0
        while gone := self._database.write(batch):
            blobs += len(gone)
            size += sum(stored for _, stored in gone)
        free = self._database.write(_shrink) if blobs else 0
        while free and (left := self._database.write(_shrink)) < free:
            free = left
        return Collected(blobs=blobs, bytes=size)

    def stats(self) -> StoreStats:
        """Totals. `stored_bytes`: of compressed texts and their indexes, without SQLite's own."""

        def work(db: sqlite3.Connection) -> StoreStats:
            blobs, chars, size, stored = db.execute(
                "SELECT count(*), ifnull(sum(chars), 0), ifnull(sum(bytes), 0), ifnull(sum(stored), 0) FROM blob"
            ).fetchone()
            owners, holds, held = db.execute(
                "SELECT (SELECT count(*) FROM owner), count(*), count(DISTINCT blob) FROM hold"
            ).fetchone()
            return StoreStats(
                blobs=blobs,
                chars=chars,
                bytes=size,
                stored_bytes=stored,
                owners=owners,
                holds=holds,
                unheld=blobs - held,
            )

        return self._database.read(work)

    def verify(self) -> Iterator[BlobFault]:
        """Read everything; yield what is damaged. Raises StoreUnavailable if the file cannot be read at all."""
        try:
            yield from self._verify()
        except StoreUnavailable as error:
            if not is_corrupt(error):
                raise
            yield BlobFault(place=self._database.path, what=str(error.__cause__))

    def _verify(self) -> Iterator[BlobFault]:
        checked = self._database.read(lambda db: db.execute("PRAGMA integrity_check(20)").fetchall())
        yield from (BlobFault(place=self._database.path, what=what) for (what,) in checked if what != "ok")
        for blob_id in self.ids():
            try:
                self.get(blob_id)
            except DamagedBlob as error:
                yield BlobFault(place=f"blob {blob_id}", what=str(error).partition(";")[0])
            except LostBlob:
                # Collected since it was listed.
                continue
        (lost,) = self._database.read(
            lambda db: db.execute("SELECT count(*) FROM hold WHERE blob NOT IN (SELECT key FROM blob)").fetchone()
        )
        if lost:
            yield BlobFault(place=self._database.path, what=f"{lost} holds name texts that are not here")

    def ids(self) -> Iterator[str]:
        """Every blob id, ascending."""
        last = ""
        while page := self._database.read(partial(_page, after=last)):
            yield from page
            last = page[-1]

    def close(self) -> None:
        """Close the connections. Calling it twice is no error."""
        self._database.close()


def _key(db: sqlite3.Connection, blob_id: str) -> int | None:
    row = db.execute("SELECT key FROM blob WHERE id = ?", (blob_id,)).fetchone()
    return None if row is None else row[0]


def _find(db: sqlite3.Connection, blob_id: str) -> tuple[int, Chunked]:
    """Its key and its head. Raises LostBlob, DamagedBlob."""
    row = db.execute("SELECT key, head FROM blob WHERE id = ?", (blob_id,)).fetchone() if is_id(blob_id) else None
    if row is None:
        raise LostBlob(blob_id)
    return row[0], read_head(blob_id, row[1])


def _span(key: int) -> tuple[int, int]:
    """The first and the last key of a blob's frames."""
    return key << _FRAME_BITS, ((key + 1) << _FRAME_BITS) - 1


def _frames(db: sqlite3.Connection, key: int) -> Iterator[object]:
    return (
        frame for (frame,) in db.execute("SELECT frame FROM piece WHERE key BETWEEN ? AND ? ORDER BY key", _span(key))
    )


def _frame(db: sqlite3.Connection, key: int, n: int) -> object:
    row = db.execute("SELECT frame FROM piece WHERE key = ?", (key << _FRAME_BITS | n,)).fetchone()
    return None if row is None else row[0]


def _insert(db: sqlite3.Connection, key: int | None, blob_id: str, packed: Packed, now: float) -> int:
    """Write a text, in the place of a damaged one if there is a `key`. Gives its key."""
    if key is not None:
        db.execute("DELETE FROM piece WHERE key BETWEEN ? AND ?", _span(key))
    size = packed.size
    key = db.execute(
        "INSERT OR REPLACE INTO blob (key, id, chars, bytes, stored, touched, head) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (key, blob_id, size.chars, size.bytes, packed.stored, now, packed.head),
    ).lastrowid
    assert key is not None
    first, _ = _span(key)
    db.executemany("INSERT INTO piece (key, frame) VALUES (?, ?)", enumerate(packed.frames, first))
    return key


def _hold(db: sqlite3.Connection, owner: str, keys: list[int], now: float) -> None:
    """Hold blobs and note when: for as long as `collect` says, they stay even when let go of."""
    name = utf8(owner)
    db.execute("INSERT OR IGNORE INTO owner (name) VALUES (?)", (name,))
    (holder,) = db.execute("SELECT key FROM owner WHERE name = ?", (name,)).fetchone()
    db.executemany("INSERT OR IGNORE INTO hold (owner, blob) VALUES (?, ?)", [(holder, key) for key in keys])
    # The clock of another process may be ahead.
    db.executemany("UPDATE blob SET touched = ? WHERE key = ? AND touched < ?", [(now, key, now) for key in keys])


def _delete(db: sqlite3.Connection, key: int) -> None:
    db.execute("DELETE FROM piece WHERE key BETWEEN ? AND ?", _span(key))
    db.execute("DELETE FROM blob WHERE key = ?", (key,))


def _shrink(db: sqlite3.Connection) -> int:
    """Give some free pages back; how many are left. The fetch is what makes it run."""
    db.execute(f"PRAGMA incremental_vacuum({_SHRINK})").fetchall()
    (left,) = db.execute("PRAGMA freelist_count").fetchone()
    return int(left)


def _page(db: sqlite3.Connection, after: str) -> list[str]:
    rows = db.execute("SELECT CAST(id AS TEXT) FROM blob WHERE id > ? ORDER BY id LIMIT ?", (after, _BATCH))
    return [blob_id for (blob_id,) in rows]
