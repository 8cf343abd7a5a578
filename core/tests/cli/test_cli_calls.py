"""`trimtab calls`, and `trimtab trim` on a provider's request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from trimtab import Budget, Host
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.wire import protocols

ANTHROPIC = {
    "type": "message",
    "role": "assistant",
    "stop_reason": "max_tokens",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "/é"}}],
}
CHUNKS = [
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{"}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '"n": 1}'}}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]
GEMINI = [
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read", "args": {}, "id": "g"}}]}}]},
    {"candidates": [{"finishReason": "STOP"}]},
]
TURNS = [
    Turn(
        said="go",
        calls=(
            Told(call_id="a", name="read", arguments={}, output="a line of an output\n" * 2_000),
            Told(call_id="b", name="list", arguments={}, output="short"),
        ),
    )
]


def sse(events: list[Any]) -> bytes:
    """Events as a server sends them."""
    return b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in events) + b"data: [DONE]\r\n\r\n"


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """A frame of an AWS event stream."""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\7" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in headers.items()
    )
    prelude = (16 + len(head) + len(payload)).to_bytes(4, "big") + len(head).to_bytes(4, "big")
    body = prelude + crc32(prelude).to_bytes(4, "big") + head + payload
    return body + crc32(body).to_bytes(4, "big")


@pytest.mark.parametrize(
    ("data", "name", "call"),
    [
        (json.dumps(ANTHROPIC).encode(), None, ("toolu_1", "read", {"path": "/é"}, False)),
        (sse(CHUNKS), None, ("a", "read", '{"n": 1}', True)),
        (b"\n".join(json.dumps(one).encode() for one in CHUNKS), "openai-chat", ("a", "read", '{"n": 1}', True)),
        (json.dumps(GEMINI).encode(), None, ("g", "read", {}, True)),
        (sse(GEMINI), "gemini", ("g", "read", {}, True)),
        (
            json.dumps(WRITERS["gemini"]([Turn(said="x", calls=TURNS[0].calls[:1])])).encode(),
            None,
            ("a", "read", {}, True),
        ),
    ],
)
def test_calls_are_printed(trimtab: Any, data: bytes, name: str | None, call: tuple[Any, ...]) -> None:
    """Of a response, a stream or a request, whatever it looks like or is said to be."""
    words = ["--protocol", name] if name else []
    done = trimtab("calls", "-", "--json", *words, stdin=data)
    assert done.code == 0, done.err
    (shown,) = [json.loads(line) for line in done.text.split("\n")[:-1]]
    assert (shown["call_id"], shown["name"], shown["raw_args"], shown["complete"]) == call
    said = trimtab("calls", "-", *words, stdin=data).text
    assert said.startswith(f"{call[1]}  {call[0]}{'' if call[3] else '  (cut off)'}\n  ")


def test_a_stream_that_is_cut_off_is_marked(trimtab: Any) -> None:
    """What came is printed as it came."""
    done = trimtab("calls", "-", stdin=sse(CHUNKS[:1])[:-16])
    assert done.text == "read  a  (cut off)\n  {\n"


def test_no_calls_is_said(trimtab: Any) -> None:
    """Nothing is printed, and standard error says in which protocol nothing was found."""
    done = trimtab("calls", "-", stdin=json.dumps({**ANTHROPIC, "content": []}).encode())
    assert (done.code, done.text) == (0, "")
    assert "no tool calls; read as anthropic\n" in done.err


def test_another_protocol_was_named(trimtab: Any) -> None:
    """Where the one that was named finds nothing in what is surely another's, that one is named."""
    done = trimtab("calls", "-", "--protocol", "openai-chat", stdin=json.dumps(ANTHROPIC).encode())
    assert (done.code, done.text) == (0, "")
    assert "no tool calls; read as openai-chat, though it looks like anthropic\n" in done.err


def test_a_call_without_arguments_is_one_line(trimtab: Any) -> None:
    """A stream that ends before them leaves no empty line."""
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    start = {"type": "content_block_start", "index": 0, "content_block": call}
    done = trimtab("calls", "-", stdin=f"data: {json.dumps(start)}\n\n".encode())
    assert done.text == "read  a  (cut off)\n"


