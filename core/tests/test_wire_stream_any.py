"""Whatever comes: a stream reader never raises, and where the bytes are cut makes no difference."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.errors import CallerError
from trimtab.testing.streams import read_pieces, server_sent
from trimtab.wire.streams.aisdk import AiSdkStream
from trimtab.wire.streams.anthropic import AnthropicStream
from trimtab.wire.streams.bedrock import BedrockStream
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.streams.gemini import GeminiStream
from trimtab.wire.streams.responses import ResponsesStream
from trimtab.wire.types import RawCall, Stream

READERS: dict[str, Callable[[], Stream]] = {
    "ai-sdk": AiSdkStream,
    "anthropic": AnthropicStream,
    "bedrock": BedrockStream,
    "chat": ChatStream,
    "gemini": GeminiStream,
    "responses": ResponsesStream,
}
EVERY_READER = pytest.mark.parametrize("protocol", READERS)

# Members and values of all protocols: what is drawn from them gets deep into every reader.
MEMBERS = """
    args arguments argsTextDelta call_id candidates choices content contentBlockDelta contentBlockIndex
    contentBlockStart contentBlockStop content_block custom delta error finishReason finish_reason function
    functionCall function_call id index input inputTextDelta item item_id jsonPath message messageStop name
    output output_index partialArgs partial_json parts reason response role start status stopReason stop_reason
    stringValue text toolCallId toolName toolUse toolUseId tool_calls type willContinue
"""
VALUES = """
    a b f compress {} {"a":1} } error $.a[0] $.b stop length tool_use tool_calls max_tokens function_call STOP
    content_block_start content_block_delta content_block_stop message_start message_delta message_stop message
    finish response.output_item.added response.output_item.done response.function_call_arguments.delta
    response.completed response.function_call_arguments.done response.output_text.delta response.incomplete
    tool-input-start tool-call tool-input-delta tool-input-available finish-step text-delta <acp_compress>
    </acp_compress>
"""
KEYS, WORDS = st.sampled_from(MEMBERS.split()), st.sampled_from(VALUES.split())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5)
EVENTS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=9
    ),
    max_size=5,
)
# What no JSON holds, but a host may hand over as a decoded event.
STRANGE = st.dictionaries(st.integers() | KEYS, st.binary(max_size=3) | st.sets(st.integers()) | EVENTS, max_size=4)

PIECES = st.sampled_from(
    [
        *(b"data: ", b"data:", b"event: error\n", b"\n\n", b"\r\n", b"\r", b"[DONE]", b": x\n", b"9:", b"0:"),
        *(b"{", b"}", b"[", b"]", b",", b'"', b"\\", b'"choices":', b'{"index":0,"delta":', b"null", b"1e999", b"NaN"),
        *(b"\xf0\x9f", b"\x98\x80", b"\xff", b"\xef\xbb\xbf"),
        *(b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff", b"\x00\x00\x00\x10"),
    ]
)


def sound(calls: list[RawCall]) -> None:
    """What holds for the calls of any stream."""
    for one in calls:
        assert one.call_id
        assert isinstance(one.call_id, str)
        assert isinstance(one.name, str)
        assert isinstance(one.raw_args, str | dict | list)
        assert type(one.complete) is bool
        assert type(one.by_provider) is bool


@EVERY_READER
@given(st.lists(PIECES | st.binary(max_size=9) | EVENTS.map(lambda one: json.dumps(one).encode()), max_size=12))
@settings(max_examples=30, deadline=None)
def test_any_bytes(protocol: str, pieces: list[bytes]) -> None:
    """Any bytes are read without an error, and give the same calls whole, in these pieces and byte by byte."""
    data = b"".join(pieces)
    make = READERS[protocol]
    calls = read_pieces(make(), [data])
    sound(calls)
    assert read_pieces(make(), pieces) == calls
    assert read_pieces(make(), [data[at : at + 1] for at in range(len(data))]) == calls


@EVERY_READER
@given(st.lists(EVENTS | STRANGE, max_size=8))
@settings(max_examples=40, deadline=None)
def test_any_events(protocol: str, events: list[dict[Any, Any]]) -> None:
    """Any objects with the members of any protocol are read without an error."""
    stream = READERS[protocol]()
    for event in events:
        stream.feed(event)
    sound(stream.close())


@EVERY_READER
@given(st.text(st.characters(exclude_categories=()), max_size=30), st.lists(st.text(max_size=9), max_size=5))
@settings(max_examples=25, deadline=None)
def test_any_text(protocol: str, first: str, rest: list[str]) -> None:
    """Any text, lone surrogates included, is read without an error."""
    sound(read_pieces(READERS[protocol](), [first, *rest]))


@EVERY_READER
@pytest.mark.parametrize("data", [None, 7, ["data: {}"], object()])
def test_what_is_no_piece_of_a_stream(protocol: str, data: Any) -> None:
    """What only a mistake of the host's can hand over is said to be one, at once."""
    with pytest.raises(CallerError, match="fed bytes, text or one decoded event"):
        READERS[protocol]().feed(data)


@EVERY_READER
def test_bytes_of_other_types(protocol: str) -> None:
    """A bytearray and a memoryview are bytes too."""
    for data in (bytearray(b"data: {}"), memoryview(b"data: {}")):
        stream = READERS[protocol]()
        stream.feed(data)  # type: ignore[arg-type]
        assert stream.close() == []


def nested(depth: int) -> str:
    """An event that is nested deeper than Python's own reader goes."""
    return '{"choices":' * depth + "1" + "}" * depth


@EVERY_READER
def test_deep_nesting(protocol: str) -> None:
    """Depth costs neither an error nor the stack: deep data is damage, deep arguments are arguments."""
    sound(read_pieces(READERS[protocol](), [server_sent([nested(100_000), "[" * 100_000])]))
    sound(read_pieces(READERS[protocol](), [nested(100_000)]))
    deep: Any = {}
    for _ in range(5_000):
        deep = {"args": deep, "input": deep, "arguments": deep}
    stream = READERS[protocol]()
    stream.feed({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": deep}}]}}]})
    stream.feed({"choices": [{"delta": {"tool_calls": [{"function": {"name": "f", "arguments": deep}}]}}]})
    assert len(stream.close()) <= 1


# Streams that made a reader look at what it had again and again; a reader that does so never ends here.
LONG = 30_000
STUBBORN = {
    "chat: name and a closed object in each piece": (
        "chat",
        [{"index": 0, "function": {"name": "f", "arguments": '"{}'}}] * LONG,
    ),
    "chat: ids that change with each piece": (
        "chat",
        [
            {"index": 0, "id": f"c{place}", "function": {"name": "f", "arguments": "{["[place % 2]}}
            for place in range(LONG)
        ],
    ),
    "chat: a new index for each piece": (
        "chat",
        [{"index": place, "function": {"arguments": "{"}} for place in range(LONG)],
    ),
}


@pytest.mark.parametrize("name", STUBBORN)
def test_streams_that_would_be_read_again_and_again(name: str) -> None:
    """Each piece is looked at once, whatever it makes a reader ask about those before it."""
    protocol, pieces = STUBBORN[name]
    stream = READERS[protocol]()
    stream.feed({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}]})
    for piece in pieces:
        stream.feed({"choices": [{"delta": {"tool_calls": [piece]}}]})
    sound(stream.close())
