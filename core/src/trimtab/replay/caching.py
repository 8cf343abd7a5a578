"""Plays requests against a provider's cache: what each reads, what it writes, what it costs. No clock, no chance."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from attrs import frozen

from trimtab.replay.measuring import Prompt
from trimtab.replay.rules import CacheRule

__all__ = ["Cached", "cached"]


@frozen(kw_only=True)
class Cached:
    """What became of one request's tokens: `read` from the cache, `written` to it, the rest neither; what they cost.

    `cost`: in prices of one input token that is not cached.
    """

    read: int
    written: int
    cost: float


def cached(prompts: Iterable[Prompt], rule: CacheRule, *, pause: float = 0.0) -> Iterator[Cached]:
    """Each request in turn, `pause` seconds after the one before.

    The cache has what earlier requests of this session brought, and loses nothing before its time. Breakpoints are at
    the end of the newest message, and where tools and system prompt end, whatever the requests themselves say.
    """
    known = _Entries(rule, pause)
    for prompt in prompts:
        known.begin()
        if rule.kind == "breakpoints":
            places = [at for at in _breakpoints(prompt) if prompt.ends[at] >= rule.least]
            found = _look_back(prompt, places, known, rule)
            read = 0 if found is None else prompt.ends[found]
            end = prompt.ends[places[-1]] if places else 0
            known.use(prompt.marks[at] for at in ([*places, found] if found is not None else places))
        else:
            # With each mark all before it are known too.
            same = bisect_left(prompt.marks, True, key=lambda mark: mark not in known)
            read = _whole_steps(prompt.ends[same - 1] if same else 0, rule)
            end = _whole_steps(prompt.tokens, rule)
            known.use(prompt.marks)
        written = max(0, end - read)
        cost = read * rule.read + written * rule.write + (prompt.tokens - read - written)
        yield Cached(read=read, written=written, cost=cost)


class _Entries:
    """What the cache has: beginnings by their marks, each until its time is over."""

    def __init__(self, rule: CacheRule, pause: float) -> None:
        self._lasts = inf if rule.ttl is None or not pause else rule.ttl // pause  # requests
        self._used: dict[bytes, int] = {}
        self._number = 0

    def begin(self) -> None:
        """The next request."""
        self._number += 1

    def use(self, marks: Iterable[bytes]) -> None:
        """The request reads or writes these."""
        self._used.update(dict.fromkeys(marks, self._number))

    def __contains__(self, mark: bytes) -> bool:
        return mark in self._used and self._number - self._used[mark] <= self._lasts


def _breakpoints(prompt: Prompt) -> list[int]:
    """The pieces at whose ends breakpoints are, in order."""
    return sorted({at - 1 for at in (prompt.standing, len(prompt.pieces)) if at})


def _look_back(prompt: Prompt, places: Sequence[int], known: _Entries, rule: CacheRule) -> int | None:
    """The last piece at whose end an entry is found from a breakpoint backwards."""
    for place in reversed(places):
        blocks = 0
        for at in range(place, -1, -1):
            if rule.look_back is not None and blocks >= rule.look_back:
                break
            if prompt.marks[at] in known:
                return at
            blocks += prompt.pieces[at].blocks
    return None


def _whole_steps(tokens: int, rule: CacheRule) -> int:
    return tokens // rule.step * rule.step if tokens >= rule.least else 0
