"""Anthropic Messages, streamed: content blocks by index, their input as pieces of JSON text."""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.arguments import as_object
from trimtab.wire.histories import anthropic as history
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.blocks import BlockReader
from trimtab.wire.streams.drafts import Draft, member, objects, string
from trimtab.wire.streams.growing import Growing

__all__ = ["AnthropicStream"]

_INPUT = "partial_json"
_TEXTS = ("text", "thinking")


class AnthropicStream(BlockReader):
    """Reads one streamed message."""

    def _event(self, name: str, event: dict[str, Json]) -> None:
        match string(event.get("type")) or name:
            case "content_block_start":
                self._start(event.get("index"), event.get("content_block"), streamed=True)
            case "content_block_delta":
                self._delta(event.get("index"), event.get("delta"))
            case "content_block_stop":
                self._stop_block(event.get("index"))
            case "message_start":
                self._message(event.get("message"))
            case "message_delta":
                self._reason = member(event, "delta", "stop_reason") or self._reason
            case "message_stop":
                self._over = True
            case "message":  # a server that does not stream sends the message whole
                self._message(event)
            case "error":
                self._failed = True

    def _message(self, message: Json) -> None:
        for index, block in enumerate(objects(member(message, "content"))):
            self._start(index, block, streamed=False)
        self._reason = member(message, "stop_reason") or self._reason

    def _start(self, index: Json, block: Json, *, streamed: bool) -> None:
        if member(block, "type") != "tool_use":  # the provider runs `server_tool_use` itself
            self._open_other(index, block if isinstance(block, dict) else {}, ended=not streamed)
            self._texts.append(string(member(block, "text")))
            return
        draft = self._open(index, string(member(block, "id")), string(member(block, "name")))
        draft.native = block
        if streamed:
            draft.offer(member(block, "input"))  # always `{}`, but a relay may have all of it here
        else:
            draft.add(member(block, "input"))

    def _delta(self, index: Json, delta: Json) -> None:
        piece = member(delta, "partial_json")
        if piece is not None:
            self._add(index, piece)
        elif text := string(member(delta, "text")):
            self._texts.append(text)
        if isinstance(delta, dict) and self._held(index) is None:
            self._grow(index, delta)

    def _grow(self, index: Json, delta: dict[str, Json]) -> None:
        """A piece of a block that is no call. What signs thinking, or stands for what was folded, comes whole."""
        block = self._other(index)
        kind = string(delta.get("type"))
        if block is None:
            if kind not in ("", "text_delta") or not string(delta.get("text")):
                return
            block = self._open_other(index, {"type": "text"})  # its start was lost
        if kind == "citations_delta":
            block.append("citations", delta.get("citation"))
            return
        for name, value in delta.items():
            if name in _TEXTS or name == _INPUT:
                block.add(name, string(value))
            elif name != "type" and value is not None:
                block.put(name, value)

    def _wire(self) -> Wire:
        from trimtab.wire.anthropic import ANTHROPIC  # which imports this module for its reader

        return ANTHROPIC

    def _natives(self) -> list[Json]:
        answered = {string(one.native.get("tool_use_id")) for one in self._content if isinstance(one, Growing)}
        content = [
            _call(one) if isinstance(one, Draft) else _block(one)
            for one in self._content
            if self._stands(one, answered)
        ]
        return history.message(content)

    def _stands(self, one: Draft | Growing, answered: set[str]) -> bool:
        """Whether what has come of a block can be sent back: not unsigned thinking, nor a tool without its result."""
        if isinstance(one, Draft) or self._ended():
            return True
        kind = string(one.native.get("type"))
        if kind.endswith("_tool_use"):
            return one.ended and string(one.native.get("id")) in answered
        return kind != "thinking" or one.ended or bool(one.text("signature"))


def _call(draft: Draft) -> Json:
    return {**draft.native, "type": "tool_use", "id": draft.call_id, "name": draft.name, "input": draft.arguments()}


def _block(block: Growing) -> Json:
    found = block.whole()
    if _INPUT in found:
        found["input"] = as_object(found.pop(_INPUT))
    return found
