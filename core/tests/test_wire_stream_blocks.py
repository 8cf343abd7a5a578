"""Anthropic Messages and Bedrock Converse, streamed: content blocks by index."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import pytest

from trimtab.testing.streams import cuts, read_every_way, read_pieces
from trimtab.wire.streams.anthropic import AnthropicStream
from trimtab.wire.streams.bedrock import BedrockStream
from trimtab.wire.types import RawCall

ARGS = '{"topic":"setup","n":[1,{"a":"} 😀"}]}'
MORE = '{"query":"port 8131"}'
HEAD, TAIL = ARGS[:9], ARGS[9:]


class Anthropic:
    """Payloads as Anthropic spells them."""

    @staticmethod
    def read(payloads: Sequence[str]) -> list[RawCall]:
        return read_every_way(AnthropicStream, payloads)

    @staticmethod
    def event(kind: str, index: int | None = None, **fields: Any) -> str:
        place = {} if index is None else {"index": index}
        return json.dumps({"type": kind, **place, **fields})

    def start(self, index: int | None = 0, call_id: str = "a", name: str = "f", given: Any = None) -> str:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {} if given is None else given}
        return self.event("content_block_start", index, content_block=block)

    def text(self, index: int | None = 0, said: str = "Hm") -> str:
        return self.event("content_block_delta", index, delta={"type": "text_delta", "text": said})

    def piece(self, part: Any, index: int | None = 0) -> str:
        return self.event("content_block_delta", index, delta={"type": "input_json_delta", "partial_json": part})

    def stop(self, index: int | None = 0) -> str:
        return self.event("content_block_stop", index)

    def end(self, reason: str | None = "tool_use") -> list[str]:
        return [self.event("message_delta", delta={"stop_reason": reason}), self.event("message_stop")]


class Bedrock:
    """Payloads as Bedrock spells them; read as frames too."""

    def read(self, payloads: Sequence[str]) -> list[RawCall]:
        expected = read_every_way(BedrockStream, payloads)
        for cut in cuts(b"".join(map(as_frame, payloads))):
            assert read_pieces(BedrockStream(), cut) == expected
        return expected

    @staticmethod
    def event(kind: str, index: int | None = None, **fields: Any) -> str:
        place = {} if index is None else {"contentBlockIndex": index}
        return json.dumps({kind: {**place, **fields}})

    def start(self, index: int | None = 0, call_id: str = "a", name: str = "f", given: Any = None) -> str:
        tool = {"toolUseId": call_id, "name": name, **({} if given is None else {"input": given})}
        return self.event("contentBlockStart", index, start={"toolUse": tool})

    def text(self, index: int | None = 0, said: str = "Hm") -> str:
        return self.event("contentBlockDelta", index, delta={"text": said})

    def piece(self, part: Any, index: int | None = 0) -> str:
        return self.event("contentBlockDelta", index, delta={"toolUse": {"input": part}})

    def stop(self, index: int | None = 0) -> str:
        return self.event("contentBlockStop", index)

    def end(self, reason: str | None = "tool_use") -> list[str]:
        return [self.event("messageStop", stopReason=reason), self.event("metadata", usage={"inputTokens": 1})]


def as_frame(payload: str, kind: str = "event") -> bytes:
    """A decoded event, or an exception, as the frame that carries it."""
    ((name, body),) = json.loads(payload).items()
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    spelt = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in headers.items()
    )
    inner = json.dumps(body).encode()
    prelude = struct.pack(">II", 16 + len(spelt) + len(inner), len(spelt))
    whole = prelude + struct.pack(">I", crc32(prelude)) + spelt + inner
    return whole + struct.pack(">I", crc32(whole))


Wire = Anthropic | Bedrock
BOTH = pytest.mark.parametrize("wire", [Anthropic(), Bedrock()], ids=["anthropic", "bedrock"])


def seen(calls: list[RawCall]) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of calls that are all complete."""
    assert all(call.complete for call in calls)
    return [(call.call_id, call.name, call.raw_args) for call in calls]


def pieces(wire: Wire, index: int | None = 0) -> list[str]:
    """The arguments in two pieces."""
    return [wire.piece(HEAD, index), wire.piece(TAIL, index)]


