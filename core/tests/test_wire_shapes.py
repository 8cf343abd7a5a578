"""The rarer places of each wire: where calls and results also stand, what is left alone, what rides along."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from trimtab.types import Json
from trimtab.wire import RawCall, detect, protocols
from trimtab.wire.triggers import spoken


def user(*blocks: Json) -> Json:
    """A user's message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    """An assistant's message."""
    return {"role": "assistant", "content": list(blocks)}


def calls(name: str, response: Json) -> list[tuple[str, Json, bool]]:
    """Name, arguments and completeness of each call of a response."""
    return [(one.name, one.raw_args, one.complete) for one in protocols[name].tool_calls(response)]


def results(name: str, request: Json) -> list[tuple[str, Json, bool]]:
    """Tool, value and failure of each result of a request."""
    return [(one.name, one.value, one.is_error) for one in protocols[name].tool_results(request)]


CUSTOM = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin {"}}
OLD = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"a": 1}'}}
SEARCH_BLOCK = {
    "type": "search_result",
    "source": "https://e.org",
    "title": "t",
    "content": [{"type": "text", "text": "x"}],
}


@pytest.mark.parametrize(
    ("name", "response", "wanted"),
    [
        ("openai-chat", {"choices": [{"message": {"tool_calls": [CUSTOM]}}]}, [("patch", "*** Begin {", True)]),
        ("openai-chat", {"choices": [{"message": OLD, "finish_reason": "length"}]}, [("read", '{"a": 1}', False)]),
        (
            "openai-chat",
            {"choices": [{"message": {"tool_calls": [{"id": "", "function": {"name": "read"}}]}}]},
            [("read", "", True)],
        ),
        (
            "openai-chat",
            {"choices": [{"message": {"content": 'so <acp_compress>{"content": []}</acp_compress>, done'}}]},
            [("compress", '{"content": []}', True)],
        ),
        (
            "openai-chat",
            {
                "choices": [
                    {"message": {"content": "<tool_call>{}</tool_call>"}},
                    {"message": {"content": [{"type": "text"}]}},
                ]
            },
            [],
        ),
        (
            "vllm",
            {"choices": [{"message": {"content": '<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>'}}]},
            [("read", '\n{"name": "read", "arguments": {}}\n', True)],
        ),
        (
            "vllm",
            {
                "choices": [
                    {"message": {"tool_calls": [{"id": "a", "function": {"name": "read", "arguments": {"b": 1}}}]}}
                ]
            },
            [("read", {"b": 1}, True)],
        ),
        (
            "openai-responses",
            {
                "status": "incomplete",
                "output": [
                    {
                        "type": "mcp_call",
                        "id": "m",
                        "name": "ask",
                        "arguments": "{}",
                        "output": "x",
                        "server_label": "s",
                    },
                    {"type": "mcp_list_tools", "id": "l", "tools": []},
                    {"type": "web_search_call", "id": "w", "action": {"query": "x"}, "status": "completed"},
                    {"type": "tool_search_call", "call_id": None, "arguments": {}, "execution": "server"},
                    {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}, "id": "lsh"},
                    {"type": "function_call", "call_id": "f", "name": "read", "arguments": '{"a'},
                ],
            },
            [("ask", "{}", False), ("local_shell", {"command": ["ls"]}, False), ("read", '{"a', False)],
        ),
        (
            "openai-responses",
            {
                "output": [
                    {"type": "message", "content": [{"type": "output_text", "text": "<acp_compress>{}</acp_compress>"}]}
                ]
            },
            [("compress", "{}", True)],
        ),
        (
            "anthropic",
            {
                "stop_reason": "max_tokens",
                "content": [
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
                    {"type": "mcp_tool_use", "id": "m", "name": "ask", "input": {}, "server_name": "s"},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"a": 1}},
                ],
            },
            [("read", {"a": 1}, False)],
        ),
        (
            "gemini",
            {
                "candidates": [
                    {"content": {"parts": [{"function_call": {"name": "read"}}]}, "finish_reason": "MAX_TOKENS"}
                ]
            },
            [("read", {}, False)],
        ),
        ("gemini", {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, []),
        (
            "bedrock",
            {
                "output": {"message": assistant({"toolUse": {"toolUseId": "a", "name": "read", "input": {}}})},
                "stopReason": "max_tokens",
            },
            [("read", {}, False)],
        ),
        (
            "ai-sdk",
            {"toolCalls": [{"toolCallId": "a", "toolName": "read", "input": {"a": 1}}], "finishReason": "tool-calls"},
            [("read", {"a": 1}, True)],
        ),
        (
            "ai-sdk",
            {"parts": [{"type": "tool-read", "toolCallId": "a", "state": "input-streaming", "input": {"a": 1}}]},
            [("read", {"a": 1}, False)],
        ),
        ("parsed", {"name": "read", "args": {"a": 1}}, [("read", {"a": 1}, True)]),
        (
            "parsed",  # a framework's message that also keeps the provider's blocks
            {
                "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}],
                "tool_calls": [{"name": "read", "args": {}, "id": "a"}],
            },
            [("read", {}, True)],
        ),
        ("parsed", SimpleNamespace(tool_name="read", args={"a": 1}, part_kind="tool-call"), [("read", {"a": 1}, True)]),
        (
            "parsed",
            {"parts": [SimpleNamespace(tool_name="read", args='{"a', tool_call_id="x", part_kind="tool-call")]},
            [("read", '{"a', True)],
        ),
        (
            "parsed",
            {
                "tool_calls": [{"name": "read", "args": {}, "id": "a"}],
                "invalid_tool_calls": [{"name": "w", "args": "{"}],
            },
            [("read", {}, True), ("w", "{", True)],
        ),
    ],
)
def test_calls_of_a_response(name: str, response: Json, wanted: list[Any]) -> None:
    """Client-run calls of every kind are found; what a provider runs for itself is not the host's to run."""
    assert calls(name, response) == wanted


