"""Things that fail on purpose: a store that raises at a chosen call, a codec that raises at a chosen pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from trimtab.errors import StoreUnavailable
from trimtab.types import BlobStore, Codec, Json

__all__ = ["FailingStore", "raising_at"]


class FailingStore:
    """A store whose method `method` raises at its `nth` call (1-based), and at every later one.

    `failed` says whether it did; `heal` makes it work again. Everything else is the inner store's.

    Args:
        error: what is raised; each time a new one.
    """

    def __init__(
        self,
        inner: BlobStore,
        method: str,
        nth: int = 1,
        error: Callable[[], Exception] = lambda: StoreUnavailable("disk full (a fault of the test)"),
    ) -> None:
        self._inner = inner
        self._method = method
        self._left = nth
        self._error = error
        self._healed = False
        self.failed = False

    def heal(self) -> None:
        """From now on every call succeeds."""
        self._healed = True

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._inner, name)
        if name != self._method:
            return there

        @wraps(there)
        def call(*positional: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left <= 0 and not self._healed:
                self.failed = True
                raise self._error()
            return there(*positional, **named)

        return call


def raising_at(codec: Codec, nth: int, error: Callable[[], BaseException]) -> Codec:
    """The codec, raising instead of giving its `nth` pointer (1-based); with 0, raising before it looks."""

    def broken(output: Json) -> Iterable[str] | None:
        if nth == 0:
            raise error()
        pointers = codec(output)
        return None if pointers is None else _until(pointers, nth, error)

    return broken


def _until(pointers: Iterable[str], nth: int, error: Callable[[], BaseException]) -> Iterable[str]:
    for n, pointer in enumerate(pointers, 1):
        if n == nth:
            raise error()
        yield pointer
