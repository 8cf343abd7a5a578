"""Which message of a history is which of those known: by key in order, and between these by place.

A message that has changed stays the same one where its place says so: between two that are known for sure, where there
are as many as before and it has the same calls; else, and at the front, where clients put summaries of theirs, only if
it has changed a little. At the end a conversation goes on differently more often than it is edited: a changed message
there is another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Sequence
from itertools import accumulate
from typing import Final

from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.identity import chars_of, form_of
from trimtab.compress.state import Seen
from trimtab.wire.histories import Message

__all__ = ["align", "hideables", "is_hidden"]

# A message in the same place is the same one if its size has changed by at most so many chars, and this share of it.
_DRIFT: Final = 16
_DRIFT_SHARE: Final = 0.05
# Messages of fewer chars are equal by chance ("go on"), if what stood around them is gone.
_TELLING: Final = 200


def hideables(known: Sequence[Seen]) -> list[bool]:
    """Whether clients may take a message out of sight while the conversation goes on as it was.

    Calls of our own tools with their results, and the reasoning before them.
    """
    found: list[bool] = []
    follows = False
    for one in known:
        follows = one.form[0] == "o" or (follows and (_has_calls(one) or _has_only_results(one)))
        found.append(follows and not (_has_calls(one) and one.form[0] != "o"))
    for at in range(len(found) - 2, -1, -1):
        found[at] = found[at] or (known[at].form[0] == "r" and known[at + 1].form[0] == "o")
    return found


def is_hidden(known: Sequence[Seen], places: Sequence[int | None], hideable: Sequence[bool]) -> bool:
    """Whether the newest messages are only out of sight, if they are gone.

    A result that is gone while its call is there was made anew.
    """
    kept = {place for place in places if place is not None}
    begin = max(kept, default=-1) + 1
    if not all(hideable[begin:]):
        return False
    at = begin if begin < len(known) and _has_only_results(known[begin]) else 0
    while at > 0 and (_has_only_results(known[at]) or _has_calls(known[at])):
        if at in kept and known[at].form[0] == "o":
            return False
        at -= 1
    return True


def _has_calls(one: Seen) -> bool:
    return one.form[1:3] != "0."


def _has_only_results(one: Seen) -> bool:
    return one.form[1:3] == "0." and one.form[3:4] != "0"


def align(known: Sequence[Seen], now: Conversation, hideable: Sequence[bool], own: Container[str]) -> list[int | None]:
    """For each row the index of the known message that it is, ascending; None: it is new.

    `hideable`: of each known message, what `hideables` says. `own`: names of our tools.
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
        _between(known, now, (last_known, at_known), (last_row, at_row), found, own)
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
    own: Container[str],
) -> None:
    """Between two that are known for sure: from both ends inwards, as long as each is like the one in its place."""
    (first, last), (begin, end) = of_known, of_rows
    share = _DRIFT_SHARE if begin else 0
    is_same_many = last - first == end - begin
    in_place = end < len(found) and (begin > 0 or is_same_many)
    sized = not begin or not is_same_many

    def alike(one: Seen, at: int) -> bool:
        return one.key == now.keys[at] or (in_place and _is_edited(one, now.rows[at], own, share, sized=sized))

    while first < last and begin < end and alike(known[first], begin):
        found[begin] = first
        first, begin = first + 1, begin + 1
    while first < last and begin < end and alike(known[last - 1], end - 1):
        last, end = last - 1, end - 1
        found[end] = last


def _drop_chance(known: Sequence[Seen], found: list[int | None], hideable: Sequence[bool]) -> None:
    """Takes back short runs at the end of what was found, where others stand before them, or none of before and after.

    Others: there are new messages in the place of known ones. Where these are only gone, or new ones only came between,
    a run that goes up to the newest message stays.
    """
    firm = [0, *accumulate(not one for one in hideable)]
    pairs = [(row, place) for row, place in enumerate(found) if place is not None]
    while pairs:
        start, chars = len(pairs), 0
        while start:
            row, place = pairs[start - 1]
            next_row, next_place = pairs[start] if start < len(pairs) else (row + 1, place + 1)
            if next_row != row + 1 or firm[next_place] > firm[place + 1]:
                break
            start, chars = start - 1, chars + known[place].chars
        before_row, before_place = pairs[start - 1] if start else (-1, -1)
        comes, goes = pairs[start][0] > before_row + 1, pairs[start][1] > before_place + 1
        is_newest = firm[len(known)] == firm[pairs[-1][1] + 1]
        if chars >= _TELLING or not (comes or goes) or (is_newest and not (comes and goes)):
            return
        for row, _ in pairs[start:]:
            found[row] = None
        del pairs[start:]


def _is_edited(one: Seen, row: Message, own: Container[str], share: float, *, sized: bool) -> bool:
    """Whether a row may be the message with another text; `sized`: only with a slightly different one."""
    if one.form != form_of(row, own):
        return False
    return not sized or abs(chars_of(row) - one.chars) <= _DRIFT + one.chars * share
