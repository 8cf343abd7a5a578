"""From messages to a summary: in as many requests as the summarizer's window asks for, each taking up the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from trimtab.compaction.calling import Fold, ask
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.transcript import entries
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import SummaryFailed
from trimtab.wire.histories import Message

__all__ = ["Room", "room_of", "summary_of"]

_LEAST_OUT: Final = 4_096
_MOST_OUT: Final = 16_384
_LEAST_IN: Final = 2_000
_MARGIN: Final = 0.85
_TOO_LONG: Final = 2  # a summary of so many times its budget is none


@frozen(kw_only=True)
class Room:
    """Tokens that a summarizer takes in and gives out."""

    taken: int
    given: int


def room_of(summarize: Summarize, window: int) -> Room:
    """By the summarizer's own window (its attribute `window`), else by the conversation's."""
    own: Any = getattr(summarize, "window", None)
    window = own if isinstance(own, int) and not isinstance(own, bool) and own > 1 else window
    given = min(max(window // 4, _LEAST_OUT), _MOST_OUT, max(1, window - 1))
    taken = max(1, min(window - given, max(_LEAST_IN, int((window - given) * _MARGIN))))
    return Room(taken=taken, given=given)


def summary_of(
    messages: Sequence[Message], prior: str | None, budget: int, room: Room, estimator: Estimator
) -> Fold[str]:
    """A summary of a prior summary and these messages, of about `budget` tokens.

    Raises:
        SummaryFailed: there was none, or one much longer than asked for.
    """
    budget = min(budget, room.given)
    for history in _portions(messages, room.taken - budget, estimator):
        request = SummaryRequest(history=history, prior=prior, budget=budget, count=estimator.text)
        prior = yield from ask(request)
        if estimator.text(prior) > _TOO_LONG * budget:
            raise SummaryFailed(f"the summary has more than {_TOO_LONG} times the {budget:,} tokens that it may have")
    if prior is None:
        raise SummaryFailed("the messages say nothing that could be summarized")
    return prior


def _portions(messages: Sequence[Message], room: int, estimator: Estimator) -> Iterator[str]:
    """The transcript in pieces that fit; an entry larger than that is a piece of its own, cut to its ends."""
    held: list[str] = []
    size = 0
    for entry in entries(messages):
        tokens = estimator.text(entry)
        if held and size + tokens > room:
            yield "\n\n".join(held)
            held, size = [], 0
        held.append(entry if tokens <= room else _cut(entry, max(200, room * len(entry) // tokens)))
        size += min(tokens, room)
    if held:
        yield "\n\n".join(held)


def _cut(entry: str, most: int) -> str:
    head = 2 * most // 3
    return f"{entry[:head]}\n[{len(entry) - most:,} chars left out]\n{entry[head - most :]}"
