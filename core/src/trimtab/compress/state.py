"""What is known of a conversation's compression: frozen, stored by the application as one JSON value.

Every function takes a state and gives a state; the one given is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

__all__ = ["Band", "Block", "CompressState", "Mark", "Nudge", "Seen", "Spans", "numbers_of", "spans_of"]

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Numbers of messages, in the order of the messages, as runs `(first, last)`, both inclusive."""

Band: TypeAlias = Literal["growth", "pressure", "emergency"]

REF_DIGITS: Final = 5


def _spans(runs: Iterable[Iterable[int]]) -> Spans:
    """Runs as they come from JSON, too."""
    return tuple([(first, last) for first, last in runs])


def _numbers(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(numbers)


@frozen(kw_only=True)
class Seen:
    """A message that has a ref.

    Attributes:
        number: its ref is `m` and this number, with at least five digits. Given once, never to another message.
        key: 16 hex digits of the SHA-256 of what it says.
        form: what a small change of its text leaves alike: its role, its calls, how many results it has (`form_of`).
        chars, tokens: its size when it was first seen; not counted again before it says something else, so that what is
            shown does not change.
    """

    number: int
    key: str
    form: str
    chars: int
    tokens: int

    @property
    def ref(self) -> str:
        """As the model writes it: `m00012`."""
        return f"m{self.number:0{REF_DIGITS}}"


@frozen(kw_only=True)
class Block:
    """A fold: messages that one summary stands for.

    Attributes:
        number: its ref is `b` and this number. Given once.
        tier: 1: made of messages alone; else one more than the highest tier of the blocks folded into it.
        summary, topic: as the model wrote them.
        call_id: of the call that made it; None where the wire has none.
        made_by: number of the message with that call.
        spans: the messages that it stands for, those of the blocks folded into it among them.
        blocks: numbers of the blocks folded into it.
        chars, tokens: size of these messages.
        active: whether it is shown; a block folded into a denser one, or opened again, is not.
    """

    number: int
    tier: int
    summary: str = field(repr=False)
    topic: str | None
    call_id: str | None
    made_by: int
    spans: Spans = field(converter=_spans)
    blocks: tuple[int, ...] = field(converter=_numbers)
    chars: int
    tokens: int
    active: bool = True

    @property
    def ref(self) -> str:
        """As the model writes it: `b3`."""
        return f"b{self.number}"


@frozen(kw_only=True)
class Mark:
    """A call of the compress or decompress tool that was answered.

    Attributes:
        message: number of the message with the call.
        place: which of that message's calls it is, from 0.
        tool: which of the two.
        ok: whether anything was done.
        digest: of its arguments: the same for the same call.
        blocks: numbers of the blocks that it made, or opened.
        left: of a compress call that made some: which of its entries were not taken, from 0.
        whole: of a call that opened a block: down to the messages, not only to the blocks folded into it.
    """

    message: int
    place: int
    tool: Literal["compress", "decompress"]
    ok: bool
    digest: str
    blocks: tuple[int, ...] = field(default=(), converter=_numbers)
    left: tuple[int, ...] = field(default=(), converter=_numbers)
    whole: bool = False


@frozen(kw_only=True)
class Nudge:
    """A reminder that was shown: below which message, its text, and how full the context was then, in tokens."""

    after: int
    text: str = field(repr=False)
    band: Band
    tokens: int


@frozen(kw_only=True)
class CompressState:
    """All of it.

    Attributes:
        seen: the conversation's messages (without the system's), in their order.
        issued: the highest number that any message ever had.
        blocks: every block there was, by number from 1.
        marks: the calls that were answered, in order.
        nudges: the reminders shown, in order.
    """

    seen: tuple[Seen, ...] = field(default=(), repr=False)
    issued: int = 0
    blocks: tuple[Block, ...] = ()
    marks: tuple[Mark, ...] = ()
    nudges: tuple[Nudge, ...] = ()

    @property
    def active(self) -> tuple[Block, ...]:
        """The blocks that are shown."""
        return tuple([block for block in self.blocks if block.active])

    @property
    def failures(self) -> int:
        """How many times in a row calls have failed until now.

        Those of one message count once: the model had not seen an answer between them.
        """
        count, last = 0, 0
        for mark in reversed(self.marks):
            if mark.ok:
                break
            count += mark.message != last
            last = mark.message
        return count


def spans_of(numbers: list[int]) -> Spans:
    """Numbers as runs, in the order in which they are given."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def numbers_of(spans: Spans) -> list[int]:
    """The numbers in runs."""
    return [number for first, last in spans for number in range(first, last + 1)]
