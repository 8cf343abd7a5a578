"""A session to be replayed: the requests that an agent sent, in order, as recorded or as a conversation tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from trimtab import marker
from trimtab.compaction.stored.record import SUMMARY_OPENING
from trimtab.compress.refs.identity import texts_of
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import WireProtocol, detect, protocols
from trimtab.wire.guard import guarded, protocol_named
from trimtab.wire.histories import Message, Shape
from trimtab.wire.lookup import shape_of

__all__ = ["Had", "Session", "had", "session_of"]

Had: TypeAlias = Literal["trimmed", "folded"]

_OF_MESSAGES: Final = ("role", "type")
_OF_REQUESTS: Final = ("messages", "contents", "input")
_OF_LINES: Final = ("request", "body")  # where a line of a log has its request
_SURE: Final = 0.9  # below, a request of little text may be of several protocols
_OPENING: Final = 4  # messages at a request's beginning, among which a summary stands: system, summary, request


@frozen(kw_only=True)
class Session:
    """Requests in the order in which they were sent.

    Attributes:
        protocol: in which they are written.
        requests: whole requests, or bare lists of messages; each has the whole history.
        derived: whether they were found out from one conversation.
    """

    protocol: WireProtocol = field(repr=False)
    requests: tuple[Json, ...] = field(converter=tuple, repr=False)
    derived: bool

    @property
    def shape(self) -> Shape:
        """How the protocol writes conversations."""
        return shape_of(self.protocol, None)


def session_of(
    value: Json, *, protocol: str | None = None, known: Mapping[str, WireProtocol] = protocols, what: str = "the input"
) -> Session:
    """The session that a value tells of.

    Args:
        value: a list of requests, or of their lists of messages; or one conversation (a request, or its list of
            messages), from which the requests are found out: one for each answer of the model's, and one for the end
            where that waits for an answer. Requests may stand in the member `request` or `body` of something larger,
            as they do in logs.
        protocol: the name of the protocol; None: the one that it looks like.
        known: protocols by name.
        what: the value's name in errors.

    Raises:
        CallerError: it looks like no protocol, or like several, or has no messages.
        PluginError: a plugin's protocol raised.
    """
    value = [_unwrapped(one) for one in value] if isinstance(value, list) else _unwrapped(value)
    if isinstance(value, list) and value and all(isinstance(one, dict | list) for one in value):
        name = protocol or next((name for one in reversed(value) if (name := detect(one, known))), None)
        if name is not None:
            wire = protocol_named(name, known)
            shape = shape_of(wire, None)
            whole = [_is_request(shape, one) for one in value]
            if all(whole):
                if protocol is None:
                    _check_alike(value, wire, known, what)
                return Session(protocol=wire, requests=tuple(value), derived=False)
            if any(whole):
                raise CallerError(
                    f"{what}: request {whole.index(False) + 1} of {len(whole)} has no messages as {name} writes them; "
                    "each must be a request of that protocol, alone or as a member `request` or `body`"
                )
    name = protocol or detect(value, known)
    if name is None:
        raise CallerError(
            f"{what} looks like no wire protocol{_members(value)}; name one with --protocol: {', '.join(known)}; "
            "what is read are requests, alone or each as a member `request` or `body`, or messages"
        )
    wire = protocol_named(name, known)
    shape = shape_of(wire, None)
    if not shape.place(value)[1]:
        raise CallerError(f"{what} has no messages as {name} writes them; name the protocol with --protocol")
    requests = _requests(shape, value)
    if not requests:
        raise CallerError(f"{what} has only what the model says, and nothing before it that was sent")
    return Session(protocol=wire, requests=tuple(requests), derived=True)


def had(session: Session) -> tuple[Had, ...]:
    """What trimtab had done to requests before they were recorded, by what it leaves in them."""
    shape, requests = session.shape, session.requests
    last = shape.read(requests[-1])
    begun = () if session.derived else requests[:-1]
    opening = [message for one in begun for message in shape.read(list(shape.place(one)[1][:_OPENING]))]
    found: list[Had] = []
    if any(one.handle for message in last for text in texts_of(message) for one in marker.parse(text)):
        found.append("trimmed")
    if any(
        part.kind == "text" and part.text.startswith(SUMMARY_OPENING)
        for message in (*opening, *last)
        if message.role == "user"
        for part in message.parts
    ):
        found.append("folded")
    return tuple(found)


def _unwrapped(value: Json) -> Json:
    """The request that stands in a line of a log, with its answer beside it; anything else as it is."""
    while isinstance(value, dict) and value.keys().isdisjoint(("role", *_OF_REQUESTS)):
        inner = [value[name] for name in _OF_LINES if isinstance(value.get(name), dict | list)]
        if len(inner) != 1:
            break
        value = inner[0]
    return value


def _members(value: Json) -> str:
    """What something has that is neither a request nor a message, for an error."""
    one = value[0] if isinstance(value, list) and value else value
    return f" (members: {', '.join(list(one)[:6]):.100})" if isinstance(one, dict) and one else ""


def _check_alike(requests: Sequence[Json], wire: WireProtocol, known: Mapping[str, WireProtocol], what: str) -> None:
    """Raises CallerError: a request is surely of another protocol than the last one, of `wire`."""
    for number, request in enumerate(requests, 1):
        if guarded(wire).detect(request) > 0:
            continue
        others = [name for name, one in known.items() if guarded(one).detect(request) >= _SURE]
        if others:
            raise CallerError(
                f"{what}: request {number} of {len(requests)} is written as {others[0]}, the last one as {wire.name}; "
                "give requests of one protocol only"
            )


def _is_request(shape: Shape, value: dict[str, Json] | list[Json]) -> bool:
    """Whether it has messages and is none itself: an item of a list may have a text called `input` too."""
    return bool(shape.place(value)[1]) and (isinstance(value, list) or value.keys().isdisjoint(_OF_MESSAGES))


def _requests(shape: Shape, conversation: Json) -> list[Json]:
    """The requests that led to a conversation: all that stands before each answer; the whole of it where one is due."""
    messages = shape.read(conversation)
    natives = [message.native for message in messages]
    ends = [at for at in range(1, len(messages)) if _begins_answer(messages, at)]
    if messages and messages[-1].role != "assistant":
        ends.append(len(messages))
    return [shape.write(conversation, natives[:end]) for end in ends]


def _begins_answer(messages: Sequence[Message], at: int) -> bool:
    return messages[at].role == "assistant" and messages[at - 1].role != "assistant"
