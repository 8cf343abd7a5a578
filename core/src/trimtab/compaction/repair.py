"""Histories that no provider takes: calls and results that lost each other, a beginning that is not the user's.

What is amiss is mended and reported. What is well stays the same object.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import Final, Literal, TypeAlias

from attrs import define, field, frozen

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

    `answered`: a call without a result was given one that says so; `left-out`: a result without a call, or half of what
    a tool of the provider's own did; `moved`: a result stands behind its call now, as it came; `opened`: a line of the
    user's stands before what the model said first.
    """

    kind: RepairKind
    call_id: str = ""
    name: str = ""


@define(kw_only=True)
class _Plan:
    """What is to be done, by row: blocks to be taken out, results to be put behind calls, results to come first.

    `behind`: of each call in order, an answer that is made up, or the native message that brings its result.
    """

    gone: defaultdict[int, list[Path]] = field(factory=lambda: defaultdict(list))
    behind: defaultdict[int, list[Answer | Json]] = field(factory=lambda: defaultdict(list))
    late: set[int] = field(factory=set)
    repairs: list[Repair] = field(factory=list)


def repaired(shape: Shape, messages: Sequence[Message]) -> tuple[list[Json], tuple[Repair, ...]]:
    """The native messages as a provider takes them, but for roles in a row (`Shape.joined`), and what was mended."""
    natives = [message.native for message in messages]
    repairs: list[Repair] = []
    for again in range(_ROUNDS):
        natives, done = _mended(shape, messages)
        repairs += _beside_ours(done) if again else done
        if not done:
            break
        messages = shape.read(natives)
    opened = _opened(shape, natives)
    return opened, (*([Repair(kind="opened")] if len(opened) > len(natives) else []), *repairs)


def _beside_ours(repairs: Sequence[Repair]) -> list[Repair]:
    """What is mended in a further round, but for answers that were made up before: they are told already, and each that
    was taken for another call's is left out and made again.
    """
    ours = min(Counter(repair.kind for repair in repairs)[kind] for kind in ("answered", "left-out"))
    counts = Counter[RepairKind]()
    told = []
    for repair in repairs:
        counts[repair.kind] += 1
        if repair.kind not in ("answered", "left-out") or counts[repair.kind] > ours:
            told.append(repair)
    return told


def _mended(shape: Shape, messages: Sequence[Message]) -> tuple[list[Json], list[Repair]]:
    """Every result behind its call, and every call answered."""
    plan = _planned(shape, messages)
    found: list[Json] = []
    more: list[Json] = []  # results to follow those that are there
    for row, message in enumerate(messages):
        native = shape.without(message, plan.gone[row]) if row in plan.gone else message.native
        if native is None:
            continue
        if row in plan.late:
            native = _results_first(shape, native)
        if more and message.role == "user" and (with_more := _with_results(shape, native, more)) is not None:
            native, more = with_more, []
        elif more and not _goes_between(message) and not _said_in_one_go(shape, found[-1], message):
            found += more
            more = []
        if row in plan.behind:
            native, results = _followed(shape, native, plan.behind[row])
            more += results
        found.append(native)
    return [*found, *more], plan.repairs


def _said_in_one_go(shape: Shape, before: Json, message: Message) -> bool:
    """Whether results come behind both: where each call is a message of its own, they follow the last of several."""
    return not shape.adjacent and message.role == "assistant" == shape.role(before)


