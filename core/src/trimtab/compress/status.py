"""What a conversation's compression has come to, as data and as text."""

from __future__ import annotations

from attrs import field, frozen

from trimtab.compress.board import Board
from trimtab.compress.listing import Listed, compressible
from trimtab.compress.shown import shown_tokens
from trimtab.compress.state import Block, CompressState

__all__ = ["Status", "status_of"]


@frozen(kw_only=True)
class Status:
    """The report. Tokens are those that messages had when they were first seen.

    Attributes:
        messages: how many the conversation has, without the system's.
        folded: how many of them are folded.
        tokens: of all messages.
        shown: of what is shown in their place.
        blocks: those that are shown, in order.
        pending: what can be folded now.
        failures: calls in a row that have failed until now.
        reminders: how many were shown.
    """

    messages: int
    folded: int
    tokens: int
    shown: int
    blocks: tuple[Block, ...] = field(repr=False)
    pending: tuple[Listed, ...] = field(repr=False)
    failures: int
    reminders: int

    @property
    def saved(self) -> int:
        """Tokens that folding saves."""
        return self.tokens - self.shown


def status_of(board: Board, state: CompressState) -> Status:
    """The report on a conversation as it is now."""
    blocks = sorted((board.blocks[number] for number in board.shown), key=board.places_of)
    return Status(
        messages=len(board.rows),
        folded=sum(map(bool, board.block_at)),
        tokens=sum(one.tokens for one in board.seen),
        shown=shown_tokens(board),
        blocks=tuple(blocks),
        pending=tuple(compressible(board, len(board.rows))),
        failures=state.failures,
        reminders=len(state.nudges),
    )
