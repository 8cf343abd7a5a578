"""Connections to one SQLite file: opening, creating, waiting for locks, errors in trimtab's words.

A connection serves one transaction of one thread at a time and is kept for the next. Nothing here opens the
file other than through SQLite: closing any other descriptor of it would drop this process's locks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from trimtab.blobs.forks import rest_at_forks
from trimtab.errors import DamagedBlob, PolicyError, StoreUnavailable

__all__ = ["Database", "is_corrupt"]

Result = TypeVar("Result")

# Marks the file as ours, and its schema; `file` and `sqlite3` show both.
APPLICATION_ID = int.from_bytes(b"trmt")
SCHEMA_VERSION = 1

# `piece.key` is `blob.key << 20 | n`: one b-tree, and the frames of a text beside one another.
# Owners are bytes: SQLite's text ends at NUL for many of its functions, and cannot hold a lone surrogate.
_SCHEMA = (
    """CREATE TABLE blob (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, chars INTEGER NOT NULL,
       bytes INTEGER NOT NULL, stored INTEGER NOT NULL, touched REAL NOT NULL, head BLOB NOT NULL)""",
    "CREATE TABLE piece (key INTEGER PRIMARY KEY, frame BLOB NOT NULL)",
    "CREATE TABLE owner (key INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE)",
    "CREATE TABLE hold (owner INTEGER NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY (owner, blob)) WITHOUT ROWID",
    "CREATE INDEX hold_by_blob ON hold (blob)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

# Bytes of the least SQLite file, https://www.sqlite.org/fileformat.html#the_database_header
_HEADER = 512

# Connections kept for the next transaction; more are opened when more threads work at once.
_IDLE = 8

# Bytes: what the write-ahead log is cut back to after a large put.
_LOG_LIMIT = 8_000_000

_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process kept it locked; find the process that does, or try again",
    sqlite3.SQLITE_LOCKED: "another connection kept it locked; try again",
    sqlite3.SQLITE_PROTOCOL: "another process kept it locked; try again",
    sqlite3.SQLITE_FULL: "the disk is full; free space and try again",
    sqlite3.SQLITE_IOERR: "the disk did not read or write (full, over a quota or a size limit, or broken); mend that",
    sqlite3.SQLITE_READONLY: "it may not be written; change its permissions or give another path",
    sqlite3.SQLITE_PERM: "it may not be used; change its permissions or give another path",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; make its folder, and let this user write there",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; give another path",
    sqlite3.SQLITE_CORRUPT: "it is damaged; run `trimtab store verify` and restore a backup",
}
_WAIT = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
# The general error too: the statements are right, so a table or column that is missing was damaged.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH}


def _code(error: BaseException | None) -> int:
    """SQLite's primary result code; 0 for what is not SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


def is_corrupt(error: BaseException | None) -> bool:
    """Whether it is, or was caused by, damage to the file, not a passing state."""
    if isinstance(error, StoreUnavailable):
        return is_corrupt(error.__cause__)
    # Damaged text: sqlite3 then raises one of these without a code of SQLite's, from an error message even the second.
    undecodable = isinstance(error, sqlite3.OperationalError) and _code(error) == 0
    return undecodable or isinstance(error, UnicodeDecodeError) or _code(error) in _DAMAGE


