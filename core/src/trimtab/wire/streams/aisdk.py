"""AI SDK streams: UI message streams (version 5 on), data stream parts (version 4), and the SDK's own `fullStream`.

https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol. A call's input comes as pieces of text and then whole.
"""

from __future__ import annotations

from trimtab.types import Json
from trimtab.wire.protocol import Wire
from trimtab.wire.streams.drafts import Draft, StreamReader, finish, say, string
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.streams.uimessage import UiMessage
from trimtab.wire.types import RawCall

__all__ = ["AiSdkStream"]

# Codes of data stream parts, and the types that mean the same: https://ai-sdk.dev/v4/docs/ai-sdk-ui/stream-protocol
_CODES = {
    "0": "text-delta",
    "2": "data",
    "3": "error",
    "8": "annotations",
    "9": "tool-call",
    "a": "tool-result",
    "b": "tool-input-start",
    "c": "tool-input-delta",
    "d": "finish",
    "e": "finish-step",
    "f": "start-step",
    "g": "reasoning-delta",
    "h": "source",
    "i": "redacted-reasoning",
    "j": "reasoning-signature",
    "k": "file",
}

_STARTS = ("tool-input-start", "tool-call-streaming-start")
_PIECES = ("tool-input-delta", "tool-call-delta")
_WHOLES = ("tool-input-available", "tool-input-error", "tool-call")


class AiSdkStream(StreamReader):
    """Reads one streamed message. Its steps are one after another, each with calls of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._drafts: list[Draft] = []
        self._by_id: dict[str, Draft] = {}
        self._texts: list[str] = []
        self._step = 0  # how many calls came before the step that runs, or ran last
        self._over = False
        self._message = UiMessage()

    def _any(self, name: str, event: Json) -> None:
        if isinstance(event, dict):
            self._event(name, event)
        elif name in ("0", "g"):
            piece = string(event)
            self._message.event(_CODES[name], {"delta": piece}, older=True)
            if name == "0":
                self._texts.append(piece)
        elif name == "3":
            self._failed = True

    def _event(self, name: str, event: dict[str, Json]) -> None:
        if len(name) == 1 and name not in _CODES:
            return  # the application's own data
        kind = _CODES.get(name) or string(event.get("type")) or name
        self._look(kind, event)
        self._message.event(kind, event, older=name in _CODES)

    def _look(self, kind: str, event: dict[str, Json]) -> None:
        if kind in _STARTS:
            self._draft(event)
        elif kind in _PIECES:
            draft = self._draft(event)
            if not draft.ended:
                pieces = (event.get(key) for key in ("inputTextDelta", "argsTextDelta", "delta"))
                draft.add(next((piece for piece in pieces if isinstance(piece, str)), None))
        elif kind in _WHOLES:
            self._whole_input(event)
        elif kind == "text-delta":
            texts = (event.get(key) for key in ("delta", "text", "textDelta"))
            self._texts.append(next((text for text in texts if isinstance(text, str)), ""))
        elif kind in ("finish", "finish-step"):
            self._over = True
            for draft in self._drafts[self._step :] if is_cut(event.get("finishReason")) else ():
                draft.cut = True
        elif kind in ("error", "abort"):
            self._failed = True

    def _whole_input(self, event: dict[str, Json]) -> None:
        draft = self._draft(event)
        draft.ended = True
        found = event.get("input")
        if found is None:
            found = event.get("args")
        if isinstance(found, str):
            draft.replace(found)
        else:
            draft.add(found)

    def _draft(self, event: dict[str, Json]) -> Draft:
        call_id = string(event.get("toolCallId")) or string(event.get("id"))
        name = string(event.get("toolName"))
        draft = self._by_id.get(call_id) if call_id else self._open_one(name)
        if draft is None:
            if self._over:
                self._step, self._over = len(self._drafts), False
            draft = Draft(call_id)
            self._drafts.append(draft)
            if call_id:
                self._by_id[call_id] = draft
        draft.name = name or draft.name
        self._message.call(draft)
        draft.by_provider = draft.by_provider or event.get("providerExecuted") is True
        return draft

    def _open_one(self, name: str) -> Draft | None:
        last = self._drafts[-1] if self._drafts else None
        return None if last is None or last.ended or name not in ("", last.name) else last

    def _end(self) -> None:
        if not (self._over or self._source.done):
            for draft in self._drafts[self._step :]:
                draft.cut = True

    def _calls(self) -> list[RawCall]:
        over = self._over or self._source.done
        drafts = (one for one in self._drafts if one.name)
        return finish(drafts, complete=self._whole()) + say(self._texts, complete=over and self._whole())

    def _wire(self) -> Wire:
        from trimtab.wire.ai_sdk import AI_SDK  # which imports this module for its reader

        return AI_SDK

    def _natives(self) -> list[Json]:
        return self._message.natives()
