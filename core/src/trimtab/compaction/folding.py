"""How a fold is carried out, in either lane: the summarizer is asked, the archive written, one verdict told."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

from attrs import field, frozen

from trimtab.compaction.asking.calling import Asking, arun, limit_of, run
from trimtab.compaction.chosen import summarizer_of
from trimtab.compaction.events import Due, archiving, due, metered
from trimtab.compaction.stored.archive import Archiver
from trimtab.compaction.types import Lane, OnEvent, Summarize
from trimtab.errors import CallerError

__all__ = ["Folding", "Made"]


@frozen(kw_only=True)
class Made:
    """A fold that does not count before its archive is written.

    Attributes:
        after: tokens of the prompt with it.
        folded: how many messages it takes away.
        reason: what is still wrong with it, or "".
        texts: for the store, by blob id.
    """

    after: int
    folded: int
    reason: str = ""
    texts: Mapping[str, str] = field(factory=dict, repr=False)


M = TypeVar("M", bound=Made)


class Folding:
    """Carries out the folds of one compactor."""

    def __init__(
        self,
        lane: Lane,
        summarizer: Summarize | None,
        *,
        timeout: float | None,
        on_event: OnEvent | None,
        archiver: Archiver,
    ) -> None:
        """Raises CallerError: a summarizer or a time limit that is none; `on_event` is async, or cannot be called."""
        if on_event is not None and (not callable(on_event) or inspect.iscoroutinefunction(on_event)):
            raise CallerError("on_event is a plain function of an Event: nobody would await an async one")
        self.summarize = summarizer_of(summarizer)
        self._lane = lane
        self._timeout = limit_of(timeout)
        self._on_event = on_event
        self._archiver = archiver

    def run(self, before: int, fold: Callable[[Due], Asking[M | None]]) -> tuple[M | None, Due]:
        """What came of a fold of a prompt of so many tokens; None: nothing, and the verdict says why."""
        with due(self._lane, before, self._on_event) as now:
            made = run(metered(fold(now), now), self.summarize, self._timeout)
            if made is not None:
                with archiving(now):
                    self._archiver.put(made.texts)
                    now.done(after=made.after, folded=made.folded, reason=made.reason)
        return made if now.is_done else None, now

    async def arun(self, before: int, fold: Callable[[Due], Asking[M | None]]) -> tuple[M | None, Due]:
        """As `run`, also with an async summarizer. The store is written in a worker thread."""
        with due(self._lane, before, self._on_event) as now:
            made = await arun(metered(fold(now), now), self.summarize, self._timeout)
            if made is not None:
                with archiving(now):
                    await asyncio.to_thread(self._archiver.put, made.texts)
                    now.done(after=made.after, folded=made.folded, reason=made.reason)
        return made if now.is_done else None, now
