"""Compress arguments: the shapes in which models and gateways write a call, and what is no call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.compress import Parsed, parse_compress_args

FIRST = {"startRef": "m00101", "endRef": "m00120", "summary": "Found the leak in the pool."}
SECOND = {"startRef": "m00121", "endRef": "m00140", "summary": "Rewrote the cache and ran the tests."}
ARGS = {"content": [FIRST, SECOND]}
A = json.dumps(FIRST, separators=(",", ":"))
B = json.dumps(SECOND, separators=(",", ":"))
ONE = f'{{"content":[{A}]}}'
OTHER = f'{{"content":[{B}]}}'
CALL = f'{{"content":[{A},{B}]}}'
BOTH, LEFT, RIGHT, NONE = ["m00101", "m00121"], ["m00101"], ["m00121"], []


def starts(parsed: Parsed) -> list[str]:
    """The start refs that were found."""
    return [one.start_ref for one in parsed.ranges]


SHAPES: list[tuple[str, Any]] = [
    ("object", ARGS),
    ("text", CALL),
    ("text in text", json.dumps(CALL)),
    ("three times", json.dumps(json.dumps(json.dumps(ARGS)))),
    ("bytes", CALL.encode()),
    ("bytes with a BOM", b"\xef\xbb\xbf" + CALL.encode()),
    ("content as text", {"content": f"[{A},{B}]"}),
    ("content twice as text", {"content": json.dumps(json.dumps([FIRST, SECOND]))}),
    ("content holds the call", {"content": CALL}),
    ("content as texts", {"content": [A, B]}),
    ("content as objects without array", {"content": f"{A}{B}"}),
    ("content as numbered object", {"content": {"0": FIRST, "1": SECOND}}),
    ("content one list too deep", {"content": [[FIRST, SECOND]]}),
    ("ranges", {"ranges": [FIRST, SECOND]}),
    ("ranges in content", {"content": {"ranges": [FIRST, SECOND]}}),
    ("bare array", [FIRST, SECOND]),
    ("bare array as text", f"[{A},{B}]"),
    ("wrapper", {"args": ARGS}),
    ("wrapper around text", {"args": CALL}),
    ("wrapper around array", {"compress": [FIRST, SECOND]}),
    ("name and arguments", {"name": "compress", "arguments": ARGS}),
    ("name and arguments as text", {"name": "compress", "arguments": CALL}),
    ("prefixed name", {"name": "mcp__acp__compress", "arguments": CALL}),
    ("OpenAI", {"id": "c1", "type": "function", "function": {"name": "compress", "arguments": CALL}}),
    ("OpenAI message", {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "compress", "arguments": CALL}}]}),
    ("Anthropic block", {"type": "tool_use", "id": "t1", "name": "compress", "input": ARGS}),
    ("Anthropic message", {"role": "assistant", "content": [
        {"type": "text", "text": "Folding."}, {"type": "tool_use", "id": "t", "name": "compress", "input": ARGS}]}),
    ("Gemini", {"functionCall": {"name": "compress", "args": ARGS}}),
    ("Bedrock", {"toolUse": {"toolUseId": "x", "name": "compress", "input": ARGS}}),
    ("JSON-RPC", {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "compress", "arguments": ARGS}}),
    ("parallel tool use", {"tool_uses": [{"recipient_name": "functions.compress", "parameters": ARGS}]}),
    ("array of calls", [{"name": "compress", "arguments": ARGS}]),
    ("Hermes", f'<tool_call>\n{{"name": "compress", "arguments": {CALL}}}\n</tool_call>'),
    ("tags around text", f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"),
    ("Qwen", f"<tool_call>\n<function=compress>\n<parameter=content>\n[{A},{B}]\n</parameter>\n</function>"),
    ("XML invocation", f'<invoke name="compress"><parameter name="content">[{A},{B}]</parameter></invoke>'),
    ("Mistral", f'[TOOL_CALLS] [{{"name": "compress", "arguments": {CALL}}}]'),
    ("Mistral with args", f"[TOOL_CALLS]compress[ARGS]{CALL}"),
    ("Llama", f'<|python_tag|>{{"name": "compress", "parameters": {CALL}}}<|eom_id|>'),
    ("Llama function", f"<function=compress>{CALL}</function>"),
    ("Python", f"[compress(content=[{A}, {B}])]"),
    ("DeepSeek", f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>compress\n```json\n{CALL}\n```<｜tool▁call▁end｜>"),
    ("DeepSeek, newer", f"<｜tool▁call▁begin｜>compress<｜tool▁sep｜>{CALL}<｜tool▁call▁end｜>"),
    ("Kimi", f"<|tool_call_begin|>functions.compress:0<|tool_call_argument_begin|>{CALL}<|tool_call_end|>"),
    ("GLM", f"<tool_call>compress\n<arg_key>content</arg_key>\n<arg_value>[{A},{B}]</arg_value>\n</tool_call>"),
    ("GLM, older", f"compress\n{CALL}"),
    ("Harmony", f"<|channel|>commentary to=functions.compress <|constrain|>json<|message|>{CALL}<|call|>"),
    ("ReAct", f"Thought: fold it\nAction: compress\nAction Input: {CALL}"),
    ("event stream", f"data: {CALL}\n\ndata: [DONE]"),
    ("chat tokens", f"<|im_start|>assistant\n{CALL}<|im_end|>\n"),
    ("fence", f"```json\n{CALL}\n```"),
    ("fence of tildes", f"~~~\n{CALL}\n~~~"),
    ("fence on one line", f"```json {CALL}```"),
    ("fence in a fence", f"````markdown\n```json\n{CALL}\n```\n````"),
    ("fence in prose", f"Folding now:\n\n```json\n{CALL}\n```\n\nDone."),
    ("two fences", f"```json\n{ONE}\n```\nand\n```json\n{OTHER}\n```"),
    ("fence in the value", f'{{"content": ```json\n[{A},{B}]\n``` }}'),
    ("one word of code", f"`{CALL}`"),
    ("prose around", f"I fold {{x}} here. {CALL}\nNow the tests."),
    ("prose with an open brace", f"if (a) {{ do it\n{CALL}"),
    ("thoughts before", f"<think>maybe {ONE}?</think>\n{CALL}"),
    ("thoughts without a beginning", f"{OTHER}</think>\n{CALL}"),
    ("analysis before", f"<|channel|>analysis<|message|>try {ONE}<|end|><|channel|>final<|message|>{CALL}"),
    ("twice the same", CALL + CALL),
    ("twice the same, cut", CALL + "\n" + CALL[:60]),
    ("two documents", ONE + OTHER),
    ("one entry a line", f"{A}\n{B}"),
]  # fmt: skip


@pytest.mark.parametrize("given", [given for _, given in SHAPES], ids=[name for name, _ in SHAPES])
def test_a_shape(given: Any) -> None:
    """Both entries are found, whole and in order, whatever stands around them."""
    parsed = parse_compress_args(given)
    assert [(one.start_ref, one.end_ref, one.summary) for one in parsed.ranges] == [
        tuple(FIRST.values()),
        tuple(SECOND.values()),
    ]
    assert parsed.diagnostics.invalid_items == 0


NO_CALLS: list[tuple[str, Any, list[str], str]] = [
    ("another tool", {"name": "web_search", "arguments": ARGS}, NONE, "missing-content"),
    ("another tool in tags", f"<function=search>{CALL}</function>", NONE, "malformed-json"),
    ("another tool beside", f"[TOOL_CALLS]search[ARGS]{ONE}[TOOL_CALLS]compress[ARGS]{OTHER}", RIGHT, "ok"),
    ("not the only key", {"a": ARGS, "b": 1}, NONE, "missing-content"),
    ("an example's key", {"example": ARGS}, NONE, "missing-content"),
    ("a decoy beside", {"meta": FIRST, "content": [SECOND]}, RIGHT, "ok"),
    ("a decoy inside", {"content": [{**SECOND, "was": FIRST}]}, RIGHT, "ok"),
    ("only thoughts", f"<think>{CALL}", NONE, "truncated"),
    ("an example in prose", f"Example:\n```json\n{ONE}\n```\nCall:\n```json\n{OTHER}\n```", RIGHT, "ok"),
    ("code in a sentence", f"Use `{CALL}` like this", NONE, "malformed-json"),
    ("quoted in a sentence", f'It wrote "{CALL}" in the log', NONE, "malformed-json"),
    ("quoted by lines", f"> {CALL}\nok", NONE, "malformed-json"),
    ("a comment before", f"/* {ONE} */ {OTHER}", RIGHT, "ok"),
    ("a comment line before", f"// {ONE}\n{OTHER}", RIGHT, "ok"),
    ("an entry in a comment", f'{{"content":[/* {A}, */{B}]}}', RIGHT, "ok"),
    ("an entry in a line comment", f'{{"content":[\n# {A},\n{B}]}}', RIGHT, "ok"),
    ("a tool's result", f"<tool_response>{ONE}</tool_response>{OTHER}", RIGHT, "ok"),
]


@pytest.mark.parametrize(("name", "given", "wanted", "kind"), NO_CALLS, ids=[case[0] for case in NO_CALLS])
def test_what_is_no_call(name: str, given: Any, wanted: list[str], kind: str) -> None:
    """Nothing is taken from thoughts, examples, quotations, comments, other tools' calls or nested objects."""
    parsed = parse_compress_args(given)
    assert (starts(parsed), parsed.diagnostics.kind) == (wanted, kind)


