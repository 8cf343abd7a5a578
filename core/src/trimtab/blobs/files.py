"""`file:///folder`: texts as files, shared by threads and processes.

    <root>/trimtab-store          what this folder is
    <root>/blobs/<ab>/<blob id>   one text: magic, length of the head, head, frames (`trimtab.blobs.chunks`)
    <root>/holds/<owner>/<hold>   one small file for each call that held something (`trimtab.blobs.holds`)
    <root>/lock, <root>/queue     empty; locked while something changes (`trimtab.blobs.locks`)

A file is written under another name, waited for until it is on the disk, and then renamed. The renaming of the hold
file is what makes a put count: a process killed before it holds nothing, and leaves at most whole texts that nobody
holds, for `collect` to delete. When a text was last put or held is its file's modification time.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import BinaryIO, TypeVar

from trimtab.blobs.chunks import Chunked, Packed, pack, read_head
from trimtab.blobs.folders import NEW, Root, remove, sync
from trimtab.blobs.holds import FOLDER as HOLDS
from trimtab.blobs.holds import Holds
from trimtab.blobs.ids import admit, check_grace, check_owner, ids_of, is_handle, is_id
from trimtab.blobs.locks import FolderLock
from trimtab.blobs.paging import PagedStore, PagedText
from trimtab.errors import DamagedBlob, LostBlob, PolicyError, StoreError, StoreUnavailable
from trimtab.types import BlobFault, Collected, Everything, Owner, StoreStats

__all__ = ["FileStore"]

Answer = TypeVar("Answer")

_BLOBS = "blobs"
_FORMAT_NAME = "trimtab-store"
_FORMAT = b"trimtab files 1\n"
_MAGIC = b"trimtab\x01"
_LENGTH = struct.Struct("<I")

# Seconds after which a file that is not whole belongs to nobody who is still writing.
_ABANDONED = 3600.0


class FileStore(PagedStore):
    """Blobs as files in a folder.

    `put` of a text that is there reads it back and mends it if it is damaged. Where the system has no flock (Windows),
    run `collect` only while no other process writes.

    Args:
        path: of the folder; made if there is none.
        timeout: seconds to wait for another process's lock.
        clock: seconds since 1970, for the grace of `collect`.

    Raises:
        PolicyError: a path that is none.
        StoreUnavailable: cannot be made or read, or was written by a newer trimtab.
    """

    def __init__(self, path: str, *, timeout: float = 30.0, clock: Callable[[], float] = time.time) -> None:
        if not path or "\0" in path:
            raise PolicyError(f"not the path of a folder: {path!r}; write `file:///folder`")
        self._path = path
        self._clock = clock
        with self._reporting():
            self._root = Root(path)
            self._mark_root()
        self._holds = Holds(self._root)
        self._lock = FolderLock(self._root.path, timeout=timeout)

    def _mark_root(self) -> None:
        try:
            found = self._root.read(_FORMAT_NAME)
        except FileNotFoundError:
            os.replace(self._root.stage(self._root.path, [_FORMAT]), os.path.join(self._root.path, _FORMAT_NAME))
            sync(self._root.path)
            return
        if found != _FORMAT:
            raise StoreUnavailable(
                f"store {self._path} is written as {found[:40]!r}, this release of trimtab writes {_FORMAT!r}; "
                "install the release that wrote it, nothing was changed"
            )

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailable(
                f"store {self._path}: {error.strerror or error}; mend that and try again; nothing was written"
            ) from error

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        """Store texts by id and hold them for `owner`, all or nothing.

        Raises:
            CallerError: not a blob id, or not this text's; nothing was stored.
            StoreUnavailable: nothing was stored and nothing is held that was not before.
        """
        texts = admit(blobs, owner)
        stored = not texts
        while not stored:
            fresh = {i: pack(i, text) for i, text in texts.items() if not self._is_stored(i, text)}
            with self._reporting():
                stored = self._store(list(texts), fresh, owner)

    def _is_stored(self, blob_id: str, text: str) -> bool:
        """Whether exactly this text is here, undamaged."""
        try:
            with self._opened(blob_id) as blob:
                return blob.head.same(blob.frames(), text)
        except (LostBlob, DamagedBlob):
            return False

    def _store(self, ids: list[str], fresh: dict[str, Packed], owner: str) -> bool:
        """False if a text that was here was collected meanwhile; then nothing has changed."""
        staged: dict[str, str] = {}
        added: list[str] = []
        left: list[str] = []
        try:
            for blob_id, packed in fresh.items():
                folder = self._root.folder(_BLOBS, blob_id[:2], make=True)
                staged[blob_id] = self._root.stage(folder, _spell(packed))
                left.append(staged[blob_id])
            hold = self._holds.stage(owner, ids)
            left.append(hold[0])
            with self._lock.shared():
                if not all(self._touch(blob_id) for blob_id in ids if blob_id not in staged):
                    return False
                for blob_id, path in staged.items():
                    self._bring_in(blob_id, path, added)
                for folder in {os.path.dirname(path) for path in staged.values()}:
                    sync(folder)
                self._holds.commit(hold)
        except BaseException:
            self._take_back(added)
            raise
        finally:
            for path in left:
                remove(path)
        return True

    def _bring_in(self, blob_id: str, path: str, added: list[str]) -> None:
        now = self._clock()
        os.utime(path, (now, now))
        place = self._file(blob_id)
        if not os.path.lexists(place):
            added.append(blob_id)
        os.replace(path, place)

    def _take_back(self, added: list[str]) -> None:
        """Delete what a failed put brought in, unless another process has put it too and holds it."""
        try:
            if added:
                with self._lock.alone():
                    held = self._held_by_any()
                    for blob_id in added:
                        if blob_id not in held:
                            remove(self._file(blob_id))
        except (OSError, StoreError):
            # The put's own error is the one to report; whole texts that nobody holds are left to `collect`.
            return

    def _file(self, blob_id: str) -> str:
        return os.path.join(self._root.folder(_BLOBS, blob_id[:2]), blob_id)

    def _touch(self, blob_id: str) -> bool:
        """Note that it was put or held now. False if it is not here."""
        now = self._clock()
        try:
            os.utime(self._file(blob_id), (now, now))
        except FileNotFoundError:
            return False
        return True

    def get(self, blob_id: str) -> str:
        """The whole text. Raises LostBlob, DamagedBlob, StoreUnavailable."""
        with self._opened(blob_id) as blob:
            return blob.head.whole(blob.frames())

    def has(self, blob_id: str) -> bool:
        """Whether the text is in this store, whoever holds it."""
        with self._reporting():
            return is_id(blob_id) and os.path.lexists(self._file(blob_id))

    def _ask(self, blob_id: str, question: Callable[[PagedText], Answer]) -> Answer:
        with self._opened(blob_id) as blob:
            return question(PagedText(blob.head.marks, lambda n: blob.head.text(n, blob.frame(n))))

    @contextmanager
    def _opened(self, blob_id: str) -> Iterator[_BlobFile]:
        with self._reporting():
            try:
                if not is_id(blob_id):
                    raise LostBlob(blob_id)
                file = self._root.open(_BLOBS, blob_id[:2], blob_id)
            except FileNotFoundError as error:
                raise LostBlob(blob_id) from error
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
                raise DamagedBlob(blob_id, "a link or a folder is where its file was") from error
            with file:
                yield _BlobFile(blob_id, file)

    def hold(self, owner: str, ids: Iterable[str]) -> None:
        """Hold blobs that are stored already. Raises LostBlob for one that is not; then none is held."""
        check_owner(owner)
        wanted = list(ids)
        if not wanted:
            return
        with self._reporting():
            for blob_id in wanted:
                if not self.has(blob_id):
                    raise LostBlob(blob_id)
            hold = self._holds.stage(owner, wanted)
            try:
                with self._lock.shared():
                    for blob_id in wanted:
                        if not self._touch(blob_id):
                            raise LostBlob(blob_id)
                    self._holds.commit(hold)
            finally:
                remove(hold[0])

    def release(self, owner: str) -> None:
        """Let go of everything `owner` holds. Deletes no text; an unknown owner is no error."""
        check_owner(owner)
        with self._reporting(), self._lock.alone():
            self._holds.release(owner)

    def held(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that are stored and held for `owner` (`ALL`: stored at all)."""
        wanted = ids_of(ids)
        with self._reporting():
            allowed = wanted if isinstance(owner, Everything) else self._holds.ids(check_owner(owner))
            return {blob_id for blob_id in wanted if blob_id in allowed and self.has(blob_id)}

    def find(self, owner: Owner, handles: Iterable[str]) -> dict[str, list[str]]:
        """For each handle (16 to 32 hex digits), ids that begin with it and are held for `owner`, ascending."""
        found: dict[str, list[str]] = {handle: [] for handle in handles}
        with self._reporting():
            allowed = None if isinstance(owner, Everything) else self._holds.ids(check_owner(owner))
            for handle in filter(is_handle, found):
                found[handle] = [
                    blob_id
                    for blob_id in self._listed(handle[:2])
                    if blob_id.startswith(handle) and (allowed is None or blob_id in allowed)
                ]
        return found

    def _listed(self, folder: str) -> list[str]:
        return [name for name in self._root.names(_BLOBS, folder) if is_id(name) and name.startswith(folder)]

    def collect(self, grace: float) -> Collected:
        """Delete blobs that no owner holds and that were last put or held `grace` seconds ago or earlier.

        Raises:
            StoreUnavailable: a hold file is damaged, so that what it holds is not known; nothing was deleted.
        """
        now = self._clock()
        before = now - check_grace(grace)
        blobs = size = 0
        with self._reporting(), self._lock.alone():
            held = self._held_by_any()
            for blob_id in self.ids():
                path = self._file(blob_id)
                if blob_id not in held and os.lstat(path).st_mtime <= before:
                    blobs += 1
                    size += remove(path)
            self._sweep(now - max(grace, _ABANDONED))
        return Collected(blobs=blobs, bytes=size)

    def _sweep(self, before: float) -> None:
        """Delete what killed processes left half-written."""
        folders = [(), (HOLDS,), *((_BLOBS, folder) for folder in self._root.names(_BLOBS))]
        for folder in folders:
            for name in self._root.names(*folder):
                path = os.path.join(self._root.folder(*folder), name)
                if name.startswith(NEW) and os.lstat(path).st_mtime <= before:
                    remove(path)

    def _held_by_any(self) -> set[str]:
        held: set[str] = set()
        for hold in self._holds.every():
            if hold.ids is None:
                raise StoreUnavailable(
                    f"store {self._path}: the hold file {hold.place} is damaged, so what it holds is not known; "
                    "restore it from a backup or delete it; nothing was deleted"
                )
            held |= hold.ids
        return held

    def stats(self) -> StoreStats:
        """Totals. `stored_bytes`: of the files. A damaged blob counts with these, a damaged hold with its owner."""
        blobs = chars = size = stored = 0
        owners: dict[str, set[str]] = {}
        with self._reporting():
            for hold in self._holds.every():
                owners.setdefault(hold.folder, set()).update(hold.ids or ())
            for blob_id in self.ids():
                blobs += 1
                stored += os.lstat(self._file(blob_id)).st_size
                try:
                    found = self.size(blob_id)
                except DamagedBlob:
                    continue
                chars += found.chars
                size += found.bytes
            held = {blob_id for ids in owners.values() for blob_id in ids if self.has(blob_id)}
        return StoreStats(
            blobs=blobs,
            chars=chars,
            bytes=size,
            stored_bytes=stored,
            owners=len(owners),
            holds=sum(map(len, owners.values())),
            unheld=blobs - len(held),
        )

    def verify(self) -> Iterator[BlobFault]:
        """Read everything; yield each damaged blob and each damaged hold file."""
        with self._reporting():
            for blob_id in self.ids():
                try:
                    self.get(blob_id)
                except DamagedBlob as error:
                    yield BlobFault(place=f"{_BLOBS}/{blob_id[:2]}/{blob_id}", what=str(error).partition(";")[0])
                except LostBlob:
                    # Collected since it was listed.
                    continue
            for hold in self._holds.every():
                if hold.ids is None:
                    yield BlobFault(place=hold.place, what="this hold file is damaged and is skipped")
                    continue
                for blob_id in sorted(hold.ids):
                    if not self.has(blob_id):
                        yield BlobFault(place=hold.place, what=f"it holds {blob_id}, which is not here")

    def ids(self) -> Iterator[str]:
        """Every blob id, ascending."""
        with self._reporting():
            folders = [name for name in self._root.names(_BLOBS) if len(name) == 2]
        for folder in folders:
            with self._reporting():
                listed = self._listed(folder)
            yield from listed

    def close(self) -> None:
        """Nothing is kept open."""