class Database:
    """The connections of this process to one file. Creates the file and its tables when there are none.

    Args:
        path: of the database file; its folder must exist.
        timeout: seconds to wait for another process's lock.

    Raises:
        PolicyError: a path that is no file.
        StoreUnavailable: the file cannot be opened, is not an SQLite database, belongs to another program, or was
            written by a newer trimtab.
    """

    def __init__(self, path: str, *, timeout: float) -> None:
        if path in ("", ":memory:") or "\0" in path:
            raise PolicyError(f"not a path of a database file: {path!r}; for a store in memory use `memory:`")
        self.path = os.path.abspath(path)
        self._timeout = timeout
        self._gate = threading.Condition(threading.Lock())
        self._idle: list[sqlite3.Connection] = []
        self._busy = 0
        self._closed = False
        self._file: tuple[int, int] | None = None
        rest_at_forks(self)
        self.read(lambda db: None)

    def read(self, work: Callable[[sqlite3.Connection], Result], *, blob_id: str | None = None) -> Result:
        """`work` on one state of the database. Raises DamagedBlob (with a `blob_id`), StoreUnavailable."""
        return self._run("BEGIN", work, blob_id)

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """`work`, all or nothing; it may run more than once. Raises StoreUnavailable: nothing was written."""
        return self._run("BEGIN IMMEDIATE", work, None)

    def _run(self, begin: str, work: Callable[[sqlite3.Connection], Result], blob_id: str | None) -> Result:
        deadline = time.monotonic() + self._timeout
        pause = 0.001
        while True:
            try:
                with self._connection() as db:
                    return _transaction(db, begin, work)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                # SQLite itself waits for most locks, but not while the log is switched on or recovered.
                if _code(error) in _WAIT and time.monotonic() < deadline:
                    time.sleep(pause)
                    pause = min(pause * 2, 0.05)
                elif blob_id is not None and is_corrupt(error):
                    raise DamagedBlob(blob_id, f"the database says {error}") from error
                else:
                    raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        code = sqlite3.SQLITE_CORRUPT if is_corrupt(error) and _code(error) not in _ADVICE else _code(error)
        advice = _ADVICE.get(code, "mend that and try again")
        return StoreUnavailable(f"store {self.path}: {error}: {advice}; nothing was written")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._gate:
            if self._closed:
                raise StoreUnavailable(f"store {self.path} is closed; open it again")
            self._busy += 1
            db = self._idle.pop() if self._idle else None
        try:
            if db is None:
                db = self._open()
            self._check_file()
            yield db
        except (sqlite3.Error, UnicodeDecodeError):
            # What state it is in is anyone's guess.
            if db is not None:
                db.close()
                db = None
            raise
        finally:
            with self._gate:
                self._busy -= 1
                if db is not None and not db.in_transaction and not self._closed and len(self._idle) < _IDLE:
                    self._idle.append(db)
                elif db is not None:
                    db.close()
                self._gate.notify_all()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        try:
            # A marker may be shown once its text is stored: so a commit waits for the disk.
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
            if not self._is_ready(db):
                # `collect` gives space back to the file system; this must be said before the first table.
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
                db.execute("PRAGMA journal_mode = WAL")
                _transaction(db, "BEGIN IMMEDIATE", self._create)
        except BaseException:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        if not self._look(db):
            for statement in _SCHEMA:
                db.execute(statement)

    def _is_ready(self, db: sqlite3.Connection) -> bool:
        # One state: between two looks another process may have created the tables.
        return _transaction(db, "BEGIN", self._look)

    def _look(self, db: sqlite3.Connection) -> bool:
        """Whether the tables are there. Raises StoreUnavailable for a file that is not ours to write."""
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == APPLICATION_ID and version == SCHEMA_VERSION:
            return True
        if application == APPLICATION_ID:
            raise StoreUnavailable(
                f"store {self.path} has schema {version}, this release of trimtab has {SCHEMA_VERSION}; "
                "install the release that wrote it, nothing was changed"
            )
        # SQLite takes a file shorter than its header for a new database.
        if application or version or tables or 0 < os.path.getsize(self.path) < _HEADER:
            raise StoreUnavailable(
                f"{self.path} is another program's file; give the store a file of its own, nothing was changed"
            )
        return False

    def _check_file(self) -> None:
        """A deleted or replaced file would swallow what is written to it without an error."""
        try:
            seen = os.stat(self.path)
        except OSError as error:
            raise StoreUnavailable(
                f"store {self.path} is gone ({error.strerror}); put it back, or open the store again; "
                "nothing was written"
            ) from error
        if self._file is None:
            self._file = (seen.st_dev, seen.st_ino)
        elif self._file != (seen.st_dev, seen.st_ino):
            raise StoreUnavailable(
                f"store {self.path} was replaced while it was open; open the store again; nothing was written"
            )

    def close(self) -> None:
        """Close what is idle now, and what is under way when it is done."""
        with self._gate:
            self._closed = True
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def rest(self) -> None:
        """See `trimtab.blobs.forks`."""
        self._gate.acquire()
        self._gate.wait_for(lambda: self._busy == 0)
        while self._idle:
            self._idle.pop().close()

    def wake(self) -> None:
        """See `trimtab.blobs.forks`."""
        self._gate.release()


def _transaction(db: sqlite3.Connection, begin: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
    db.execute(begin)
    try:
        result = work(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result
