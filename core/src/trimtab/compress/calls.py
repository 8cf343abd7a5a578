"""Carries out one call of the compress or decompress tool: reads its arguments, folds or opens."""

from __future__ import annotations

from hashlib import sha256
from typing import Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from trimtab._json import canonical, utf8
from trimtab.compress.apply import Applied, fold_ranges
from trimtab.compress.arguments.parse import parse_compress_args
from trimtab.compress.arguments.results import Diagnostics, Parsed
from trimtab.compress.board import Board
from trimtab.compress.receipts import entries_of
from trimtab.compress.refs.written import parse_ref
from trimtab.compress.state import Block, Mark
from trimtab.errors import UnsupportedOutput
from trimtab.lenient import loads
from trimtab.types import Json
from trimtab.wire.arguments import INVALID, as_object

__all__ = ["Asked", "Folded", "How", "Opened", "Past", "decoded", "digest_of", "fold", "open_block"]

_DIGITS: Final = 16
_NAMES: Final = ("ref", "block", "blockId", "block_id", "id", "b")
_INNER: Final = ("arguments", "parameters", "args", "input")

How: TypeAlias = Literal["judge", "taken", "refused"]
"""Whether a call is judged, or is known from its answer to have been taken or refused."""


@frozen(kw_only=True)
class Past:
    """What is known of a call from its answer. `left`: the entries of one that was taken which were not."""

    how: How = "judge"
    left: frozenset[int] = frozenset()


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
class Folded:
    """What a compress call did. `parsed`: how its arguments were read."""

    mark: Mark
    applied: Applied
    parsed: Parsed


@frozen(kw_only=True)
class Opened:
    """What a decompress call did. `ref`: as it was written; `block`: the one that was opened; None: none was."""

    mark: Mark
    ref: Json
    block: Block | None


def fold(board: Board, asked: Asked, past: Past = _NEW) -> Folded:
    """Fold what a compress call names. A call of which nothing can be taken leaves the board as it was."""
    parsed = _parsed(asked)
    applied = Applied()
    if parsed.ranges and past.how != "refused":
        numbered = zip(entries_of(parsed), parsed.ranges, strict=True)
        pairs = [(index, one) for index, one in numbered if index not in past.left]
        applied = fold_ranges(
            board,
            [one for _, one in pairs],
            made_by=asked.message,
            upto=asked.row + 1,
            entries=[index for index, _ in pairs],
            trusted=past.how == "taken",
        )
    made = tuple([one.block.number for one in applied.folds])
    mark = _mark(asked, "compress", _digest(parsed, asked.raw_args), made)
    if mark.ok:
        mark = evolve(mark, left=sorted(past.left | {one.index for one in applied.refusals}))
    return Folded(mark=mark, applied=applied, parsed=parsed)


def open_block(board: Board, asked: Asked, past: Past = _NEW) -> Opened:
    """Open the block that a decompress call names: one tier, or down to the messages."""
    written, whole = _read_opening(asked.raw_args)
    ref = parse_ref(written) if isinstance(written, str) else None
    block = board.blocks.get(ref.number) if ref is not None and ref.kind == "b" else None
    mark = _mark(asked, "decompress", _digest_of_opening(written, whole), ())
    if block is None or past.how == "refused" or block.number not in board.shown or not board.places_of(block):
        return Opened(mark=mark, ref=written, block=None)
    board.open(block, () if whole else block.blocks)
    return Opened(mark=evolve(mark, ok=True, blocks=(block.number,), whole=whole), ref=written, block=block)


def digest_of(asked: Asked, tool: Literal["compress", "decompress"]) -> str:
    """The same for calls that say the same, however they are spelt, and whether they are complete or not."""
    if tool == "compress":
        return _digest(_parsed(asked), asked.raw_args)
    return _digest_of_opening(*_read_opening(asked.raw_args))


def _parsed(asked: Asked) -> Parsed:
    """The ranges of a call. An object that was cut off does not show where: its last summary may be half a one."""
    if asked.complete or isinstance(asked.raw_args, str | bytes | bytearray | memoryview):
        return parse_compress_args(asked.raw_args, call_id=asked.call_id)
    return Parsed(ranges=(), diagnostics=Diagnostics(ok=False, kind="truncated"))


def _mark(asked: Asked, tool: Literal["compress", "decompress"], digest: str, blocks: tuple[int, ...]) -> Mark:
    return Mark(message=asked.message, place=asked.place, tool=tool, ok=bool(blocks), digest=digest, blocks=blocks)


def _digest(parsed: Parsed, raw: Json) -> str:
    if ranges := parsed.ranges or parse_compress_args(raw).ranges:
        return _sha(canonical([[one.start_ref, one.end_ref, one.summary, one.topic] for one in ranges]))
    raw = as_object(_as_text(raw) if isinstance(raw, bytes | bytearray | memoryview) else raw)
    if len(raw) == 1 and isinstance(raw.get(INVALID), str):
        return _sha(raw[INVALID].strip(" \t\r\n"))
    try:
        return _sha(canonical(raw))
    except UnsupportedOutput:
        return _sha(type(raw).__name__)


def decoded(raw: Json) -> Json:
    """Arguments as a value; of a whole call in a text, which names its tool beside them, the arguments alone."""
    value = loads(_as_text(raw))[0] if isinstance(raw, str | bytes | bytearray | memoryview) else raw
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        inner = next((value[name] for name in _INNER if name in value), value)
        return loads(inner)[0] if isinstance(inner, str) else inner
    return value


def _as_text(raw: str | bytes | bytearray | memoryview) -> str:
    return raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "replace")


def _digest_of_opening(written: Json, whole: bool) -> str:
    return _sha(f"{written!r}\0{whole}")


def _sha(text: str) -> str:
    return sha256(utf8(text)).hexdigest()[:_DIGITS]


def _read_opening(raw: Json) -> tuple[Json, bool]:
    """The ref that decompress arguments name, and whether all tiers are to be opened."""
    value = decoded(raw)
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
