"""Gives messages their refs: in order, each number once, and the same message the same ref for good."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from operator import is_
from typing import Final

from attrs import evolve

from trimtab.compress.config import CompressConfig
from trimtab.compress.folded import is_told
from trimtab.compress.refs.alignment import align, hideables, is_hidden
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.identity import form_of, texts_of
from trimtab.compress.state import Block, CompressState, Mark, Seen
from trimtab.wire.histories import Message

__all__ = ["active_after", "observe"]

_NAMED: Final = re.compile("(?<![A-Za-z0-9])([mMbB])([0-9]{1,15})(?![A-Za-z0-9])")


def observe(state: CompressState, now: Conversation, config: CompressConfig) -> CompressState:
    """The state now that these are the messages; the same object when nothing is new.

    New messages get the next numbers. A number is for good: one whose message is gone is not given to another, with
    one exception. Where the conversation goes on differently from some message on (an answer made anew, a fork), all
    that came after is gone together with everything that could name it: numbers, blocks and failures are those of that
    moment again, just as when the conversation is replayed from its beginning.

    Where only messages at the front or in the middle are gone (a client has put a summary there), or only answered
    calls of our own tools (a client does not show them), the conversation goes on as it was: blocks and failures stay,
    and numbers go on from the highest. A replay of what is left could not know all that, so the state has to be kept.
    """
    known = state.seen
    if len(known) <= len(now.keys) and all(one.key == key for one, key in zip(known, now.keys, strict=False)):
        return _with_new(state, range(len(known)), now, config)
    hideable = hideables(known)
    places = align(known, now, hideable, config.tools)
    if not is_hidden(known, places, hideable):
        after = max((place + 1 for place in places if place is not None), default=0)
        state = _rolled_back(state, {one.number for one in known[after:]}, _new_texts(now, places))
    return _with_new(state, places, now, config)


def _with_new(
    state: CompressState, places: Sequence[int | None], now: Conversation, config: CompressConfig
) -> CompressState:
    """With each row's message as it was known, and numbers for those that were not. `places` may end early."""
    known, grows = state.seen, now.shape.grows
    issued, seen = state.issued, []
    for at, (row, key) in enumerate(zip(now.rows, now.keys, strict=True)):
        place = places[at] if at < len(places) else None
        if place is None:
            issued += 1
            seen.append(_first_seen(issued, key, row, config))
        elif known[place].key != key or (
            grows and row.role == "assistant" and known[place].form != form_of(row, config.tools)
        ):
            seen.append(_first_seen(known[place].number, key, row, config))
        else:
            seen.append(known[place])
    if len(seen) == len(known) and all(map(is_, seen, known)):
        return state
    return evolve(state, seen=tuple(seen), issued=issued)


def _first_seen(number: int, key: str, row: Message, config: CompressConfig) -> Seen:
    texts = texts_of(row)
    tokens = sum(map(config.counter.count, texts))
    return Seen(number=number, key=key, form=form_of(row, config.tools), chars=sum(map(len, texts)), tokens=tokens)


def _new_texts(now: Conversation, places: Sequence[int | None]) -> list[Message]:
    return [row for row, place in zip(now.rows, places, strict=True) if place is None]


def _rolled_back(state: CompressState, gone: set[int], new: Iterable[Message]) -> CompressState:
    """The state before the first of these messages came.

    What later messages did goes too, where these were taken out of sight before. Numbers are given anew only if nothing
    that the user says now names one of them: what another client put in the place of old messages may do that.
    """
    first = min(gone)
    kept = {one.number for one in state.seen} - gone
    marks = tuple([mark for mark in state.marks if mark.message < first or mark.message in kept])
    nudges = tuple([nudge for nudge in state.nudges if nudge.after < first or nudge.after in kept])
    blocks = tuple([block for block in state.blocks if block.made_by < first or block.made_by in kept])
    # What is left must be what the numbers began with, or calls of the past would name other messages than they meant.
    reset = max(kept, default=0) < first and (bool(kept) or first == 1)
    if reset and not _are_named(new, range(first, state.issued + 1), range(len(blocks) + 1, len(state.blocks) + 1)):
        state = evolve(state, issued=first - 1, blocks=blocks)
    return evolve(state, marks=marks, nudges=nudges, blocks=active_after(state.blocks, marks))


def _are_named(rows: Iterable[Message], messages: Container[int], blocks: Container[int]) -> bool:
    """Whether the user says one of these numbers.

    What the model says and what it is told belongs to the way that the conversation takes now, with its own numbers.
    """
    for row in rows:
        texts = [part.text for part in row.of("text")] if row.role == "user" else []
        for kind, number in _NAMED.findall("\n".join(text for text in texts if not is_told(text))):
            if int(number) in (messages if kind in "mM" else blocks):
                return True
    return False


def active_after(blocks: Sequence[Block], marks: Sequence[Mark]) -> tuple[Block, ...]:
    """The blocks, each shown or not as these answered calls left them; not one that no call made."""
    by_number = {block.number: block for block in blocks}
    shown: set[int] = set()
    for mark in marks:
        for number in mark.blocks:
            block = by_number.get(number)
            if block is None:
                continue
            if mark.tool == "compress":
                shown.add(number)
                shown.difference_update(block.blocks)
            else:
                shown.discard(number)
                shown.update(() if mark.whole else block.blocks)
    return tuple([evolve(block, active=block.number in shown) for block in blocks])
