"""Blocks of ConverseStream that are no calls: a stream names the pieces otherwise than the message names the whole.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlockDelta.html
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.arguments import as_object
from trimtab.wire.streams.drafts import member, objects, string
from trimtab.wire.streams.growing import Growing

__all__ = ["block_of", "grow"]

_CITATIONS = "citation"
_INPUT = "input"
_REDACTED = "redactedContent"
_SIGNATURE = "signature"
_THOUGHT = "thought"


def grow(block: Growing, delta: dict[str, Json]) -> None:
    """Take one piece."""
    for name, value in delta.items():
        if name == "reasoningContent":
            block.add(_THOUGHT, string(member(value, "text")))
            if signature := string(member(value, _SIGNATURE)):
                block.add(_SIGNATURE, signature)
            if (hidden := member(value, _REDACTED)) is not None:
                block.append(_REDACTED, hidden)
        elif name == "toolUse":
            block.add(_INPUT, string(member(value, "input")))
        elif name == "toolResult":
            for one in objects(value):
                block.append(name + "s", one)
        elif name == _CITATIONS:
            block.append(_CITATIONS, value)
        elif isinstance(value, str):
            block.add(name, value)
        elif value is not None:
            block.put(name, value)


def block_of(block: Growing, *, whole: bool) -> Json:
    """The block as a message has it; None: there is nothing in it, or what has come cannot be sent back.

    `whole`: whether the message is. Thinking that is cut off has no signature, and a tool that the provider runs no
    result.
    """
    found = block.whole()
    if _REDACTED in found:
        return {"reasoningContent": {_REDACTED: _bytes(found[_REDACTED])}}
    if _THOUGHT in found:
        signed = {_SIGNATURE: found[_SIGNATURE]} if _SIGNATURE in found else {}
        text = {"reasoningText": {"text": found[_THOUGHT], **signed}}
        return {"reasoningContent": text} if signed or whole or block.ended else None
    if isinstance(tool := found.get("toolUse"), dict):
        tool = {**tool, "input": as_object(found[_INPUT])} if _INPUT in found else tool
        return {"toolUse": tool} if whole else None
    if isinstance(result := found.get("toolResult"), dict):
        pieces = _joined(found.get("toolResults", ()))
        return {"toolResult": {**result, "content": pieces} if pieces else result} if whole else None
    if _CITATIONS in found:
        return {"citationsContent": {"content": [{"text": found.get("text", "")}], "citations": found[_CITATIONS]}}
    return found or None


def _joined(pieces: Sequence[Json]) -> list[Json]:
    """The content of a result: its texts come in pieces, one after another."""
    found: list[Json] = []
    for one in pieces:
        if found and string(member(one, "text")) and "text" in found[-1]:
            found[-1] = {"text": found[-1]["text"] + one["text"]}
        else:
            found.append(one)
    return found


def _bytes(pieces: Sequence[Json]) -> Json:
    """Bytes in pieces, as bytes or as base64."""
    if len(pieces) == 1:
        return pieces[0]
    if all(isinstance(one, bytes | bytearray) for one in pieces):
        return b"".join(pieces)
    try:
        return b64encode(b"".join(b64decode(string(one), validate=True) for one in pieces)).decode("ascii")
    except Error:
        return "".join(map(string, pieces))
