"""Gemini, AI SDK and decoded calls, streamed: wires that have whole objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.testing.streams import cuts, read_every_way, read_pieces
from trimtab.wire.streams.aisdk import AiSdkStream
from trimtab.wire.streams.gemini import GeminiStream
from trimtab.wire.streams.parsed import ParsedStream
from trimtab.wire.types import RawCall

ARGS = {"topic": "setup", "content": [{"startId": "m0003", "summary": 'a ] and "b" 😀'}]}
MORE = {"query": "port 8131"}


def call(name: str = "f", args: Any = None, call_id: str | None = None, **more: Any) -> dict[str, Any]:
    """A part with a call; what is None is left out."""
    fields = (("id", call_id), ("name", name), ("args", args))
    return {"functionCall": {**{key: one for key, one in fields if one is not None}, **more}}


def chunk(*parts: Any, reason: str | None = None, index: int | None = None) -> dict[str, Any]:
    """One piece of an answer."""
    found: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    found |= {} if reason is None else {"finishReason": reason}
    found |= {} if index is None else {"index": index}
    return {"candidates": [found]}


END = chunk({"text": ""}, reason="STOP")


def gemini(*chunks: dict[str, Any]) -> list[RawCall]:
    """The calls, read as server-sent events, as events, and as one array in pieces, spaced in two ways."""
    expected = read_every_way(GeminiStream, [json.dumps(one) for one in chunks])
    for indent in (None, 2):
        array = "[" + "\r\n,\r\n".join(json.dumps(one, indent=indent, ensure_ascii=False) for one in chunks)
        for pieces in cuts(array.encode()):
            assert read_pieces(GeminiStream(), pieces) == expected
    return expected


def seen(calls: list[RawCall]) -> list[tuple[str, Any]]:
    """Name and arguments of calls that are all complete and have ids of their own."""
    assert all(one.complete for one in calls)
    assert len({one.call_id for one in calls}) == len(calls)
    return [(one.name, one.raw_args) for one in calls]


BOTH = [("f", ARGS), ("g", MORE)]

TWO_CALLS: dict[str, list[dict[str, Any]]] = {
    "two parts of one chunk": [chunk(call("f", ARGS), call("g", MORE)), END],
    "a chunk each": [chunk(call("f", ARGS)), chunk(call("g", MORE)), END],
    "with ids": [chunk(call("f", ARGS, "a")), chunk(call("g", MORE, "b")), END],
    "the reason beside the call": [chunk(call("f", ARGS), call("g", MORE), reason="STOP")],
    "an empty chunk first, which says stop": [
        chunk(reason="STOP"),
        chunk(call("f", ARGS), call("g", MORE), reason="STOP"),
    ],
    "thoughts and signatures": [
        chunk({"text": "Hm", "thought": True}),
        chunk({**call("f", ARGS), "thoughtSignature": "c2ln"}, call("g", MORE)),
        END,
    ],
    "a call that is sent again": [chunk(call("f", ARGS, "a")), chunk(call("f", ARGS, "a"), call("g", MORE, "b")), END],
    "one id for two tools": [chunk(call("f", ARGS)), chunk(call("g", MORE)), END],
    "wrapped chunks": [{"response": chunk(call("f", ARGS), call("g", MORE), reason="STOP"), "traceId": "x"}],
    "names of Python's SDK": [
        {"candidates": [{"content": {"parts": [{"function_call": {"name": "f", "args": ARGS}}]}}]},
        {"candidates": [{"content": {"parts": [call("g", MORE)]}, "finish_reason": "STOP"}]},
    ],
    "usage alone": [chunk(call("f", ARGS), call("g", MORE), reason="STOP"), {"usageMetadata": {"totalTokenCount": 1}}],
}


@pytest.mark.parametrize("name", TWO_CALLS)
def test_gemini_calls(name: str) -> None:
    """Every part with a call is a call, its arguments the object that came."""
    assert seen(gemini(*TWO_CALLS[name])) == BOTH


def test_gemini_calls_that_are_equal() -> None:
    """Two calls to one tool with the same arguments are two, with ids that are the same at each reading."""
    assert seen(gemini(chunk(call("f", MORE)), chunk(call("f", MORE)), END)) == [("f", MORE)] * 2


def test_gemini_calls_with_one_id_for_different_tools() -> None:
    """An id that two tools share tells nothing: both calls stay."""
    calls = gemini(chunk(call("f", ARGS, "x")), chunk(call("g", MORE, "x")), END)
    assert [(one.call_id, one.name) for one in calls] == [("x", "f"), ("x", "g")]


@pytest.mark.parametrize(("given", "expected"), [(None, ""), ({}, {}), ('{"a"', '{"a"')])
def test_gemini_arguments_that_are_missing_empty_or_text(given: Any, expected: Any) -> None:
    """Arguments are what came, and empty where none came."""
    assert seen(gemini(chunk(call("f", given)), END)) == [("f", expected)]


@pytest.mark.parametrize(
    "last",
    [
        [],
        [chunk(reason="MAX_TOKENS")],
        [chunk(reason="MALFORMED_FUNCTION_CALL")],
        [chunk(reason="SAFETY"), END],
        [{"error": {"code": 503}}, END],
    ],
)
def test_gemini_calls_that_were_cut(last: list[dict[str, Any]]) -> None:
    """No reason, a limit, a filter, a malformed call or an error: nothing counts as complete."""
    (found,) = gemini(chunk(call("f", MORE)), *last)
    assert (found.raw_args, found.complete) == (MORE, False)


def test_a_gemini_array_that_is_closed_is_whole() -> None:
    """The end of the array is the end of the answer, also where no reason came."""
    text = json.dumps([chunk(call("f", MORE))])
    assert [one.complete for one in read_pieces(GeminiStream(), [text])] == [True]
    assert [one.complete for one in read_pieces(GeminiStream(), [text[:-1]])] == [False]
    (failed,) = read_pieces(GeminiStream(), [json.dumps([chunk(call("f", MORE)), {"error": {"code": 500}}])])
    assert not failed.complete


def test_several_gemini_candidates() -> None:
    """Each candidate has calls and an end of its own."""
    first, second = chunk(call("f", MORE), index=0), chunk(call("f", ARGS), index=1)
    calls = gemini(first, second, chunk(reason="STOP", index=0), chunk(reason="MAX_TOKENS", index=1))
    assert [(one.raw_args, one.complete) for one in calls] == [(MORE, True), (ARGS, False)]


def pieces_of_f(**more: Any) -> list[dict[str, Any]]:
    """A call to `f` as Vertex streams it."""
    return [
        chunk(call("f", willContinue=True, **more)),
        chunk(
            call("", partialArgs=[{"jsonPath": "$.a", "stringValue": "x y", "willContinue": True}], willContinue=True)
        ),
        chunk(call("", partialArgs=[{"jsonPath": "$.a", "stringValue": " z"}], willContinue=True)),
        chunk(
            call(
                "",
                partialArgs=[
                    {"jsonPath": "$.b[0].c", "numberValue": 1.5},
                    {"jsonPath": "$.b[1]['d e']", "boolValue": False},
                    {"jsonPath": '$.b[1]["n"]', "nullValue": "NULL_VALUE"},
                ],
                willContinue=True,
            )
        ),
        chunk({"functionCall": {}}),
    ]


WHOLE_F = {"a": "x y z", "b": [{"c": 1.5}, {"d e": False, "n": None}]}


def test_gemini_arguments_in_pieces() -> None:
    """Arguments that come value by value are put together; the next call is another."""
    assert seen(gemini(*pieces_of_f(), chunk(call("g", MORE)), END)) == [("f", WHOLE_F), ("g", MORE)]
    assert seen(gemini(*pieces_of_f(id="a"), chunk(call("f", MORE, "b")), END)) == [("f", WHOLE_F), ("f", MORE)]


@pytest.mark.parametrize("count", range(1, 5))
def test_gemini_arguments_in_pieces_that_are_cut(count: int) -> None:
    """A call that was to go on is not complete, though the answer stopped as if all were well."""
    (found,) = gemini(*pieces_of_f()[:count], END)
    assert not found.complete
    assert found.name == "f"
    assert isinstance(found.raw_args, dict)
    assert set(found.raw_args) == {1: set(), 2: {"a"}, 3: {"a"}, 4: {"a", "b"}}[count]


@pytest.mark.parametrize(
    "path", ["", "$", "$[0]", "$.b[7]", "$.b[0][1]", "$.a.b", "$..a", "$.*", "$.a[", None, 7, "$" + ".a" * 500]
)
def test_gemini_pieces_that_go_nowhere(path: Any) -> None:
    """A piece whose path leads to no one place is left out and told: nothing is guessed."""
    pieces = [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": path, "stringValue": "y"}]
    (found,) = gemini(chunk(call("f", partialArgs=pieces)), END)
    assert (found.raw_args, found.complete) == ({"a": "x"}, False)


def test_gemini_calls_in_the_text() -> None:
    """A call between trigger tags counts, unless the model only thinks of it."""
    text = "<acp_compress>{}</acp_compress>"
    thought = {"text": text, "thought": True}
    (found,) = gemini(chunk(thought), *(chunk({"text": letter}) for letter in text), END)
    assert (found.name, found.raw_args) == ("compress", "{}")


TEXT = json.dumps(ARGS)


def part(kind: str, call_id: str | None = "a", **fields: Any) -> str:
    """A part of a UI message stream."""
    return json.dumps({"type": kind, **({} if call_id is None else {"toolCallId": call_id}), **fields})


FINISH = (part("finish-step", None), part("finish", None), "[DONE]")
START = part("tool-input-start", toolName="f")
DELTAS = [part("tool-input-delta", inputTextDelta=TEXT[:9]), part("tool-input-delta", inputTextDelta=TEXT[9:])]
AVAILABLE = part("tool-input-available", toolName="f", input=ARGS)

AI_SDK: dict[str, tuple[list[str], Any]] = {
    "in pieces and whole": ([START, *DELTAS, AVAILABLE, *FINISH], TEXT),
    "whole alone": ([AVAILABLE, *FINISH], ARGS),
    "pieces alone": ([START, *DELTAS, *FINISH], TEXT),
    "pieces that the SDK has mended": ([START, DELTAS[0], AVAILABLE, *FINISH], ARGS),
    "input that is no JSON": (
        [START, DELTAS[0], part("tool-input-error", toolName="f", input=TEXT[:9]), *FINISH],
        TEXT[:9],
    ),
    "no input": ([START, part("tool-input-available", toolName="f", input={}), *FINISH], {}),
    "an output after it": ([START, *DELTAS, AVAILABLE, part("tool-output-available", output=1), *FINISH], TEXT),
    "no step end": ([START, *DELTAS, AVAILABLE, part("finish", None)], TEXT),
    "the SDK's own stream": (
        [
            json.dumps({"type": "tool-input-start", "id": "a", "toolName": "f"}),
            json.dumps({"type": "tool-input-delta", "id": "a", "delta": TEXT[:9]}),
            json.dumps({"type": "tool-input-delta", "id": "a", "delta": TEXT[9:]}),
            json.dumps({"type": "tool-input-end", "id": "a"}),
            part("tool-call", toolName="f", input=ARGS),
            part("finish", None, finishReason="tool-calls"),
        ],
        TEXT,
    ),
    "a model's own stream": (
        [part("tool-call", toolName="f", input=TEXT), part("finish", None, finishReason="stop")],
        TEXT,
    ),
}


@pytest.mark.parametrize("name", AI_SDK)
def test_ai_sdk_calls(name: str) -> None:
    """The text that was streamed where it is JSON, else the input that came whole."""
    payloads, expected = AI_SDK[name]
    calls = read_every_way(AiSdkStream, payloads)
    assert [(one.call_id, one.name, one.raw_args, one.complete) for one in calls] == [("a", "f", expected, True)]


def test_ai_sdk_data_stream_parts() -> None:
    """The older form, a code and JSON on each line, gives the same; the application's own data is none of it."""
    lines = [
        'f:{"messageId":"m"}', '0:"Hm"', '2:[{"type":"tool-call","toolCallId":"x","toolName":"fake","args":{}}]',
        'b:{"toolCallId":"a","toolName":"f"}', *(f"c:{json.dumps({'toolCallId': 'a', 'argsTextDelta': one})}" for one in
        (TEXT[:9], TEXT[9:])), f"9:{json.dumps({'toolCallId': 'a', 'toolName': 'f', 'args': ARGS})}",
        f"9:{json.dumps({'toolCallId': 'b', 'toolName': 'g', 'args': MORE})}", 'a:{"toolCallId":"a","result":1}',
        'e:{"finishReason":"tool-calls"}', 'd:{"finishReason":"tool-calls"}',
    ]  # fmt: skip
    expected = [RawCall(call_id="a", name="f", raw_args=TEXT), RawCall(call_id="b", name="g", raw_args=MORE)]
    for line_end in ("\n", "\r\n"):
        for pieces in cuts("".join(line + line_end for line in lines).encode()):
            assert read_pieces(AiSdkStream(), pieces) == expected
    for last in (lines[:-2], [*lines[:-2], 'e:{"finishReason":"length"}'], [*lines, '3:"failed"']):
        assert not any(one.complete for one in read_pieces(AiSdkStream(), ["\n".join(last) + "\n"]))


