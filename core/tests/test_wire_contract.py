"""Every built-in protocol keeps the contract, and the contract finds what does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from trimtab.testing import WireContract
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.types import Json
from trimtab.wire import ToolResult, protocols
from trimtab.wire.protocol import Wire

TURNS = [
    Turn(
        said="look",
        calls=(
            Told(call_id="a", name="web_search", arguments={"query": "x"}, output="found", blocks=True),
            Told(call_id="b", name="read", arguments={}, output="it broke", failed=True),
        ),
    ),
    Turn(said="again", calls=(Told(call_id="c", name="read", arguments={"path": "/é"}, output="text"),)),
    Turn(said="thanks"),
]
CHAT_RESPONSE = {
    "object": "chat.completion",
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "/"}'}},
                    {"id": "b", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
                ],
            },
        }
    ],
}


_STARTED = {"type": "function_call", "id": "fc", "call_id": "a", "name": "read", "arguments": ""}


def sse(*events: Json) -> bytes:
    """Events as a server sends them."""
    return b"".join(b"data: " + json.dumps(one, ensure_ascii=False).encode() + b"\n\n" for one in events)


def chat_stream(end: bytes = b"data: [DONE]\n\n") -> bytes:
    """Two parallel calls, the first in pieces."""

    def delta(calls: Json, reason: str | None = None) -> Json:
        return {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": reason}],
        }

    return (
        sse(
            delta([{"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}}]),
            delta([{"index": 0, "function": {"arguments": '{"path": "/é'}}]),
            delta([{"index": 0, "function": {"arguments": '😀"}'}}]),
            delta([{"index": 1, "id": "b", "function": {"name": "list", "arguments": "{}"}}]),
            delta([], "tool_calls"),
        )
        + end
    )


class TestOpenAIChat(WireContract):
    """The built-in protocol of that name."""

    protocol = "openai-chat"
    requests = (WRITERS["openai-chat"](TURNS),)
    responses = (CHAT_RESPONSE,)
    streams = (chat_stream(),)


class TestVllm(WireContract):
    """The built-in protocol of that name."""

    protocol = "vllm"
    requests = (
        WRITERS["vllm"](TURNS),
        WRITERS["openai-chat"](TURNS),
    )
    responses = (CHAT_RESPONSE,)
    streams = (chat_stream(),)


class TestOpenAIResponses(WireContract):
    """The built-in protocol of that name."""

    protocol = "openai-responses"
    requests = (WRITERS["openai-responses"](TURNS),)
    responses = (
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs", "summary": []},
                {"type": "function_call", "id": "fc", "call_id": "a", "name": "read", "arguments": '{"path": 1}'},
                {"type": "custom_tool_call", "id": "ct", "call_id": "b", "name": "patch", "input": "*** Begin"},
            ],
        },
    )
    streams = (
        sse(
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": _STARTED,
            },
            {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": '{"path":'},
            {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": ' "é😀"}'},
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {
                    "type": "function_call",
                    "id": "fc",
                    "call_id": "a",
                    "name": "read",
                    "arguments": '{"path": "é😀"}',
                },
            },
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ),
    )


class TestAnthropic(WireContract):
    """The built-in protocol of that name."""

    protocol = "anthropic"
    requests = (WRITERS["anthropic"](TURNS),)
    responses = (
        {
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "/"}},
                {"type": "tool_use", "id": "b", "name": "list", "input": {}},
            ],
        },
    )
    streams = (
        sse(
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "read", "input": {}},
            },
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"é'}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '": 1}'}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ),
    )


class TestGemini(WireContract):
    """The built-in protocol of that name."""

    protocol = "gemini"
    requests = (WRITERS["gemini"](TURNS),)
    responses = (
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"functionCall": {"name": "read", "args": {"path": "/"}}, "thoughtSignature": "c2ln"},
                            {"functionCall": {"name": "read", "args": {"path": "/"}}},
                        ],
                    },
                    "finishReason": "STOP",
                }
            ]
        },
    )
    streams = (
        sse(
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read", "args": {"path": "é😀"}}}]}}]},
            {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]},
        ),
    )


class TestBedrock(WireContract):
    """The built-in protocol of that name."""

    protocol = "bedrock"
    requests = (WRITERS["bedrock"](TURNS),)
    responses = (
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"text": "hm"},
                        {"toolUse": {"toolUseId": "a", "name": "read", "input": {"path": "/"}}},
                    ],
                }
            },
            "stopReason": "tool_use",
        },
    )


class TestAiSdk(WireContract):
    """The built-in protocol of that name."""

    protocol = "ai-sdk"
    requests = (WRITERS["ai-sdk"](TURNS),)
    responses = (
        {
            "id": "m",
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {"type": "tool-read", "toolCallId": "a", "state": "input-available", "input": {"path": "/"}},
            ],
        },
    )
    streams = (
        sse(
            {"type": "start"},
            {"type": "tool-input-start", "toolCallId": "a", "toolName": "read"},
            {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": '{"é": '},
            {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": "1}"},
            {"type": "tool-input-available", "toolCallId": "a", "toolName": "read", "input": {"é": 1}},
            {"type": "finish-step"},
            {"type": "finish"},
        )
        + b"data: [DONE]\n\n",
    )


class TestParsed(WireContract):
    """The built-in protocol of that name."""

    protocol = "parsed"
    requests = (WRITERS["parsed"](TURNS),)
    responses = (
        {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "read", "arguments": {"path": "/"}}]},
        [{"name": "read", "args": {"path": "/"}, "id": "a", "type": "tool_call"}, {"name": "list", "arguments": {}}],
    )


def test_every_built_in_protocol_is_held_to_the_contract() -> None:
    """No protocol is left out above."""
    held = {one.protocol for one in WireContract.__subclasses__() if one.__module__ == __name__}
    assert held >= set(protocols)


CHAT = protocols["openai-chat"]
assert isinstance(CHAT, Wire)


class Spoilt:
    """The chat protocol with one method that breaks the contract."""

    def __init__(self, method: str, spoil: Callable[..., Any]) -> None:
        self.name = "spoilt"
        for name in ("detect", "tool_results", "with_results", "tool_calls", "past_calls", "with_calls", "check_pairs"):
            setattr(self, name, getattr(CHAT, name))
        self.stream = CHAT.stream
        setattr(self, method, spoil)


def _renumbered(request: Json) -> list[ToolResult]:
    return [evolve(one, key="/messages") for one in CHAT.tool_results(request)]


def _loses_fields(request: Json, values: Any) -> Json:
    changed = CHAT.with_results(request, values)
    return changed if changed is request else {"messages": changed["messages"]}


def _rewrites(request: Json, arguments: Any) -> Json:
    return json.loads(json.dumps(CHAT.with_calls(request, arguments)))


@pytest.mark.parametrize(
    ("method", "spoil", "test"),
    [
        ("detect", lambda _: 2.0, "test_it_knows_its_own"),
        ("detect", lambda payload: payload["messages"] and 1.0, "test_it_copes_with_everything"),
        ("tool_results", _renumbered, "test_each_result_has_a_place_of_its_own"),
        ("tool_calls", lambda _: [], "test_it_has_samples"),
        ("with_results", _loses_fields, "test_one_result_is_replaced_and_nothing_else"),
        ("with_results", lambda request, _: request, "test_one_result_is_replaced_and_nothing_else"),
        ("with_calls", _rewrites, "test_valid_past_calls_keep_their_bytes"),
        ("check_pairs", lambda _: ["a fault"], "test_the_samples_are_paired"),
        ("stream", lambda: None, "test_a_stream_may_be_cut_anywhere"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_contract_can_fail(method: str, spoil: Callable[..., Any], test: str) -> None:
    """Each breach is found by the test that is about it."""

    class Broken(TestOpenAIChat):
        """As the built-in one, but for the breach."""

        protocol = Spoilt(method, spoil)

    Broken.__test__ = False  # type: ignore[attr-defined]
    with pytest.raises((AssertionError, KeyError, TypeError, AttributeError)):
        getattr(Broken(), test)()