def test_an_mcp_call_is_the_providers() -> None:
    """An MCP call of Responses has been run already, and says so."""
    response = {"output": [{"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "output": "x"}]}
    assert protocols["openai-responses"].tool_calls(response) == [
        RawCall(call_id="m", name="ask", raw_args="{}", by_provider=True)
    ]


@pytest.mark.parametrize(
    ("name", "request_", "wanted"),
    [
        (
            "openai-chat",
            {"messages": [OLD, {"role": "function", "name": "read", "content": "text"}]},
            [("read", "text", False)],
        ),
        (
            "openai-chat",
            [{"role": "assistant", "tool_calls": [CUSTOM]}, {"role": "tool", "tool_call_id": "a", "content": "done"}],
            [("patch", "done", False)],
        ),
        (
            "openai-responses",
            {
                "input": [
                    {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "*** Begin"},
                    {"type": "custom_tool_call_output", "call_id": "a", "output": "done"},
                    {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "output": "x", "error": "no"},
                    {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}},
                    {"type": "local_shell_call_output", "call_id": "s", "output": "files"},
                    {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
                    {
                        "type": "function_call_output",
                        "call_id": "elsewhere",
                        "output": [{"type": "input_text", "text": "x"}],
                    },
                ]
            },
            [
                ("patch", "done", False),
                ("ask", "x", True),
                ("local_shell", "files", False),
                ("", [{"type": "input_text", "text": "x"}], False),
            ],
        ),
        (
            "anthropic",
            {
                "messages": [
                    assistant({"type": "tool_use", "id": "a", "name": "find", "input": {}}),
                    user(
                        {"type": "tool_result", "tool_use_id": "a", "content": [SEARCH_BLOCK], "is_error": True},
                        {"type": "tool_result", "tool_use_id": "b"},
                        {"type": "text", "text": "go on"},
                    ),
                    assistant(
                        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "x"}]}
                    ),
                ]
            },
            [("find", [SEARCH_BLOCK], True), ("", None, False)],
        ),
        (
            "gemini",
            {
                "contents": {
                    "parts": [
                        {"function_response": {"name": "a", "response": {"output": "x"}}},
                        {"functionResponse": {"name": "b", "response": {"error": "x"}}},
                        {"functionResponse": {"name": "c", "response": {"result": "x"}}},
                        {"functionResponse": {"name": "d", "response": {"result": {"id": 1}}}},
                        {"functionResponse": {"name": "e", "response": {"output": "x", "more": 1}}},
                        {"functionResponse": {"name": "f", "response": {"error": None, "rows": []}}},
                    ]
                }
            },
            [
                ("a", "x", False),
                ("b", "x", True),
                ("c", "x", False),
                ("d", {"result": {"id": 1}}, False),
                ("e", {"output": "x", "more": 1}, False),
                ("f", {"error": None, "rows": []}, False),
            ],
        ),
        (
            "bedrock",
            {
                "messages": [
                    user(
                        {"toolResult": {"toolUseId": "a", "content": [{"json": {"rows": []}}], "status": "error"}},
                        {"toolResult": {"toolUseId": "b", "content": [{"text": "x"}, {"json": {}}]}},
                        {"cachePoint": {"type": "default"}},
                    )
                ]
            },
            [("", {"rows": []}, True), ("", [{"text": "x"}, {"json": {}}], False)],
        ),
        (
            "ai-sdk",
            [
                {
                    "role": "assistant",
                    "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "read", "input": {}}],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result",
                            "toolCallId": "a",
                            "toolName": "read",
                            "output": {"type": "json", "value": [1]},
                        },
                        {
                            "type": "tool-result",
                            "toolCallId": "b",
                            "toolName": "r",
                            "output": {"type": "error-text", "value": "x"},
                        },
                        {"type": "tool-result", "toolCallId": "c", "toolName": "old", "result": "x", "isError": True},
                    ],
                },
            ],
            [("read", [1], False), ("r", "x", True), ("old", "x", True)],
        ),
        (
            "ai-sdk",
            {
                "messages": [
                    {
                        "role": "assistant",
                        "parts": [
                            {
                                "type": "tool-invocation",
                                "toolInvocation": {
                                    "state": "result",
                                    "toolCallId": "a",
                                    "toolName": "r",
                                    "args": {},
                                    "result": 1,
                                },
                            },
                            {
                                "type": "tool-s",
                                "toolCallId": "b",
                                "state": "output-available",
                                "input": {},
                                "output": 1,
                                "providerExecuted": True,
                            },
                            {
                                "type": "dynamic-tool",
                                "toolName": "d",
                                "toolCallId": "c",
                                "state": "output-denied",
                                "input": {},
                            },
                        ],
                    }
                ]
            },
            [("r", 1, False)],
        ),
        (
            "parsed",
            [
                SimpleNamespace(type="ai", content="", tool_calls=[{"name": "read", "args": {}, "id": "a"}]),
                SimpleNamespace(type="tool", content="text", tool_call_id="a", name=None, status="error"),
            ],
            [("read", "text", True)],
        ),
    ],
)
def test_results_of_a_request(name: str, request_: Json, wanted: list[Any]) -> None:
    """Every place of a result is known, with its tool and whether it failed; what a provider ran is left alone."""
    before = copy.deepcopy(request_)
    assert results(name, request_) == wanted
    assert request_ == before


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<acp_compress>{}</acp_compress> and <acp_compress>[]</acp_compress>", [("{}", True), ("[]", True)]),
        ("<acp_compress>{", [("{", False)]),
        ("<think><acp_compress>{}</acp_compress></think>", []),
        ("<think>it is cut <acp_compress>{}</acp_compress>", []),
        ("write `<acp_compress>` to compress", []),
        ("acp_compress {}", []),
        ('<acp_compress>{"a": "a </acp_compress> b"}</acp_compress>.', [('{"a": "a </acp_compress> b"}', True)]),
        ('<acp_compress>{"a": "the <think> tag"}</acp_compress>', [('{"a": "the <think> tag"}', True)]),
        ('<acp_compress>{"a": [1}</acp_compress>, </acp_compress>', [('{"a": [1}', True)]),
        ("use the <acp_compress> tag: <acp_compress>[]</acp_compress>", [("[]", True)]),
        ("<Thinking><acp_compress>{}</acp_compress></Thinking><acp_compress>[]</acp_compress>", [("[]", True)]),
        ("I use no <think> here. <acp_compress>[]</acp_compress>", [("[]", True)]),
    ],
)
def test_calls_written_into_text(text: str, found: list[Any]) -> None:
    """Text between tags is a call; in thinking and in back quotes it is not; without the end it is incomplete."""
    assert [(one.raw_args, one.complete) for one in spoken(text)] == found


