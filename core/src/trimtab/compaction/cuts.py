"""Where a history may be cut, so that what belongs together stays together."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.wire.histories import Message, Shape, is_prompt, units

__all__ = ["clean_cuts", "turns"]


def clean_cuts(shape: Shape, messages: Sequence[Message]) -> list[int]:
    """The places, ascending, before which a history can be cut.

    No call is cut from its result and no reasoning from what it led to; what the model said in one go stays whole.
    """
    ties = shape.ties([message.native for message in messages])
    unit = units(messages, [(tie.call_row, tie.result_row) for tie in ties])
    found = []
    reaches_back = len(messages)  # the earliest message that anything from here on is tied to
    for at in range(len(messages) - 1, -1, -1):
        reaches_back = min(reaches_back, unit[at])
        if reaches_back >= at and not (at and _goes_on(messages[at - 1], messages[at])):
            found.append(at)
    return found[::-1]


def turns(shape: Shape, rows: Sequence[Sequence[Message]], *, inside: bool = False) -> list[int]:
    """The rows, ascending, that begin a turn, so that nothing is cut from what it belongs to.

    A turn begins with a prompt. `inside`: where the prompt stands in one message with results also with their calls.
    """
    clean = set(clean_cuts(shape, [message for messages in rows for message in messages]))
    place = sum(map(len, rows))
    found = []
    owed = False
    for at in range(len(rows) - 1, -1, -1):
        place -= len(rows[at])
        first = next((message for message in rows[at] if message.role != "system"), None)
        if first is None:
            continue
        if place in clean and (owed or is_prompt(first)):
            found.append(at)
            owed = False
        elif inside and is_prompt(first) and first.of("result"):
            owed = True
    return found[::-1]


def _goes_on(before: Message, now: Message) -> bool:
    """Whether the model said both in one go. Where results stand in the messages of their calls, it did not."""
    return now.role == "assistant" == before.role and not before.of("result")
