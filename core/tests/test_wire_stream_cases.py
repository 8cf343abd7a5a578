"""Recorded streams and reports from the field: the calls are exactly these, however the bytes are cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from trimtab.testing.streams import cuts, read_every_way, read_pieces
from trimtab.wire.streams.anthropic import AnthropicStream
from trimtab.wire.streams.bedrock import BedrockStream
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.streams.gemini import GeminiStream
from trimtab.wire.streams.responses import ResponsesStream
from trimtab.wire.types import RawCall, Stream

READERS: dict[str, Callable[[], Stream]] = {
    "anthropic": AnthropicStream,
    "bedrock": BedrockStream,
    "gemini": GeminiStream,
    "openai-chat": ChatStream,
    "openai-responses": ResponsesStream,
}


def same_arguments(call: RawCall, expected: dict[str, Any], rules: dict[str, Any]) -> bool:
    """Whether a call's arguments are the expected ones by the case's rules."""
    if call.raw_args in (expected["raw_args"], *rules.get("raw_args_also_ok", ())):
        return True
    if rules.get("raw_args_compare") != "json-equal":
        return False
    value = json.loads(call.raw_args) if isinstance(call.raw_args, str) else call.raw_args
    return bool(value == json.loads(expected["raw_args"]))


@pytest.mark.cases("field-reports.jsonl", area="stream")
def test_streams_from_the_field(case: dict[str, Any]) -> None:
    """Each reported fault is read as its report says it should have been."""
    calls = read_every_way(READERS[case["input"]["protocol"]], case["input"]["data"])
    rules = case["expect"]
    assert [call.name for call in calls] == [one["name"] for one in rules["calls"]]
    for call, one in zip(calls, rules["calls"], strict=True):
        assert same_arguments(call, one, rules)
        if not one["call_id"].startswith("synth") and not one["call_id"].endswith("*"):
            assert call.call_id == one["call_id"]
        assert call.complete is not rules.get("truncated", False)
    assert len({call.call_id for call in calls}) == len(calls)


@pytest.mark.cases("recorded/exchanges.jsonl", stream=True)
def test_recorded_streams(case: dict[str, Any]) -> None:
    """What real providers streamed is read to the byte, with LF and with CRLF, cut anywhere."""
    expected = [(one["id"], one["name"], one["arguments"]) for one in case["expect_calls"]]
    for text in (case["response"], case["response"].replace("\n", "\r\n")):
        for pieces in cuts(text.encode()):
            calls = read_pieces(READERS[case["protocol"]](), pieces)
            assert [(call.call_id, call.name, call.raw_args) for call in calls] == expected
            assert all(call.complete for call in calls)
