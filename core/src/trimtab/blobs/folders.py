"""Files under one root folder: written whole or not at all, never outside it.

Names are made by the store from hex digits, never from what an application or a model said. A link in the place of
one of the store's own folders or files is refused, not followed.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

from trimtab.errors import StoreUnavailable

__all__ = ["NEW", "Root", "remove", "sync"]

# What the name of a file begins with until it is whole.
NEW = ".new-"

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Windows must not translate newlines.
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Root:
    """The root folder; made, with its parents, if there is none. Methods raise OSError, StoreUnavailable."""

    def __init__(self, path: str) -> None:
        # A root that is a link is the application's choice; what is in it is not.
        self.path = os.path.realpath(path)
        os.makedirs(self.path, exist_ok=True)

    def folder(self, *names: str, make: bool = False) -> str:
        """The path of a folder under the root, each step of it a real folder or not there (`make`: made)."""
        path = self.path
        for name in names:
            above, path = path, os.path.join(path, name)
            try:
                kind = os.lstat(path).st_mode
            except FileNotFoundError:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(path)
                        sync(above)
                continue
            if not stat.S_ISDIR(kind):
                raise StoreUnavailable(
                    f"store {self.path}: {path} is a link or a file where a folder of its own was; mend that"
                )
        return path

    def names(self, *folder: str) -> list[str]:
        """Names in a folder of the store, ascending; none if there is no such folder."""
        try:
            return sorted(os.listdir(self.folder(*folder)))
        except FileNotFoundError:
            return []

    def open(self, *names: str) -> BinaryIO:
        """A file for reading, unbuffered. Raises OSError; with `ELOOP` for what is no regular file, a link too."""
        path = os.path.join(self.folder(*names[:-1]), names[-1])
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise OSError(errno.ELOOP, f"{path} is a link or a folder where a file was")
        number = os.open(path, _READ)
        return open(number, "rb", buffering=0)

    def read(self, *names: str) -> bytes:
        """All of a small file."""
        with self.open(*names) as file:
            return file.read()

    def stage(self, folder: str, parts: Iterable[bytes]) -> str:
        """Write a file that is not there yet for anyone, safely on the disk. Gives its path, for `os.replace`."""
        path = os.path.join(folder, f"{NEW}{secrets.token_hex(16)}")
        try:
            with open(os.open(path, _WRITE, 0o666), "wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            remove(path)
            raise
        return path


def remove(path: str) -> int:
    """Delete a file if it is there. Gives its bytes, 0 if it was not."""
    try:
        size = os.lstat(path).st_size
        os.unlink(path)
    except FileNotFoundError:
        return 0
    return size


def sync(folder: str) -> None:
    """Put a folder's entries safely on the disk. Windows cannot, and does so itself."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
