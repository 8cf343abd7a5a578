"""The working view of a conversation and its state: who belongs together, what is protected, what is folded already."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from attrs import evolve

from trimtab.compress.config import CompressConfig
from trimtab.compress.folded import is_told
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.state import Block, CompressState, Seen
from trimtab.wire.histories import Message, is_prompt, units

__all__ = ["Board"]


class Board:
    """Rows by index, with what apply, listing and rendering ask of them. Blocks change by `fold` and `open`.

    Attributes:
        seen, rows: the messages, aligned.
        blocks: all blocks by number.
        next_block: the number that the next block gets.
        shown: numbers of the active blocks.
        ties: calls with their results, by row.
        unit: for each row the first row of those that are folded together or not at all.
        block_at: for each row the active block that it is folded into; 0: it is visible.
    """

    def __init__(self, state: CompressState, now: Conversation, config: CompressConfig) -> None:
        self.config = config
        self.issued = state.issued
        self.seen: Sequence[Seen] = state.seen
        self.rows: Sequence[Message] = now.rows
        self.blocks: dict[int, Block] = {block.number: block for block in state.blocks}
        self.next_block = max(self.blocks, default=0) + 1
        self.shown: set[int] = {block.number for block in state.blocks if block.active}
        self.place = {one.number: at for at, one in enumerate(state.seen)}
        self.ties = now.ties()
        pairs = [(tie.call_row, tie.result_row) for tie in self.ties]
        self.unit = units(now.rows, pairs)
        answered = Counter(call for call, _ in pairs)
        self._unanswered = [
            at
            for at, row in enumerate(now.rows)
            if row.role == "assistant" and answered[at] < sum(not part.answered for part in row.of("call"))
        ]
        # Messages that have the results of their calls in themselves: each is an answer that is finished.
        self._closed = {call for call, result in pairs if call == result} - set(self._unanswered)
        # For each row the last prompt up to there.
        self._prompts = list(accumulate((at if _asks(row) else -1 for at, row in enumerate(now.rows)), max))
        self.unit_sizes = Counter(self.unit)
        self.unit_ends: dict[int, int] = {}
        for at, unit in enumerate(self.unit):
            self.unit_ends[unit] = at
        self.block_at = [0] * len(self.rows)
        for number in self.shown:
            self._cover(self.blocks[number], number)
        self._guarded = _guarded(now.rows, self.unit, config)

    def blocks_now(self) -> tuple[Block, ...]:
        """All blocks by number, each shown or not as it is now."""
        return tuple(
            [
                block if block.active == (number in self.shown) else evolve(block, active=not block.active)
                for number, block in sorted(self.blocks.items())
            ]
        )

    def places_of(self, block: Block) -> list[int]:
        """The rows that a block stands for and that are still there, ascending."""
        return sorted(at for first, last in block.spans for at in self._between(first, last))

    def _between(self, first: int, last: int) -> Iterable[int]:
        """The rows of messages with these numbers, however many numbers that are."""
        if last - first > len(self.place):
            return [at for number, at in self.place.items() if first <= number <= last]
        return [self.place[number] for number in range(first, last + 1) if number in self.place]

    def fold(self, block: Block) -> None:
        """A new block in the place of its rows and of the blocks folded into it."""
        self.shown.difference_update(block.blocks)
        self.blocks[block.number] = block
        self.next_block = max(self.next_block, block.number + 1)
        self.shown.add(block.number)
        self._cover(block, block.number)

    def open(self, block: Block, inner: Iterable[int]) -> None:
        """A block is shown no longer; the `inner` ones are, in its place."""
        self.shown.discard(block.number)
        self._cover(block, 0)
        for number in inner:
            self.shown.add(number)
            self._cover(self.blocks[number], number)

    def _cover(self, block: Block, number: int) -> None:
        for at in self.places_of(block):
            self.block_at[at] = number

    def held(self, upto: int) -> set[int]:
        """Units that must stay as they are when the conversation has its first `upto` rows.

        The newest messages, the last prompt, and calls that wait for their results; what is protected always stays.
        """
        held = {self.unit[at] for at in range(max(0, upto - self.config.keep_recent), upto)}
        at = upto - 1
        while at >= 0 and self.rows[at].role == "assistant" and (at == upto - 1 or at not in self._closed):
            held.add(self.unit[at])
            at -= 1
        prompt = self._prompts[upto - 1] if upto else -1
        if prompt >= 0:
            held.add(self.unit[prompt])
        first, last = bisect_left(self._unanswered, prompt), bisect_left(self._unanswered, upto)
        held.update(self.unit[at] for at in self._unanswered[first:last])
        return held

    def is_free(self, at: int, upto: int, held: set[int]) -> bool:
        """Whether a row may be folded: it is not held, and all that it is tied to is there."""
        unit = self.unit[at]
        return unit not in held and unit not in self._guarded and self.unit_ends[unit] < upto

    def why_held(self, at: int, upto: int, inside: range) -> str:
        """Why a row of a range stays, as the end of a sentence. `inside`: the rows of the range."""
        ref, newest, unit = self.seen[at].ref, self.config.keep_recent, self.unit[at]
        if unit in self._guarded:
            return f"{ref} is protected and always stays"
        if any(self.unit[near] == unit for near in range(max(0, upto - newest), upto)):
            return f"{ref} belongs to the newest {newest} messages, which always stay"
        prompt = self._prompts[upto - 1]
        if prompt >= 0 and unit == self.unit[prompt]:
            return f"{ref} belongs to the last request of the user, which always stays"
        if unit in self.held(upto) or self.unit_ends[unit] >= upto:
            return f"{ref} belongs to an answer that is not finished yet"
        others = [row for row in range(unit, self.unit_ends[unit] + 1) if self.unit[row] == unit and row not in inside]
        return f"{ref} belongs together with {self.seen[others[0]].ref}, which is outside of the range"


def _asks(row: Message) -> bool:
    """Whether the user says something in a message, beside what is only told in it."""
    return is_prompt(row) and not all(part.kind == "text" and is_told(part.text) for part in row.parts)


def _guarded(rows: Sequence[Message], unit: Sequence[int], config: CompressConfig) -> set[int]:
    """Units with calls of protected tools, and the first prompt where it is to be kept."""
    tools = config.protected_tools
    held = {
        unit[at]
        for at, row in enumerate(rows)
        if tools and any(part.kind in ("call", "result") and part.name in tools for part in row.parts)
    }
    first = next((at for at, row in enumerate(rows) if _asks(row)), None)
    return held | {unit[first]} if first is not None and config.keep_first_prompt else held
