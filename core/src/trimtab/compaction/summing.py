"""From messages to a summary: in as many requests as the summarizer's window asks for, each taking up the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from trimtab.compaction.calling import Fold, ask
from trimtab.compaction.estimate import Estimator
from trimtab.compaction.transcript import entries
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import SummaryFailed
from trimtab.tables import is_joined
from trimtab.wire.histories import Message

__all__ = ["PROMPT_TOKENS", "Room", "room_of", "summary_of"]

PROMPT_TOKENS: Final = 600
"""Tokens that what a summarizer is told about its task may take, of the window."""

_LEAST_OUT: Final = 4_096
_MOST_OUT: Final = 16_384
_LEAST_IN: Final = 2_000
_MARGIN: Final = 0.85
_LEAST_CHARS: Final = 200  # of an entry that is cut
_BETWEEN: Final = "\n\n"
_BACK: Final = 32


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
    said = list(entries(messages))
    at = 0
    while at < len(said):
        beside = PROMPT_TOKENS + (0 if prior is None else estimator.text(prior))
        history, at = _portion(said, at, max(room.taken - beside, room.taken // 2), estimator)
        prior = yield from ask(SummaryRequest(history=history, prior=prior, budget=budget, count=estimator.text))
    if prior is None:
        raise SummaryFailed("the messages say nothing that could be summarized")
    return prior


def _portion(said: Sequence[str], at: int, room: int, estimator: Estimator) -> tuple[str, int]:
    """The entries from here on that fit, at least one, and where the next begin; one that is too long is cut."""
    size, end = 0, at
    while end < len(said):
        tokens = estimator.text(said[end]) + 1
        if size + tokens > room:
            break
        size += tokens
        end += 1
    if end == at:
        return _cut(said[at], max(_LEAST_CHARS, room * len(said[at]) // estimator.text(said[at]))), at + 1
    return _BETWEEN.join(said[at:end]), end


def _cut(entry: str, most: int) -> str:
    """The beginning and the end of an entry, some `most` chars in all."""
    if len(entry) <= most:
        return entry
    head, tail = _seam(entry, 2 * most // 3), _seam(entry, len(entry) - most // 3)
    return f"{entry[:head]}\n(… {tail - head:,} chars left out …)\n{entry[tail:]}"


def _seam(entry: str, at: int) -> int:
    return next((at - back for back in range(_BACK) if not is_joined(entry, at - back)), at)
