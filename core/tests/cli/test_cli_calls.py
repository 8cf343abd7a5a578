"""`trimtab calls`, and `trimtab trim` on a provider's request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
    assert "no tool calls; read as anthropic" in done.err


@pytest.mark.parametrize(
    ("words", "data", "complaint"),
    [
        (["-"], b"hello", "looks like no wire protocol; name one with --protocol: openai-chat, "),
        (["-", "--protocol", "openai"], b"{}", "unknown protocol 'openai'; known: "),
        (["missing.json"], b"", "missing.json cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused(trimtab: Any, words: list[str], data: bytes, complaint: str) -> None:
    """With what to do instead."""
    done = trimtab("calls", *words, stdin=data)
    assert done.code == 2
    assert complaint in done.err


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
        (["--as", "request"], "looks like no wire protocol"),
        (["--protocol", "x"], "unknown protocol 'x'"),
    ],
)
def test_options_that_make_no_sense_are_refused(trimtab: Any, words: list[str], complaint: str) -> None:
    """With the reason."""
    done = trimtab("trim", "-", *words, stdin=b"{}")
    assert done.code == 2
    assert complaint in done.err