def test_ai_sdk_steps_end_one_by_one() -> None:
    """A call of a step that ended is complete, though the stream is cut in the next."""
    second = part("tool-input-start", "b", toolName="g")
    calls = read_every_way(AiSdkStream, [START, *DELTAS, AVAILABLE, part("finish-step", None), second])
    assert [(one.name, one.complete) for one in calls] == [("f", True), ("g", False)]
    limit = [part("finish-step", None), part("finish", None, finishReason="length")]
    calls = read_every_way(AiSdkStream, [START, *DELTAS, AVAILABLE, part("finish-step", None), second, *limit])
    assert [(one.name, one.complete) for one in calls] == [("f", True), ("g", False)]
    for broken in (part("error", None, errorText="x"), part("abort", None)):
        assert not any(one.complete for one in read_every_way(AiSdkStream, [START, AVAILABLE, broken, *FINISH]))


def test_ai_sdk_calls_without_an_id() -> None:
    """Pieces go to the call that is open; two calls get two ids."""
    start, delta = part("tool-input-start", None, toolName="f"), part("tool-input-delta", None, inputTextDelta="{}")
    whole = part("tool-input-available", None, toolName="f", input={})
    calls = read_every_way(AiSdkStream, [start, delta, whole, start, delta, whole, *FINISH])
    assert seen(calls) == [("f", "{}")] * 2


def test_ai_sdk_calls_of_the_provider_and_in_the_text() -> None:
    """A tool that the provider ran is marked; text between trigger tags is a call."""
    start = part("tool-input-start", toolName="web", providerExecuted=True)
    letters = [part("text-delta", None, id="t", delta=letter) for letter in "<acp_compress>{}</acp_compress>"]
    server, text = read_every_way(AiSdkStream, [start, *letters, *FINISH])
    assert (server.name, server.by_provider) == ("web", True)
    assert (text.name, text.raw_args, text.by_provider) == ("compress", "{}", False)


def test_decoded_calls() -> None:
    """A host's decoded calls come out as its protocol reads them, each event by itself."""

    def read(event: Any) -> list[RawCall]:
        return [RawCall(call_id=event["id"], name=event["name"], raw_args=event["args"])]

    events = [{"id": "a", "name": "f", "args": ARGS}, {"id": "", "name": "g", "args": MORE}]
    calls = read_every_way(lambda: ParsedStream(read), [json.dumps(event) for event in events])
    assert seen(calls) == BOTH
    assert calls[0].call_id == "a"
