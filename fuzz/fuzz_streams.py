"""Coverage-guided search for bytes that a stream reader raises for, or reads differently when they are cut elsewhere.

Run it for as long as you like; a finding is printed with its input and belongs into core/tests/test_wire_stream_any.py:

    python fuzz/fuzz_streams.py -max_total_time=600 FOLDER_FOR_INPUTS
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["trimtab.wire.streams"]):
    from trimtab.testing.streams import read_pieces, server_sent
    from trimtab.wire.streams.aisdk import AiSdkStream
    from trimtab.wire.streams.anthropic import AnthropicStream
    from trimtab.wire.streams.bedrock import BedrockStream
    from trimtab.wire.streams.chat import ChatStream
    from trimtab.wire.streams.gemini import GeminiStream
    from trimtab.wire.streams.responses import ResponsesStream
    from trimtab.wire.triggers import SERVER_TAGS
    from trimtab.wire.types import Stream

READERS: tuple[Callable[[], Stream], ...] = (
    AiSdkStream,
    AnthropicStream,
    BedrockStream,
    ChatStream,
    GeminiStream,
    ResponsesStream,
    lambda: ChatStream(SERVER_TAGS),
)

# One small stream of each protocol, from which the search begins.
SEEDS = (
    server_sent(
        [
            '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}',
            '{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"stop"}]}',
            "[DONE]",
        ]
    ),
    server_sent(
        [
            '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}}',
            '{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}',
            '{"type":"message_stop"}',
        ],
        "\r\n",
    ),
    server_sent(
        [
            '{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","name":"f"}}',
            '{"type":"response.function_call_arguments.delta","item_id":"i","delta":"{}"}',
            '{"type":"response.completed","response":{"output":[]}}',
        ]
    ),
    b"".join(
        [
            b'[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}\n,\n',
            b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true,',
            b'"partialArgs":[{"jsonPath":"$.a[0]","stringValue":"x"}]}}]},"finishReason":"STOP"}]}]',
        ]
    ),
    b"\n".join(
        [
            b'{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}}',
            b'{"contentBlockDelta":{"delta":{"toolUse":{"input":"{}"}}}}',
            b'{"messageStop":{"stopReason":"tool_use"}}',
        ]
    ),
    b'b:{"toolCallId":"a","toolName":"f"}\nc:{"toolCallId":"a","argsTextDelta":"{}"}\nd:{"finishReason":"stop"}\n',
    server_sent(['{"type":"tool-input-start","toolCallId":"a","toolName":"f"}', '{"type":"finish"}']),
    b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff",
)


def one_input(data: bytes) -> None:
    """Read the bytes whole and in pieces, and their JSON values as events: never an exception, never a difference."""
    if not data:
        return
    make, data = READERS[data[0] % len(READERS)], data[1:]
    whole = read_pieces(make(), [data])
    chance = random.Random(len(data))
    places = sorted(chance.randrange(len(data) + 1) for _ in range(5))
    pieces = [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]
    if read_pieces(make(), pieces) != whole:
        raise AssertionError(f"cut at {places}: other calls than whole")
    stream = make()
    for line in data.split(b"\n"):
        try:
            event = json.loads(line.removeprefix(b"data: "))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            stream.feed(event)
    stream.close()


def main() -> None:
    """Write the seeds into the folder of inputs, then search."""
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for place, seed in enumerate(SEEDS):
            for reader in range(len(READERS)):
                (folder / f"seed-{place}-{reader}").write_bytes(bytes([reader]) + seed)
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
