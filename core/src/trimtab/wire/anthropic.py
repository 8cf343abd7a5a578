"""Anthropic's Messages: calls and results are content blocks.

Shapes: https://docs.anthropic.com/en/api/messages. Arguments are objects; a result's content is a string or a list of
blocks. Tools that Anthropic runs itself (`server_tool_use`, `mcp_tool_use` and their results) are left alone, as is
thinking with its signatures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import anthropic as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, has, items, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import spoken
from trimtab.wire.types import RawCall, Stream

__all__ = ["ANTHROPIC"]

_BLOCKS: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use")
_EVENTS: Final = (
    *("message_start", "message_delta", "message_stop"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
)


def _sites(request: Json) -> Iterator[Site]:
    before, messages = messages_of(request)
    turn: Path | None = None
    for index, message in enumerate(messages):
        path = (*before, index)
        # The provider joins messages of one role that follow one another.
        turn = (turn or path) if member(message, "role") == "assistant" else None
        for place, block in blocks(message, "content"):
            there = (*path, "content", place)
            kind = member(block, "type")
            if kind == "tool_use" and turn is not None:
                yield _call(block, there, turn)
            elif kind == "tool_result":
                yield ResultSite(
                    path=(*there, "content"),
                    call_id=text(block, "tool_use_id"),
                    name="",
                    value=member(block, "content"),
                    is_error=member(block, "is_error") is True,
                )


def _call(block: Json, path: Path, message: Path) -> CallSite:
    return CallSite.of_object(
        path=(*path, "input"),
        message=message,
        call_id=text(block, "id"),
        name=text(block, "name"),
        raw=member(block, "input"),
    )


def _calls(response: Json) -> Iterator[RawCall]:
    complete = not is_cut(member(response, "stop_reason"))
    content = response if isinstance(response, list | tuple) else items(member(response, "content"))
    for block in content:
        kind = member(block, "type")
        if kind == "tool_use":
            yield evolve(_call(block, (), ()), complete=complete).raw_call
        elif kind == "text":
            yield from spoken(text(block, "text"))


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        return 0.9 * _has_own_blocks(payload)
    if member(payload, "type") in _EVENTS or has(payload, "anthropic_version"):
        return 1.0
    if member(payload, "type") == "message" and isinstance(member(payload, "content"), list):
        return 1.0 if has(payload, "stop_reason") else 0.9
    if not has(payload, "messages"):
        return 0.0
    messages = items(member(payload, "messages"))
    if any(has(one, "parts") or has(one, "tool_calls") or member(one, "role") == "tool" for one in messages):
        return 0.0
    tools = items(member(payload, "tools"))
    if _has_own_blocks(messages) or any(has(one, "input_schema") for one in tools):
        return 1.0
    if str(member(payload, "model")).startswith("claude"):
        return 0.9
    if any(not has(part, "type") for one in messages for part in items(member(one, "content"))):
        return 0.0
    return 0.8 if has(payload, "system") else 0.45 * has(payload, "max_tokens")


def _has_own_blocks(messages: Json) -> bool:
    return any(member(part, "type") in _BLOCKS for one in messages for _, part in blocks(one, "content"))


def _reader() -> Stream:
    from trimtab.wire.streams.anthropic import AnthropicStream

    return AnthropicStream()


ANTHROPIC: Final = Wire(
    name="anthropic",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    adjacent=True,
    history=Shape(
        place=messages_of,
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        adjacent=True,
        opens_with_user=True,
    ),
)
