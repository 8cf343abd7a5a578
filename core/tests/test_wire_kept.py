"""What rides along when results and calls are replaced, and which result belongs to which call."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from attrs import frozen

from trimtab import Host
from trimtab.errors import CallerError
from trimtab.types import Json
from trimtab.wire import protocols

BIG = "a line of a text\n" * 2_000


def user(*blocks: Json) -> Json:
    """A user's message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    """An assistant's message."""
    return {"role": "assistant", "content": list(blocks)}


def test_everything_that_rides_on_a_result_stays() -> None:
    """Cache breakpoints, failure, ids, order, thinking with its signature: only the long text is another."""
    thinking = {"type": "thinking", "thinking": BIG, "signature": "c2lnbmF0dXJl" * 99}
    result: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [
            {"type": "text", "text": BIG, "cache_control": {"type": "ephemeral"}, "citations": {"enabled": True}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO" * 9_000}},
        ],
        "is_error": True,
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "unknown": [1, {"x": BIG}],
    }
    request: dict[str, Any] = {
        "model": "claude-1",
        "max_tokens": 9,
        "system": [{"type": "text", "text": BIG, "cache_control": {"type": "ephemeral"}}],
        "messages": [
            user({"type": "text", "text": BIG}),
            assistant(thinking, {"type": "tool_use", "id": "a", "name": "read", "input": {"x": BIG}}),
            user(result, {"type": "text", "text": BIG}),
        ],
        "new_field": BIG,
    }
    with Host.load("memory:") as host:
        done = host.trim_request(request)
    (value,) = [one.value for one in done.results]
    assert value[0]["text"] != BIG
    assert value == [{**result["content"][0], "text": value[0]["text"]}, result["content"][1]]
    assert done.request == {
        **request,
        "messages": [*request["messages"][:2], user({**result, "content": value}, {"type": "text", "text": BIG})],
    }
    assert done.request["messages"][1] is request["messages"][1]
    assert done.request["system"] is request["system"]
    assert value[1] is result["content"][1]


def test_bytes_of_boto3_are_shown_as_base64_and_put_back() -> None:
    """A media block of Bedrock's with raw bytes is trimmed around, and keeps its bytes."""
    image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG" * 999}}}
    request = {
        "messages": [
            assistant({"toolUse": {"toolUseId": "a", "name": "shot", "input": {}}}),
            user({"toolResult": {"toolUseId": "a", "content": [{"text": BIG}, image]}}),
        ],
        "toolConfig": {},
    }
    (shown,) = protocols["bedrock"].tool_results(request)
    assert isinstance(shown.value[1]["image"]["source"]["bytes"], str)
    with Host.load("memory:") as host:
        done = host.trim_request(request)
    content = done.request["messages"][1]["content"][0]["toolResult"]["content"]
    assert content[1] is image
    assert content[0]["text"] != BIG
    assert host.trim_request({**request, "messages": []}).request["messages"] == []


@pytest.mark.parametrize(
    ("name", "request_", "kinds"),
    [
        ("anthropic", [assistant({"type": "tool_use", "id": "a", "name": "x", "input": {}})], ["call-without-result"]),
        (
            "anthropic",  # a result must follow right after its call
            [
                assistant({"type": "tool_use", "id": "a", "name": "x", "input": {}}),
                user({"type": "text", "text": "wait"}),
                assistant({"type": "tool_use", "id": "b", "name": "x", "input": {}}),
                user({"type": "tool_result", "tool_use_id": "b"}, {"type": "tool_result", "tool_use_id": "a"}),
            ],
            ["result-without-call", "call-without-result"],
        ),
        (
            "anthropic",  # messages of one role that follow one another are one message
            [
                assistant({"type": "tool_use", "id": "a", "name": "x", "input": {}}),
                assistant({"type": "tool_use", "id": "b", "name": "x", "input": {}}),
                user({"type": "tool_result", "tool_use_id": "a"}),
                user({"type": "tool_result", "tool_use_id": "b"}),
            ],
            [],
        ),
        (
            "anthropic",  # a call is answered once
            [
                assistant({"type": "tool_use", "id": "a", "name": "x", "input": {}}),
                user({"type": "tool_result", "tool_use_id": "a"}, {"type": "tool_result", "tool_use_id": "a"}),
            ],
            ["result-without-call"],
        ),
        (
            "openai-responses",
            {"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]},
            [],
        ),
        (
            "openai-responses",
            {"input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]},
            ["result-without-call"],
        ),
        (
            "openai-responses",
            {"previous_response_id": "r", "input": [{"type": "function_call", "call_id": "a", "name": "x"}]},
            ["call-without-result"],
        ),
        (
            "gemini",
            {
                "contents": [
                    {"role": "model", "parts": [{"functionCall": {"name": "x"}}, {"functionCall": {"name": "x"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]},
                ]
            },
            ["call-without-result"],
        ),
        (
            "ai-sdk",
            {
                "messages": [
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "tool-x", "toolCallId": "a", "state": "input-available", "input": {}},
                            {"type": "tool-x", "toolCallId": "b", "state": "approval-requested", "input": {}},
                        ],
                    }
                ]
            },
            ["call-without-result"],
        ),
        ("openai-chat", {"messages": [{"role": "tool", "tool_call_id": "", "content": "x"}]}, ["result-without-call"]),
    ],
)
def test_pairs(name: str, request_: Json, kinds: list[str]) -> None:
    """No result without its call, no call without its result, by each provider's own rule."""
    faults = protocols[name].check_pairs(request_)
    assert [one.kind for one in faults] == kinds
    assert all(one.what for one in faults)


def test_ids_that_repeat_do_not_mix_results_up() -> None:
    """With the same id in every turn, each result is of its own turn, and a key names one result."""
    turns: list[Json] = []
    for name in ("first", "second", "third"):
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": "{}"}}
        turns += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": name},
        ]
    wire = protocols["openai-chat"]
    assert [(one.name, one.value) for one in wire.tool_results(turns)] == [
        (name, name) for name in ("first", "second", "third")
    ]
    changed = wire.with_results(turns, {wire.tool_results(turns)[1].key: "new"})
    assert [one.value for one in wire.tool_results(changed)] == ["first", "new", "third"]
    assert wire.check_pairs(turns) == []