@pytest.mark.parametrize(
    ("words", "data", "complaint"),
    [
        (["-"], b"hello", "looks like no wire protocol: it is no whole JSON, no JSON lines, no stream of events"),
        (["-"], json.dumps(ANTHROPIC).encode()[:-9], "looks like no wire protocol: it is no whole JSON"),
        (["-"], b"{}", "looks like no wire protocol; name one with --protocol: openai-chat, "),
        (["-", "--protocol", "openai"], b"{}", "unknown protocol 'openai'; known: "),
        (["missing.json"], b"", "missing.json cannot be read"),
        (["-"], b"", "the input is empty; give a recorded response, stream or request"),
        (["-", "--protocol", "openai-chat"], b" \r\n\n", "the input is empty"),
        (["-", "--protocol", "openai-chat"], b"hello", "nothing in it is an event or a response of openai-chat"),
        (["-", "--protocol", "bedrock"], b"\0\0\0\1binary", "nothing in it is an event or a response of bedrock"),
        (["-"], b"\0\0\0\1binary", "looks like no wire protocol"),
        (["-"], b'{"x": 1}\n{"x": 2}\n', "looks like no wire protocol"),
        (["-"], b"[]", "looks like no wire protocol"),
        (["-", "--store", "memory:"], b"{}", "unknown option --store"),
    ],
)
def test_what_cannot_be_read_is_refused(trimtab: Any, words: list[str], data: bytes, complaint: str) -> None:
    """With what to do instead."""
    done = trimtab("calls", *words, stdin=data)
    assert done.code == 2
    assert complaint in done.err


WHOLES: dict[str, list[Any]] = {
    "openai-chat": [
        {
            "object": "chat.completion",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}}
                        ],
                    }
                }
            ],
        }
        for one in ("a", "b")
    ],
    "anthropic": [
        {
            **ANTHROPIC,
            "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": one, "name": "read", "input": {}}],
        }
        for one in ("a", "b")
    ],
    "openai-responses": [
        {"object": "response", "output": [{"type": "function_call", "call_id": one, "name": "read", "arguments": "{}"}]}
        for one in ("a", "b")
    ],
    "gemini": [
        {
            "candidates": [
                {
                    "finishReason": "STOP",
                    "content": {"parts": [{"functionCall": {"id": one, "name": "read", "args": {}}}]},
                }
            ]
        }
        for one in ("a", "b")
    ],
    "bedrock": [
        {
            "stopReason": "tool_use",
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": one, "name": "read", "input": {}}}],
                }
            },
        }
        for one in ("a", "b")
    ],
}


@pytest.mark.parametrize("name", sorted(WHOLES))
@pytest.mark.parametrize("named", [True, False])
def test_every_response_of_json_lines_is_read(trimtab: Any, name: str, named: bool) -> None:
    """Two whole responses, one to a line or in an array, give the calls of both; an empty one between them is none."""
    words = ["--protocol", name] if named else []
    first, second = WHOLES[name]
    for data in (
        "\n".join(map(json.dumps, (first, second))),
        json.dumps(first) + "\n\n" + json.dumps(second, indent=1) + "\n",
        json.dumps([first, second]),
    ):
        done = trimtab("calls", "-", *words, stdin=data.encode())
        assert (done.code, done.text) == (0, "read  a\n  {}\nread  b\n  {}\n"), done.err


def test_responses_of_two_providers_are_each_read_as_their_own(trimtab: Any) -> None:
    """A log may hold several protocols, and requests between the responses."""
    values = [
        WHOLES["openai-chat"][0],
        WHOLES["anthropic"][1],
        WRITERS["gemini"]([Turn(said="x", calls=(Told(call_id="c", name="list", arguments={}, output=""),))]),
    ]
    done = trimtab("calls", "-", stdin="\n".join(map(json.dumps, values)).encode())
    assert done.text.split("\n")[::2] == ["read  a", "read  b", "list  c", ""]


ERROR_EVENTS: list[tuple[bytes, str]] = [
    (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
        "overloaded_error: Overloaded",
    ),
    (b'data: {"error": {"message": "no such model", "type": "invalid_request_error", "code": null}}\n\n', "no such"),
    (b'data: {"error": "busy"}\n\ndata: [DONE]\n\n', "error: busy"),
    (b'{"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}', "429: quota"),
    (b'[{"error": {"code": 429, "message": "quota"}}]', "429: quota"),
    (
        b'data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"it broke"}}}\n\n',
        "server_error: it broke",
    ),
    (b'data: {"type":"error","code":"server_error","message":"it broke"}\n\n', "server_error: it broke"),
    (b'data: {"type":"error","errorText":"it broke"}\n\n', "error: it broke"),
    (b'3:"it broke"\n', "error: it broke"),
    (b'{"throttlingException": {"message": "too many"}}\n', "throttlingException: too many"),
    (frame({":exception-type": "throttlingException"}, b'{"message":"too many"}'), "throttlingException: too many"),
    (
        frame({":message-type": "error", ":error-code": "500", ":error-message": "it broke"}, b""),
        "500: it broke",
    ),
]


