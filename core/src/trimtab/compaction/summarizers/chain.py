"""`chain`: several summarizers; the first that gives a summary is the one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterable, Sequence

from attrs import field, frozen

from trimtab.compaction.calling import answer, attempted, is_async, usable
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import CallerError, SummaryFailed
from trimtab.telemetry import log

__all__ = ["ChainSummarizer"]


def _links(given: Iterable[Summarize]) -> tuple[Summarize, ...]:
    links = (given,) if callable(given) else tuple(given)
    if not links or not all(map(callable, links)):
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
        CallerError: `links` is empty, or one of them cannot be called.
    """

    links: Sequence[Summarize] = field(converter=_links)
    timeout: float | None = None

    @property
    def window(self) -> int | None:
        """Tokens that every link takes in: the smallest window that is known; None: none is."""
        windows = [getattr(one, "window", None) for one in self.links]
        return min((one for one in windows if isinstance(one, int)), default=None)

    @property
    def deterministic(self) -> bool:
        """Whether all links are."""
        return all(getattr(one, "deterministic", False) is True for one in self.links)

    def __call__(self, request: SummaryRequest) -> str | Awaitable[str]:
        """The first summary. Raises SummaryFailed: no link gave one; the message says why, of each."""
        faults: list[str] = []
        for at, link in enumerate(self.links):
            if is_async(link):
                return self._later(request, at, None, faults)
            try:
                reply = attempted(link, request, self.timeout)
                if inspect.isawaitable(reply):
                    return self._later(request, at, reply, faults)
                return usable(reply, request)
            except Exception as error:
                _pass_over(at, link, error, faults)
        raise SummaryFailed(_all_failed(faults))

    async def _later(
        self, request: SummaryRequest, begin: int, first: Awaitable[str | None] | None, faults: list[str]
    ) -> str:
        """From one link on; `first`: what it gave already, to be awaited."""
        for at in range(begin, len(self.links)):
            link = self.links[at]
            try:
                if first is not None:
                    given, first = first, None
                    return usable(await answer(_given(given), request, self.timeout), request)
                return usable(await answer(link, request, self.timeout), request)
            except Exception as error:
                _pass_over(at, link, error, faults)
        raise SummaryFailed(_all_failed(faults))


def _given(reply: Awaitable[str | None]) -> Summarize:
    async def given(request: SummaryRequest) -> str | None:
        return await reply

    return given


def _pass_over(at: int, link: Summarize, error: Exception, faults: list[str]) -> None:
    name = getattr(link, "__name__", type(link).__name__)
    faults.append(f"{name}: {type(error).__name__}: {error!s:.120}")
    log.warning("summarizer %d of a chain is passed over: %s", at + 1, faults[-1])


def _all_failed(faults: Sequence[str]) -> str:
    return f"no summarizer of the chain gave a summary ({'; '.join(faults)})"
