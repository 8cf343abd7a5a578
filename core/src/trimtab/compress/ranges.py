"""From the refs that a model wrote to rows: where a range begins and ends, or why it is none."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from attrs import frozen

from trimtab.compress.arguments.results import CompressRange
from trimtab.compress.board import Board
from trimtab.compress.refs.written import parse_ref

__all__ = ["Reason", "Refusal", "Span", "blocks_shown", "resolve", "why_not_shown"]

_BLOCKS: Final = 8  # named where a block is asked for that is not there

Reason: TypeAlias = Literal[
    "not-a-ref",
    "unknown-ref",
    "gone-ref",
    "folded-ref",
    "reversed",
    "overlap",
    "held",
    "summary-too-short",
    "summary-too-long",
    "no-gain",
    "too-small",
]


@frozen(kw_only=True)
class Refusal:
    """A range that was not applied: its refs as written, why, and the same in words.

    `index`: which of the call's entries it is, from 0; entries that could not be read are counted, too.
    """

    index: int
    start_ref: str
    end_ref: str
    reason: Reason
    text: str


@frozen(kw_only=True)
class Span:
    """A range that names rows: `first` to `last`, both inclusive. `by_block`: it begins or ends with a block."""

    index: int
    range: CompressRange
    first: int
    last: int
    by_block: bool


@frozen
class _End:
    """Where a ref leads: the rows that it stands for, and whether it is a block's."""

    first: int
    last: int
    is_block: bool


def resolve(board: Board, index: int, asked: CompressRange, upto: int) -> Span | Refusal:
    """The rows of a range, by the place of the messages that its refs name, not by the numbers in them."""

    def refused(reason: Reason, text: str) -> Refusal:
        return Refusal(index=index, start_ref=asked.start_ref, end_ref=asked.end_ref, reason=reason, text=text)

    ends = []
    for ref in (asked.start_ref, asked.end_ref):
        found = _end(board, ref, upto)
        if not isinstance(found, _End):
            return refused(*found)
        ends.append(found)
    start, end = ends
    if start.first > end.last:
        return refused("reversed", "the first comes after the second in the conversation: name the earlier one first")
    rows = [start.first, start.last, end.first, end.last]
    for there, edge in ((start, 0), (end, -1)):
        block = None if there.is_block else board.blocks.get(board.block_at[there.first])
        places = board.places_of(block) if block is not None else [there.first]
        if block is not None and places[edge] != there.first:
            ref = board.seen[there.first].ref
            text = f"{ref} is folded in {block.ref} already: name {block.ref}, or a message outside of it"
            return refused("folded-ref", text)
        rows += [places[0], places[-1]]
    # A block counts whole, also where a message that it left out was folded in another one later.
    by_block = any(one.is_block or board.block_at[one.first] for one in ends)
    return Span(index=index, range=asked, first=min(rows), last=max(rows), by_block=by_block)


def _end(board: Board, text: str, upto: int) -> _End | tuple[Reason, str]:
    ref = parse_ref(text)
    if ref is None:
        return "not-a-ref", f"{text!r:.40} is no ref: write refs as they are shown, such as {board.seen[upto - 1].ref}"
    if ref.kind == "b":
        return _end_of_block(board, ref.number)
    at = board.place.get(ref.number)
    if at is not None and at < upto:
        return _End(at, at, False)
    shown = f"m{ref.number:05}"
    if at is None and 0 < ref.number <= board.issued:
        text = f"{shown} was a message earlier, but it is gone: the conversation now begins with {board.seen[0].ref}"
        return "gone-ref", text
    return "unknown-ref", f"there is no {shown} and never was: the newest message is {board.seen[upto - 1].ref}"


def _end_of_block(board: Board, number: int) -> _End | tuple[Reason, str]:
    block = board.blocks.get(number)
    if block is not None and number in board.shown and (rows := board.places_of(block)):
        return _End(rows[0], rows[-1], True)
    return why_not_shown(board, number)


def why_not_shown(board: Board, number: int) -> tuple[Reason, str]:
    """Why a block's number leads to no block that is shown, and what does."""
    block = board.blocks.get(number)
    if block is None:
        return "unknown-ref", f"there is no b{number} and never was: {blocks_shown(board)}"
    rows = board.places_of(block)
    if not rows:
        return "gone-ref", f"the messages of b{number} are not in the conversation any more: {blocks_shown(board)}"
    outer = board.blocks.get(board.block_at[rows[0]])
    if outer is not None:
        return "folded-ref", f"b{number} is folded into {outer.ref}: name {outer.ref}"
    first, last = board.seen[rows[0]].ref, board.seen[rows[-1]].ref
    return "gone-ref", f"b{number} was opened again, and its messages {first} to {last} are shown"


def blocks_shown(board: Board) -> str:
    """Which blocks are shown, as the end of a sentence."""
    refs = [f"b{number}" for number in sorted(board.shown) if board.places_of(board.blocks[number])]
    if not refs:
        return "nothing is folded now"
    more = f" and {len(refs) - _BLOCKS} more" if len(refs) > _BLOCKS else ""
    return f"what is folded is {', '.join(refs[:_BLOCKS])}{more}"
