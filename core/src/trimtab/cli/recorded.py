"""What was recorded of a provider's answers: tool calls and errors, in whatever form they were kept.

One response as JSON, several as JSON lines, a stream just as it came, or a request, whose history has calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen

from trimtab._json import canonical, decode
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.types import Json
from trimtab.wire import RawCall, WireProtocol, detect
from trimtab.wire.guard import guarded, protocol_named
from trimtab.wire.streams.eventstream import Frame, FrameReader
from trimtab.wire.streams.source import Event, Source

__all__ = ["Recorded", "read_recorded"]

_BLANKS = b" \t\r\n\0\xef\xbb\xbf"
_BEDROCK = "bedrock"
_LONGEST_WORDS = 400
# Names of events that are errors whatever is in them: of server-sent events, and of older AI SDKs.
_ERROR_NAMES = ("error", "3")


@frozen(kw_only=True)
class Recorded:
    """What was found, in order.

    `protocol`: what it was read as; None: there is nothing but errors. `looks`: another one that it looks like more.
    """

    protocol: str | None
    looks: str | None = None
    calls: list[RawCall] = field(factory=list)
    errors: list[str] = field(factory=list)


def read_recorded(data: bytes, protocol: str | None, known: Mapping[str, WireProtocol]) -> Recorded:
    """The calls and errors in what was recorded, read as `protocol`, or as the one that it looks like.

    Raises:
        CallerError: it is empty, or nothing in it is recognised.
        PluginError: a plugin's protocol raised.
    """
    if protocol is not None:
        protocol_named(protocol, known)
    if not data.strip(_BLANKS):
        raise CallerError("the input is empty; give a recorded response, stream or request")
    whole = _value(data)
    if isinstance(whole, dict | list) and (name := protocol or detect(whole, known)) is not None:
        found = _calls(known[name], whole)
        if found or isinstance(whole, dict):
            values = whole if isinstance(whole, list) else [whole]
            looks = None if found or guarded(known[name]).detect(whole) else detect(whole, known)
            return Recorded(protocol=name, looks=looks, calls=found, errors=_errors(("", value) for value in values))
    events, name = _events(data, protocol, known)
    errors = _errors(events)
    if name is None:
        if errors:
            return Recorded(protocol=None, errors=errors)
        if not events and whole is None and b"\0" not in data:
            raise CallerError(
                "this looks like no wire protocol: it is no whole JSON, no JSON lines, no stream of events"
            )
        raise CallerError(f"this looks like no wire protocol; name one with --protocol: {', '.join(known)}")
    if not events:
        raise CallerError(f"nothing in it is an event or a response of {name}: no JSON, no server-sent events")
    stream = guarded(known[name]).stream()
    stream.feed(data)
    return Recorded(protocol=name, calls=_more(stream.close(), _one_by_one(data, events, name, known)), errors=errors)


def _value(data: bytes) -> Json:
    """The one JSON value that this is, or None."""
    try:
        return decode(data)
    except (ValueError, RecursionError):
        return None


def _calls(wire: WireProtocol, value: Json) -> list[RawCall]:
    """The calls of a response; of a request, those in its history."""
    asked = guarded(wire)
    return asked.tool_calls(value) or [one.call for one in asked.past_calls(value)]


def _events(data: bytes, protocol: str | None, known: Mapping[str, WireProtocol]) -> tuple[list[Event], str | None]:
    """The events of a stream, and the protocol that was named, or that the first of them looks like which does."""
    if b"\0" in data and _BEDROCK in known:  # no text has one; each frame begins with one
        events = [event for frame in FrameReader().feed(data) for event in _of_frame(frame)]
        return events, protocol or (_BEDROCK if events else None)
    source = Source()
    events = [*source.feed(data), *source.close()]
    if protocol is None:
        protocol = next((name for _, event in events if (name := detect(event, known)) is not None), None)
    return events, protocol


def _of_frame(frame: Frame) -> Iterator[Event]:
    payload = _value(frame.payload)
    if (kind := frame.headers.get(":exception-type") or frame.headers.get(":error-code")) is not None:
        words = payload if payload is not None else frame.headers.get(":error-message", "")
        yield "error", {"error": {"type": kind, **(words if isinstance(words, dict) else {"message": words})}}
    else:
        yield "", {frame.headers.get(":event-type", ""): payload}


def _one_by_one(data: bytes, events: list[Event], name: str, known: Mapping[str, WireProtocol]) -> list[RawCall]:
    """The calls of values that stand one after another, each read as a response of its own."""
    if len(events) < 2 or not data.lstrip(_BLANKS).startswith((b"{", b"[")):
        return []
    found = []
    for _, value in events:
        its = name if guarded(known[name]).detect(value) else detect(value, known)
        found += _calls(known[its], value) if its is not None else []
    return found


def _more(streamed: list[RawCall], whole: list[RawCall]) -> list[RawCall]:
    """Of the two ways to read values one after another the one that finds more: pieces of one answer are no answers."""
    return whole if len(whole) > len(streamed) else streamed


def _errors(events: Iterable[Event]) -> list[str]:
    """What the provider says went wrong, in a few words each, in order."""
    return [words for name, event in events if (words := _error(name, event))]


def _error(name: str, event: Json) -> str:
    """What an event says went wrong; "" where it is no error."""
    if not isinstance(event, dict):
        return _words(event) if name in _ERROR_NAMES else ""
    kind = event.get("type")
    inner = event.get("response")
    if kind == "response.failed" and isinstance(inner, dict):
        return _words(inner.get("error") or {"type": kind})
    if body := event.get("error"):
        return _words(body)
    if name in _ERROR_NAMES or kind == "error":
        return _words({key: value for key, value in event.items() if key != "type" or value != "error"})
    for key, body in event.items():
        if key.endswith("Exception"):
            return _words({"type": key, **(body if isinstance(body, dict) else {"message": body})})
    return ""


def _words(body: Json) -> str:
    """An error's kind and message, as every provider has them under one name or another; else all of it."""
    if isinstance(body, dict):
        kind = next((body[key] for key in ("type", "code", "status") if isinstance(body.get(key), str | int)), None)
        message = next((body[key] for key in ("message", "errorText", "Message") if isinstance(body.get(key), str)), "")
        said = ": ".join(str(one) for one in (kind, message) if one)
        if said:
            return said[:_LONGEST_WORDS]
    try:
        return body[:_LONGEST_WORDS] if isinstance(body, str) else canonical(body)[:_LONGEST_WORDS]
    except UnsupportedOutput:
        return repr(body)[:_LONGEST_WORDS]
