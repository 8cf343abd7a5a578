"""What became of a call of the compress or decompress tool, and the text that the model gets for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve, field, frozen

from trimtab.compress.apply import Fold
from trimtab.compress.arguments.results import Parsed
from trimtab.compress.board import Board
from trimtab.compress.calls import Asked, fold, open_block
from trimtab.compress.ranges import Refusal, blocks_shown, why_not_shown
from trimtab.compress.receipts import FAILED, Failure, feedback, opened, receipt, refusal, unreadable
from trimtab.compress.refs.written import parse_ref
from trimtab.compress.state import Block, CompressState, Mark
from trimtab.errors import CompressFailed
from trimtab.measure import shown
from trimtab.types import Json

__all__ = ["Outcome", "answer_compress", "answer_decompress"]

_SOON: Final = 12  # messages: what is called again after more of them comes after other work


@frozen(kw_only=True)
class Outcome:
    """What became of a call.

    Attributes:
        ok: whether anything was changed.
        text: for the model: a receipt, or what was wrong: in full after the first two failures in a row, with an end
            to it after the third, then short.
        mark: what the state keeps of it.
        call_id: of the call; None where the wire has none, or it was written into a text.
        folds, refusals: of a compress call, by range.
        opened: of a decompress call.
        parsed: how the arguments of a compress call were read.
        failures: how many times in a row calls have failed, this one included; those of one message count once.
        should_stop: whether the loop ought to end: the same failing call again, or too many failures.
    """

    ok: bool
    text: str = field(repr=False)
    mark: Mark
    call_id: str | None = None
    folds: tuple[Fold, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    opened: Block | None = None
    parsed: Parsed | None = None
    failures: int = 0
    should_stop: bool = False

    @property
    def error(self) -> CompressFailed | None:
        """The failure as an error, for hosts whose tools raise; its message is the text for the model."""
        return None if self.ok else CompressFailed(self.text)


def answer_compress(board: Board, marks: Sequence[Mark], asked: Asked) -> Outcome:
    """Fold what a compress call names. A call of which nothing can be taken leaves the board as it was."""
    done = fold(board, asked)
    applied, parsed, upto = done.applied, done.parsed, asked.row + 1
    said: str | Failure
    if done.mark.ok:
        said = receipt(board, applied, parsed)
    elif parsed.ranges:
        said = refusal(board, applied, parsed, upto)
    else:
        said = unreadable(board, parsed.diagnostics, upto)
    outcome = Outcome(
        ok=done.mark.ok,
        text="",
        mark=done.mark,
        call_id=asked.call_id,
        folds=applied.folds,
        refusals=applied.refusals,
        parsed=parsed,
    )
    return _told(board, marks, outcome, said, board.config.compress)


def answer_decompress(board: Board, marks: Sequence[Mark], asked: Asked) -> Outcome:
    """Open the block that a decompress call names: one tier, or down to the messages."""
    done = open_block(board, asked)
    block = done.block
    inner = () if block is None or done.mark.whole else block.blocks
    said = _unopened(board, done.ref) if block is None else opened(board, block, inner)
    outcome = Outcome(ok=done.mark.ok, text="", mark=done.mark, call_id=asked.call_id, opened=block)
    return _told(board, marks, outcome, said, board.config.decompress)


def _unopened(board: Board, written: Json) -> Failure:
    """Why there is nothing to open."""
    ref = parse_ref(written) if isinstance(written, str) else None
    if ref is None:
        said = "no ref was given" if written is None else f"{written!r:.40} is no ref"
        why = f"{said}: {blocks_shown(board)}"
    elif ref.kind == "b":
        why = why_not_shown(board, ref.number)[1]
    else:
        number = board.block_at[board.place[ref.number]] if ref.number in board.place else 0
        name = f"m{ref.number:05}"
        why = f"{name} is folded in b{number}: open that" if number else f"{name} is not folded: {blocks_shown(board)}"
    there = [number for number in sorted(board.shown) if board.places_of(board.blocks[number])]
    advice = f'A block is opened with its ref, as in {{"ref": "b{there[0]}"}}.' if there else "Go on with the task."
    return Failure(cause=f"{FAILED}\n- {why}", advice=advice)


def _stops(marks: Sequence[Mark], failures: int, stop_after: int) -> bool:
    """Whether the newest failing call was made before in vain, or there are too many."""
    if failures >= stop_after:
        return True
    newest = marks[-1]
    for mark in reversed(marks[:-1]):
        if mark.ok or newest.message - mark.message > _SOON:
            return False
        if mark.message != newest.message and (mark.tool, mark.digest) == (newest.tool, newest.digest):
            return True
    return False


def _told(board: Board, marks: Sequence[Mark], outcome: Outcome, said: str | Failure, tool: str) -> Outcome:
    """With its text; a failure's by its place in the row of failures.

    It quotes what the model wrote: what no provider takes is shown as excerpts show it.
    """
    if isinstance(said, str):
        return evolve(outcome, text=shown(said))
    marks = (*marks, outcome.mark)
    failures = CompressState(marks=marks).failures
    stop = _stops(marks, failures, board.config.stop_after)
    return evolve(outcome, failures=failures, should_stop=stop, text=shown(feedback(said, failures, tool)))
