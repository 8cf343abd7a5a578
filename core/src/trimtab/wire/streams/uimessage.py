"""The UI message that a stream of the AI SDK writes: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol.

The SDK's own client puts the same together. Data stream parts of version 4 make a message of that version.
"""

from __future__ import annotations

from trimtab._json import blob_id
from trimtab.types import Json
from trimtab.wire.arguments import as_object
from trimtab.wire.streams.drafts import Draft, join, string
from trimtab.wire.streams.growing import Growing

__all__ = ["UiMessage"]

# Digits of the digest in an id that we make.
_ID_DIGITS = 16
# Parts that come whole and go into the message as they are; data parts have the application's own kinds.
_WHOLE = ("file", "source", "source-document", "source-url")
_ANSWERS = {
    "tool-output-available": {"state": "output-available"},
    "tool-result": {"state": "output-available"},
    "tool-output-error": {"state": "output-error"},
    "tool-error": {"state": "output-error"},
    "tool-input-error": {"state": "output-error"},
    "tool-output-denied": {"state": "output-denied"},
    "tool-approval-request": {"state": "approval-requested"},
}
# What a tool's part has from the event that gives it; the SDK calls the provider's data of a call by another name.
_OF_CALL = {
    "dynamic": "",
    "errorText": "errorText",
    "output": "output",
    "preliminary": "preliminary",
    "providerExecuted": "providerExecuted",
    "providerMetadata": "callProviderMetadata",
    "result": "output",
    "title": "title",
}


