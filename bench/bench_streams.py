"""What reading a stream costs, against Python's own `json.loads` of its data lines."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from zlib import crc32

import pytest

from trimtab.testing.streams import server_sent
from trimtab.wire.streams.anthropic import AnthropicStream
from trimtab.wire.streams.bedrock import BedrockStream
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.streams.gemini import GeminiStream
from trimtab.wire.streams.responses import ResponsesStream
from trimtab.wire.types import Stream

PIECES = 2_000
# Bedrock ends each event with some of this, so that its length tells nothing.
PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
GOAL = 3.0


def pieces() -> list[str]:
    """Pieces of a call's arguments, as long as tokens are."""
    summary = "The loader reads port 8131; two tests failed and were mended. " * 130
    text = json.dumps({"content": [{"startId": "m00001", "endId": "m00009", "summary": summary}]})
    size = len(text) // PIECES + 1
    return [text[at : at + size] for at in range(0, len(text), size)]


def chat() -> list[str]:
    """A chat completion as OpenAI sends it."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "gpt-x",
            "service_tier": "default", "system_fingerprint": "fp_0"}  # fmt: skip

    def chunk(reason: str | None = None, **delta: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return json.dumps({**head, "choices": [choice], "usage": None}, separators=(",", ":"))

    first = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "compress", "arguments": ""}}
    rest = [chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}]) for piece in pieces()]
    return [chunk(role="assistant", content=None, tool_calls=[first]), *rest, chunk("tool_calls"), "[DONE]"]


def chat_text() -> list[str]:
    """The same, of text alone."""
    return [payload.replace('"tool_calls":', '"content":"word","x":') for payload in chat()]


def responses() -> list[str]:
    """A response as OpenAI sends it."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "compress", "arguments": ""}
    at = {"item_id": "fc_1", "output_index": 0}
    whole = "".join(pieces())
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *(
            {"type": "response.function_call_arguments.delta", **at, "delta": one, "obfuscation": "aZ3k"}
            for one in pieces()
        ),
        {"type": "response.function_call_arguments.done", **at, "arguments": whole},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "arguments": whole}},
        {"type": "response.completed", "response": {"status": "completed", "output": [{**item, "arguments": whole}]}},
    ]
    return [json.dumps({**event, "sequence_number": place}) for place, event in enumerate(events)]


def anthropic() -> list[str]:
    """A message as Anthropic sends it."""
    block = {"type": "tool_use", "id": "toolu_a", "name": "compress", "input": {}}
    delta = "content_block_delta"
    events: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": 1, "content_block": block},
        *({"type": delta, "index": 1, "delta": {"type": "input_json_delta", "partial_json": one}} for one in pieces()),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return [json.dumps(event) for event in events]


def gemini() -> list[str]:
    """An answer as Gemini sends it: text, and a call in every twentieth chunk."""
    tail = {
        "usageMetadata": {"promptTokenCount": 900, "totalTokenCount": 990},
        "modelVersion": "gemini-x",
        "responseId": "r",
    }

    def chunk(part: dict[str, Any], **more: Any) -> str:
        return json.dumps({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0, **more}], **tail})

    def part(place: int, piece: str) -> dict[str, Any]:
        call = {"name": "search", "args": {"query": piece, "limit": 10}}
        return {"text": piece} if place % 20 else {"functionCall": call, "thoughtSignature": "c2lnbmF0dXJl" * 5}

    return [*(chunk(part(*one)) for one in enumerate(pieces())), chunk({"text": ""}, finishReason="STOP")]


READERS: dict[str, tuple[Callable[[], Stream], Callable[[], list[str]]]] = {
    "openai-chat": (ChatStream, chat),
    "openai-chat, text alone": (ChatStream, chat_text),
    "openai-responses": (ResponsesStream, responses),
    "anthropic": (AnthropicStream, anthropic),
    "gemini": (GeminiStream, gemini),
}


def in_pieces(data: bytes, size: int) -> list[bytes]:
    """Bytes as a socket gives them, cut at about this size."""
    chance = random.Random(7)
    places = [0]
    while places[-1] < len(data):
        places.append(places[-1] + chance.randrange(size // 2, size * 2))
    return [data[begin:end] for begin, end in pairwise(places)]


def reading(make: Callable[[], Stream], cut: list[bytes]) -> Callable[[], None]:
    """Reads the pieces to the end."""

    def work() -> None:
        stream = make()
        for one in cut:
            stream.feed(one)
        assert stream.close() is not None

    return work


def loads(payloads: list[str]) -> Callable[[], None]:
    """The measure: each payload by `json.loads`."""
    texts = [payload for payload in payloads if payload != "[DONE]"]

    def work() -> None:
        for text in texts:
            json.loads(text)

    return work


@pytest.mark.parametrize("name", READERS)
def test_server_sent_events(compare: Any, name: str) -> None:
    """A stream of 2,000 events, in pieces of about one event, and of 16 kB."""
    make, payloads = READERS[name]
    sent = payloads()
    data = server_sent(sent)
    event = len(data) // len(sent)
    compare.ratio(f"{name}, piece by piece", reading(make, in_pieces(data, event)), loads(sent), goal=GOAL)
    compare.ratio(f"{name}, 16 kB at a time", reading(make, in_pieces(data, 16_384)), loads(sent), goal=GOAL)


def test_gemini_array(compare: Any) -> None:
    """The same answer as one JSON array."""
    sent = gemini()
    data = f"[{(chr(10) + ',' + chr(10)).join(sent)}]".encode()
    compare.ratio("gemini, one array", reading(GeminiStream, in_pieces(data, 16_384)), loads(sent), goal=GOAL)


def frame(kind: str, body: Any) -> bytes:
    """An AWS event-stream frame."""
    pairs = ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event"))
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in pairs
    )
    payload = json.dumps(body).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return whole + struct.pack(">I", crc32(whole))


def test_bedrock_frames(compare: Any) -> None:
    """A Bedrock answer in frames."""
    events: list[tuple[str, Any]] = [
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "compress"}}}),
        *(
            (
                "contentBlockDelta",
                {"contentBlockIndex": 0, "delta": {"toolUse": {"input": one}}, "p": PADDING[: 1 + place % 62]},
            )
            for place, one in enumerate(pieces())
        ),
        ("messageStop", {"stopReason": "tool_use"}),
    ]
    data = b"".join(frame(kind, body) for kind, body in events)
    base = loads([json.dumps(body) for _, body in events])
    compare.ratio("bedrock, frames", reading(BedrockStream, in_pieces(data, 16_384)), base, goal=GOAL)


def test_hostile_bytes(compare: Any) -> None:
    """1 MB of what makes a careless reader look at everything again."""
    texts = {
        "blank lines": b"\n" * 1_000_000,
        "data without an end": b"data: " + b"x" * 1_000_000,
        "data lines without an end": b"data:{\n" * 140_000,
        "opening brackets": b"[{" * 500_000,
        "quotes": b'["' + b'"' * 1_000_000,
        "backslashes": b'{"' + b"\\" * 1_000_000,
        "frames that are none": b"\x00" * 1_000_000,
    }
    for name, data in texts.items():
        make = BedrockStream if data[0] == 0 else ChatStream
        compare.seconds(f"1 MB of {name}", reading(make, in_pieces(data, 500)), goal=1500, rounds=2)
