"""Asking a summarizer: once more if it failed, within a time limit if there is one, sync and async by one logic.

A fold is a generator that yields requests and is sent replies; what the summarizer raised is raised in it. The two
drivers alone call anything.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Generator
from concurrent.futures import Future
from threading import Thread
from typing import Any, Final, TypeAlias, TypeVar, cast

from trimtab.compaction.asking.prose import LEAST_PROSE
from trimtab.compaction.asking.reply import parse_summary
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import CallerError, SummaryFailed

__all__ = [
    "LONGEST_REPLY",
    "TOO_LONG",
    "Asking",
    "answer",
    "arun",
    "ask",
    "attempted",
    "is_async",
    "limit_of",
    "run",
    "told",
    "usable",
]

T = TypeVar("T")

Asking: TypeAlias = Generator[SummaryRequest, str | None, T]

TOO_LONG: Final = 2
"""A summary of more than so many times its budget is none."""

LONGEST_REPLY: Final = 2_000_000
"""Chars of a reply, its notes included: no model says as much."""

_ATTEMPTS: Final = 2
_CHARS: Final = 8  # of a token, or more
_MOST_SECONDS: Final = 10**9  # clocks take no more
_TOLD: Final = 200  # chars of somebody else's error, which may quote what it was given
_TOLD_OURS: Final = 2_000  # one that is ours is as long as it says; any summarizer may raise it, though
_GRACE: Final = 1.0  # seconds in which a summarizer that is cancelled should have ended


def limit_of(seconds: float | None) -> float | None:
    """A time limit as it is given. Raises CallerError: it is no number of seconds above 0 (up to some 30 years)."""
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds <= _MOST_SECONDS:
        raise CallerError(f"timeout is a number of seconds above 0, or None for no limit; not {seconds!r:.80}")
    return seconds


def usable(reply: object, request: SummaryRequest) -> str:
    """The summary in a reply. Raises SummaryFailed: there is none, or one that is much longer than asked for."""
    if isinstance(reply, str) and len(reply) > LONGEST_REPLY:
        raise SummaryFailed(f"its reply of {len(reply):,} chars is much longer than {request.budget:,} tokens")
    if reply is not None and not isinstance(reply, str):
        hint = "; a factory is called first: what it gives is the summarizer" if callable(reply) else ""
        raise SummaryFailed(f"it gave {type(reply).__name__}, which is no text{hint}")
    summary = parse_summary(reply)
    if summary is None:
        raise SummaryFailed(
            f"it gave no summary (nothing, a refusal, only notes to itself, or fewer than {LEAST_PROSE} characters)"
        )
    most = TOO_LONG * request.budget
    # The beginning first: a reply of megabytes need not be counted to its end.
    if request.count(summary[: _CHARS * most]) > most or request.count(summary) > most:
        raise SummaryFailed(f"its summary of {len(summary):,} chars is much longer than {request.budget:,} tokens")
    return summary


def ask(request: SummaryRequest) -> Asking[str]:
    """A summary for a request; asked once more when there is none.

    Raises:
        SummaryFailed: neither attempt gave one; the cause is what went wrong last.
    """
    attempt = 1
    while True:
        try:
            return usable((yield request), request)
        except Exception as error:
            if attempt == _ATTEMPTS:
                raise SummaryFailed(f"the summarizer failed {attempt} times, at last so: {told(error)}") from error
        attempt += 1


def told(error: Exception, chars: int = _TOLD) -> str:
    """An error in a few words, of somebody else's at most so many chars."""
    if isinstance(error, SummaryFailed):
        return f"{error!s:.{_TOLD_OURS}}"
    try:
        return f"{type(error).__name__}: {error!s:.{chars}}"
    except Exception as unreadable:
        return f"{type(error).__name__} (its message raised {type(unreadable).__name__})"


