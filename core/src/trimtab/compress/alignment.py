"""Which message of a history is which of those known: by key in order, and between these by place.

A message that has changed a little stays the same one where its place says so. Behind the last one that is known for
sure that is only the place right behind it: there a conversation goes on differently more often than it was edited.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from trimtab.compress.conversation import Conversation
from trimtab.compress.identity import chars_of, form_of
from trimtab.compress.state import Seen

__all__ = ["align"]

# A message in the same place is the same one if its size has changed by at most so many chars, or this share.
_DRIFT: Final = 16
_DRIFT_SHARE: Final = 20
# Messages of fewer chars are equal by chance ("go on"), if what stood before and behind them is gone.
_TELLING: Final = 200


def align(known: Sequence[Seen], now: Conversation, hideable: Sequence[bool]) -> list[int | None]:
    """For each row the index of the known message that it is, ascending; None: it is new.

    `hideable`: of each known message, whether clients take it out of sight while the conversation goes on as it was.
    Time is linear but for the search for a chain among the keys that both have once.
    """
    found: list[int | None] = [None] * len(now.keys)
    begin = 0
    while begin < min(len(known), len(found)) and known[begin].key == now.keys[begin]:
        found[begin] = begin
        begin += 1
    ends = 0
    while ends < min(len(known), len(found)) - begin and known[-1 - ends].key == now.keys[-1 - ends]:
        ends += 1
        found[-ends] = len(known) - ends
    anchors = _anchors(known, now, (begin, len(known) - ends), (begin, len(found) - ends))
    last_known, last_row = begin, begin
    for at_known, at_row in [*anchors, (len(known) - ends, len(found) - ends)]:
        _between(known, now, (last_known, at_known), (last_row, at_row), found)
        if at_row < len(found) - ends:
            found[at_row] = at_known
        last_known, last_row = at_known + 1, at_row + 1
    _drop_chance(known, found, hideable)
    return found


def _anchors(
    known: Sequence[Seen], now: Conversation, of_known: tuple[int, int], of_rows: tuple[int, int]
) -> list[tuple[int, int]]:
    """Pairs of equal keys that each side has once, the longest ascending chain of them."""
    times = Counter(known[at].key for at in range(*of_known))
    times_now = Counter(now.keys[of_rows[0] : of_rows[1]])
    where = {known[at].key: at for at in range(*of_known)}
    pairs = [
        (where[key], at)
        for at, key in enumerate(now.keys[of_rows[0] : of_rows[1]], of_rows[0])
        if times_now[key] == 1 and times.get(key) == 1
    ]
    tails: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for at, (place, _) in enumerate(pairs):
        spot = bisect_left(tails, place)
        before.append(tops[spot - 1] if spot else -1)
        tails[spot : spot + 1] = [place]
        tops[spot : spot + 1] = [at]
    chain = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _between(
    known: Sequence[Seen],
    now: Conversation,
    of_known: tuple[int, int],
    of_rows: tuple[int, int],
    found: list[int | None],
) -> None:
    """Between two that are known for sure: from both ends inwards, as long as each is like the one in its place."""
    (first, last), (begin, end) = of_known, of_rows
    while first < last and begin < end and _alike(known[first], now, begin):
        found[begin] = first
        first, begin = first + 1, begin + 1
    if end == len(found):  # what stands last is no place to count from
        return
    while first < last and begin < end and _alike(known[last - 1], now, end - 1):
        last, end = last - 1, end - 1
        found[end] = last


def _drop_chance(known: Sequence[Seen], found: list[int | None], hideable: Sequence[bool]) -> None:
    """Takes back short runs at the end of what was found, where what was before and what came after are both gone."""
    firm = [0, *accumulate(not one for one in hideable)]
    pairs = [(row, place) for row, place in enumerate(found) if place is not None]
    while pairs and firm[len(known)] > firm[pairs[-1][1] + 1]:
        start, chars = len(pairs), 0
        while start:
            row, place = pairs[start - 1]
            next_row, next_place = pairs[start] if start < len(pairs) else (row + 1, place + 1)
            if next_row != row + 1 or firm[next_place] > firm[place + 1]:
                break
            start, chars = start - 1, chars + known[place].chars
        is_beginning = not start and pairs[0][0] == 0 and firm[pairs[0][1]] == 0
        if is_beginning or chars >= _TELLING:
            return
        for row, _ in pairs[start:]:
            found[row] = None
        del pairs[start:]


def _alike(one: Seen, now: Conversation, at: int) -> bool:
    if one.key == now.keys[at]:
        return True
    row = now.rows[at]
    return one.form == form_of(row) and abs(chars_of(row) - one.chars) <= _DRIFT + one.chars // _DRIFT_SHARE
