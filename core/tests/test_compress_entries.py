"""Compress arguments, decoded: which objects are entries, which are calls, and what is said of the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.compress import Parsed, explain, parse_compress_args

Row = tuple[str, str, str, str | None]


def entry(number: int, **more: Any) -> dict[str, Any]:
    """A valid entry."""
    return {"startId": f"m{number}", "endId": f"m{number + 1}", "summary": f"Did {number}.", **more}


def members(number: int, **more: Any) -> str:
    """The members of a valid entry, without the braces."""
    return json.dumps(entry(number, **more))[1:-1]


A, B, C = (json.dumps(entry(number)) for number in (1, 3, 5))
ARGS = {"content": [entry(1)]}


def rows(parsed: Parsed) -> list[Row]:
    """The ranges as tuples."""
    return [(one.start_ref, one.end_ref, one.summary, one.topic) for one in parsed.ranges]


def row(number: int, topic: str | None = None) -> Row:
    """The row of a valid entry."""
    return (f"m{number}", f"m{number + 1}", f"Did {number}.", topic)


LOST_BRACKETS: list[tuple[str, str, list[Row], int]] = [
    ("two entries", f'{{"content":[{{{members(1)},{members(3)}}}]}}', [row(1), row(3)], 0),
    ("with other damage", f'{{"content":[{{{members(1)},{members(3)},}},],}}', [row(1), row(3)], 0),
    ("in single quotes", f"{{'content':[{{{members(1)},{members(3)}}}]}}".replace('"', "'"), [row(1), row(3)], 0),
    ("in a text", json.dumps({"content": f"[{{{members(1)},{members(3)}}}]"}), [row(1), row(3)], 0),
    ("three flat ones", f"{{{members(1)},{members(3)},{members(5)}}}", [row(1), row(3), row(5)], 0),
    ("in a bare array", f"[{{{members(1)},{members(3)}}},{C}]", [row(1), row(3), row(5)], 0),
    ("one list too deep", f'{{"content":[[{{{members(1)},{members(3)}}}]]}}', [row(1), row(3)], 0),
    ("as the only entry", f'{{"content":{{{members(1)},{members(3)}}}}}', [row(1), row(3)], 0),
    (
        "each with its topic first",
        f'[{{"topic":"a",{members(1)},"topic":"b",{members(3)}}}]',
        [row(1, "a"), row(3, "b")],
        0,
    ),
    (
        "each with its topic last",
        f'[{{{members(1)},"topic":"a",{members(3)},"topic":"b"}}]',
        [row(1, "a"), row(3, "b")],
        0,
    ),
    (
        "summaries first",
        '[{"summary":"s","startId":"m1","endId":"m2","summary":"t","startId":"m3","endId":"m4"}]',
        [("m1", "m2", "s", None), ("m3", "m4", "t", None)],
        0,
    ),
    (
        "other names",
        '[{"from":"m1","to":"m2","summary":"s","from":"m3","to":"m4","summary":"t"}]',
        [("m1", "m2", "s", None), ("m3", "m4", "t", None)],
        0,
    ),
    ("the second without its end", f'[{{{members(1)},"startId":"m9"}}]', [row(1)], 1),
    ("the second without its start", f'[{{{members(1)},"endId":"m9","summary":"x"}}]', [row(1)], 1),
    ("the first without its summary", f'[{{"startId":"m8","endId":"m9",{members(1)}}}]', [row(1)], 1),
    ("neither whole", f'[{{"startId":"m1","endId":"m2","startId":"m3","summary":"x"}},{C}]', [row(5)], 2),
    ("cut in the second", f'{{"content":[{{{members(1)},{members(3)}', [row(1)], 0),
    ("cut behind the second's start", f'{{"content":[{{{members(1)},"startId":"m', [row(1)], 0),
    ("two contents", f'{{"content":[{A}],"content":[{B}]}}', [row(1), row(3)], 0),
    ("the second content empty", f'{{"content":[{A}],"content":[]}}', [row(1)], 0),
    ("the same content twice", f'{{"content":[{A}],"content":[{A}]}}', [row(1)], 0),
    (
        "contents with topics",
        f'{{"topic":"a","content":[{A}],"topic":"b","content":[{B}]}}',
        [row(1, "a"), row(3, "b")],
        0,
    ),
    (
        "two calls",
        f'{{"name":"compress","arguments":{{"content":[{A}]}},"name":"compress","arguments":{{"content":[{B}]}}}}',
        [row(1), row(3)],
        0,
    ),
    (
        "a call and another tool's",
        f'{{"name":"compress","arguments":{{"content":[{A}]}},"name":"read","arguments":{{"content":[{B}]}}}}',
        [row(1)],
        0,
    ),
]


@pytest.mark.parametrize(("name", "text", "wanted", "invalid"), LOST_BRACKETS, ids=[case[0] for case in LOST_BRACKETS])
def test_brackets_that_were_lost(name: str, text: str, wanted: list[Row], invalid: int) -> None:
    """Objects between which the brackets were lost are read as what they were, in strict JSON too, and never merged."""
    parsed = parse_compress_args(text)
    assert (rows(parsed), parsed.diagnostics.invalid_items) == (wanted, invalid)
    assert "repeated-key" in parsed.diagnostics.repairs


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f'[{{{members(1)},"summary":"anew"}}]', ("m1", "m2", "anew", None)),
        (f'[{{{members(1)},"endId":"m7"}}]', ("m1", "m7", "Did 1.", None)),
        (f'[{{"startId":"m0",{members(1)}}}]', row(1)),
        (f'[{{{members(1)},"startId":"m1"}}]', row(1)),
        (f'[{{{members(1, topic="a")},"topic":"b"}}]', row(1, "b")),
        (f'[{{{members(1)},"note":1,"note":2}}]', row(1)),
    ],
)
def test_a_field_that_alone_stands_twice(text: str, wanted: Row) -> None:
    """One field that stands twice is no other entry: its last value holds, as JSON's readers have it."""
    parsed = parse_compress_args(text)
    assert (rows(parsed), parsed.diagnostics.invalid_items) == ([wanted], 0)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"content":[{json.dumps(entry(1, summary=chr(34) + "startId" + chr(34) + ": m1"))}]}}',
        json.dumps({"content": [entry(1, note={"startId": "m8"})]}),
        f'{{ "content" : [{A}] }}',
    ],
)
def test_nothing_stands_twice(text: str) -> None:
    """Keys in texts, in nested objects and with a space before their colon are no repeated keys."""
    parsed = parse_compress_args(text)
    assert (len(parsed.ranges), parsed.diagnostics.repairs) == (1, ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"content":[{"startId":m1","endId":"m2","summary":"x"}]}', ("m1", "m2", "x", None)),
        ("{'content':[{'startId':'m1','endId':m2','summary':'x'}]}", ("m1", "m2", "x", None)),
        ('{"content":[{"startId":"m1,"endId":"m2","summary":"x"}]}', ("m1", "m2", "x", None)),
        ('{"content":[{"startId":"m1","endId":"m2, "summary":"x"}]}', ("m1", "m2", "x", None)),
        ('{"content":[{"startId":"m1","endId":"m2","topic":"a b,"summary":"x"}]}', ("m1", "m2", "x", None)),
        ('[{"startId":"m1","endId":"m2","summary":It is "ok", done"}]', ("m1", "m2", 'It is "ok", done', None)),
        ('{"content":[{"startId":"m1","endId":"m2","summary":It is\ndone"}]}', ("m1", "m2", "It is\ndone", None)),
    ],
)  # fmt: skip
def test_a_lost_quote(text: str, wanted: Row) -> None:
    """The quote that is left is no part of the value; a ref ends where its closing quote was lost."""
    parsed = parse_compress_args(text)
    assert rows(parsed) == [wanted]
    assert "missing-quote" in parsed.diagnostics.repairs


STRUCTURE = json.dumps({"topic": "t", "content": [entry(1, topic="a b"), entry(3), entry(5, topic="c")]})


@pytest.mark.parametrize(
    "text", [STRUCTURE, STRUCTURE.replace(": ", ":").replace(", ", ",")], ids=["spaced", "compact"]
)
def test_any_one_mark_lost(text: str) -> None:
    """Without any one bracket, quote, comma or colon no entry is lost, merged or made up, except one whose summary has
    lost its closing quote; a topic may be lost.
    """
    wanted = {row(number)[:3] for number in (1, 3, 5)}
    closing = {text.index(f"Did {number}.") + len(f"Did {number}.") for number in (1, 3, 5)}
    for at in (at for at, char in enumerate(text) if char in '{}[]",:'):
        parsed = parse_compress_args(text[:at] + text[at + 1 :])
        got = {one[:3] for one in rows(parsed)}
        assert got <= wanted
        assert len(got) == len(parsed.ranges)
        # The quote of the last topic is followed by nothing but brackets: the text may as well end inside it.
        if at not in closing and text[at:] not in ('"}]}', "}]}"):
            assert got == wanted, (text[:at], text[at + 1 :])
        assert {one[3] for one in rows(parsed)} <= {"a b", "c", "t", None}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'{{"content":[{A}],{B}]}}', "ok"),
        (f'{{"content":[{A}],{B}}}', "ok"),
        (f'{{"content":[{A}]}},{B}]}}', "ok"),
        (f'{{"content":[{A},{B[1:]}]}}', "ok"),
        (f'{{"content":[{A},{B}]\n\nDone folding.', "truncated"),
        (f'{{"content":[{A},{B}] Done.', "truncated"),
    ],
)
def test_a_bracket_too_early_or_lost(text: str, kind: str) -> None:
    """An array that is closed too early goes on; a lost brace before other text costs no entry."""
    parsed = parse_compress_args(text)
    assert (rows(parsed), parsed.diagnostics.kind) == ([row(1), row(3)], kind)