@frozen
class Block:
    """A content block as an SDK gives it."""

    type: str
    id: str
    name: str
    input: Any


def test_objects_of_sdks_stand_for_plain_data() -> None:
    """A response's blocks put into the history as they came are read, and copied where one must be mended."""
    block = Block("tool_use", "a", "read", '{"path": ')
    request = {
        "messages": [
            {"role": "assistant", "content": [block]},
            user({"type": "tool_result", "tool_use_id": "a", "content": BIG}),
        ]
    }
    wire = protocols["anthropic"]
    assert [one.name for one in wire.tool_results(request)] == ["read"]
    mended = wire.with_calls(request, {})
    assert mended["messages"][0]["content"][0] == Block("tool_use", "a", "read", {"INVALID_JSON": '{"path": '})
    assert block.input == '{"path": '
    assert mended["messages"][1] is request["messages"][1]


class ReadOnly:
    """A message whose content cannot be set."""

    role = "tool"
    tool_call_id = "a"
    content = property(lambda _: BIG)


@pytest.mark.parametrize("make", [dict, MappingProxyType, UserDict, OrderedDict, lambda one: SimpleNamespace(**one)])
@pytest.mark.parametrize("around", [dict, MappingProxyType, lambda one: SimpleNamespace(**one)])
def test_mappings_and_objects_keep_their_types(make: Any, around: Any) -> None:
    """Read-only ones too: what holds a replaced result is of the type that it was, and the given one is as it was."""
    message = make({"role": "tool", "tool_call_id": "a", "content": BIG})
    request = around({"messages": [message]})
    wire = protocols["openai-chat"]
    [found] = wire.tool_results(request)
    changed = wire.with_results(request, {found.key: "new"})
    [again] = wire.tool_results(changed)
    assert (again.key, again.value, found.value) == (found.key, "new", BIG)
    assert wire.tool_results(request)[0].value == BIG
    assert type(changed) is type(request)
    messages = changed.messages if isinstance(changed, SimpleNamespace) else changed["messages"]
    assert type(messages[0]) is type(message)


def test_an_object_that_cannot_be_changed_is_named() -> None:
    """With what to pass instead."""
    wire = protocols["openai-chat"]
    [found] = wire.tool_results([ReadOnly()])
    with pytest.raises(CallerError, match="'content' of a ReadOnly cannot be replaced; pass plain data"):
        wire.with_results([ReadOnly()], {found.key: "new"})


def test_a_valid_call_keeps_its_bytes_when_its_own_value_is_given() -> None:
    """The object that a call has already changes no byte; another one does, also where Python takes both for equal."""
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{ "n":1.0 }'}}
    request = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    wire = protocols["openai-chat"]
    (past,) = wire.past_calls(request)
    assert wire.with_calls(request, {past.key: {"n": 1.0}}) is request
    assert wire.past_calls(wire.with_calls(request, {past.key: {"n": True}}))[0].call.raw_args == '{"n":true}'


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({"q": ["\ud800", {"\udfff": 1}]}, '{"q":["\ufffd",{"\ufffd":1}]}'),
        ({"q": "C:\\ud"}, '{"q":"C:\\\\ud"}'),
        ({"q": "\U0001f600"}, '{"q":"\U0001f600"}'),
    ],
)
def test_arguments_that_are_an_object_become_text_that_stands(arguments: Json, sent: str) -> None:
    """Where the wire has text: without the lone surrogates that providers refuse, and so the same the next time."""
    chat = protocols["openai-chat"]
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": arguments}}
    fit = chat.with_calls({"messages": [{"role": "assistant", "tool_calls": [call]}]}, {})
    assert fit["messages"][0]["tool_calls"][0]["function"]["arguments"] == sent
    assert chat.with_calls(fit, {}) is fit


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "gemini", "parsed"])
def test_a_call_without_arguments_has_an_empty_object(name: str) -> None:
    """Where the wire has objects, a response and the history say the same of arguments that are not there."""
    call: Json = {
        "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read"}]},
        "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "read"}}]},
        "gemini": {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "read"}}]},
        "parsed": {"role": "assistant", "tool_calls": [{"id": "a", "name": "read"}]},
    }[name]
    wire = protocols[name]
    [answered] = wire.tool_calls(call)
    [past] = wire.past_calls([call])
    assert answered == past.call
    assert answered.raw_args == {}
