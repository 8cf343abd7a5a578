"""From messages to a summary: in as many requests as the summarizer's window asks for, each taking up the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from trimtab.compaction.asking.calling import TOO_LONG, Asking, ask
from trimtab.compaction.asking.transcript import ends_of, entries
from trimtab.compaction.measuring.estimate import Estimator
from trimtab.compaction.settings import tokens_in
from trimtab.compaction.types import Summarize, SummaryRequest
from trimtab.errors import SummaryFailed
from trimtab.wire.histories import Message

__all__ = ["PROMPT_TOKENS", "Room", "room_of", "summary_of"]

PROMPT_TOKENS: Final = 600
"""Tokens that what a summarizer is told about its task may take, of the window."""

_MOST_OUT: Final = 16_384  # tokens: twenty pages; many models write no more at once
_IN_THIRDS: Final = 3  # of a window beside the task: the summary before, what is new, the reply
_LEAST_IN: Final = 2_000  # tokens: a small window is filled rather than left free
_MARGIN: Final = 0.85  # of what is left: the summarizer's own count is another
_LEAST_NEW: Final = 200  # tokens of history in a request; less is not worth one
_BETWEEN: Final = "\n\n"


@frozen(kw_only=True)
class Room:
    """Tokens of a request to a summarizer: what it takes in at most, its task too, and the summary it is asked for."""

    taken: int
    given: int


def room_of(summarize: Summarize, window: int, budget: int) -> Room:
    """For a summary of at most `budget` tokens: by the summarizer's own window, else by the conversation's.

    What is taken in and the longest reply that would be a summary are never more than the window together.
    """
    window = tokens_in(getattr(summarize, "window", None)) or window
    given = max(1, min(budget, _MOST_OUT, (window - PROMPT_TOKENS) // (_IN_THIRDS * TOO_LONG)))
    left = window - TOO_LONG * given
    return Room(taken=min(left, max(_LEAST_IN, int(left * _MARGIN))), given=given)


def summary_of(messages: Sequence[Message], prior: str | None, room: Room, estimator: Estimator) -> Asking[str]:
    """A summary of a prior summary and these messages, of about `room.given` tokens.

    Raises:
        SummaryFailed: there was none, or one much longer than asked for; or the summarizer's window is too small.
    """
    said = list(entries(messages))
    at = 0
    while at < len(said):
        before = 0 if prior is None else estimator.text(prior)
        left = room.taken - PROMPT_TOKENS - before
        if left < _LEAST_NEW:
            raise SummaryFailed(
                f"the summarizer's window is too small: it can be asked with {room.taken:,} tokens, and its task takes "
                f"{PROMPT_TOKENS}, the summary before {before:,}; give it a larger `window`, or another summarizer"
            )
        history, at = _portion(said, at, left, estimator)
        prior = yield from ask(SummaryRequest(history=history, prior=prior, budget=room.given, count=estimator.text))
    if prior is None:
        raise SummaryFailed("the messages say nothing that could be summarized")
    return prior


def _portion(said: Sequence[str], at: int, room: int, estimator: Estimator) -> tuple[str, int]:
    """The entries from here on that fit, at least one, and where the next begins; one that is too long is cut."""
    size, end = 0, at
    while end < len(said):
        tokens = estimator.text(said[end]) + 1
        if size + tokens > room:
            break
        size += tokens
        end += 1
    if end == at:
        return _cut(said[at], room, estimator), at + 1
    return _BETWEEN.join(said[at:end]), end


def _cut(entry: str, room: int, estimator: Estimator) -> str:
    """The beginning and the end of an entry that has more tokens than there is room for."""
    cut, most = entry, len(entry)
    while most and (tokens := estimator.text(cut)) > room:
        most = most * room // tokens
        cut = ends_of(entry, most)
    return cut
