"""Answers one call of the compress or decompress tool: reads it, folds or opens, says what was done."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from trimtab._json import canonical, utf8
from trimtab.compress.apply import Applied, Fold, fold_ranges
from trimtab.compress.board import Board
from trimtab.compress.parse import parse_compress_args
from trimtab.compress.ranges import Refusal
from trimtab.compress.receipts import FAILED, OPENED, feedback, receipt, refusal, unreadable
from trimtab.compress.refs import parse_ref
from trimtab.compress.results import Diagnostics, Parsed
from trimtab.compress.state import Block, CompressState, Mark
from trimtab.errors import CompressFailed, UnsupportedOutput
from trimtab.lenient import loads
from trimtab.types import Json
from trimtab.wire.arguments import INVALID, as_object

__all__ = ["Asked", "How", "Outcome", "answer_compress", "answer_decompress", "should_stop"]

How: TypeAlias = Literal["judge", "taken", "refused"]
"""Whether a call is judged, or is known from its answer to have been taken or refused."""

_DIGITS: Final = 16
_NAMES: Final = ("ref", "block", "blockId", "block_id", "id", "b")


@frozen(kw_only=True)
class Asked:
    """A call of ours, where it stands: row and number of its message, which of that message's calls, its arguments."""

    row: int
    message: int
    place: int
    call_id: str | None
    raw_args: Json = field(repr=False)
    complete: bool = True


@frozen(kw_only=True)
class Outcome:
    """What became of a call.

    Attributes:
        ok: whether anything was changed.
        text: for the model: a receipt, or what was wrong, the shorter the more failures there were in a row.
        mark: what the state keeps of it.
        folds, refusals: of a compress call, by range.
        opened: of a decompress call.
        parsed: how the arguments of a compress call were read.
        failures: how many calls in a row have failed, this one included.
        should_stop: whether the loop ought to end: the same failing call again, or too many failures.
    """

    ok: bool
    text: str = field(repr=False)
    mark: Mark
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


def answer_compress(board: Board, marks: Sequence[Mark], asked: Asked, how: How = "judge") -> Outcome:
    """Fold what a compress call names. A call of which nothing can be taken leaves the board as it was."""
    parsed = _parsed(asked)
    upto = asked.row + 1
    applied = Applied()
    if parsed.ranges and how != "refused":
        trusted = how == "taken"
        applied = fold_ranges(board, parsed.ranges, made_by=asked.message, upto=upto, trusted=trusted)
    mark = _mark(
        asked, "compress", _digest(parsed, asked.raw_args), tuple([fold.block.number for fold in applied.folds])
    )
    if mark.ok:
        text = receipt(board, applied, parsed.diagnostics)
    else:
        text = refusal(board, applied, parsed, upto) if parsed.ranges else unreadable(parsed.diagnostics)
    outcome = Outcome(ok=mark.ok, text=text, mark=mark, folds=applied.folds, refusals=applied.refusals, parsed=parsed)
    return _counted(board, marks, outcome, board.config.compress)


def _parsed(asked: Asked) -> Parsed:
    """The ranges of a call. An object that was cut off does not show where: its last summary may be half a one."""
    if asked.complete or isinstance(asked.raw_args, str | bytes | bytearray | memoryview):
        return parse_compress_args(asked.raw_args, call_id=asked.call_id)
    return Parsed(ranges=(), diagnostics=Diagnostics(ok=False, kind="truncated"))


def answer_decompress(board: Board, marks: Sequence[Mark], asked: Asked, how: How = "judge") -> Outcome:
    """Open the block that a decompress call names: one tier, or down to the messages."""
    value, whole = _read_opening(asked.raw_args)
    ref = parse_ref(value) if isinstance(value, str) else None
    block = board.blocks.get(ref.number) if ref is not None and ref.kind == "b" else None
    digest = _sha(f"{value!r}\0{whole}")
    if block is None or how == "refused" or block.number not in board.shown or not board.places_of(block):
        shown = ", ".join(f"b{number}" for number in sorted(board.shown)) or "none"
        text = f'{FAILED} Name a block that is shown, as in {{"ref": "b1"}}. Blocks that are shown: {shown}.'
        outcome = Outcome(ok=False, text=text, mark=_mark(asked, "decompress", digest, ()))
        return _counted(board, marks, outcome, board.config.decompress)
    board.open(block, () if whole else block.blocks)
    left = "" if whole or not block.blocks else f" Folded in it still: {', '.join(f'b{one}' for one in block.blocks)}."
    text = f"{OPENED} the messages of {block.ref} are in the conversation again.{left}"
    mark = evolve(_mark(asked, "decompress", digest, (block.number,)), whole=whole)
    return _counted(board, marks, Outcome(ok=True, text=text, mark=mark, opened=block), board.config.decompress)


def should_stop(state: CompressState, stop_after: int) -> bool:
    """Whether the loop ought to end: the newest failing call is the one before once more, or there are too many."""
    return _stops(state.marks, state.failures, stop_after)


def _stops(marks: Sequence[Mark], failures: int, stop_after: int) -> bool:
    if failures < 2:
        return failures >= stop_after
    newest, before = marks[-1], marks[-2]
    return failures >= stop_after or (newest.tool, newest.digest) == (before.tool, before.digest)


def _counted(board: Board, marks: Sequence[Mark], outcome: Outcome, tool: str) -> Outcome:
    """With its place in the row of failures."""
    if outcome.ok:
        return outcome
    failures = 1 + CompressState(marks=tuple(marks)).failures
    stop = _stops([*marks[-1:], outcome.mark], failures, board.config.stop_after)
    return evolve(outcome, failures=failures, should_stop=stop, text=feedback(outcome.text, failures, tool))


def _mark(asked: Asked, tool: str, digest: str, blocks: tuple[int, ...]) -> Mark:
    return Mark(
        message=asked.message,
        place=asked.place,
        tool="compress" if tool == "compress" else "decompress",
        ok=bool(blocks),
        digest=digest,
        blocks=blocks,
    )


def _digest(parsed: Parsed, raw: Json) -> str:
    """The same for calls that say the same, however they are spelt."""
    if parsed.ranges:
        ranges = [[one.start_ref, one.end_ref, one.summary, one.topic] for one in parsed.ranges]
        return _sha(canonical(ranges))
    if isinstance(raw, bytes | bytearray | memoryview):
        raw = bytes(raw).decode("utf-8", "replace")
    raw = as_object(raw)
    if len(raw) == 1 and isinstance(raw.get(INVALID), str):
        return _sha(raw[INVALID].strip(" \t\r\n"))
    try:
        return _sha(canonical(raw))
    except UnsupportedOutput:
        return _sha(type(raw).__name__)


def _sha(text: str) -> str:
    return sha256(utf8(text)).hexdigest()[:_DIGITS]


def _read_opening(raw: Json) -> tuple[Json, bool]:
    """The ref that decompress arguments name, and whether all tiers are to be opened."""
    if isinstance(raw, bytes | bytearray | memoryview):
        raw = bytes(raw).decode("utf-8", "replace")
    value = loads(raw)[0] if isinstance(raw, str) else raw
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value, False
    if not isinstance(value, dict):
        return None, False
    ref = next((value[name] for name in _NAMES if isinstance(value.get(name), str | int)), None)
    if isinstance(ref, int) and not isinstance(ref, bool):
        ref = f"b{ref}"
    whole = value.get("all")
    return ref, whole is True or whole in ("true", "True")