KINDS: list[tuple[Any, str]] = [
    (None, "empty-input"), ("", "empty-input"), (" \n\t", "empty-input"), ("\ufeff\x00", "empty-input"),
    (b"", "empty-input"), ('""', "empty-input"), ("null", "not-object"), ("3.5", "not-object"), (True, "not-object"),
    ([1, 2], "not-object"), ("[1, 2,]", "not-object"), ({}, "missing-content"), ('"{}"', "missing-content"),
    ({"summary": "x"}, "missing-content"), ({"content": 7}, "content-not-array"),
    ({"content": False}, "content-not-array"), ({"content": "We did it."}, "content-not-array"),
    ({"content": "null"}, "content-not-array"), ({"content": "[]"}, "no-valid-ranges"),
    ({"content": []}, "no-valid-ranges"), ({"content": [{}]}, "no-valid-ranges"),
    ({"content": {"startRef": "m1"}}, "no-valid-ranges"), ("compress", "malformed-json"), ("]", "malformed-json"),
    ("<p>502</p>", "malformed-json"), ("{", "truncated"), ('{"', "truncated"), ('{"content":[', "truncated"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kind"), KINDS, ids=[repr(case[0]) for case in KINDS])
def test_a_kind(given: Any, kind: str) -> None:
    """Without a range the kind says what the input was."""
    parsed = parse_compress_args(given)
    assert (parsed.ranges, parsed.diagnostics.kind, parsed.diagnostics.ok) == ((), kind, False)


def test_facts_about_the_input() -> None:
    """Text has a prefix and a length, a decoded value has neither; keys are those of the outermost object."""
    long = f'{{"topic": "{"t" * 900}", "content": [{A}]}}'
    found = parse_compress_args(long).diagnostics
    assert (found.raw_prefix, found.length, found.keys) == (long[:800], len(long), ("topic", "content"))
    found = parse_compress_args({"args": ARGS}).diagnostics
    assert (found.raw_prefix, found.length, found.keys) == (None, None, ("args",))


def test_topic_and_size() -> None:
    """They hold for all entries without their own, however they are spelt; nonsense counts for nothing."""
    given = {"topic": "pool", "summary_max_chars": "900", "content": [FIRST, {**SECOND, "Topic": "cache"}]}
    first, second = parse_compress_args(given, call_id="c").ranges
    assert (first.topic, first.summary_max_chars, first.call_id) == ("pool", 900, "c")
    assert (second.topic, second.summary_max_chars) == ("cache", 900)
    for nonsense in (True, -5, 0, "many", 1.5, None, [7], float("inf")):
        (one,) = parse_compress_args({"content": [{**FIRST, "summaryMaxChars": nonsense}]}).ranges
        assert one.summary_max_chars is None


@pytest.mark.parametrize(
    "names",
    [
        ("startId", "endId"), ("start_ref", "end_ref"), ("start-id", "end-id"), ("START_REF", "EndRef"),
        ("start", "end"), ("startMessageId", "endMessageId"), ("from", "to"),
    ],
)  # fmt: skip
def test_names(names: tuple[str, str]) -> None:
    """The refs' names may be spelt in many ways; white space around and inside a ref goes."""
    given = {"content": [{names[0]: " m00101\n", names[1]: "m 00120", "Summary": "x"}]}
    (one,) = parse_compress_args(given).ranges
    assert (one.start_ref, one.end_ref, one.summary) == ("m00101", "m00120", "x")


def test_names_that_mean_something_else() -> None:
    """`from` and `to` are refs only where they look like refs; an end is never taken from a start."""
    assert parse_compress_args({"content": [{"from": "ann", "to": "bob", "summary": "x"}]}).ranges == ()
    assert parse_compress_args({"content": [{"startRef": "m1", "summary": "x"}]}).ranges == ()
    assert starts(parse_compress_args({"content": [{"messageId": "m1", "summary": "x"}]})) == ["m1"]


def test_entries_twice() -> None:
    """The same entry twice in one array stays; the same document twice counts once."""
    assert starts(parse_compress_args({"content": [FIRST, FIRST]})) == LEFT * 2
    assert starts(parse_compress_args(f"{ONE}\n{ONE}\n{OTHER}")) == BOTH
