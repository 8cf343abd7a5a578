"""One lock between processes, shared or alone, where the system has flock."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from trimtab.errors import StoreUnavailable

if sys.platform != "win32":
    import fcntl

__all__ = ["FolderLock"]

_PAUSE = 0.001
_LONGEST_PAUSE = 0.02


class FolderLock:
    """A lock kept in two files of a folder. Killing a process frees what it held.

    Whoever wants in stands in line with `queue` locked and then takes `lock`: so one that wants to be alone is not
    kept out for good by a stream of others. Without flock (Windows) it works between the threads of one process only.

    Args:
        folder: where the two files are; must exist.
        timeout: seconds to wait.
    """

    def __init__(self, folder: str, *, timeout: float) -> None:
        self._folder = folder
        self._timeout = timeout
        self._threads = threading.Lock()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Together with others that share. Raises StoreUnavailable after the timeout, OSError."""
        with self._held(alone=False):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Alone. Raises StoreUnavailable after the timeout, OSError."""
        with self._held(alone=True):
            yield

    if sys.platform != "win32":

        @contextmanager
        def _held(self, *, alone: bool) -> Iterator[None]:
            # A descriptor of its own for each use: two threads of a process exclude each other as two processes do.
            deadline = time.monotonic() + self._timeout
            with _opened(self._folder, "lock") as lock:
                with _opened(self._folder, "queue") as queue:
                    self._wait(queue, fcntl.LOCK_EX, deadline)
                    self._wait(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, deadline)
                yield

        def _wait(self, file: int, how: int, deadline: float) -> None:
            pause = _PAUSE
            while True:
                try:
                    fcntl.flock(file, how | fcntl.LOCK_NB)
                    return
                except BlockingIOError as error:
                    if time.monotonic() >= deadline:
                        raise StoreUnavailable(
                            f"store {self._folder}: another process kept it locked for {self._timeout:g} s; "
                            "find the process that does, or try again; nothing was written"
                        ) from error
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    else:

        @contextmanager
        def _held(self, *, alone: bool) -> Iterator[None]:
            with self._threads:
                yield


if sys.platform != "win32":

    @contextmanager
    def _opened(folder: str, name: str) -> Iterator[int]:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.open(os.path.join(folder, name), flags, 0o666)
        try:
            yield file
        finally:
            # Unlocked by name and not by closing: a child forked meanwhile has the descriptor too.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)