ONE_CALL: dict[str, Callable[[Wire], list[str]]] = {
    "as documented": lambda wire: [wire.start(), *pieces(wire), wire.stop(), *wire.end()],
    "letter by letter": lambda wire: [wire.start(), *map(wire.piece, ARGS), wire.stop(), *wire.end()],
    "empty pieces": lambda wire: [wire.start(), wire.piece(""), *pieces(wire), wire.piece(""), *wire.end()],
    "text and thinking shift the index": lambda wire: [
        *(wire.text(0), wire.stop(0), wire.start(4), wire.piece(HEAD, 4), wire.text(0), wire.piece(TAIL, 4)),
        *(wire.stop(4), *wire.end()),
    ],
    "no index": lambda wire: [wire.start(None), *pieces(wire, None), wire.stop(None), *wire.end()],
    "no stop": lambda wire: [wire.start(), *pieces(wire), *wire.end()],
    "no reason, but the end": lambda wire: [wire.start(), *pieces(wire), wire.stop(), *wire.end(None)],
    "a late piece": lambda wire: [wire.start(), *pieces(wire), wire.stop(), wire.piece("}"), *wire.end()],
    "a piece of a block that never began": lambda wire: [
        *(wire.start(), wire.piece(HEAD), wire.piece(MORE, 7), wire.piece(TAIL), *wire.end())
    ],
    "a piece that is no text": lambda wire: [wire.start(), wire.piece(None), wire.piece(7), *pieces(wire), *wire.end()],
    "the start twice": lambda wire: [wire.start(), wire.start(), *pieces(wire), wire.stop(), *wire.end()],
    "arguments at the start, and pieces": lambda wire: [wire.start(given={"x": 1}), *pieces(wire), *wire.end()],
}


@BOTH
@pytest.mark.parametrize("name", ONE_CALL)
def test_one_call(wire: Wire, name: str) -> None:
    """The arguments are the pieces of its own block, joined; the `{}` of the start is never before them."""
    assert seen(wire.read(ONE_CALL[name](wire))) == [("a", "f", ARGS)]


def test_an_end_mark_of_another_provider() -> None:
    """A gateway's `[DONE]` ends a stream as well."""
    wire = Anthropic()
    assert seen(wire.read([wire.start(), *pieces(wire), wire.stop(), "[DONE]"])) == [("a", "f", ARGS)]


@BOTH
def test_a_call_without_pieces(wire: Wire) -> None:
    """No piece, or an empty one: the arguments are empty. What a relay put at the start is all there is."""
    for empty in ([], [wire.piece("")]):
        assert seen(wire.read([wire.start(), *empty, wire.stop(), *wire.end()])) == [("a", "f", "")]
    given = [wire.start(given={"x": 1}), wire.stop(), *wire.end()]
    assert seen(wire.read(given)) == [("a", "f", {"x": 1})]


@BOTH
def test_parallel_calls(wire: Wire) -> None:
    """Calls in interleaved blocks, and calls one after another on one index, stay apart."""
    first, second = wire.start(1), wire.start(2, "b", "g")
    mixed = [wire.piece(HEAD, 1), wire.piece(MORE[:5], 2), wire.piece(TAIL, 1), wire.piece(MORE[5:], 2)]
    expected = [("a", "f", ARGS), ("b", "g", MORE)]
    assert seen(wire.read([first, second, *mixed, wire.stop(2), wire.stop(1), *wire.end()])) == expected
    reused = [wire.start(), wire.piece(ARGS), wire.stop(), wire.start(0, "b", "g"), wire.piece(MORE), wire.stop()]
    assert seen(wire.read([*reused, *wire.end()])) == expected
    unstopped = [wire.start(), wire.piece(ARGS), wire.start(0, "b", "g"), wire.piece(MORE), *wire.end()]
    assert seen(wire.read(unstopped)) == expected


@BOTH
def test_calls_without_an_id(wire: Wire) -> None:
    """Two equal calls get two ids, the same whenever the stream is read."""
    payloads = [wire.start(0, ""), wire.piece(MORE), wire.stop(), wire.start(1, ""), wire.piece(MORE, 1), wire.stop(1)]
    first, second = seen(wire.read([*payloads, *wire.end()]))
    assert first[1:] == second[1:] == ("f", MORE)
    assert first[0] != second[0]


