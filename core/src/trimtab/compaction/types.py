"""What folding speaks of: rows, requests to summarizers, events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from attrs import Attribute, field, frozen

from trimtab.errors import CallerError
from trimtab.types import Json

__all__ = [
    "Attachment",
    "Event",
    "Lane",
    "OnEvent",
    "Row",
    "Summarize",
    "SummaryRequest",
    "listed_files",
    "listed_messages",
]

Lane: TypeAlias = Literal["durable", "loop"]


def _text(holder: object, attribute: Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not value:
        what = f"{attribute.name} of {type(holder).__name__}"
        raise CallerError(f"{what} must be a text with something in it, not {value!r:.80}")


def _flag(holder: object, attribute: Attribute[bool], value: object) -> None:
    if not isinstance(value, bool | int) or value not in (0, 1):  # databases without a type for these have 0 and 1
        raise CallerError(f"{attribute.name} of {type(holder).__name__} must be True or False, not {value!r:.80}")


def _listed(given: Iterable[Json]) -> tuple[Json, ...]:
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise CallerError(f"messages and outputs of a row are lists, not one {type(given).__name__}")
    return tuple(given)


def listed_messages(given: Iterable[Json]) -> list[Json]:
    """These messages, the list itself if it is one. Raises CallerError: one message, a request, what is no list."""
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        raise CallerError(f"pass the list of messages, not a {type(given).__name__} (of a request: its messages)")
    return given if isinstance(given, list) else list(given)


def listed_files(given: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """These attachments. Raises CallerError: something else."""
    files = tuple(given) if isinstance(given, Iterable) else (given,)
    for one in files:
        if not isinstance(one, Attachment):
            raise CallerError(f"attachments are a list of Attachment, not of {type(one).__name__}")
    return files


@frozen(kw_only=True)
class Attachment:
    """A file of the conversation's: the application's id, and the name by which the model reads it (`read_file`).

    Raises:
        CallerError: one of them is no text, or an empty one.
    """

    id: str = field(validator=_text)
    name: str = field(validator=_text)


@frozen(kw_only=True)
class Row:
    """One row of the application's history, as it is stored: one for what the user says, one for what a turn brings.

    Attributes:
        id: the application's; the same each time, and no other row's, over all branches of the conversation.
        messages: what the row adds to a request, in the protocol's own shape, as it was sent. None of a row that sends
            nothing, as one that only shows an error.
        outputs: what is stored of its tool outputs (`Trimmed.row`, or its text read as JSON), for the texts that can be
            read back.
        attachments: files that came with it.
        tokens: that the request which was sent last for this row took, its answer included, as the provider counted
            (`tokens_of`); None: not known, or not of the whole history: the turn was folded on its way
            (`Memo.counted`). What is no count is taken for None.
        clears: whether the user cleared the context here: nothing up to and with this row is served, but what the
            system says.

    Raises:
        CallerError: the id is no text or empty, messages, outputs or attachments are no lists of what they hold, or
            `clears` is not true or false.
    """

    id: str = field(validator=_text)
    messages: tuple[Json, ...] = field(converter=_listed, repr=False)
    outputs: tuple[Json, ...] = field(default=(), converter=_listed, repr=False)
    attachments: tuple[Attachment, ...] = field(default=(), converter=listed_files)
    tokens: int | None = None
    clears: bool = field(default=False, validator=_flag)


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
    """What becomes of a fold that is due.

    Attributes:
        kind: `compacting` when the prompt is too large, then exactly one `done` or `skipped`, however it ends.
        lane: which fold.
        reason: why it was skipped, or what is still wrong when it is done; else "".
        before, after: tokens of the prompt, estimated from what the provider counted; `after` of `done` alone.
        folded: how many messages were folded.
        requests: how often the summarizer was asked.
        taken, given: tokens that it was shown of summaries and history, and that it replied, estimated.
    """

    kind: Literal["compacting", "done", "skipped"]
    lane: Lane
    reason: str = ""
    before: int = 0
    after: int | None = None
    folded: int = 0
    requests: int = 0
    taken: int = 0
    given: int = 0


OnEvent: TypeAlias = Callable[[Event], None]
"""Is told of every fold that is due, as it happens. What it raises is logged, and changes nothing."""
