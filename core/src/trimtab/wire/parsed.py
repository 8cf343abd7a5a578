"""Calls that a host has decoded already: in-process agents, and the messages of frameworks as plain data or objects.

A call has a name, arguments and mostly an id, under one of a few names each. Calls stand alone, in a list, in a
message's `tool_calls`, or among the blocks of its content; a result is a message or a block of its own. Read so are,
among others, the messages of pi (`toolCall`, `toolResult`), LangChain (`tool_calls`, `ToolMessage`) and pydantic-ai
(`tool-call` and `tool-return` parts), and a bare `{"name": ..., "arguments": {...}}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.arguments import stands, stands_as_object
from trimtab.wire.histories import parsed as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, first, has, is_object, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site, same
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawCall, Stream

__all__ = ["PARSED"]

_HISTORIES: Final = ("messages", "history", "new_messages")
_IDS: Final = ("id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id")
_NAMES: Final = ("name", "tool_name", "toolName", "tool")
_ARGUMENTS: Final = ("arguments", "args", "input", "params", "parameters")
_VALUES: Final = ("content", "result", "output", "value")
_ANSWERED: Final = ("tool_call_id", "toolCallId", "tool_use_id", "call_id", "callId", "id")
_LISTS: Final = ("tool_calls", "toolCalls", "calls", "invalid_tool_calls")
_CALL_KINDS: Final = ("toolcall", "tooluse", "functioncall")
_RESULT_KINDS: Final = ("toolresult", "toolreturn", "retryprompt", "functionresponse", "functioncalloutput")
_SEPARATORS: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "_-")


def _kind(node: Json) -> str:
    """What a message or block says that it is, without the separators in which frameworks differ."""
    return text(node, "part_kind", "type", "kind", "role").translate(_SEPARATORS)


def _sites(request: Json) -> Iterator[Site]:
    before, messages = messages_of(request, *_HISTORIES)
    for index, message in enumerate(messages):
        yield from _in_message(message, (*before, index))


def _in_message(message: Json, path: Path) -> Iterator[Site]:
    if _is_result(message):
        yield _result(message, path)
        return
    listed = [(name, *found) for name in _LISTS for found in blocks(message, name) if is_object(found[1])]
    for name in ("content", "parts"):
        for place, block in blocks(message, name):
            there = (*path, name, place)
            if _kind(block) in _CALL_KINDS and not listed:  # else the provider's own blocks, the same calls once more
                yield _call(block, there, path)
            elif _is_result(block):
                yield _result(block, there)
    for name, place, call in listed:
        yield _call(call, (*path, name, place), path)
    if _kind(message) in _CALL_KINDS or _is_bare_call(message):
        yield _call(message, path, path)


def _is_result(node: Json) -> bool:
    if _kind(node) == "retryprompt":  # pydantic-ai's, for any kind of mistake: a result only where it names a tool
        return bool(text(node, "tool_name"))
    if _kind(node) in _RESULT_KINDS:
        return True
    return text(node, "role", "type") in ("tool", "function") and any(has(node, name) for name in _VALUES)


def _is_bare_call(node: Json) -> bool:
    """Whether a mapping is nothing but a call: a name, arguments, perhaps an id and a type."""
    if not isinstance(node, Mapping) or has(node, "role"):
        return False
    return bool(text(node, *_NAMES)) and any(has(node, name) for name in _ARGUMENTS[:2])


def _call(call: Json, path: Path, message: Path) -> CallSite:
    inner = member(call, "function")
    if isinstance(inner, str) or inner is None or not has(inner, "name"):
        inner, inside = call, path
    else:
        inside = (*path, "function")
    key, raw = first(inner, *_ARGUMENTS)
    if not has(inner, key):
        key = "arguments"
    as_text = isinstance(raw, str) and stands(raw)
    return CallSite(
        path=(*inside, key),
        message=message,
        call_id=text(call, *_IDS),
        name=text(inner, *_NAMES),
        raw=raw,
        spell=same,
        nothing=dict,
        # Text that a framework keeps as text is its own form; what it could not decode is not.
        stands=(lambda _: True) if as_text else stands_as_object,
        complete=not is_cut(member(call, "status")),
    )


def _result(node: Json, path: Path) -> ResultSite:
    name, value = first(node, *_VALUES)
    return ResultSite(
        path=(*path, name),
        call_id=text(node, *_ANSWERED),
        name=text(node, *_NAMES),
        value=value,
        is_error=_failed(node),
    )


def _failed(node: Json) -> bool:
    if any(member(node, name) is True for name in ("isError", "is_error")) or _kind(node) == "retryprompt":
        return True
    return text(node, "status", "outcome") in ("error", "failed")


def _calls(response: Json) -> Iterator[RawCall]:
    if isinstance(response, list | tuple):
        for one in response:
            if not isinstance(one, list | tuple):
                yield from _calls(one)
        return
    cut = is_cut(first(response, "stopReason", "stop_reason", "finish_reason", "finishReason")[1])
    if any(has(response, name) for name in _HISTORIES):
        found: Iterator[Site] = _sites(response)
    else:
        found = _in_message(response, ())
    for site in found:
        if isinstance(site, CallSite):
            yield evolve(site, complete=site.complete and not cut).raw_call


def _looks(payload: Json) -> float:
    """Low, where another protocol could have written it: objects, and the blocks that only frameworks have."""
    if not isinstance(payload, list | tuple | Mapping):
        return 0.2 if next(_calls(payload), None) is not None else 0.0
    if _is_bare_call(payload):
        return 0.7
    if isinstance(payload, Mapping) and not has(payload, "messages"):
        return _looks_at(payload)
    _, messages = messages_of(payload)
    return max((_looks_at(one) for one in messages), default=0.0)


def _looks_at(message: Json) -> float:
    kinds = {_kind(part) for name in ("content", "parts") for _, part in blocks(message, name)}
    if text(message, "role") in ("toolResult", "tool_result"):
        return 0.96
    if kinds & {"toolreturn", "retryprompt"} or any(text(part, "part_kind") for _, part in blocks(message, "parts")):
        return 0.96
    if any(text(part, "type") == "toolCall" for _, part in blocks(message, "content")):
        return 0.96
    if _is_bare_call(message):
        return 0.7
    calls = [call for name in _LISTS for _, call in blocks(message, name)]
    return 0.96 if any(_is_bare_call(call) for call in calls) else 0.0


def _reader() -> Stream:
    from trimtab.wire.streams.parsed import ParsedStream

    return ParsedStream(_calls)


PARSED: Final = Wire(
    name="parsed",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    history=Shape(
        place=lambda request: messages_of(request, *_HISTORIES),
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
    ),
)
