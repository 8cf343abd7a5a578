"""One way for sync and async: an operation is a generator that yields what it wants of the store.

What it yields is a function of the store; what it is sent is what that function returned, and what that raised is
raised inside it. So the logic is written once, and only these two drivers do I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from trimtab.types import BlobStore

__all__ = ["Ask", "Steps", "arun", "run"]

T = TypeVar("T")

Ask: TypeAlias = Callable[[BlobStore], Any]
Steps: TypeAlias = Generator[Ask, Any, T]


def run(steps: Steps[T], store: BlobStore) -> T:
    """Drive an operation to its end in this thread."""
    try:
        ask = next(steps)
        while True:
            try:
                answer = ask(store)
            except Exception as error:
                ask = steps.throw(error)
            else:
                ask = steps.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # StopIteration carries what the generator returned


async def arun(steps: Steps[T], store: BlobStore) -> T:
    """Drive an operation to its end; each wish of the store's runs in a worker thread."""
    from asyncio import to_thread  # takes a sixth of the time that the whole host takes to import

    try:
        ask = next(steps)
        while True:
            try:
                answer = await to_thread(ask, store)
            except Exception as error:
                ask = steps.throw(error)
            else:
                ask = steps.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        steps.close()
