"""Plays requests against a provider's cache: what each reads, what it writes, what it costs. No clock, no chance."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

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
    known: set[bytes] = set()
    for prompt in prompts:
        if rule.ttl is not None and pause > rule.ttl:
            known.clear()
        if rule.kind == "breakpoints":
            places = [at for at in _breakpoints(prompt) if prompt.ends[at] >= rule.least]
            read = _read_back(prompt, places, known, rule)
            end = prompt.ends[places[-1]] if places else 0
            known.update(prompt.marks[at] for at in places)
        else:
            same = _longest(prompt, known)
            read = _whole_steps(prompt.ends[same - 1] if same else 0, rule)
            end = _whole_steps(prompt.tokens, rule)
            known.update(prompt.marks[same:])
        written = max(0, end - read)
        cost = read * rule.read + written * rule.write + (prompt.tokens - read - written)
        yield Cached(read=read, written=written, cost=cost)


def _breakpoints(prompt: Prompt) -> list[int]:
    """The pieces at whose ends breakpoints are, in order."""
    return sorted({at - 1 for at in (prompt.standing, len(prompt.pieces)) if at})


def _read_back(prompt: Prompt, places: Sequence[int], known: set[bytes], rule: CacheRule) -> int:
    """Tokens up to the last entry that is found from a breakpoint backwards."""
    for place in reversed(places):
        blocks = 0
        for at in range(place, -1, -1):
            if rule.look_back is not None and blocks >= rule.look_back:
                break
            if prompt.marks[at] in known:
                return prompt.ends[at]
            blocks += prompt.pieces[at].blocks
    return 0


def _longest(prompt: Prompt, known: set[bytes]) -> int:
    """Pieces of the longest beginning that an earlier request had. With each mark all before it are known too."""
    return bisect_left(prompt.marks, True, key=lambda mark: mark not in known)


def _whole_steps(tokens: int, rule: CacheRule) -> int:
    return tokens // rule.step * rule.step if tokens >= rule.least else 0
