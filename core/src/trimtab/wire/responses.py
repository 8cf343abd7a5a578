"""OpenAI's Responses: a request's `input` and a response's `output` are lists of items.

Shapes: https://platform.openai.com/docs/api-reference/responses. A call and its result are items of their own, paired
by `call_id` (never by the item's `id`); an MCP call has both in one item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import responses as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import has, items, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site, same
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import spoken
from trimtab.wire.types import RawCall, Stream

__all__ = ["HOSTED", "OPENAI_RESPONSES", "SEARCH"]

# Items that bring the result of a call.
_RESULTS: Final = (
    "apply_patch_call_output",
    "custom_tool_call_output",
    "function_call_output",
    "local_shell_call_output",
    "shell_call_output",
)
# What answers a call and is no text: definitions of tools, a screenshot.
_OTHER_RESULTS: Final = {"computer_call_output": "output", "tool_search_output": "tools"}
SEARCH: Final = "tool_search_call"
"""A call for definitions of tools: no tool of the application's answers it."""

HOSTED: Final = {
    "apply_patch_call": "operation",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    SEARCH: "arguments",
}
"""Calls of tools that the client runs, whose arguments are an object of the provider's own making, and where it is."""

_ITEMS: Final = (
    *(*_RESULTS, *_OTHER_RESULTS, *HOSTED),
    *("custom_tool_call", "function_call", "item_reference", "mcp_call", "reasoning"),
)


def _items(request: Json) -> tuple[Path, Sequence[Json]]:
    """The input items of a request, with the path to them; an input that is only a text is one message of the user."""
    path, found = messages_of(request, "input")
    given = member(request, "input") if path else None
    return (path, [given]) if isinstance(given, str) else (path, found)


def _sites(request: Json) -> Iterator[Site]:
    before, found = messages_of(request, "input")
    message: Path | None = None
    for index, item in enumerate(found):
        path = (*before, index)
        kind = text(item, "type")
        if kind in _RESULTS or kind in _OTHER_RESULTS:
            message = None
            if kind in _OTHER_RESULTS and (not text(item, "call_id") or member(item, "execution") == "server"):
                continue  # the provider searched its tools by itself
            yield ResultSite(
                path=(*path, _OTHER_RESULTS.get(kind, "output")),
                call_id=text(item, "call_id"),
                name=text(item, "name"),
                value=member(item, "output"),
                is_error=member(item, "status") == "failed",
                hidden=kind in _OTHER_RESULTS,
            )
        elif member(item, "role") in ("user", "developer", "system"):
            message = None
        else:
            message = path if message is None else message
            yield from _call(item, path, message)


def _call(item: Json, path: Path, message: Path) -> Iterator[Site]:
    kind = text(item, "type")
    common: dict[str, Any] = {"message": message, "call_id": text(item, "call_id"), "name": text(item, "name")}
    if kind == "function_call":
        raw, complete = member(item, "arguments"), member(item, "status") != "incomplete"
        yield CallSite(path=(*path, "arguments"), raw=raw, complete=complete, **common)
    elif kind == "custom_tool_call":
        yield CallSite.of_anything(path=(*path, "input"), raw=member(item, "input"), **common)
    elif kind == "mcp_call":
        yield from _mcp(item, path, message)
    elif kind in HOSTED and common["call_id"] and member(item, "execution") != "server":
        key = HOSTED[kind]
        common["name"] = kind.removesuffix("_call")
        searches = kind == SEARCH
        yield CallSite.of_anything(path=(*path, key), raw=member(item, key), spell=same, hidden=searches, **common)


def _mcp(item: Json, path: Path, message: Path) -> Iterator[Site]:
    """A call that the provider made of an MCP server: its output is in the same item."""
    call_id, name, arguments = text(item, "id", "call_id"), text(item, "name"), (*path, "arguments")
    yield CallSite(
        path=arguments,
        message=message,
        call_id=call_id,
        name=name,
        raw=member(item, "arguments"),
        answered=True,
        by_provider=True,
        complete=member(item, "status") != "incomplete",
    )
    output = member(item, "output")
    if isinstance(output, str):
        failed = member(item, "error") is not None or member(item, "status") == "failed"
        yield ResultSite(
            path=(*path, "output"), call_id=call_id, name=name, value=output, is_error=failed, call=arguments
        )


def _calls(response: Json) -> Iterator[RawCall]:
    cut = _is_cut(response)
    output = response if isinstance(response, list | tuple) else items(member(response, "output"))
    for item in output:
        for site in _call(item, (), ()):
            if isinstance(site, CallSite) and not site.hidden:
                yield evolve(site, complete=site.complete and not cut).raw_call
        if member(item, "type") == "message":
            for part in items(member(item, "content")):
                yield from spoken(text(part, "text"))


def _is_cut(response: Json) -> bool:
    """Whether the model stopped at a limit, or the response failed on the way."""
    return is_cut(member(response, "status"))


def _kept_elsewhere(request: Json) -> bool:
    """Whether the provider has the history, and the request only what is new."""
    if any(member(request, name) is not None for name in ("previous_response_id", "conversation")):
        return True
    return any(member(item, "type") == "item_reference" for item in items(member(request, "input")))


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        return 0.9 if any(member(item, "type") in _ITEMS for item in payload) else 0.0
    if member(payload, "object") == "response" or str(member(payload, "type")).startswith("response."):
        return 1.0
    if isinstance(output := member(payload, "output"), list):
        return 0.9 if any(member(item, "type") in (*_ITEMS, "message") for item in output) else 0.0
    if not has(payload, "input") or has(payload, "messages"):
        return 0.0
    given = member(payload, "input")
    if any(member(item, "type") in _ITEMS for item in items(given)) or _kept_elsewhere(payload):
        return 1.0
    return 0.8 if has(payload, "model") or has(payload, "instructions") else 0.4 * isinstance(given, list)


def _reader() -> Stream:
    from trimtab.wire.streams.responses import ResponsesStream

    return ResponsesStream()


OPENAI_RESPONSES: Final = Wire(
    name="openai-responses",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    kept_elsewhere=_kept_elsewhere,
    history=Shape(
        place=_items,
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        settle=history.settle,
    ),
)
