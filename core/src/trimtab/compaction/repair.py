"""Calls and results that lost each other: given an answer or left out, and reported, since providers refuse them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from attrs import frozen

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import Answer, Message, Shape

__all__ = ["Repair", "repaired"]

_NO_RESULT = "No result: the call was interrupted."


@frozen(kw_only=True)
class Repair:
    """What was done: `answered` a call without a result, or `left-out` a result without a call."""

    kind: str
    call_id: str
    name: str


def repaired(shape: Shape, messages: Sequence[Message]) -> tuple[list[Json], tuple[Repair, ...]]:
    """The native messages with every result behind its call and every call answered; the same objects where all is well.

    Calls of the last message that says anything wait for their results: they are left alone.
    """
    natives = [message.native for message in messages]
    ties = shape.ties(natives)
    answered = {(tie.call_row, tie.call_at) for tie in ties}
    known = {(tie.result_row, tie.result_at) for tie in ties}
    end = len(messages)
    while end and _brings_results(messages[end - 1]):
        end -= 1
    while end and messages[end - 1].role == "assistant":
        end -= 1
    found: list[Json] = []
    repairs: list[Repair] = []
    for row, message in enumerate(messages):
        lost: defaultdict[int, list[Path]] = defaultdict(list)
        for part in message.of("result"):
            if (row, part.at) not in known:
                lost[row].append(part.path)
                repairs.append(Repair(kind="left-out", call_id=part.call_id, name=part.name))
        native = shape.without(message, lost[row]) if lost[row] else message.native
        if native is not None:
            found.append(native)
        silent = [part for part in message.of("call") if not part.answered and (row, part.at) not in answered]
        if silent and row < end:
            repairs += [Repair(kind="answered", call_id=part.call_id, name=part.name) for part in silent]
            answers = [Answer(call_id=one.call_id, name=one.name, value=_NO_RESULT, is_error=True) for one in silent]
            filled = shape.answered([found.pop()] if native is not None else [], answers)
            found += filled
    return found, tuple(repairs)


def _brings_results(message: Message) -> bool:
    return message.role != "assistant" and bool(message.parts) and all(part.kind == "result" for part in message.parts)
