"""Answers one call of the compress or decompress tool: reads it, folds or opens, says what was done."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from trimtab._json import canonical, utf8
from trimtab.compress.apply import Applied, Fold, fold_ranges
from trimtab.compress.arguments.parse import parse_compress_args
from trimtab.compress.arguments.results import Diagnostics, Parsed
from trimtab.compress.board import Board
from trimtab.compress.ranges import Refusal, blocks_shown, why_not_shown
from trimtab.compress.receipts import FAILED, Failure, entries_of, feedback, opened, receipt, refusal, unreadable
from trimtab.compress.refs import Ref, parse_ref
from trimtab.compress.state import Block, CompressState, Mark
from trimtab.errors import CompressFailed, UnsupportedOutput
from trimtab.lenient import loads
from trimtab.types import Json
from trimtab.wire.arguments import INVALID, as_object

__all__ = ["Asked", "How", "Outcome", "Past", "answer_compress", "answer_decompress", "should_stop"]

How: TypeAlias = Literal["judge", "taken", "refused"]
"""Whether a call is judged, or is known from its answer to have been taken or refused."""


@frozen(kw_only=True)
class Past:
    """What is known of a call from its answer. `left`: the entries of one that was taken which were not."""

    how: How = "judge"
    left: frozenset[int] = frozenset()


_DIGITS: Final = 16
_SOON: Final = 12  # messages: what is called again after more of them comes after other work
_NAMES: Final = ("ref", "block", "blockId", "block_id", "id", "b")


_NEW: Final = Past()


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
        text: for the model: a receipt, or what was wrong: in full after the first two failures in a row, with an end
            to it after the third, then short.
        mark: what the state keeps of it.
        folds, refusals: of a compress call, by range.
        opened: of a decompress call.
        parsed: how the arguments of a compress call were read.
        failures: how many times in a row calls have failed, this one included; those of one message count once.
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


def answer_compress(board: Board, marks: Sequence[Mark], asked: Asked, past: Past = _NEW) -> Outcome:
    """Fold what a compress call names. A call of which nothing can be taken leaves the board as it was."""
    parsed = _parsed(asked)
    upto = asked.row + 1
    applied = Applied()
    if parsed.ranges and past.how != "refused":
        numbered = zip(entries_of(parsed), parsed.ranges, strict=True)
        pairs = [(index, one) for index, one in numbered if index not in past.left]
        applied = fold_ranges(
            board,
            [one for _, one in pairs],
            made_by=asked.message,
            upto=upto,
            entries=[index for index, _ in pairs],
            trusted=past.how == "taken",
        )
    mark = _mark(
        asked, "compress", _digest(parsed, asked.raw_args), tuple([fold.block.number for fold in applied.folds])
    )
    if mark.ok:
        mark = evolve(mark, left=sorted(past.left | {one.index for one in applied.refusals}))
    said: str | Failure
    if mark.ok:
        said = receipt(board, applied, parsed)
    elif parsed.ranges:
        said = refusal(board, applied, parsed, upto)
    else:
        said = unreadable(board, parsed.diagnostics, upto)
    outcome = Outcome(ok=mark.ok, text="", mark=mark, folds=applied.folds, refusals=applied.refusals, parsed=parsed)
    return _told(board, marks, outcome, said, board.config.compress)


def _parsed(asked: Asked) -> Parsed:
    """The ranges of a call. An object that was cut off does not show where: its last summary may be half a one."""
    if asked.complete or isinstance(asked.raw_args, str | bytes | bytearray | memoryview):
        return parse_compress_args(asked.raw_args, call_id=asked.call_id)
    return Parsed(ranges=(), diagnostics=Diagnostics(ok=False, kind="truncated"))


def answer_decompress(board: Board, marks: Sequence[Mark], asked: Asked, past: Past = _NEW) -> Outcome:
    """Open the block that a decompress call names: one tier, or down to the messages."""
    value, whole = _read_opening(asked.raw_args)
    ref = parse_ref(value) if isinstance(value, str) else None
    block = board.blocks.get(ref.number) if ref is not None and ref.kind == "b" else None
    mark = _mark(asked, "decompress", _sha(f"{value!r}\0{whole}"), ())
    tool = board.config.decompress
    if block is None or past.how == "refused" or block.number not in board.shown or not board.places_of(block):
        return _told(board, marks, Outcome(ok=False, text="", mark=mark), _unopened(board, value, ref), tool)
    inner = () if whole else block.blocks
    board.open(block, inner)
    mark = evolve(mark, ok=True, blocks=(block.number,), whole=whole)
    return _told(board, marks, Outcome(ok=True, text="", mark=mark, opened=block), opened(board, block, inner), tool)


def _unopened(board: Board, value: Json, ref: Ref | None) -> Failure:
    """Why there is nothing to open."""
    if ref is None:
        said = "no ref was given" if value is None else f"{value!r:.40} is no ref"
        why = f"{said}: {blocks_shown(board)}"
    elif ref.kind == "b":
        why = why_not_shown(board, ref.number)[1]
    else:
        number = board.block_at[board.place[ref.number]] if ref.number in board.place else 0
        name = f"m{ref.number:05}"
        why = f"{name} is folded in b{number}: open that" if number else f"{name} is not folded: {blocks_shown(board)}"
    shown = [number for number in sorted(board.shown) if board.places_of(board.blocks[number])]
    advice = f'A block is opened with its ref, as in {{"ref": "b{shown[0]}"}}.' if shown else "Go on with the task."
    return Failure(cause=f"{FAILED}\n- {why}", advice=advice)


def should_stop(state: CompressState, stop_after: int) -> bool:
    """Whether the loop ought to end: the newest failing call was made before in vain, or there are too many."""
    return state.failures > 0 and _stops(state.marks, state.failures, stop_after)


def _stops(marks: Sequence[Mark], failures: int, stop_after: int) -> bool:
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
    """With its text; a failure's by its place in the row of failures."""
    if isinstance(said, str):
        return evolve(outcome, text=said)
    marks = (*marks, outcome.mark)
    failures = CompressState(marks=marks).failures
    stop = _stops(marks, failures, board.config.stop_after)
    return evolve(outcome, failures=failures, should_stop=stop, text=feedback(said, failures, tool))


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
    """The same for calls that say the same, however they are spelt, and whether they are complete or not."""
    if ranges := parsed.ranges or parse_compress_args(raw).ranges:
        return _sha(canonical([[one.start_ref, one.end_ref, one.summary, one.topic] for one in ranges]))
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
