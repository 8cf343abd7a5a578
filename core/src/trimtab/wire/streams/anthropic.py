"""Anthropic Messages, streamed: content blocks by index, their input as pieces of JSON text."""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.streams.blocks import BlockReader
from trimtab.wire.streams.drafts import member, objects, string

__all__ = ["AnthropicStream"]


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
            self._open_other(index)
            self._texts.append(string(member(block, "text")))
            return
        draft = self._open(index, string(member(block, "id")), string(member(block, "name")))
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
