"""A state as one JSON value, for the application's database, and back. What was written once opens for good."""

from __future__ import annotations

from typing import Any, Final

from attrs import asdict, frozen

from trimtab.compress.state import Block, CompressState, Mark, Nudge, Seen
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
        CallerError: it is damaged (the message names the place), or of a later version.
    """
    version = value.get("v") if isinstance(value, dict) else None
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
    """Raises CallerError: what is stored contradicts itself."""
    numbers = {one.number for one in state.seen}
    if len(numbers) < len(state.seen) or max(numbers, default=0) > state.issued:
        raise _damaged("two messages have one number, or one has a number that was not given yet")
    blocks = {block.number for block in state.blocks}
    named = {number for block in state.blocks for number in block.blocks}
    named |= {number for mark in state.marks for number in mark.blocks}
    if len(blocks) < len(state.blocks) or not named <= blocks or not all(block.spans for block in state.blocks):
        raise _damaged("two blocks have one number, one that is named is not there, or one stands for nothing")


def _damaged(what: str) -> CallerError:
    return CallerError(f"the stored state is damaged: {what}; rebuild it from the conversation")


def _seen(number: int, key: str, form: str, chars: int, tokens: int) -> Seen:
    return Seen(number=number, key=key, form=form, chars=chars, tokens=tokens)