@pytest.mark.parametrize(("data", "words"), ERROR_EVENTS)
def test_an_error_of_the_provider_is_told(trimtab: Any, data: bytes, words: str) -> None:
    """A stream of nothing but an error is no stream of an unknown protocol: the error is told, with exit code 1."""
    done = trimtab("calls", "-", stdin=data)
    assert (done.code, done.text) == (1, ""), done.err
    assert "the provider sent an error: " in done.err
    assert words in done.err
    assert "no tool calls" in done.err


def test_many_errors_are_counted(trimtab: Any) -> None:
    """Ten are told, the others are a number."""
    done = trimtab("calls", "-", stdin=b'{"type":"error","message":"busy"}\n' * 12)
    assert done.code == 1
    assert done.err.count("the provider sent an error: busy\n") == 10
    assert "… and 2 other errors" in done.err


def test_calls_before_an_error_are_printed(trimtab: Any) -> None:
    """They are cut off, and the error is told after them."""
    done = trimtab("calls", "-", "--json", stdin=sse([*CHUNKS[:2], {"error": {"message": "it broke"}}]))
    assert done.code == 1
    assert done.json["complete"] is False
    assert "the provider sent an error: it broke" in done.err


@pytest.mark.parametrize("name", sorted(protocols))
def test_an_error_is_no_tools_failure(trimtab: Any, name: str) -> None:
    """Results that are errors, in a request, are not the provider's."""
    told = Told(call_id="a", name="read", arguments={}, output="error: no such file", failed=True)
    done = trimtab("calls", "-", stdin=json.dumps(WRITERS[name]([Turn(said="x", calls=(told,))])).encode())
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("name", sorted(protocols))
def test_a_request_is_trimmed(trimtab: Any, tmp_path: Path, name: str) -> None:
    """The request is printed with its results trimmed; their texts are in the store; the report counts them."""
    request = WRITERS[name](TURNS)
    (tmp_path / "request.json").write_text(json.dumps(request), encoding="utf-8")
    done = trimtab("trim", "request.json", "--limit", "2000")
    assert done.code == 0, done.err
    with Host.load("memory:") as host:
        assert done.json == host.trim_request(request, budget=Budget(limit=2_000, keep=2_000)).request
    assert done.json != request
    assert f"read as a request of {name}" in done.err
    assert "2 outputs: " in done.err
    assert trimtab("trim", "request.json", "--as", "request", "--limit", "2000").json == done.json
    assert trimtab("trim", "request.json", "--protocol", name, "--limit", "2000").json == done.json
    data = trimtab("trim", "request.json", "--limit", "2000", "--json").json
    assert (data["protocol"], data["request"]) == (name, done.json)
    assert [one["changed"] for one in data["results"]] == [True, False]
    handle = data["results"][0]["row"]["$persistedToolOutput"]["blobRefs"][0]["blobId"]
    assert "a line of an output" in trimtab("read", f"trimtab:{handle}").text


def test_a_request_can_be_an_output(trimtab: Any, tmp_path: Path) -> None:
    """With a tool's name, or `--as json`, it is the output of a tool; so is what only might be a request."""
    (tmp_path / "request.json").write_text(json.dumps(WRITERS["anthropic"](TURNS)), encoding="utf-8")
    for words in (["--as", "json"], ["--tool", "dump"]):
        done = trimtab("trim", "request.json", *words)
        assert "read as a request" not in done.err
        assert "$" not in done.text[:1]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": [{"role": "user", "content": "x"}]}), encoding="utf-8")
    assert "read as a request" not in trimtab("trim", "chat.json").err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--as", "request", "--row"], "about one output; a request says which call is which"),
        (["--protocol", "anthropic", "--focus", "x"], "about one output"),
        (["--protocol", "anthropic", "--as", "text"], "leave out --as text"),
        (["--as", "request"], "looks like no wire protocol"),
        (["--protocol", "x"], "unknown protocol 'x'"),
    ],
)
def test_options_that_make_no_sense_are_refused(trimtab: Any, words: list[str], complaint: str) -> None:
    """With the reason."""
    done = trimtab("trim", "-", *words, stdin=b"{}")
    assert done.code == 2
    assert complaint in done.err
