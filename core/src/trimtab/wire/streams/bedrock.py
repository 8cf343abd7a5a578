"""Amazon Bedrock's ConverseStream: AWS event-stream frames, or the events that an SDK has decoded from them."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab._json import decode
from trimtab.types import Json
from trimtab.wire.histories import bedrock as history
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.blocks import BlockReader
from trimtab.wire.streams.conversed import block_of, grow
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
                self._delta(member(body, "contentBlockIndex"), member(body, "delta"))
            case "contentBlockStart":
                start = member(body, "start")
                draft = self._start(member(body, "contentBlockIndex"), start if isinstance(start, dict) else {})
                draft.offer(member(start, "toolUse", "input"))
            case "contentBlockStop":
                self._stop_block(member(body, "contentBlockIndex"))
            case "messageStop":
                self._over = True
                self._reason = member(body, "stopReason") or self._reason
            case "stopReason":
                self._reason = body or self._reason
            case "output":  # an answer that is not streamed
                for index, block in enumerate(objects(member(body, "message", "content"))):
                    self._start(index, block, ended=True).add(member(block, "toolUse", "input"))
                    self._texts.append(string(member(block, "text")))
            case _ if isinstance(kind, str) and kind.endswith("Exception"):
                self._failed = True

    def _start(self, index: Json, block: dict[str, Json], *, ended: bool = False) -> Draft:
        """A block begins, of which the wire says only what it cannot say in pieces."""
        tool = block.get("toolUse")
        if isinstance(tool, dict) and tool.get("type") != "server_tool_use":  # which the provider runs itself
            draft = self._open(index, string(tool.get("toolUseId")), string(tool.get("name")))
            draft.native = tool
            return draft
        self._open_other(index, block, ended=ended)
        return Draft()

    def _delta(self, index: Json, delta: Json) -> None:
        tool = member(delta, "toolUse")
        if isinstance(tool, dict):
            self._add(index, tool.get("input"))
        elif text := string(member(delta, "text")):
            self._texts.append(text)
        if isinstance(delta, dict) and self._held(index) is None:
            block = self._other(index)
            if block is None and not isinstance(tool, dict):
                block = self._open_other(index, {})  # texts and reasoning have no start
            if block is not None:
                grow(block, delta)

    def _wire(self) -> Wire:
        from trimtab.wire.bedrock import BEDROCK  # which imports this module for its reader

        return BEDROCK

    def _natives(self) -> list[Json]:
        whole = self._ended()
        found = [_call(one) if isinstance(one, Draft) else block_of(one, whole=whole) for one in self._content]
        return history.message([block for block in found if block])

    def _whole(self) -> bool:
        return super()._whole() and not (self._frames is not None and self._frames.damaged)


def _call(draft: Draft) -> Json:
    return {"toolUse": {**draft.native, "toolUseId": draft.call_id, "name": draft.name, "input": draft.arguments()}}