def _planned(shape: Shape, messages: Sequence[Message]) -> _Plan:
    plan = _Plan()
    ties = shape.ties([message.native for message in messages])
    by_call = {(tie.call_row, tie.call_at): tie for tie in ties}
    by_result = {(tie.result_row, tie.result_at): tie for tie in ties}
    shown = {(row, part.at) for row, message in enumerate(messages) for part in message.of("result")}
    movable = [tie for tie in ties if shape.adjacent and (tie.result_row, tie.result_at) in shown]
    far = {(tie.call_row, tie.call_at) for tie in movable if not _is_near(shape, messages, tie)}
    for row, message in enumerate(messages):
        for part in message.of("result"):
            tie = by_result.get((row, part.at))
            if tie is None:
                plan.gone[row].append(part.path)
                plan.repairs.append(_repair("left-out", part))
            elif (tie.call_row, tie.call_at) in far:
                plan.gone[row].append(part.path)
            elif shape.adjacent and _comes_late(message, part):
                plan.late.add(row)
                plan.repairs.append(_repair("moved", part))
        for part in message.of("call"):
            tie = by_call.get((row, part.at))
            if tie is None and not part.answered:
                plan.behind[row].append(_no_result(part))
                plan.repairs.append(_repair("answered", part))
            elif tie is not None and (row, part.at) in far:
                plan.behind[row].append(_alone(shape, messages[tie.result_row], tie.result_at))
                plan.repairs.append(_repair("moved", part))
    for row, part in _alone_in_their_pair(messages):
        plan.gone[row].append(part.path)
        plan.repairs.append(_repair("left-out", part))
    return plan


def _alone_in_their_pair(messages: Sequence[Message]) -> Iterator[tuple[int, Part]]:
    """What a tool of the provider's own was asked or answered, where the other of both is nowhere.

    Not of the last message, where the provider may go on, and not what it asks a person.
    """
    asked = [(row, part) for row, message in enumerate(messages) for part in message.of("other") if part.call_id]
    count = Counter(part.call_id for _, part in asked)
    for row, part in asked:
        mine = messages[row].role == "assistant" and (row == len(messages) - 1 or not part.path)
        if count[part.call_id] == 1 and not mine:
            yield row, part


def _followed(shape: Shape, native: Json, behind: Sequence[Answer | Json]) -> tuple[Json, list[Json]]:
    """A message with calls, and the messages that bring their results; some wires put them into the first."""
    found: list[Json] = []
    for made_up, some in groupby(behind, lambda one: isinstance(one, Answer)):
        if made_up:
            native, *brought = shape.answered([native], list(some))
            found += brought
        else:
            found += some
    together = _with_results(shape, found[0], found[1:]) if found else None
    return native, found if together is None else [together]


def _alone(shape: Shape, message: Message, at: Path) -> Json:
    """The message that brings a result, with nothing but this result, as it came."""
    return shape.without(message, [part.path for part in message.parts if part.at != at])


def _results_first(shape: Shape, native: Json) -> Json:
    """A message with the blocks that are results before all others."""
    places = {part.path[1] for part in shape.read([native])[0].of("result") if part.path[:1] == (shape.joins,)}
    there = list(enumerate(items(member(native, shape.joins))))
    ordered = sorted(there, key=lambda one: one[0] not in places)
    return changed(native, {(shape.joins,): [block for _, block in ordered]})


def _with_results(shape: Shape, native: Json, more: Sequence[Json]) -> Json | None:
    """A message that brings results as blocks, with those of others behind them; None: it is no such message."""
    places = [part.path[1] for part in shape.read([native])[0].of("result") if part.path[:1] == (shape.joins,)]
    blocks = [block for one in more for block in items(member(one, shape.joins))]
    if not places or not blocks:
        return None
    there = items(member(native, shape.joins))
    end = int(max(places)) + 1
    return changed(native, {(shape.joins,): [*there[:end], *blocks, *there[end:]]})


def _is_near(shape: Shape, messages: Sequence[Message], tie: Tie) -> bool:
    """Whether nothing but results stands between a call's message and its result's; where a message of the user's
    brings all of them, and the wire does not make one of several, nothing at all.
    """
    between = messages[tie.call_row + 1 : tie.result_row]
    one_message = messages[tie.result_row].role == "user" and "user" not in shape.alternates
    return all(_goes_between(message) and not (one_message and message.role == "user") for message in between)


def _goes_between(message: Message) -> bool:
    """Whether calls and results may have it between them: results of others, a person's leave."""
    return message.role == "tool" or brings_results(message)


def _comes_late(message: Message, result: Part) -> bool:
    """Whether in a message of the user's something is said before this result."""
    before = takewhile(lambda part: part is not result, message.parts)
    return message.role == "user" and any(part.kind not in ("result", "aside") for part in before)


def _no_result(call: Part) -> Answer:
    return Answer(call_id=call.call_id, name=call.name, value=_NO_RESULT, is_error=True)


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