class _Call:
    """A tool's part: the call, which is read elsewhere, and what the events say beside it."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.dynamic = False
        self.more: dict[str, Json] = {"state": "input-available"}

    def part(self, *, older: bool) -> Json:
        """The part. One that is still written counts as written: what came of it is an object, and can be answered."""
        draft, made = self.draft, as_object(self.draft.arguments())
        if older:
            state = "result" if "output" in self.more else "call"
            call = {"state": state, "toolCallId": draft.call_id, "toolName": draft.name, "args": made}
            call |= {"result": self.more["output"]} if state == "result" else {}
            return {"type": "tool-invocation", "toolInvocation": call}
        kind = {"type": "dynamic-tool", "toolName": draft.name} if self.dynamic else {"type": f"tool-{draft.name}"}
        return {**kind, "toolCallId": draft.call_id, "input": made, **self.more}


class UiMessage:
    """Takes the events of one stream; calls come by `call`, before the event that speaks of them."""

    def __init__(self) -> None:
        self._id = ""
        self._metadata: dict[str, Json] = {}
        self._parts: list[_Call | Growing | dict[str, Json]] = []
        self._open: dict[tuple[str, str], Growing] = {}
        self._data: dict[tuple[str, str], dict[str, Json]] = {}
        self._calls: dict[Draft, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._last: _Call | None = None
        self._older = False

    def call(self, draft: Draft) -> None:
        """The next event speaks of this call."""
        found = self._calls.get(draft)
        if found is None:
            found = self._calls[draft] = _Call(draft)
            self._parts.append(found)
        if draft.call_id:
            self._by_id[draft.call_id] = found
        self._last = found

    def event(self, kind: str, event: dict[str, Json], *, older: bool) -> None:
        """Look at one event. `older`: it is a data stream part of version 4."""
        self._older = self._older or older
        if kind.startswith("tool-"):
            self._tool(kind, event)
        elif kind.startswith(("text-", "reasoning-")) or kind == "reasoning":
            self._text("reasoning-delta" if kind == "reasoning" else kind, event)
        elif kind in _WHOLE:
            self._parts.append(
                {"type": kind, "source": event} if older and kind == "source" else {"type": kind, **event}
            )
        elif kind == "redacted-reasoning":
            self._parts.append({"type": "reasoning", "reasoning": "", "details": [{"type": "redacted", **event}]})
        elif kind.startswith("data-") and event.get("transient") is not True:
            self._put_data(kind, event)
        elif kind in ("start-step", "start", "finish", "message-metadata"):
            if kind == "start-step":
                self._open.clear()
                self._parts.append({"type": "step-start"})
            self._id = string(event.get("messageId")) or self._id
            if isinstance(metadata := event.get("messageMetadata"), dict):
                self._metadata.update(metadata)

    def _tool(self, kind: str, event: dict[str, Json]) -> None:
        call_id = string(event.get("toolCallId"))
        found = self._by_id.get(call_id) if call_id else self._last
        if found is None:
            return
        found.dynamic = found.dynamic or event.get("dynamic") is True
        found.more |= {_OF_CALL[name]: one for name, one in event.items() if _OF_CALL.get(name) and one is not None}
        if (answer := _ANSWERS.get(kind)) is not None:
            found.more |= answer
        if kind == "tool-error":
            found.more["errorText"] = string(event.get("error")) or "the tool failed"
        if kind == "tool-approval-request":
            found.more["approval"] = {"id": event.get("approvalId")}

    def _text(self, kind: str, event: dict[str, Json]) -> None:
        name, _, what = kind.partition("-")
        key = (name, string(event.get("id")))
        if what in ("start", "delta"):
            held = self._open.get(key)
            if held is None or (what == "start" and not held.empty) or self._broken(held, event):
                held = self._open[key] = Growing({"type": name, "text": "", "state": "done"})
                self._parts.append(held)
            pieces = (event.get(one) for one in ("delta", "text", "textDelta"))
            held.add("text", next((piece for piece in pieces if isinstance(piece, str)), ""))
        else:
            held = self._open.pop(key, None) if what == "end" else self._open.get(key)
        if held is not None and isinstance(given := event.get("providerMetadata"), dict):
            held.put("providerMetadata", given)
        if held is not None and what == "signature":
            held.put("signature", event.get("signature"))

    def _broken(self, held: Growing, event: dict[str, Json]) -> bool:
        """Whether a text without an id was followed by something else: version 4 knows texts by their place alone."""
        return not event.get("id") and self._parts[-1] is not held

    def _put_data(self, kind: str, event: dict[str, Json]) -> None:
        """A part of the application's own; one with an id that has come takes its place."""
        key = (kind, string(event.get("id")))
        held = self._data.get(key) if key[1] else None
        if held is not None:
            held.update(event)
            return
        part = dict(event)
        self._parts.append(part)
        if key[1]:
            self._data[key] = part

    def natives(self) -> list[Json]:
        """The message, if there is anything in it. Without an id of the stream's it has one made of its parts."""
        parts = [part for part in map(self._part, self._parts) if part is not None]
        if all(part.get("type") == "step-start" for part in parts):
            return []
        found: dict[str, Json] = {
            "id": self._id or _made_id(parts),
            "role": "assistant",
        }
        if self._metadata:
            found["metadata"] = dict(self._metadata)
        if self._older:
            found["content"] = join(part["text"] for part in parts if part.get("type") == "text")
        return [{**found, "parts": parts}]

    def _part(self, one: _Call | Growing | dict[str, Json]) -> dict[str, Json] | None:
        if isinstance(one, _Call):
            return one.part(older=self._older) if one.draft.name else None
        if isinstance(one, dict):
            return one
        found = one.whole()
        if not found["text"] and set(found) <= {"type", "text", "state"}:
            return None
        return _older(found) if self._older else found


def _made_id(parts: list[dict[str, Json]]) -> str:
    said = "\0".join(string(part.get("text")) or string(part.get("toolCallId")) for part in parts)
    return f"msg_{blob_id(said)[:_ID_DIGITS]}"


def _older(part: dict[str, Json]) -> dict[str, Json]:
    """A text or reasoning as version 4 has it."""
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    signed = {"signature": part["signature"]} if "signature" in part else {}
    return {
        "type": "reasoning",
        "reasoning": part["text"],
        "details": [{"type": "text", "text": part["text"], **signed}],
    }
