"""Two messages that say different things have different keys, whatever their fields are called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trimtab.compress.refs.identity import key_of
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

RESULTS: dict[str, Callable[[Json], Json]] = {
    "ai-sdk": lambda said: {
        "role": "assistant",
        "parts": [{"type": "tool-rm", "toolCallId": "c", "state": "output-available", "input": {}, "output": said}],
    },
    "bedrock": lambda said: {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c", "content": [{"json": said}]}}],
    },
    "gemini": lambda said: {"role": "user", "parts": [{"functionResponse": {"name": "rm", "response": said}}]},
    "parsed": lambda said: {"role": "toolResult", "toolCallId": "c", "toolName": "rm", "content": said},
}


@pytest.mark.parametrize("protocol", RESULTS)
@pytest.mark.parametrize("name", ["status", "id", "index"])
def test_what_a_tool_returned_counts_whatever_it_is_called(protocol: str, name: str) -> None:
    """`{"status": "failed"}` and `{"status": "done"}` are two results: such fields come and go around them only."""
    write = RESULTS[protocol]
    one, other, cached = shape_of(protocol, None).read(
        [write({name: "failed"}), write({name: "done"}), write({name: "failed", "cache_control": {}})]
    )
    assert key_of(one) != key_of(other)
    assert key_of(one) == key_of(cached)
