"""`chain`: several summarizers; the first that gives a summary is the one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterable, Sequence
from typing import Final

from attrs import field, frozen

from trimtab.compaction.asking.calling import answer, attempted, is_async, limit_of, told, usable
from trimtab.compaction.settings import tokens_in
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import CallerError, SummaryFailed
from trimtab.telemetry import log

__all__ = ["ChainSummarizer"]

_TOLD: Final = 160  # chars of what was wrong with one link: a log line still holds a few


def _links(given: Iterable[Summarize]) -> tuple[Summarize, ...]:
    links = (given,) if callable(given) or isinstance(given, str) else tuple(given)
    for one in links:
        if isinstance(one, str):
            raise CallerError(f"{one!r:.80} is a name, and no link; host.summarizer('chain', links=[…]) takes names")
        if not callable(one) or inspect.isclass(one):
            raise CallerError(f"chain takes `links`: functions of a SummaryRequest, not {one!r:.80}")
    if not links:
        raise CallerError("chain takes `links`: one summarizer or more, in the order in which they are asked")
    return links


@frozen(kw_only=True)
class ChainSummarizer:
    """Asks its links in order, each once, until one gives a summary.

    What raises, hangs, refuses, says nothing or far too much is passed over with a warning in the log. With links that
    are async it is async: it gives an awaitable where it gets to the first of them.

    Attributes:
        links: the summarizers, first the one that is preferred.
        timeout: seconds for each link; None: none.

    Raises:
        CallerError: `links` is empty, or one of them is a name, a class or cannot be called; a time limit that is none.
    """

    links: Sequence[Summarize] = field(converter=_links)
    timeout: float | None = field(default=None, converter=limit_of)

    @property
    def window(self) -> int | None:
        """Tokens that every link takes in: the smallest window that is known; None: none is."""
        windows = (tokens_in(getattr(one, "window", None)) for one in self.links)
        return min((one for one in windows if one is not None), default=None)

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str]:
        """The first summary. Raises SummaryFailed: no link gave one; the message says why, of each."""
        faults: list[str] = []
        for at, link in enumerate(self.links):
            if is_async(link):
                return self._later(request, at, link, faults)
            try:
                reply = attempted(link, request, self.timeout)
                if inspect.isawaitable(reply):
                    return self._later(request, at, _given(reply), faults)
                return usable(reply, request)
            except Exception as error:
                _pass_over(at, link, error, faults)
        raise _failed(faults)

    async def _later(self, request: SummaryRequest, at: int, first: Summarize, faults: list[str]) -> str:
        """From one link on, which `first` stands for."""
        for number, link in enumerate((first, *self.links[at + 1 :]), at):
            try:
                return usable(await answer(link, request, self.timeout), request)
            except Exception as error:
                _pass_over(number, self.links[number], error, faults)
        raise _failed(faults)


def _given(reply: Awaitable[str | None]) -> Summarize:
    """What a link gave already, to be awaited."""

    async def given(request: SummaryRequest) -> str | None:
        return await reply

    return given


def _pass_over(at: int, link: Summarize, error: Exception, faults: list[str]) -> None:
    name = getattr(link, "__name__", type(link).__name__)
    faults.append(f"{name}: {told(error, _TOLD)}")
    log.warning("summarizer %d of a chain is passed over: %s", at + 1, faults[-1])


def _failed(faults: Sequence[str]) -> SummaryFailed:
    return SummaryFailed(f"no summarizer of the chain gave a summary ({'; '.join(faults)})")
