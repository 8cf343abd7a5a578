"""Generated streams give the calls that the vendors' own clients make of the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.testing.streams import read_pieces
from trimtab.wire.streams.anthropic import AnthropicStream
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.streams.responses import ResponsesStream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)
NAMES = st.sampled_from(["compress", "get_weather", "f", "llm", "a-b.c"])


@st.composite
def calls(draw: st.DrawFn) -> list[tuple[str, str, list[str]]]:
    """Calls as id, name and arguments in pieces; some are escaped, some empty."""
    found = []
    for place in range(draw(st.integers(0, 4))):
        text = json.dumps(draw(ARGUMENTS), ensure_ascii=draw(st.booleans()))
        cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        found.append((f"call_{place}", draw(NAMES), pieces))
    return found


def interleaved(draw: st.DrawFn, streams: list[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The events of several streams, each stream's in order."""
    left = [list(events) for events in streams if events]
    while left:
        one = draw(st.sampled_from(left))
        yield one.pop(0)
        left = [events for events in left if events]


def sent(events: list[dict[str, Any]], draw: st.DrawFn, *, named: bool, end_mark: bool) -> bytes:
    """The events as bytes, with what the standard allows around them."""
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for event in events:
        if draw(st.integers(0, 5)) == 0:
            lines += [": keep-alive", ""]
        lines += [f"event: {event['type']}"] if named else []
        lines += [f"data: {json.dumps(event, ensure_ascii=draw(st.booleans()))}", ""]
    lines += ["data: [DONE]", ""] if end_mark else []
    return "".join(line + line_end for line in lines).encode("utf-8", "surrogatepass")


def client(library: str, name: str, data: bytes) -> Any:
    """A vendor's client whose server answers with these bytes."""
    vendor, transport = pytest.importorskip(library), pytest.importorskip("httpx2")

    def answer(_: Any) -> Any:
        return transport.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    return getattr(vendor, name)(
        api_key="none", http_client=transport.Client(transport=transport.MockTransport(answer))
    )


def pieces_of(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The bytes, cut anywhere."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]


@st.composite
def chat_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A chat completion: text, and calls whose pieces are interleaved as long as each begins in its turn."""

    def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return {**head, "choices": [choice]}

    events = [chunk(role="assistant", content="Hm"), chunk(content=None)]
    tails = []
    for place, (call_id, name, pieces) in enumerate(draw(calls())):
        whole = draw(st.booleans())
        function = {"name": name, "arguments": "".join(pieces) if whole else ""}
        events.append(chunk(tool_calls=[{"index": place, "id": call_id, "type": "function", "function": function}]))
        rest = [] if whole else pieces
        tails.append([chunk(tool_calls=[{"index": place, "function": {"arguments": piece}}]) for piece in rest])
    events += [*interleaved(draw, tails), chunk(draw(st.sampled_from(["tool_calls", "stop"])))]
    data = sent(events, draw, named=False, end_mark=True)
    return data, pieces_of(draw, data)


@given(chat_streams())
@settings(max_examples=40, deadline=None)
def test_openai_chat(stream: tuple[bytes, list[bytes]]) -> None:
    """Id, name and arguments are those of openai's accumulator."""
    data, pieces = stream
    with client("openai", "OpenAI", data).chat.completions.stream(model="m", messages=[]) as theirs:
        message = theirs.get_final_completion().choices[0].message
    expected = [(one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()]
    found = read_pieces(ChatStream(), pieces)
    assert [(one.call_id, one.name, one.raw_args) for one in found] == expected
    assert all(one.complete for one in found)


@st.composite
def response_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A response: calls one after another, or interleaved, each repeated whole at its end."""
    head = {"id": "r", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True, "tools": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}
    ]
    streams, output = [], []
    for place, (call_id, name, pieces) in enumerate(draw(calls())):
        item = {"type": "function_call", "id": f"fc_{place}", "call_id": call_id, "name": name}
        at = {"item_id": f"fc_{place}", "output_index": place}
        text = "".join(pieces)
        events.append({
            "type": "response.output_item.added", "output_index": place,
            "item": {**item, "arguments": "", "status": "in_progress"},
        })  # fmt: skip
        output.append({**item, "arguments": text, "status": "completed"})
        streams.append([
            *({"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces),
            {"type": "response.function_call_arguments.done", **at, "name": name, "arguments": text},
            {"type": "response.output_item.done", "output_index": place, "item": output[-1]},
        ])  # fmt: skip
    events += interleaved(draw, streams)
    events.append({"type": "response.completed", "response": {**head, "status": "completed", "output": output}})
    for place, event in enumerate(events):
        event["sequence_number"] = place
    data = sent(events, draw, named=draw(st.booleans()), end_mark=False)
    return data, pieces_of(draw, data)


@given(response_streams())
@settings(max_examples=40, deadline=None)
def test_openai_responses(stream: tuple[bytes, list[bytes]]) -> None:
    """Id, name and arguments are those of openai's accumulator."""
    data, pieces = stream
    with client("openai", "OpenAI", data).responses.stream(model="m", input="x") as theirs:
        output = theirs.get_final_response().output
    found = read_pieces(ResponsesStream(), pieces)
    assert [(one.call_id, one.name, one.raw_args) for one in found] == [
        (one.call_id, one.name, one.arguments) for one in output
    ]
    assert all(one.complete for one in found)


@st.composite
def message_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A message: text, thinking, a server's tool and calls, one block after another."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_reason": None}}]
    for place, (call_id, name, pieces) in enumerate(draw(calls())):
        kind = draw(st.sampled_from(["tool_use", "server_tool_use", "tool_use"]))
        deltas: list[dict[str, Any]] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        block = {"type": kind, "id": call_id, "name": name, "input": {}}
        if draw(st.booleans()):
            deltas = [] if draw(st.booleans()) else deltas
            block = {"type": "thinking", "thinking": "", "signature": ""} if draw(st.booleans()) else block
            deltas = [{"type": "thinking_delta", "thinking": "Hm"}] if block["type"] == "thinking" else deltas
        events.append({"type": "content_block_start", "index": place, "content_block": block})
        events += [{"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas]
        events += [{"type": "content_block_stop", "index": place}, {"type": "ping"}]
    end = {"stop_reason": draw(st.sampled_from(["tool_use", "end_turn"])), "stop_sequence": None, "stop_details": None}
    events += [{"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]
    data = sent(events, draw, named=True, end_mark=False)
    return data, pieces_of(draw, data)


@given(message_streams())
@settings(max_examples=40, deadline=None)
def test_anthropic(stream: tuple[bytes, list[bytes]]) -> None:
    """Id and name are those of anthropic's accumulator, and the text is that of the input that it decodes."""
    data, pieces = stream
    with client("anthropic", "Anthropic", data).messages.stream(model="m", max_tokens=9, messages=[]) as theirs:
        content = theirs.get_final_message().content
    expected = [(one.id, one.name, one.input) for one in content if one.type == "tool_use"]
    found = read_pieces(AnthropicStream(), pieces)
    assert [(one.call_id, one.name, json.loads(one.raw_args or "{}")) for one in found] == expected
    assert all(one.complete for one in found)
