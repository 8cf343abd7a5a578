"""`trimtab calls`: the tool calls in a recorded response, stream or request."""

from __future__ import annotations

from typing import Annotated

from attrs import asdict
from cyclopts import Parameter

from trimtab._json import canonical
from trimtab.cli.inputs import read_bytes
from trimtab.cli.options import File, Name
from trimtab.cli.places import load_policy
from trimtab.cli.recorded import Recorded, read_recorded
from trimtab.cli.screen import counted, saying
from trimtab.cli.streams import emit
from trimtab.discovery import load
from trimtab.errors import UnsupportedOutput
from trimtab.types import Json
from trimtab.wire import RawCall

__all__ = ["calls"]

# Errors that are told one by one.
_NAMED = 10


def calls(
    file: File,
    /,
    *,
    protocol: Name = None,
    json: bool = False,
    policy: Annotated[str | None, Parameter(metavar="FILE")] = None,
    debug: bool = False,
) -> int:
    """Print the tool calls in what a provider answered.

    A response as JSON, or several as JSON lines; or a recorded stream just as it came: server-sent events, a JSON
    array, JSON lines, or AWS event-stream frames. Of a request, the calls in its history are printed. Arguments are
    shown as the wire had them, never repaired; a call that was cut off is marked. An error that the provider sent is
    told on standard error.

    Exits with 0, also where there is no call; with 1 if the provider sent an error; with 2 if the input is empty, or
    nothing in it is recognised.

    Args:
        file: A file, or - for standard input.
        protocol: The wire protocol, such as openai-chat. Default: the one that it looks like.
        json: Print an object for each call, with call_id, name, raw_args, complete and by_provider.
        policy: Policy file, which says which plugins may load. Default: trimtab.toml in this folder, else
            [tool.trimtab] in pyproject.toml.
        debug: Show where an error was raised.
    """
    data = read_bytes(file)
    found = read_recorded(data, protocol, load(load_policy(policy)[0].plugins).wire_protocols)
    for one in found.calls:
        _print(one, json)
    for words in found.errors[:_NAMED]:
        saying(("the provider sent an error: ", "red"), words)
    if len(found.errors) > _NAMED:
        saying((f"… and {counted(len(found.errors) - _NAMED, 'other error')}", "red"))
    if not found.calls:
        saying((f"no tool calls; {_read_as(found)}", "yellow"))
    return 1 if found.errors else 0


def _read_as(found: Recorded) -> str:
    if found.protocol is None:
        return "nothing but the error"
    other = "" if found.looks is None else f", though it looks like {found.looks}"
    return f"read as {found.protocol}{other}"


def _print(call: RawCall, json: bool) -> None:
    if json:
        emit(f"{canonical(asdict(call, recurse=False))}\n")
        return
    marks = ("" if call.complete else "  (cut off)") + ("  (run by the provider)" if call.by_provider else "")
    emit(f"{call.name or '(no name)'}  {call.call_id}{marks}\n")
    if call.raw_args != "":
        emit(f"  {_text(call.raw_args)}\n")


def _text(raw: Json) -> str:
    if isinstance(raw, str):
        return raw
    try:
        return canonical(raw)
    except UnsupportedOutput:
        return repr(raw)
