"""Amazon Bedrock's ConverseStream: AWS event-stream frames, or the events that an SDK has decoded from them."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab._json import decode
from trimtab.types import Json
from trimtab.wire.streams.blocks import BlockReader
from trimtab.wire.streams.drafts import Draft, member, objects, string
from trimtab.wire.streams.eventstream import Frame, FrameReader

__all__ = ["BedrockStream"]

# A frame begins with its length, which is below 2^25; no text begins with such a byte.
_FRAME_BEGINS = (0, 1)


class BedrockStream(BlockReader):
    """Reads one streamed answer: bytes of frames, text (server-sent events, lines or an array of JSON) or events."""

    def __init__(self) -> None:
        super().__init__()
        self._frames: FrameReader | None = None
        self._sniffed = False

    def feed(self, data: bytes | str | Mapping[str, Json]) -> None:
        """Take what came: bytes or text cut anywhere, or one event that is decoded already."""
        if isinstance(data, bytes | bytearray | memoryview) and len(data) > 0:
            data = bytes(data)
            if not self._sniffed:
                self._sniffed = True
                self._frames = FrameReader() if data[0] in _FRAME_BEGINS else None
            if self._frames is not None:
                for frame in self._frames.feed(data):
                    self._frame(frame)
                return
        super().feed(data)

    def _frame(self, frame: Frame) -> None:
        kind = frame.headers.get(":event-type")
        if not kind or frame.headers.get(":message-type", "event") != "event":
            self._failed = True  # an exception or an error: the answer ends here
            return
        try:
            payload = decode(frame.payload)
        except (ValueError, RecursionError):
            self._failed = True
            return
        self._part(kind, payload)

    def _event(self, name: str, event: dict[str, Json]) -> None:
        for kind, body in event.items():
            self._part(kind, body)

    def _part(self, kind: str, body: Json) -> None:
        match kind:
            case "contentBlockDelta":
                delta = member(body, "delta")
                tool = member(delta, "toolUse")
                if isinstance(tool, dict):
                    self._add(body.get("contentBlockIndex"), tool.get("input"))
                elif text := string(member(delta, "text")):
                    self._texts.append(text)
            case "contentBlockStart":
                draft = self._start(member(body, "contentBlockIndex"), member(body, "start", "toolUse"))
                draft.offer(member(body, "start", "toolUse", "input"))
            case "contentBlockStop":
                self._stop_block(member(body, "contentBlockIndex"))
            case "messageStop":
                self._over = True
                self._reason = member(body, "stopReason") or self._reason
            case "stopReason":
                self._reason = body or self._reason
            case "output":  # an answer that is not streamed
                for index, block in enumerate(objects(member(body, "message", "content"))):
                    self._start(index, member(block, "toolUse")).add(member(block, "toolUse", "input"))
                    self._texts.append(string(member(block, "text")))
            case _ if isinstance(kind, str) and kind.endswith("Exception"):
                self._failed = True

    def _start(self, index: Json, tool: Json) -> Draft:
        if isinstance(tool, dict) and tool.get("type") != "server_tool_use":  # which the provider runs itself
            return self._open(index, string(tool.get("toolUseId")), string(tool.get("name")))
        self._open_other(index)
        return Draft()

    def _whole(self) -> bool:
        return super()._whole() and not (self._frames is not None and self._frames.damaged)