class _BlobFile:
    """An open blob file, its head checked. Raises DamagedBlob."""

    def __init__(self, blob_id: str, file: BinaryIO) -> None:
        self._file = file
        size = os.fstat(file.fileno()).st_size
        start = file.read(len(_MAGIC) + _LENGTH.size)
        if len(start) != len(_MAGIC) + _LENGTH.size or not start.startswith(_MAGIC):
            raise DamagedBlob(blob_id, "its file does not begin as one of this store")
        (length,) = _LENGTH.unpack_from(start, len(_MAGIC))
        self.head: Chunked = read_head(blob_id, file.read(min(length, size)))
        self._starts = list(accumulate(self.head.frames, initial=len(start) + length))
        if size != self._starts[-1]:
            raise DamagedBlob(blob_id, f"its file has {size} bytes instead of {self._starts[-1]}")

    def frame(self, n: int) -> bytes:
        """The bytes of frame `n`."""
        self._file.seek(self._starts[n])
        return self._file.read(self.head.frames[n])

    def frames(self) -> Iterator[bytes]:
        """All frames in order."""
        return map(self.frame, range(len(self.head.frames)))


def _spell(packed: Packed) -> Iterator[bytes]:
    yield _MAGIC + _LENGTH.pack(len(packed.head)) + packed.head
    yield from packed.frames
