"""What must be at rest while the process forks.

An SQLite connection that is open across a fork loses texts even if the child never touches it: the child's new
connections believe that they share the parent's locks, and when the parent closes, it deletes the log that the child
goes on writing to (https://www.sqlite.org/howtocorrupt.html; seen with SQLite 3.40). And a lock that another thread
holds at the fork stays locked in the child for good. So each thing that holds either is brought to rest before a fork
and goes on after it, on both sides.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["Restful", "rest_at_forks"]


class Restful(Protocol):
    """Something that can be brought to rest."""

    def rest(self) -> None:
        """Wait until nothing is under way, close what must not cross a fork, and let nothing begin."""
        ...

    def wake(self) -> None:
        """Go on."""
        ...


_watched: weakref.WeakSet[Restful] = weakref.WeakSet()
_resting: list[Restful] = []
_lock = threading.Lock()


def rest_at_forks(thing: Restful) -> None:
    """Bring `thing` to rest at each fork of this process, as long as it lives."""
    with _lock:
        _watched.add(thing)


def _rest() -> None:
    _lock.acquire()
    for thing in list(_watched):
        thing.rest()
        _resting.append(thing)


def _wake() -> None:
    while _resting:
        _resting.pop().wake()
    _lock.release()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_rest, after_in_parent=_wake, after_in_child=_wake)
