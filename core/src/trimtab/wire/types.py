"""What every wire protocol speaks of: results, calls, faults; and what a protocol and a stream reader must offer."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from attrs import evolve, field, frozen

from trimtab.types import Json

__all__ = [
    "Fault",
    "PastCall",
    "RawArgs",
    "RawCall",
    "SpeakingStream",
    "Stream",
    "ToolResult",
    "WireProtocol",
    "is_synthetic",
    "named",
    "synthetic_id",
]

RawArgs: TypeAlias = Json
"""Arguments as the wire carried them: text exactly as it came, or the object where the wire has objects."""

# Digits of the digest in an id that we make: enough to tell a conversation's calls apart.
_ID_DIGITS = 12
_SYNTHETIC = re.compile(f"call_[0-9]+_[0-9a-f]{{{_ID_DIGITS}}}x*")


@frozen(kw_only=True)
class ToolResult:
    """What a tool returned, where it stands in a request.

    Attributes:
        key: JSON Pointer of the member that holds the value. The only name of a result: call ids repeat or are missing.
        call_id: as the wire carried it; "" where there is none.
        name: the tool's, from the result itself or from the call that it answers; "" where neither says.
        value: what the tool returned: a string, a JSON value, or the wire's list of content blocks.
        is_error: whether the request marks it as a failure.
        message: JSON Pointer of the assistant message whose calls it answers: results with the same one are a batch.
        call: `PastCall.key` of the call that it answers; None: that is not in the request.
    """

    key: str
    call_id: str
    name: str
    value: Json = field(repr=False)
    is_error: bool = False
    message: str = ""
    call: str | None = None


@frozen(kw_only=True)
class RawCall:
    """One tool call, as the model wrote it.

    Attributes:
        call_id: as the wire carried it; for one without an id, `synthetic_id`.
        name: the tool's; "" where the wire has none.
        raw_args: the text as it came (`""` where none came), or the object where the wire has objects. Never repaired.
        complete: False: the stream ended early, or the model stopped at a length limit; never run it as it is.
        by_provider: the provider runs the tool itself (an MCP call of OpenAI's Responses): not for the host to run.
    """

    call_id: str
    name: str
    raw_args: RawArgs = field(repr=False)
    complete: bool = True
    by_provider: bool = False


@frozen(kw_only=True)
class PastCall:
    """A call in a request's history. `key`: JSON Pointer of its arguments in the request."""

    key: str
    call: RawCall


@frozen(kw_only=True)
class Fault:
    """A result without its call, or a call without its result: providers refuse such a request.

    Attributes:
        key: JSON Pointer: `ToolResult.key` or `PastCall.key`.
        kind: which of the two is missing.
        call_id: as the wire carried it; "" where there is none.
        name: the tool's; "" where the wire does not say.
        what: one sentence for a log.
    """

    key: str
    kind: Literal["result-without-call", "call-without-result"]
    call_id: str
    name: str
    what: str


class Stream(Protocol):
    """Reads one streamed response. Does no I/O, never raises for what the wire carries, works in linear time."""

    def feed(self, data: bytes | str | Mapping[str, Json]) -> None:
        """Take what came: bytes or text cut anywhere, or one event that is decoded already."""
        ...

    def close(self) -> list[RawCall]:
        """The calls, in the order in which they began. What was not ended on the wire has `complete=False`.

        Calling it again gives the same calls.
        """
        ...


@runtime_checkable
class SpeakingStream(Stream, Protocol):
    """A stream reader that also gives what was said. The built-in ones do; one of a plugin need not."""

    def said(self) -> list[Json]:
        """The protocol's own messages for the history, of what has come so far; fit to be sent again.

        Called before or after `close`, any number of times. Text and thinking are joined, byte for byte; a call whose
        arguments no provider would take carries an object, as `WireProtocol.with_calls` writes it; a call without an
        id has the one that `close` gives it. What was cut off and cannot stand alone (unsigned thinking, a block of
        the provider's own tools) is left out. `[]`: nothing was said.
        """
        ...


@runtime_checkable
class WireProtocol(Protocol):
    """One provider's request, response and stream shapes. Contract: `trimtab.testing.WireContract`.

    Holds no state and does no I/O. A payload is data to be kept: what a method does not touch comes out as the same
    object, unknown fields included, and a payload of another shape has no results, no calls and no faults.
    """

    @property
    def name(self) -> str:
        """As policies and commands name it, such as `openai-chat`."""
        ...

    def detect(self, payload: Json) -> float:
        """How much a request or response looks like this protocol: 0 (not at all) to 1 (only this one has that)."""
        ...

    def tool_results(self, request: Json) -> list[ToolResult]:
        """Every tool result in the request, in order."""
        ...

    def with_results(self, request: Json, values: Mapping[str, Json]) -> Json:
        """The request with the values of some results (by `ToolResult.key`) replaced; fields beside them stay.

        Raises:
            CallerError: a key is not that of a result in this request.
        """
        ...

    def tool_calls(self, response: Json) -> list[RawCall]:
        """The tool calls of a whole response, in order."""
        ...

    def past_calls(self, request: Json) -> list[PastCall]:
        """The tool calls in the request's history, in order."""
        ...

    def with_calls(self, request: Json, arguments: Mapping[str, Json]) -> Json:
        """The request fit to be sent again: a past call whose arguments no provider would take carries an object.

        `arguments` has objects for some calls (by `PastCall.key`). A malformed call without one gets an object that
        holds its text, the same each time; a valid call keeps its bytes, unless another object is given for it.

        Raises:
            CallerError: a key is not that of a call in this request, or its value is not an object.
        """
        ...

    def check_pairs(self, request: Json) -> list[Fault]:
        """Results without their call and calls without their result, in document order."""
        ...

    def stream(self) -> Stream:
        """A reader for one streamed response."""
        ...


def synthetic_id(position: int, name: str = "", raw_args: str = "", *, taken: Container[str] = ()) -> str:
    """The id of a call that came without one: the same for the same call in the same place, never random.

    Args:
        position: 0-based place of the call among its message's calls.
        name: the tool's.
        raw_args: its arguments as text, where they are known.
        taken: ids of other calls, which this one must not have.
    """
    from trimtab._json import blob_id  # as for `arguments`: not when the protocols are imported

    digest = blob_id(f"{name}\0{raw_args}")[:_ID_DIGITS]
    made = f"call_{position}_{digest}"
    while made in taken:
        made += "x"
    return made


def is_synthetic(call_id: str) -> bool:
    """Whether an id is one that `synthetic_id` makes: the wire had none."""
    return _SYNTHETIC.fullmatch(call_id) is not None


def named(calls: Iterable[RawCall]) -> list[RawCall]:
    """The calls, each with an id: those that came without one get one that no other has."""
    given = list(calls)
    taken = {one.call_id for one in given}
    found = []
    for place, one in enumerate(given):
        if not one.call_id:
            raw = one.raw_args if isinstance(one.raw_args, str) else ""
            made = synthetic_id(place, one.name, raw, taken=taken)
            taken.add(made)
            one = evolve(one, call_id=made)
        found.append(one)
    return found