def run(fold: Asking[T], summarize: Summarize, seconds: float | None) -> T:
    """Drive a fold with a sync summarizer.

    With a limit of `seconds` for each attempt it runs in a thread of its own. One that hangs cannot be ended: its
    thread is left behind, and does not keep the process from ending.

    Raises:
        CallerError: the summarizer is async.
    """
    try:
        request = next(fold)
        while True:
            try:
                reply = attempted(summarize, request, seconds)
            except Exception as error:
                request = fold.throw(error)
            else:
                if inspect.isawaitable(reply):
                    _drop(reply)
                    raise CallerError("this summarizer is async: use aserve or astep")
                request = fold.send(reply)
    except StopIteration as done:
        return cast(T, done.value)
    finally:
        fold.close()


def attempted(
    summarize: Summarize, request: SummaryRequest, seconds: float | None
) -> str | Awaitable[str | None] | None:
    """What a summarizer gives for one request, in a thread of its own where it has only so many `seconds`.

    Raises what it raises; TimeoutError: too late.
    """
    try:
        if seconds is None:
            return summarize(request)
        future = _threaded(summarize, request)
        return future.result(seconds)
    except asyncio.CancelledError as error:  # of something inside it: what is not async cannot be cancelled
        raise SummaryFailed("it was cancelled") from error
    except TimeoutError as error:
        if seconds is None or future.done():  # raised by the summarizer itself
            raise
        raise TimeoutError(f"no summary within {seconds:g} s") from error


async def arun(fold: Asking[T], summarize: Summarize, seconds: float | None) -> T:
    """Drive a fold with a sync or an async summarizer; a sync one runs in a thread of its own.

    When the caller is cancelled, so is an async summarizer, and awaited; the thread of a sync one is left behind.
    """
    try:
        request = next(fold)
        while True:
            try:
                reply = await answer(summarize, request, seconds)
            except Exception as error:
                request = fold.throw(error)
            else:
                request = fold.send(reply)
    except StopIteration as done:
        return cast(T, done.value)
    finally:
        fold.close()


async def answer(summarize: Summarize, request: SummaryRequest, seconds: float | None) -> str | None:
    """What a summarizer, sync or async, replies to one request. Raises what it raises; TimeoutError: too late.

    It has a task of its own: one that goes on when it is cancelled is left behind, and holds up nobody.
    """
    task = asyncio.create_task(_replied(summarize, request))
    task.add_done_callback(_seen)
    try:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            raise TimeoutError(f"no summary within {seconds:g} s")
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=_GRACE)
    if task.cancelled():
        raise SummaryFailed("it was cancelled")
    return task.result()


async def _replied(summarize: Summarize, request: SummaryRequest) -> str | None:
    if is_async(summarize):
        reply = summarize(request)
    else:
        reply = await asyncio.wrap_future(_threaded(summarize, request))
    return await reply if inspect.isawaitable(reply) else reply


def _seen(task: Any) -> None:
    """Of a task that was left behind nobody asks what became of it, and asyncio would complain of that."""
    if not task.cancelled():
        task.exception()


def _threaded(summarize: Summarize, request: SummaryRequest) -> Future[str | Awaitable[str | None] | None]:
    """The call, in a daemon thread: a pool's would keep the process from ending as long as one hangs."""
    future: Future[str | Awaitable[str | None] | None] = Future()
    context = contextvars.copy_context()

    def call() -> None:
        try:
            reply = context.run(summarize, request)
        except StopIteration:  # no future of asyncio's takes this
            future.set_exception(SummaryFailed("it raised StopIteration"))
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(reply)

    future.set_running_or_notify_cancel()
    Thread(target=call, name="trimtab-summarizer", daemon=True).start()
    return future


def is_async(summarize: Summarize) -> bool:
    """Whether it is known to be: then it is called where the loop runs, not in a thread."""
    call = getattr(summarize, "__call__", None)  # noqa: B004  # the method, not whether there is one
    return inspect.iscoroutinefunction(summarize) or inspect.iscoroutinefunction(call)


def _drop(reply: Any) -> None:
    if inspect.iscoroutine(reply):
        reply.close()
