"""What folding speaks of: rows, requests to summarizers, events, what is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from attrs import field, frozen

from trimtab.types import Json

__all__ = ["Attachment", "Event", "Lane", "Row", "Summarize", "SummaryRequest"]

Lane: TypeAlias = Literal["durable", "loop", "window"]


@frozen(kw_only=True)
class Attachment:
    """A file of the conversation's: the application's id, and the name by which the model reads it (`read_file`)."""

    id: str
    name: str


@frozen(kw_only=True)
class Row:
    """One row of the application's history, as it is stored.

    Attributes:
        id: the application's; the same each time.
        messages: what the row adds to a request, in the protocol's own shape, as it was sent.
        outputs: what is stored of its tool outputs (`Trimmed.row`), for the texts that can be read back.
        attachments: files that came with it.
        tokens: that the conversation took up to and with this row, as the provider counted; None: it did not.
        clears: whether the user cleared the context here: nothing up to this row is served.
    """

    id: str
    messages: tuple[Json, ...] = field(converter=tuple, repr=False)
    outputs: tuple[Json, ...] = field(default=(), converter=tuple, repr=False)
    attachments: tuple[Attachment, ...] = field(default=(), converter=tuple)
    tokens: int | None = None
    clears: bool = False


@frozen(kw_only=True)
class SummaryRequest:
    """What a summarizer is asked.

    Attributes:
        history: the messages to be folded, as text: who said what; tool results shortened, media named, never base64.
        prior: the summary of what came before them, to be taken up in the new one; None: they are the beginning.
        budget: tokens that the summary may have.
        count: counts tokens of a text, by the same counter as everything else.
    """

    history: str = field(repr=False)
    prior: str | None = field(repr=False)
    budget: int
    count: Callable[[str], int] = field(repr=False, eq=False)


Summarize: TypeAlias = Callable[[SummaryRequest], str | Awaitable[str | None] | None]
"""A summarizer: sync or async. Its attribute `window`, if it has one, says how many tokens it takes in."""


@frozen(kw_only=True)
class Event:
    """What became of a fold.

    Attributes:
        kind: `compacting` when a summarizer is about to be asked, then exactly one `done` or `skipped`.
        lane: which fold.
        reason: why it was skipped; "" of the others.
        before, after: tokens of the messages, estimated; `after` of `done` alone.
        folded: how many messages were folded.
    """

    kind: Literal["compacting", "done", "skipped"]
    lane: Lane
    reason: str = ""
    before: int = 0
    after: int | None = None
    folded: int = 0
