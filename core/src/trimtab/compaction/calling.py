"""Asking a summarizer: once more if it failed, within a time limit if there is one, sync and async by one logic.

A fold is a generator that yields requests and is sent replies; what the summarizer raised is raised in it. The two
drivers alone call anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Final, TypeAlias, TypeVar

from trimtab.compaction.reply import parse_summary
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import CallerError, SummaryFailed

__all__ = ["Fold", "arun", "ask", "run"]

T = TypeVar("T")

Fold: TypeAlias = Generator[SummaryRequest, str | None, T]

_ATTEMPTS: Final = 2


def ask(request: SummaryRequest) -> Fold[str]:
    """A summary for a request; asked once more when there is none.

    Raises:
        SummaryFailed: neither attempt gave one; the cause is what the summarizer raised last, if it raised.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            reply = yield request
        except Exception as error:
            if attempt == _ATTEMPTS:
                raise SummaryFailed(f"the summarizer raised {type(error).__name__}: {error!s:.200}") from error
            continue
        summary = parse_summary(reply)
        if summary is not None:
            return summary
    raise SummaryFailed("the summarizer gave no summary (empty, a refusal, or nothing but its own notes)")


def run(fold: Fold[T], summarize: Summarize, timeout: float | None) -> T:
    """Drive a fold with a sync summarizer."""
    try:
        request = next(fold)
        while True:
            try:
                reply = _called(summarize, request, timeout)
            except Exception as error:
                request = fold.throw(error)
            else:
                request = fold.send(reply)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        fold.close()


def _called(summarize: Summarize, request: SummaryRequest, timeout: float | None) -> str | None:
    if timeout is None:
        reply = summarize(request)
    else:
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trimtab-summarizer")
        try:
            reply = pool.submit(summarize, request).result(timeout)
        except FutureTimeout:
            raise TimeoutError(f"no summary within {timeout:g} s") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if inspect.isawaitable(reply):
        if inspect.iscoroutine(reply):
            reply.close()
        raise CallerError("this summarizer is async: use aserve or astep")
    return reply


async def arun(fold: Fold[T], summarize: Summarize, timeout: float | None) -> T:
    """Drive a fold with a sync or an async summarizer; a sync one runs in a worker thread."""
    import asyncio

    async def reply_to(request: SummaryRequest) -> str | None:
        reply = await asyncio.to_thread(summarize, request) if not _is_async(summarize) else summarize(request)
        return await reply if inspect.isawaitable(reply) else reply

    try:
        request = next(fold)
        while True:
            try:
                reply = await asyncio.wait_for(reply_to(request), timeout)
            except Exception as error:
                request = fold.throw(error)
            else:
                request = fold.send(reply)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    finally:
        fold.close()


def _is_async(summarize: Summarize) -> bool:
    return inspect.iscoroutinefunction(summarize) or inspect.iscoroutinefunction(getattr(summarize, "__call__", None))
