"""Histories that no provider takes: calls and results that lost each other, a beginning that is not the user's.

What is amiss is mended and reported. What is well stays the same object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import Answer, Message, Part, Shape, Tie, brings_results
from trimtab.wire.nodes import changed, items, member

__all__ = ["Repair", "RepairKind", "repaired"]

RepairKind: TypeAlias = Literal["answered", "left-out", "moved", "opened"]

_ROUNDS: Final = 3  # an answer to a call without an id may be taken for that of another call
_NO_RESULT: Final = "No result: the call was interrupted."
_OPENING: Final = "[The beginning of the conversation is not shown.]"


@frozen(kw_only=True)
class Repair:
    """What was done.

    `answered`: a call without a result was given one that says so; `left-out`: a result without a call; `moved`: a
    result stands behind its call now; `opened`: a line of the user's stands before what the model said first.
    """

    kind: RepairKind
    call_id: str = ""
    name: str = ""


@frozen
class _Plan:
    """What is to be done, by row: results to be taken out, and answers to be put behind calls."""

    gone: defaultdict[int, list[Path]] = field(factory=lambda: defaultdict(list))
    answers: defaultdict[int, list[Answer]] = field(factory=lambda: defaultdict(list))
    repairs: list[Repair] = field(factory=list)


def repaired(shape: Shape, messages: Sequence[Message]) -> tuple[list[Json], tuple[Repair, ...]]:
    """The native messages as a provider takes them, but for roles in a row (`Shape.joined`), and what was mended."""
    natives = [message.native for message in messages]
    repairs: list[Repair] = []
    for _ in range(_ROUNDS):
        natives, done = _mended(shape, messages)
        repairs += done
        if not done:
            break
        messages = shape.read(natives)
    opened = _opened(shape, natives)
    return opened, (*([Repair(kind="opened")] if len(opened) > len(natives) else []), *repairs)


def _mended(shape: Shape, messages: Sequence[Message]) -> tuple[list[Json], list[Repair]]:
    """Every result behind its call, and every call answered."""
    plan = _planned(shape, messages)
    found: list[Json] = []
    more: list[Json] = []  # results to follow those that are there
    for row, message in enumerate(messages):
        native = shape.without(message, plan.gone[row]) if row in plan.gone else message.native
        if native is None:
            continue
        if more and message.role == "user" and (with_more := _with_results(shape, native, more)) is not None:
            native, more = with_more, []
        elif more and not brings_results(message) and (shape.adjacent or message.role != "assistant"):
            found, more = [*found, *more], []
        found.append(native)
        if row in plan.answers:
            filled = shape.answered([found.pop()], plan.answers[row])
            found, more = [*found, filled[0]], [*more, *filled[1:]]
    found += more
    return found, plan.repairs


def _planned(shape: Shape, messages: Sequence[Message]) -> _Plan:
    plan = _Plan()
    ties = shape.ties([message.native for message in messages])
    by_call = {(tie.call_row, tie.call_at): tie for tie in ties}
    by_result = {(tie.result_row, tie.result_at): tie for tie in ties}
    far = {(tie.call_row, tie.call_at) for tie in ties if shape.adjacent and not _is_near(messages, tie)}
    for row, message in enumerate(messages):
        for part in message.of("result"):
            tie = by_result.get((row, part.at))
            if tie is None:
                plan.gone[row].append(part.path)
                plan.repairs.append(_repair("left-out", part))
            elif (tie.call_row, tie.call_at) in far:
                plan.gone[row].append(part.path)
        for part in message.of("call"):
            tie = by_call.get((row, part.at))
            if tie is None and not part.answered:
                plan.answers[row].append(_answer(part, _NO_RESULT, is_error=True))
                plan.repairs.append(_repair("answered", part))
            elif tie is not None and (row, part.at) in far:
                plan.answers[row].append(_answer(part, tie.value, is_error=tie.is_error))
                plan.repairs.append(_repair("moved", part))
    return plan


def _with_results(shape: Shape, native: Json, more: Sequence[Json]) -> Json | None:
    """A message that brings results as blocks, with those of others behind them; None: it is no such message."""
    places = [part.path[1] for part in shape.read([native])[0].of("result") if part.path[:1] == (shape.joins,)]
    blocks = [block for one in more for block in items(member(one, shape.joins))]
    if not places or not blocks:
        return None
    there = items(member(native, shape.joins))
    end = int(max(places)) + 1
    return changed(native, {(shape.joins,): [*there[:end], *blocks, *there[end:]]})


def _is_near(messages: Sequence[Message], tie: Tie) -> bool:
    """Whether nothing but results stands between a call's message and its result's."""
    return all(brings_results(message) for message in messages[tie.call_row + 1 : tie.result_row])


def _answer(part: Part, value: Json, *, is_error: bool) -> Answer:
    return Answer(call_id=part.call_id, name=part.name, value=value, is_error=is_error)


def _repair(kind: RepairKind, part: Part) -> Repair:
    return Repair(kind=kind, call_id=part.call_id, name=part.name)


def _opened(shape: Shape, natives: list[Json]) -> list[Json]:
    """With a line of the user's before the first message, where the provider asks for one."""
    if not shape.opens_with_user:
        return natives
    first = next((at for at, native in enumerate(natives) if shape.role(native) != "system"), None)
    if first is None or shape.role(natives[first]) == "user":
        return natives
    return [*natives[:first], shape.user_text(_OPENING), *natives[first:]]