def test_code_assist_wraps_an_answer_of_geminis() -> None:
    """Whole or streamed, a response inside a `response` is read as Gemini's."""
    part = {"functionCall": {"id": "a", "name": "read", "args": {"n": 1}}}
    answer = {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [part]}}]}
    wrapped = {"response": answer, "traceId": "x"}
    assert detect(wrapped) == "gemini"
    calls = protocols["gemini"].tool_calls(wrapped)
    assert [(one.call_id, one.raw_args, one.complete) for one in calls] == [("a", {"n": 1}, True)]
    stream = protocols["gemini"].stream()
    stream.feed(wrapped)
    assert stream.close() == calls == protocols["gemini"].tool_calls(answer)


def test_what_bedrock_runs_itself_is_no_result() -> None:
    """A tool that Bedrock runs has its result in the same message: neither is anything of ours, nor a fault."""
    use = {"toolUse": {"toolUseId": "s1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}}
    result = {"toolResult": {"toolUseId": "s1", "content": [{"text": "found"}], "type": "nova_grounding_result"}}
    request = {"messages": [{"role": "assistant", "content": [use, result, {"text": "It rains."}]}]}
    bedrock = protocols["bedrock"]
    assert bedrock.tool_results(request) == []
    assert bedrock.past_calls(request) == []
    assert bedrock.check_pairs(request) == []
