"""A state as one JSON value, for the application's database, and back. What was written once opens for good."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from attrs import asdict, frozen

from trimtab.compress.refs.identity import is_form
from trimtab.compress.state import Block, CompressState, Mark, Nudge, Seen, Spans
from trimtab.convert import ShapeError, structure
from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = ["dump_state", "load_state"]

_VERSION: Final = 1


def dump_state(state: CompressState) -> dict[str, Json]:
    """The state as JSON: objects, but a row `[number, key, form, chars, tokens]` for each message."""
    return {
        "v": _VERSION,
        "issued": state.issued,
        "seen": [[one.number, one.key, one.form, one.chars, one.tokens] for one in state.seen],
        "blocks": [_plain(block) for block in state.blocks],
        "marks": [_plain(mark) for mark in state.marks],
        "nudges": [_plain(nudge) for nudge in state.nudges],
    }


def _plain(value: Any) -> dict[str, Json]:
    """An attrs object as JSON: tuples are lists."""
    return {key: _listed(one) for key, one in asdict(value, recurse=False).items()}


def _listed(value: Json) -> Json:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value


@frozen(kw_only=True)
class _Stored:
    v: int
    issued: int
    seen: list[tuple[int, str, str, int, int]]
    blocks: list[Block]
    marks: list[Mark]
    nudges: list[Nudge]


def load_state(value: Json) -> CompressState:
    """The state that `dump_state` gave.

    Raises:
        CallerError: it is none, damaged (the message names the place), or of a later version.
    """
    if not isinstance(value, dict):
        raise CallerError(f"a stored state is the object that `dump_state` gave, decoded, not {type(value).__name__}")
    if "v" not in value:
        raise CallerError("this is no stored state: it has no `v`, which every one that `dump_state` gives has")
    version = value["v"]
    if version != _VERSION or isinstance(version, bool):
        raise CallerError(f"a stored state of version {version!r:.40} cannot be read here; this is version {_VERSION}")
    try:
        stored: _Stored = structure(value, _Stored)
    except ShapeError as error:
        raise _damaged(str(error)) from None
    state = CompressState(
        seen=tuple([_seen(*row) for row in stored.seen]),
        issued=stored.issued,
        blocks=tuple(stored.blocks),
        marks=tuple(stored.marks),
        nudges=tuple(stored.nudges),
    )
    _check(state)
    return state


def _check(state: CompressState) -> None:
    """Raises CallerError: what is stored contradicts itself, so that a message could get lost."""
    numbers = sorted(one.number for one in state.seen)
    if len(set(numbers)) < len(numbers) or (numbers and not 1 <= numbers[0] <= numbers[-1] <= state.issued):
        raise _damaged("two messages have one number, or one has a number that was not given yet")
    if not all(is_form(one.form) and one.chars >= 0 and one.tokens >= 0 for one in state.seen):
        raise _damaged("a message has a form or a size that none can have")
    blocks = {block.number: block for block in state.blocks}
    named = {number for mark in state.marks for number in mark.blocks}
    if len(blocks) < len(state.blocks) or not blocks.keys() >= named or min(blocks, default=1) < 1:
        raise _damaged("two blocks have one number, or one that is named is not there")
    for block in state.blocks:
        _check_block(block, blocks, numbers, state.issued)
    if _overlap([run for block in state.active for run in block.spans]):
        raise _damaged("a message is folded in two blocks that are shown")
    times = [mark.message for mark in state.marks] + [nudge.after for nudge in state.nudges]
    places = [mark.place for mark in state.marks] + [entry for mark in state.marks for entry in mark.left]
    if not all(1 <= time <= state.issued for time in times) or min(places, default=0) < 0:
        raise _damaged("a call or a reminder stands at a message that there never was")


def _check_block(block: Block, blocks: Mapping[int, Block], numbers: Sequence[int], issued: int) -> None:
    """Raises CallerError: a block that cannot be. `numbers`: those of the messages that are there, ascending."""
    if not block.spans or not all(1 <= first <= last <= issued for first, last in block.spans):
        raise _damaged(f"b{block.number} stands for nothing, or for messages that there never were")
    if block.tier < 1 or not 1 <= block.made_by <= issued or block.chars < 0 or block.tokens < 0:
        raise _damaged(f"b{block.number} has a tier, a size or a maker that none can have")
    if not all(number in blocks and number < block.number for number in block.blocks):
        raise _damaged(f"b{block.number} is made of a block that was not there before it, or that is not there")
    inner = [run for number in block.blocks for run in blocks[number].spans]
    if _overlap(block.spans) or _overlap(inner) or _reaches_beyond(inner, block.spans, numbers):
        raise _damaged(f"b{block.number} is made of blocks with the same message, or with one that it has not got")


def _overlap(runs: Iterable[tuple[int, int]]) -> bool:
    """Whether two of these runs have a number in common."""
    ordered = sorted(runs)
    return any(before[1] >= after[0] for before, after in pairwise(ordered))


def _reaches_beyond(inner: Iterable[tuple[int, int]], outer: Spans, numbers: Sequence[int]) -> bool:
    """Whether one of these numbers is in a run of the inner ones and in none of the outer."""
    ordered = sorted(outer)
    for first, last in inner:
        while first <= last:
            at = bisect_right(ordered, (first, math.inf)) - 1
            if at >= 0 and ordered[at][1] >= first:
                first = ordered[at][1] + 1
                continue
            end = min(last, ordered[at + 1][0] - 1) if at + 1 < len(ordered) else last
            if bisect_right(numbers, end) > bisect_left(numbers, first):
                return True
            first = end + 1
    return False


def _damaged(what: str) -> CallerError:
    return CallerError(f"the stored state is damaged: {what}; rebuild it from the conversation")


def _seen(number: int, key: str, form: str, chars: int, tokens: int) -> Seen:
    return Seen(number=number, key=key, form=form, chars=chars, tokens=tokens)