@pytest.mark.parametrize(
    "ref", ["[m00012]", '"m00012"', "<m00012>", "`m00012`", "m00012.", "m_00012", "m 00012", "(m00012)"]
)
@pytest.mark.parametrize("names", [("startId", "endId"), ("startRef", "endRef"), ("start_ref", "end")])
def test_what_stands_around_a_ref(ref: str, names: tuple[str, str]) -> None:
    """Quotes, brackets and full stops around a ref, and spaces inside, are no part of it, under whichever name."""
    (one,) = parse_compress_args({"content": [{names[0]: ref, names[1]: ref, "summary": "x"}]}).ranges
    assert (one.start_ref, one.end_ref) == ("m00012", "m00012")


def test_a_summary_without_its_closing_quote() -> None:
    """Where it was to end nobody knows: its entry is counted, the one behind it read."""
    text = f'{{"content":[{{"startId":"m1","endId":"m2","summary":"Done,"topic":"y"}},{B}]}}'
    parsed = parse_compress_args(text)
    assert (rows(parsed), parsed.diagnostics.invalid_items) == ([row(3)], 1)


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [
        ({"topic": "outer", "content": {"content": [entry(1)], "note": 1}}, [row(1, "outer")]),
        ({"topic": "outer", "content": {"ranges": [entry(1)], "topic": "inner"}}, [row(1, "inner")]),
        ({"topic": "outer", "content": {"ranges": [entry(1, topic="own")], "x": 1}}, [row(1, "own")]),
        ({"content": None, "ranges": [entry(1)]}, [row(1)]),
        ({"content": [], "ranges": [entry(1)]}, [row(1)]),
        ({"ranges": [], "content": [entry(1)]}, [row(1)]),
        ({"content": "We did it.", "ranges": [entry(1)]}, [row(1)]),
        ({"content": [entry(1)], "ranges": [entry(3)]}, [row(1)]),
        ({"content": "", **entry(1)}, [row(1)]),
        ({"content": "We did it.", **entry(1)}, [row(1)]),
        ({"content": None, "Content": [entry(1)]}, [row(1)]),
    ],
)
def test_more_than_one_place(given_value: Any, wanted: list[Row]) -> None:
    """An empty or useless place for entries hides no other; topic and size hold for what stands further in."""
    assert rows(parse_compress_args(given_value)) == wanted
    assert rows(parse_compress_args(json.dumps(given_value))) == wanted