@BOTH
def test_a_surrogate_pair_cut_between_pieces(wire: Wire) -> None:
    """The halves become one character again."""
    halves = [wire.piece('{"a":"\ud83d'), wire.piece('\ude00"}')]
    assert seen(wire.read([wire.start(), *halves, wire.stop(), *wire.end()])) == [("a", "f", '{"a":"😀"}')]


@BOTH
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal", "guardrail_intervened"])
def test_what_was_cut_is_not_complete(wire: Wire, reason: str) -> None:
    """A limit, a refusal, or no end at all: the call has the pieces that came, and is marked."""
    for end in (wire.end(reason), wire.end(reason)[:1], []):
        (call,) = wire.read([wire.start(), wire.piece(HEAD), *end])
        assert (call.raw_args, call.complete) == (HEAD, False)


@BOTH
def test_calls_in_the_text(wire: Wire) -> None:
    """A call between trigger tags in the text counts, its tags split over deltas."""
    letters = [wire.text(0, letter) for letter in f"<acp_compress>{ARGS}</acp_compress>"]
    (found,) = seen(wire.read([*letters, *wire.end("end_turn")]))
    assert found[1:] == ("compress", ARGS)


def test_tools_that_the_provider_runs_are_no_calls() -> None:
    """Server tools have pieces like calls; a host has nothing to answer."""
    wire = Anthropic()
    block = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    start = wire.event("content_block_start", 0, content_block=block)
    assert wire.read([start, wire.piece(MORE), wire.stop(), *wire.end()]) == []
    tool = {"toolUseId": "srv", "name": "nova_grounding", "type": "server_tool_use"}
    begin = Bedrock.event("contentBlockStart", 0, start={"toolUse": tool})
    assert Bedrock().read([begin, Bedrock().piece(MORE), Bedrock().stop(), *Bedrock().end()]) == []


def test_errors_inside_the_stream() -> None:
    """After an error event or an exception frame nothing counts as complete."""
    error = '{"type":"error","error":{"type":"overloaded_error"}}'
    wire = Anthropic()
    (call,) = wire.read([wire.start(), wire.piece(ARGS), wire.stop(), error])
    assert (call.raw_args, call.complete) == (ARGS, False)
    exception = '{"throttlingException":{"message":"slow down"}}'
    (same,) = read_every_way(BedrockStream, [Bedrock().start(), Bedrock().piece(ARGS), exception])
    assert same == call
    frames = [as_frame(Bedrock().start()), as_frame(Bedrock().piece(ARGS)), as_frame(exception, "exception")]
    for cut in cuts(b"".join(frames)):
        assert read_pieces(BedrockStream(), cut) == [call]


def test_a_damaged_frame_marks_every_call() -> None:
    """A frame that is lost may have had a piece: what came is given, and is not complete."""
    wire = Bedrock()
    frames = [as_frame(one) for one in (wire.start(), wire.piece(HEAD), wire.piece(TAIL), wire.stop(), *wire.end())]
    damaged = bytearray(frames[2])
    damaged[-9] ^= 1
    for cut in cuts(b"".join([*frames[:2], bytes(damaged), *frames[3:]])):
        (call,) = read_pieces(BedrockStream(), cut)
        assert (call.raw_args, call.complete) == (HEAD, False)


def test_answers_that_are_not_streamed() -> None:
    """A server that ignores the wish to stream sends one object: its calls are read all the same."""
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    message = {"type": "message", "content": [{"type": "text", "text": "Hm"}, block], "stop_reason": "tool_use"}
    expected = RawCall(call_id="a", name="f", raw_args={})
    assert read_pieces(AnthropicStream(), [json.dumps(message, indent=1)]) == [expected]
    tool = {"toolUseId": "a", "name": "f", "input": {}}
    answer = {"output": {"message": {"content": [{"text": "Hm"}, {"toolUse": tool}]}}, "stopReason": "tool_use"}
    assert read_pieces(BedrockStream(), [json.dumps(answer, indent=1)]) == [expected]
