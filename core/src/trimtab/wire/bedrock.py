"""Amazon Bedrock's Converse: content blocks without a type, named by their only member.

Shapes: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Arguments are documents
(objects); a result's content is a list of blocks. `cachePoint` blocks and reasoning stay where they are.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import bedrock as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, has, is_object, items, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site, same
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import spoken
from trimtab.wire.types import RawCall, Stream

__all__ = ["BEDROCK"]

_BLOCKS: Final = (
    *("audio", "cachePoint", "citationsContent", "document", "guardContent", "image"),
    *("reasoningContent", "searchResult", "text", "toolResult", "toolUse", "video"),
)
_MEDIA: Final = ("image", "document", "video", "audio")
_EVENTS: Final = (
    *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"),
    "metadata",
)


def _sites(request: Json) -> Iterator[Site]:
    before, messages = messages_of(request)
    turn: Path | None = None
    for index, message in enumerate(messages):
        path = (*before, index)
        turn = (turn or path) if member(message, "role") == "assistant" else None
        of_server = set[str]()
        for place, block in blocks(message, "content"):
            there = (*path, "content", place)
            if is_object(use := member(block, "toolUse")):
                if _is_of_server(use):
                    of_server.add(text(use, "toolUseId"))
                else:
                    yield _call(use, (*there, "toolUse"), turn or path)
            elif is_object(result := member(block, "toolResult")) and text(result, "toolUseId") not in of_server:
                yield _result(result, (*there, "toolResult"))


def _is_of_server(use: Json) -> bool:
    """Whether Bedrock runs the tool itself."""
    return text(use, "type") == "server_tool_use"


def _call(use: Json, path: Path, message: Path) -> CallSite:
    return CallSite.of_object(
        path=(*path, "input"),
        message=message,
        call_id=text(use, "toolUseId"),
        name=text(use, "name"),
        raw=member(use, "input"),
    )


def _result(result: Json, path: Path) -> ResultSite:
    content = member(result, "content")
    where: Path = (*path, "content")
    value = shown = content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and [*content[0]] == ["json"]:
        where, shown = (*where, 0, "json"), content[0]["json"]
    elif isinstance(content, list):
        shown = [_with_base64(block) for block in content]
        shown = content if all(a is b for a, b in zip(content, shown, strict=True)) else shown
    return ResultSite(
        path=where,
        place=(*path, "content"),
        call_id=text(result, "toolUseId"),
        name="",
        value=shown,
        is_error=member(result, "status") == "error",
        wrap=same if len(where) > len(path) + 1 else lambda new: _as_blocks(_put_back(new, shown, value), value),
    )


def _with_base64(block: Json) -> Json:
    """A media block with the bytes that boto3 takes as base64, which is what the wire carries. Else the same object."""
    for kind in _MEDIA:
        source = member(member(block, kind), "source")
        data = member(source, "bytes")
        if isinstance(data, bytes | bytearray):
            return {**block, kind: {**block[kind], "source": {**source, "bytes": b64encode(data).decode("ascii")}}}
    return block


def _put_back(new: Json, shown: Json, original: Json) -> Json:
    """The new blocks, each that is still as it was shown as the original one."""
    if shown is original or not isinstance(new, list):
        return new
    return [original[index] if index < len(original) and one == shown[index] else one for index, one in enumerate(new)]


def _as_blocks(value: Json, original: Json) -> Json:
    """A result's content must be a list of blocks; what was something else before stays what it was."""
    if isinstance(value, list) or type(value) is type(original):
        return value
    return [{"text": value} if isinstance(value, str) else {"json": value}]


def _calls(response: Json) -> Iterator[RawCall]:
    complete = not is_cut(member(response, "stopReason"))
    message = member(member(response, "output"), "message")
    for _, block in blocks(response if message is None else message, "content"):
        use = member(block, "toolUse")
        if is_object(use) and not _is_of_server(use):
            yield evolve(_call(use, (), ()), complete=complete).raw_call
        elif use is None:
            yield from spoken(text(block, "text"))


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        return 0.8 * _has_own_blocks(payload)
    if any(has(payload, name) for name in ("toolConfig", "inferenceConfig", "additionalModelRequestFields")):
        return 0.0 if has(payload, "contents") else 1.0
    if has(member(member(payload, "output"), "message"), "content"):
        return 1.0
    if isinstance(payload, dict) and payload and set(payload) <= set(_EVENTS):
        return 1.0
    return 0.95 * _has_own_blocks(items(member(payload, "messages")))


def _has_own_blocks(messages: Json) -> bool:
    """Whether every content block is Bedrock's, and there is one."""
    found = [part for one in messages for _, part in blocks(one, "content")]
    return bool(found) and all(not has(part, "type") and any(has(part, name) for name in _BLOCKS) for part in found)


def _reader() -> Stream:
    from trimtab.wire.streams.bedrock import BedrockStream

    return BedrockStream()


BEDROCK: Final = Wire(
    name="bedrock",
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
        alternates=("user", "assistant"),
    ),
)
