"""`trimtab calls`: the tool calls in a recorded response, stream or request."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from trimtab._json import canonical, decode
from trimtab.cli.inputs import read_bytes
from trimtab.cli.options import File, Flat, Name, Places
from trimtab.cli.places import load_policy
from trimtab.cli.screen import saying
from trimtab.cli.streams import emit
from trimtab.discovery import load
from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.types import Json
from trimtab.wire import RawCall, WireProtocol, detect
from trimtab.wire.streams.source import Source

__all__ = ["calls"]


def calls(
    file: File,
    /,
    *,
    protocol: Annotated[Name, Parameter()] = None,
    json: bool = False,
    places: Flat = None,
) -> int:
    """Print the tool calls in what a provider answered.

    A response as JSON, or a recorded stream just as it came: server-sent events, a JSON array, JSON lines, or AWS
    event-stream frames. Of a request, the calls in its history are printed. Arguments are shown as the wire had them,
    never repaired; a call that was cut off is marked.

    Args:
        file: A file, or - for standard input.
        protocol: The wire protocol, such as openai-chat. Default: the one that it looks like.
        json: Print an object for each call, with call_id, name, raw_args, complete and by_provider.
    """
    data = read_bytes(file)
    known = load(load_policy((places or Places()).policy)[0].plugins).wire_protocols
    if protocol is not None and protocol not in known:
        raise CallerError(f"unknown protocol {protocol!r:.80}; known: {', '.join(known)}")
    name, found = _found(data, protocol, known)
    for one in found:
        _print(one, json)
    if not found:
        saying((f"no tool calls; read as {name}", "yellow"))
    return 0


def _found(data: bytes, protocol: str | None, known: Mapping[str, WireProtocol]) -> tuple[str, list[RawCall]]:
    """The calls, and the name of the protocol that they were read in."""
    whole = _value(data)
    if (name := protocol or detect(whole, known)) is not None and isinstance(whole, dict | list):
        found = known[name].tool_calls(whole) or [one.call for one in known[name].past_calls(whole)]
        if found or isinstance(whole, dict):
            return name, found
    name = protocol or _of_events(data, known)
    if name is None:
        raise CallerError(f"this looks like no wire protocol; name one with --protocol: {', '.join(known)}")
    stream = known[name].stream()
    stream.feed(data)
    return name, stream.close()


def _value(data: bytes) -> Json:
    """The one JSON value that this is, or None."""
    try:
        return decode(data)
    except (ValueError, RecursionError):
        return None


def _of_events(data: bytes, known: Mapping[str, WireProtocol]) -> str | None:
    """The protocol of the first event that looks like one's."""
    if b"\0" in data and "bedrock" in known:  # no text has one; each frame begins with one
        return "bedrock"
    source = Source()
    events = [event for _, event in (*source.feed(data), *source.close())]
    return next((name for event in events if (name := detect(event, known)) is not None), None)


def _print(call: RawCall, json: bool) -> None:
    if json:
        shown: dict[str, Any] = {
            "call_id": call.call_id,
            "name": call.name,
            "raw_args": call.raw_args,
            "complete": call.complete,
            "by_provider": call.by_provider,
        }
        sys.stdout.write(f"{canonical(shown)}\n")
        return
    marks = ("" if call.complete else "  (cut off)") + ("  (run by the provider)" if call.by_provider else "")
    emit(f"{call.name or '(no name)'}  {call.call_id}{marks}\n")
    emit(f"  {_text(call.raw_args)}\n")


def _text(raw: Json) -> str:
    if isinstance(raw, str):
        return raw
    try:
        return canonical(raw)
    except UnsupportedOutput:
        return repr(raw)
