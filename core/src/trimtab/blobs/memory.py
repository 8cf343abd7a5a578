"""`memory:`: texts in this process, gone when it ends. A put costs a few dictionary entries."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TypeVar

from trimtab._json import blob_id as id_of
from trimtab._json import utf8
from trimtab.blobs.forks import rest_at_forks
from trimtab.blobs.ids import admit, check_grace, check_owner, ids_of, is_handle
from trimtab.blobs.paging import STEP, Marks, PagedStore, PagedText, mark, paged
from trimtab.errors import DamagedBlob, LostBlob
from trimtab.types import BlobFault, Collected, Everything, Owner, StoreStats

__all__ = ["MemoryStore"]

Answer = TypeVar("Answer")

# The least digits of a handle: what blobs are listed under.
_PREFIX = 16


class _Held:
    """One text. `marks` and `checked` are made when it is first read, not when it is put."""

    __slots__ = ("checked", "marks", "text", "touched")

    def __init__(self, text: str, touched: float) -> None:
        self.text = text
        self.touched = touched
        self.marks: Marks | None = None
        self.checked = False


class MemoryStore(PagedStore):
    """Blobs of one process.

    A text put under an id that is not its own is found at the first read, not at put, which does not hash.

    Args:
        clock: seconds, for the grace of `collect`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._texts: dict[str, _Held] = {}
        self._prefixes: dict[str, list[str]] = {}
        self._owners: dict[str, set[str]] = {}
        rest_at_forks(self)

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        """Keep texts by id and hold them for `owner`. Raises CallerError; then nothing is kept."""
        texts = admit(blobs, owner)
        if not texts:
            return
        with self._lock:
            now = self._clock()
            for blob_id, text in texts.items():
                held = self._texts.get(blob_id)
                if held is None:
                    self._texts[blob_id] = _Held(text, now)
                    self._prefixes.setdefault(blob_id[:_PREFIX], []).append(blob_id)
                else:
                    held.touched = now
            self._owners.setdefault(owner, set()).update(texts)

    def get(self, blob_id: str) -> str:
        """The whole text. Raises LostBlob, DamagedBlob."""
        return self._find(blob_id).text

    def has(self, blob_id: str) -> bool:
        """Whether the text is here, whoever holds it."""
        return blob_id in self._texts

    def _ask(self, blob_id: str, question: Callable[[PagedText], Answer]) -> Answer:
        held = self._find(blob_id)
        if held.marks is None:
            held.marks = mark(held.text)
        return question(paged(held.text, held.marks))

    def _find(self, blob_id: str) -> _Held:
        held = self._texts.get(blob_id)
        if held is None:
            raise LostBlob(blob_id)
        if not held.checked:
            if id_of(held.text) != blob_id:
                raise DamagedBlob(blob_id, "the text put under this id has another one")
            held.checked = True
        return held

    def hold(self, owner: str, ids: Iterable[str]) -> None:
        """Hold blobs that are here. Raises LostBlob for one that is not; then none is held."""
        check_owner(owner)
        wanted = list(ids)
        with self._lock:
            for blob_id in wanted:
                if blob_id not in self._texts:
                    raise LostBlob(blob_id)
            now = self._clock()
            for blob_id in wanted:
                self._texts[blob_id].touched = now
            if wanted:
                self._owners.setdefault(owner, set()).update(wanted)

    def release(self, owner: str) -> None:
        """Let go of everything `owner` holds."""
        check_owner(owner)
        with self._lock:
            self._owners.pop(owner, None)

    def held(self, owner: Owner, ids: Iterable[str]) -> set[str]:
        """Those of `ids` that are here and held for `owner`."""
        wanted = ids_of(ids)
        with self._lock:
            allowed = self._allowed(owner)
            return {blob_id for blob_id in wanted if blob_id in allowed}

    def find(self, owner: Owner, handles: Iterable[str]) -> dict[str, list[str]]:
        """For each handle, ids that begin with it and are held for `owner`, ascending."""
        found: dict[str, list[str]] = {handle: [] for handle in handles}
        with self._lock:
            allowed = self._allowed(owner)
            for handle in found:
                near = self._prefixes.get(handle[:_PREFIX], []) if is_handle(handle) else []
                found[handle] = sorted(i for i in near if i.startswith(handle) and i in allowed)
        return found

    def _allowed(self, owner: Owner) -> Container[str]:
        return self._texts if isinstance(owner, Everything) else self._owners.get(check_owner(owner), ())

    def collect(self, grace: float) -> Collected:
        """Drop blobs that no owner holds and that were last put or held `grace` seconds ago or earlier."""
        before = self._clock() - check_grace(grace)
        with self._lock:
            kept = self._all_held()
            gone = [i for i, held in self._texts.items() if held.touched <= before and i not in kept]
            size = 0
            for blob_id in gone:
                size += sys.getsizeof(self._texts.pop(blob_id).text)
                near = self._prefixes[blob_id[:_PREFIX]]
                near.remove(blob_id)
                if not near:
                    del self._prefixes[blob_id[:_PREFIX]]
        return Collected(blobs=len(gone), bytes=size)

    def stats(self) -> StoreStats:
        """Totals. `stored_bytes`: what the strings take in this process."""
        with self._lock:
            texts = [held.text for held in self._texts.values()]
            holds = [len(ids) for ids in self._owners.values()]
            unheld = len(self._texts) - len(self._all_held())
        return StoreStats(
            blobs=len(texts),
            chars=sum(map(len, texts)),
            bytes=sum(len(utf8(piece)) for text in texts for piece in _steps(text)),
            stored_bytes=sum(map(sys.getsizeof, texts)),
            owners=len(holds),
            holds=sum(holds),
            unheld=unheld,
        )

    def _all_held(self) -> set[str]:
        return set[str]().union(*self._owners.values())

    def verify(self) -> Iterator[BlobFault]:
        """Hash every text; yield those that are not what their id says."""
        for blob_id in self.ids():
            held = self._texts.get(blob_id)
            if held is not None and id_of(held.text) != blob_id:
                yield BlobFault(place=f"blob {blob_id}", what="the text put under this id has another one")

    def ids(self) -> Iterator[str]:
        """Every blob id, ascending."""
        with self._lock:
            every = sorted(self._texts)
        yield from every

    def close(self) -> None:
        """Nothing to release; the texts stay as long as the store does."""

    def rest(self) -> None:
        """See `trimtab.blobs.forks`."""
        self._lock.acquire()

    def wake(self) -> None:
        """See `trimtab.blobs.forks`."""
        self._lock.release()


def _steps(text: str) -> Iterator[str]:
    return (text[at : at + STEP] for at in range(0, len(text), STEP))