def test_size_from_outside() -> None:
    """The largest summary size beside the content holds further in, too."""
    (one,) = parse_compress_args({"summaryMaxChars": 900, "content": {"content": [entry(1)], "note": 1}}).ranges
    assert one.summary_max_chars == 900


CALL = {"name": "compress", "arguments": ARGS}
OTHER = {"name": "read", "arguments": {"content": [entry(9)]}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [entry(9)]}
CALLS: list[tuple[str, Any]] = [
    ("flat call", {"name": "compress", **entry(1)}),
    ("beside another tool's", [OTHER, CALL]),
    ("before another tool's", {"tool_calls": [CALL, OTHER]}),
    ("beside a result", [RESULT, CALL]),
    ("beside a flat call", [{"name": "read", **entry(9)}, {"name": "compress", **entry(1)}]),
    ("beside text", [{"type": "text", "text": "Folding."}, {"type": "tool_use", "name": "compress", "input": ARGS}]),
    ("Bedrock", {"role": "assistant", "content": [{"text": "x"}, {"toolUse": {"name": "compress", "input": ARGS}}]}),
    ("Gemini", {"role": "model", "parts": [{"text": "{}"}, {"functionCall": {"name": "compress", "args": ARGS}}]}),
    ("older OpenAI", {"role": "assistant", "content": None, "function_call": CALL}),
    ("older OpenAI with text", {"role": "assistant", "content": "I fold {now}.", "function_call": CALL}),
    ("messages", [{"role": "user", "content": "fold"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]),
    ("an entry with a name", {"content": [entry(1, name="lock")]}),
    ("an entry with a role", {"content": [entry(1, role="user")]}),
    ("an entry with a type", {"content": [entry(1, type="range")]}),
]


@pytest.mark.parametrize("given_value", [case[1] for case in CALLS], ids=[case[0] for case in CALLS])
def test_a_call_among_others(given_value: Any) -> None:
    """The compress call is found beside other tools' calls, answers and text, of which nothing is said."""
    parsed = parse_compress_args(given_value)
    assert (rows(parsed), parsed.diagnostics.kind, parsed.diagnostics.invalid_reasons) == ([row(1)], "ok", ())


DECOYS: list[tuple[Any, str]] = [
    ({"type": "tool_result", "content": [entry(1)]}, "missing-content"),
    ({"type": "function_call_output", "output": ARGS}, "missing-content"),
    ({"type": "tool_output", **entry(1)}, "missing-content"),
    ({"type": "mcp_tool_result", "content": A}, "missing-content"),
    ({"role": "tool", "content": [entry(1)]}, "missing-content"),
    ({"role": "user", "content": json.dumps(ARGS)}, "missing-content"),
    ({"role": "system", "content": [entry(1)]}, "missing-content"),
    ({"role": "developer", **entry(1)}, "missing-content"),
    ({"toolResult": ARGS}, "missing-content"),
    ({"tool_output": [entry(1)]}, "missing-content"),
    ({"functionResponse": {"name": "compress", "response": ARGS}}, "missing-content"),
    (OTHER, "missing-content"),
    ({"name": "read", **entry(1)}, "missing-content"),
    ({"tool": "fs.read", **entry(1)}, "missing-content"),
    ({"method": "read", "params": ARGS}, "missing-content"),
    ([OTHER, RESULT], "not-object"),
    ([{"name": "read", **entry(1)}], "not-object"),
]


@pytest.mark.parametrize(("given_value", "kind"), DECOYS, ids=[json.dumps(case[0])[:40] for case in DECOYS])
def test_what_says_that_it_is_no_call(given_value: Any, kind: str) -> None:
    """Answers to calls, messages of others and other tools' calls hold no entries, whatever stands in them."""
    for one in (given_value, json.dumps(given_value)):
        found = parse_compress_args(one)
        assert (found.ranges, found.diagnostics.kind, found.diagnostics.invalid_items) == ((), kind, 0)


REASONS: list[tuple[Any, str]] = [
    ({"start_ref": 5, "endId": "m2", "summary": "x"}, "startId is a number, not a text"),
    ({"startId": "m1", "end-ref": ["m2"], "summary": "x"}, "endId is an array, not a text"),
    ({"startId": "", "endId": None, "summary": " "}, "startId is blank; endId has no usable value; summary is blank"),
    ({"messageId": 5, "summary": "x"}, "startId is a number, not a text; endId is a number, not a text"),
    ({"startId": "m1"}, "endId is missing; summary is missing"),
    ({"a": 1, "b": 2}, "startId, endId and summary are missing; the object has only: a, b"),
    ({"Summary": 7, "startId": "m1", "endId": "m2"}, "summary is a number, not a text"),
    ({}, "an empty object"),
    (7, "a number where an object should be"),
    ("x", 'a text that does not begin with refs and is no object: "x"'),
    ("m1-m2 topic", "no summary below the line with m00001 and m00002"),
]


@pytest.mark.parametrize(("bad", "reason"), REASONS, ids=[reason[:40] for _, reason in REASONS])
def test_a_reason(bad: Any, reason: str) -> None:
    """What an entry lacks is told in the names of the tool's schema, however the model spelt them."""
    found = parse_compress_args({"content": [bad, entry(1)]}).diagnostics
    assert found.invalid_reasons == (f"entry 0: {reason}",)
    assert "Ref" not in explain(found)


@pytest.mark.parametrize(
    ("given_value", "keys", "inner"),
    [
        ({"args": {"foo": 1}}, ("args",), ("foo",)),
        ({"name": "compress", "arguments": {"foo": 1}}, ("name", "arguments"), ("foo",)),
        ([{"name": "compress", "arguments": {"foo": 1}}], (), ("foo",)),
        ('{"args": "{\\"foo\\": 1}"}', ("args",), ("foo",)),
        ({"foo": 1}, ("foo",), ("foo",)),
    ],
)
def test_keys_are_those_of_the_outermost_object(
    given_value: Any, keys: tuple[str, ...], inner: tuple[str, ...]
) -> None:
    """`keys` is of the object that was decoded, `argument_keys` of the one in which there was no content."""
    found = parse_compress_args(given_value).diagnostics
    assert (found.kind, found.keys, found.argument_keys) == ("missing-content", keys, inner)
    assert "has only: foo." in explain(found)


def test_an_object_of_very_many_keys() -> None:
    """What means something is found among any number of other keys; a wrapper is only what has no other key."""
    many = {f"key{number}": number for number in range(500)}
    assert rows(parse_compress_args({**many, **ARGS, "topic": "t"})) == [row(1, "t")]
    assert rows(parse_compress_args({**many, **entry(1)})) == [row(1)]
    assert parse_compress_args(json.dumps({**many, **ARGS})[:-1]).diagnostics.kind == "truncated"
    found = parse_compress_args({**many, "args": ARGS}).diagnostics
    assert (found.ok, found.kind, found.keys, found.argument_keys) == (
        False,
        "missing-content",
        *2 * ((*many, "args"),),
    )


@pytest.mark.parametrize(
    ("opening", "closing"),
    [('{"content":', "}"), ("[", "]"), ('{"args":', "}"), ('{"content":[', "]}"), ('[{"arguments":', "}]"),
     ('{"tool_calls":[', "]}"), ('{"name":"compress","content":0,"input":', "}"), ('{"content":1,"content":', "}")],
)  # fmt: skip
@pytest.mark.parametrize("levels", [20, 300, 900, 5_000])
def test_depth_of_values(opening: str, closing: str, levels: int) -> None:
    """No nesting of envelopes, wrappers and contents raises."""
    assert parse_compress_args(opening * levels + "1" + closing * levels).ranges == ()
