"""The hold files of `FileStore`: who holds which blobs.

One small file for each call that held something, so that a call's holds appear together or not at all. It is named
by the hash of its content and lies in a folder named by the hash of its owner, whose name stands only inside it:

    trimtab hold 1
    <blob id>           one a line, ascending

    <owner>             UTF-8 (`surrogatepass`), to the end of the file

A file that does not hash to its name is damaged: it is skipped, counted by `verify`, and stops `collect`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache

from attrs import frozen

from trimtab._json import utf8
from trimtab.blobs.folders import Root, remove, sync
from trimtab.blobs.ids import is_id

__all__ = ["FOLDER", "Hold", "Holds"]

FOLDER = "holds"

_TITLE = b"trimtab hold 1\n"

# Hold files remembered by each store. Their content never changes under one name.
_REMEMBERED = 10_000


@frozen(kw_only=True)
class Hold:
    """What one file says. `ids` is None: it is damaged."""

    place: str
    folder: str
    ids: frozenset[str] | None


class Holds:
    """All hold files under a root. Methods raise OSError, StoreUnavailable."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._read = lru_cache(_REMEMBERED)(self._load)

    def stage(self, owner: str, ids: Iterable[str]) -> tuple[str, str, str]:
        """Write a hold that does not count yet: (path, folder name, file name), for `commit`."""
        content = _TITLE + b"".join(f"{blob_id}\n".encode() for blob_id in sorted(set(ids))) + b"\n" + utf8(owner)
        staged = self._root.stage(self._root.folder(FOLDER, make=True), [content])
        return staged, _hash(utf8(owner)), _hash(content)

    def commit(self, staged: tuple[str, str, str]) -> None:
        """Make it count, safely on the disk."""
        path, folder, name = staged
        place = self._root.folder(FOLDER, folder, make=True)
        os.replace(path, os.path.join(place, name))
        sync(place)

    def release(self, owner: str) -> None:
        """Delete an owner's holds, damaged ones too."""
        folder = _hash(utf8(owner))
        names = self._root.names(FOLDER, folder)
        place = self._root.folder(FOLDER, folder)
        for name in names:
            remove(os.path.join(place, name))
        if names:
            os.rmdir(place)

    def ids(self, owner: str) -> set[str]:
        """What an owner holds, as far as its files can be read."""
        return set[str]().union(*(hold.ids for hold in self._of(_hash(utf8(owner)), fresh=False) if hold.ids))

    def every(self) -> Iterator[Hold]:
        """Every hold file, read anew."""
        for folder in self._root.names(FOLDER):
            if is_id(folder):
                yield from self._of(folder, fresh=True)

    def _of(self, folder: str, *, fresh: bool) -> Iterator[Hold]:
        for name in filter(is_id, self._root.names(FOLDER, folder)):
            try:
                ids = (self._load if fresh else self._read)(folder, name)
            except FileNotFoundError:
                # Released since it was listed.
                continue
            yield Hold(place=f"{FOLDER}/{folder}/{name}", folder=folder, ids=ids)

    def _load(self, folder: str, name: str) -> frozenset[str] | None:
        content = self._root.read(FOLDER, folder, name)
        listed, _, owner = content.removeprefix(_TITLE).partition(b"\n\n")
        if _hash(content) != name or not content.startswith(_TITLE) or _hash(owner) != folder:
            return None
        return frozenset(listed.decode("ascii").split("\n"))


def _hash(data: bytes) -> str:
    """32 hex digits."""
    return hashlib.sha256(data).hexdigest()[:32]
