"""Chat completions, streamed: pieces of calls as OpenAI sends them, and as gateways bend them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.testing.streams import read_every_way
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.triggers import SERVER_TAGS

ARGS = '{"topic":"setup","content":[{"startId":"m0003","summary":"a } and a \\" 😀"}]}'
MORE = '{"query":"port 8131"}'


def piece(index: int | None = None, call_id: str | None = None, name: str | None = None, args: Any = None) -> Any:
    """One element of `delta.tool_calls`; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    head = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return {**head, "function": function}


def chunk(*pieces: Any, reason: str | None = None, choice: int = 0, **delta: Any) -> str:
    """The payload of one event."""
    found = {**delta, **({"tool_calls": list(pieces)} if pieces else {})}
    return json.dumps({"choices": [{"index": choice, "delta": found, "finish_reason": reason}]})


END = (chunk(reason="tool_calls"), "[DONE]")
USAGE = '{"choices":[],"usage":{"total_tokens":9}}'


def read(*payloads: str) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls, which are all complete."""
    calls = read_every_way(ChatStream, payloads)
    assert all(call.complete for call in calls)
    return [(call.call_id, call.name, call.raw_args) for call in calls]


BOTH = [("a", "compress", ARGS), ("b", "search", MORE)]
HEAD, TAIL = ARGS[:20], ARGS[20:]

TWO_CALLS = {
    "as documented": [
        chunk(piece(0, "a", "compress", "")),
        chunk(piece(0, args=HEAD)),
        chunk(piece(0, args=TAIL)),
        chunk(piece(1, "b", "search", "")),
        chunk(piece(1, args=MORE)),
    ],
    "pieces of both interleaved": [
        chunk(piece(0, "a", "compress"), piece(1, "b", "search")),
        chunk(piece(0, args=HEAD), piece(1, args=MORE[:5])),
        chunk(piece(1, args=MORE[5:]), piece(0, args=TAIL)),
    ],
    "whole calls in one chunk": [chunk(piece(0, "a", "compress", ARGS), piece(1, "b", "search", MORE))],
    "whole calls without an index": [chunk(piece(None, "a", "compress", ARGS), piece(None, "b", "search", MORE))],
    "no index, one after the other": [
        chunk(piece(None, "a", "compress", HEAD)),
        chunk(piece(None, args=TAIL)),
        chunk(piece(None, "b", "search", MORE[:9])),
        chunk(piece(None, args=MORE[9:])),
    ],
    "no index, the id on each piece": [
        chunk(piece(None, "a", "compress", HEAD)),
        chunk(piece(None, "b", "search", MORE[:9])),
        chunk(piece(None, "a", args=TAIL)),
        chunk(piece(None, "b", args=MORE[9:])),
    ],
    "no index, places in the list": [
        chunk(piece(None, "a", "compress"), piece(None, "b", "search")),
        chunk(piece(None, args=HEAD), piece(None, args=MORE[:4])),
        chunk(piece(None, args=TAIL), piece(None, args=MORE[4:])),
    ],
    "one index for all": [
        chunk(piece(0, "a", "compress", HEAD)),
        chunk(piece(0, args=TAIL)),
        chunk(piece(0, "b", "search", MORE)),
    ],
    "one index for all, heads alone": [
        chunk(piece(0, "a", "compress", "")),
        chunk(piece(0, args=ARGS)),
        chunk(piece(0, "b", "search", "")),
        chunk(piece(0, args=MORE)),
    ],
    "the index jumps between calls": [chunk(piece(3, "a", "compress", ARGS)), chunk(piece(7, "b", "search", MORE))],
    "the index jumps inside a call": [
        chunk(piece(0, "a", "compress", HEAD)),
        chunk(piece(1, args=TAIL)),
        chunk(piece(2, "b", "search", MORE[:3])),
        chunk(piece(3, args=MORE[3:])),
    ],
    "the index in digits": [
        chunk(piece("0", "a", "compress", HEAD), piece("1", "b", "search", MORE[:3])),  # type: ignore[arg-type]
        chunk(piece("1", args=MORE[3:]), piece("0", args=TAIL)),  # type: ignore[arg-type]
    ],
    "the index as a float": [
        chunk(piece(0.0, "a", "compress", HEAD), piece(1.0, "b", "search", MORE)),  # type: ignore[arg-type]
        chunk(piece(0, args=TAIL)),
    ],
    "the id comes late": [
        chunk(piece(0, None, "compress", ""), piece(1, None, "search", "")),
        chunk(piece(0, "a", args=ARGS)),
        chunk(piece(1, "b", args=MORE)),
    ],
    "the id comes late, without an index": [
        chunk(piece(None, None, "compress", "")),
        chunk(piece(None, "a", args=ARGS)),
        chunk(piece(None, None, "search", "")),
        chunk(piece(None, "b", args=MORE)),
    ],
    "id and name on each piece": [
        chunk(piece(0, "a", "compress", HEAD)),
        chunk(piece(0, "a", "compress", TAIL)),
        chunk(piece(1, "b", "search", MORE)),
        chunk(piece(1, "b", "search", "")),
    ],
    "an id of its own for each piece": [
        chunk(piece(0, "a", "compress", HEAD)),
        chunk(piece(0, "a2", args=TAIL)),
        chunk(piece(1, "b", "search", MORE[:3])),
        chunk(piece(1, "b2", "search", MORE[3:])),
    ],
    "names in pieces": [
        chunk(piece(0, "a", "comp"), piece(1, "b", "s")),
        chunk(piece(0, name="ress"), piece(1, name="earch")),
        chunk(piece(0, args=ARGS), piece(1, args=MORE)),
    ],
    "names that grow": [
        chunk(piece(0, "a", "com")),
        chunk(piece(0, None, "compress", ARGS)),
        chunk(piece(1, "b", "search"), piece(1, None, "search", MORE)),
    ],
    "names that are empty first and last": [
        chunk(piece(0, "a", "", HEAD)),
        chunk(piece(0, None, "compress", TAIL)),
        chunk(piece(1, "b", "search", ""), piece(1, None, "", MORE)),
    ],
    "the id is empty later on": [
        chunk(piece(0, "a", "compress", HEAD)),
        chunk(piece(0, "", "", TAIL)),
        chunk(piece(1, "b", "search", MORE)),
        chunk(piece(1, "", "")),
    ],
    "a stray piece after a call": [
        chunk(piece(0, "a", "compress", ARGS)),
        chunk(piece(9, args='{"x":1}')),
        chunk(piece(1, "b", "search", MORE)),
    ],
    "a call instead of a list of them": [
        chunk(tool_calls=piece(0, "a", "compress", ARGS)),
        chunk(piece(1, "b", "search", MORE)),
    ],
}


@pytest.mark.parametrize("name", TWO_CALLS)
def test_two_calls(name: str) -> None:
    """The pieces of two calls come together, whatever a gateway makes of index, id and name."""
    assert read(*TWO_CALLS[name], *END) == BOTH


def test_servers_that_give_every_call_the_same_id() -> None:
    """Calls with one id are told apart by their index; without one, by their names."""
    first = chunk(piece(0, "x", "compress", HEAD), piece(1, "x", "search", MORE[:5]))
    calls = read(first, chunk(piece(1, "x", args=MORE[5:])), chunk(piece(0, "x", args=TAIL)), *END)
    assert calls == [("x", "compress", ARGS), ("x", "search", MORE)]
    whole = [chunk(piece(None, "x", "compress", ARGS)), chunk(piece(None, "x", "search", MORE))]
    assert read(*whole, *END) == calls


CALLS_WITHOUT_IDS = {
    "an index each": [chunk(piece(0, None, "search", MORE)), chunk(piece(1, None, "search", MORE))],
    "no index": [chunk(piece(None, None, "search", MORE)), chunk(piece(None, None, "search", MORE))],
    "no index, one chunk": [chunk(piece(None, None, "search", MORE), piece(None, None, "search", MORE))],
    "one index for all": [
        chunk(piece(0, None, "search", MORE[:5])),
        chunk(piece(0, None, None, MORE[5:])),
        chunk(piece(0, None, "search", MORE)),
    ],
}


@pytest.mark.parametrize("name", CALLS_WITHOUT_IDS)
def test_calls_that_never_get_an_id(name: str) -> None:
    """Two equal calls get two ids, the same ones whenever the stream is read."""
    first, second = read(*CALLS_WITHOUT_IDS[name], *END)
    assert first[1:] == second[1:] == ("search", MORE)
    assert first[0] != second[0]
    assert [first, second] == read(*CALLS_WITHOUT_IDS[name], *END)


ONE_CALL = {
    "finish reason stop": ([chunk(piece(0, "a", "f", MORE)), chunk(reason="stop")], MORE),
    "a finish reason and no end mark": ([chunk(piece(0, "a", "f", MORE), reason="tool_calls")], MORE),
    "an end mark and no finish reason": ([chunk(piece(0, "a", "f", MORE)), "[DONE]"], MORE),
    "a chunk with the usage alone": ([chunk(piece(0, "a", "f", MORE)), END[0], USAGE, "[DONE]"], MORE),
    "text around it": ([chunk(content="Hm."), chunk(piece(0, "a", "f", MORE)), chunk(content="x"), *END], MORE),
    "no arguments": ([chunk(piece(0, "a", "f")), *END], ""),
    "empty arguments": ([chunk(piece(0, "a", "f", "")), chunk(piece(0, args="{}")), *END], "{}"),
    "arguments as an object": ([chunk(piece(0, "a", "f", {"q": [1]})), *END], {"q": [1]}),
    "an empty object before the text": (
        [chunk(piece(0, "a", "f", {})), chunk(piece(0, args=MORE)), *END],
        MORE,
    ),
    "an object after broken text": (
        [chunk(piece(0, "a", "f", '{"q"')), chunk(piece(0, args={"q": 2})), *END],
        {"q": 2},
    ),
    "arguments that are null or a number": (
        [chunk(piece(0, "a", "f", MORE)), chunk({"index": 0, "function": {"arguments": None}}), *END],
        MORE,
    ),
    "the whole arguments again at the end": (
        [chunk(piece(0, "a", "f", MORE)), chunk(piece(0, args=MORE)), *END],
        MORE + MORE,
    ),
    "a custom tool": (
        [
            chunk({"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": "SELECT"}}),
            chunk({"index": 0, "custom": {"input": " 1"}}),
            *END,
        ],
        "SELECT 1",
    ),
    "name and arguments beside the id": ([chunk({"id": "a", "name": "f", "arguments": MORE}), *END], MORE),
    "a message that is not streamed": (
        [
            json.dumps(
                {"choices": [{"message": {"tool_calls": [piece(None, "a", "f", MORE)]}, "finish_reason": "stop"}]}
            )
        ],
        MORE,
    ),
    "the message again at the end": (
        [
            chunk(piece(0, "a", "f", MORE)),
            json.dumps({"choices": [{"message": {"tool_calls": [piece(0, "a", "f", MORE)]}, "finish_reason": "stop"}]}),
        ],
        MORE,
    ),
    "escapes cut by chunks": (
        [
            chunk(piece(0, "a", "f", '{"q":"\\u00')),
            chunk(piece(0, args="e9 \\ud83d")),
            chunk(piece(0, args='\\ude00"}')),
            *END,
        ],
        '{"q":"\\u00e9 \\ud83d\\ude00"}',
    ),
    "a surrogate pair cut by chunks": (
        [chunk(piece(0, "a", "f", '{"q":"\ud83d')), chunk(piece(0, args='\ude00"}')), *END],
        '{"q":"😀"}',
    ),
    "half a surrogate pair": ([chunk(piece(0, "a", "f", '{"q":"\ud83d"}')), *END], '{"q":"\ud83d"}'),
}


@pytest.mark.parametrize("name", ONE_CALL)
def test_one_call(name: str) -> None:
    """The arguments are the pieces as they came, joined and never repaired."""
    payloads, expected = ONE_CALL[name]
    assert read(*payloads) == [("a", "f", expected)]


def test_the_older_function_call() -> None:
    """A `function_call` is a call without an id."""
    ((call_id, name, arguments),) = read(
        chunk(function_call={"name": "sea"}), chunk(function_call={"name": "rch"}),
        chunk(function_call={"arguments": MORE}), chunk(reason="function_call"),
    )  # fmt: skip
    assert call_id
    assert (name, arguments) == ("search", MORE)


def test_several_choices() -> None:
    """Each choice has calls of its own, under the same indexes, and an end of its own."""
    calls = read_every_way(
        ChatStream,
        [
            chunk(piece(0, "a", "f", MORE[:4])),
            chunk(piece(0, "b", "f", ARGS[:4]), choice=1),
            chunk(piece(0, args=MORE[4:]), reason="tool_calls"),
            chunk(piece(0, args=ARGS[4:9]), reason="length", choice=1),
        ],
    )
    assert [(one.call_id, one.raw_args, one.complete) for one in calls] == [("a", MORE, True), ("b", ARGS[:9], False)]


@pytest.mark.parametrize("name", ["llm", "oo", "cocoa", "compress", "readread"])
def test_a_name_letter_by_letter(name: str) -> None:
    """A name in single letters is joined, doubled letters included."""
    letters = [chunk(piece(0, name=letter)) for letter in name[1:]]
    assert read(chunk(piece(0, "a", name[0])), *letters, chunk(piece(0, args=MORE)), *END) == [("a", name, MORE)]


CUT = {
    "no end at all": [],
    "a length limit": [chunk(reason="length"), "[DONE]"],
    "a translated length limit": [chunk(reason="MAX_TOKENS"), "[DONE]"],
    "a filter": [chunk(reason="content_filter")],
    "an error": ['{"error":{"message":"overloaded"}}', "[DONE]"],
    "an error in a choice": [chunk(reason="error")],
    "an error after the end": [END[0], '{"error":{"message":"late"}}'],
    "damaged data": ['{"choices":[{"delta":', *END],
}


@pytest.mark.parametrize("name", CUT)
def test_what_was_cut_is_not_complete(name: str) -> None:
    """What came of a call is given when the stream ends early, fails or stops at a limit; and it is marked."""
    (call,) = read_every_way(ChatStream, [chunk(piece(0, "a", "compress", HEAD)), *CUT[name]])
    assert (call.call_id, call.name, call.raw_args, call.complete) == ("a", "compress", HEAD, False)


def test_an_event_that_is_cut_after_the_end_does_no_harm() -> None:
    """A call whose finish reason came is complete, wherever the rest of the stream was lost."""
    whole = f"data: {chunk(piece(0, 'a', 'f', MORE), reason='tool_calls')}\n\n"
    for left in ("", "data", "data: [DO", f"data: {USAGE[:20]}", "data: {\n\n"[:-1]):
        stream = ChatStream()
        stream.feed(whole + left)
        assert [call.complete for call in stream.close()] == [True]


def test_calls_in_the_text() -> None:
    """A call between trigger tags in the assistant's text counts, its tags split over deltas."""
    text = f"Tidying up. <acp_compress>{ARGS}</acp_compress> Done."
    payloads = [chunk(content=letter) for letter in text]
    (call,) = read_every_way(ChatStream, [*payloads, chunk(reason="stop"), "[DONE]"])
    assert (call.name, call.raw_args, call.complete) == ("compress", ARGS, True)
    (cut,) = read_every_way(ChatStream, [*payloads[:60], chunk(reason="length")])
    assert cut.raw_args == text[26:60]
    assert not cut.complete


def test_a_server_without_a_parser_leaves_calls_in_the_text() -> None:
    """vLLM's reader finds a `<tool_call>` in the text, unless real calls came."""
    text = f'<tool_call>{{"name": "search", "arguments": {MORE}}}</tool_call>'
    payloads = [chunk(content=text[:15]), chunk(content=text[15:]), chunk(reason="stop")]
    (call,) = read_every_way(lambda: ChatStream(SERVER_TAGS), payloads)
    assert call.name == "search"
    assert read_every_way(ChatStream, payloads) == []
    payloads.insert(0, chunk(piece(0, "a", "f", MORE)))
    assert [call.call_id for call in read_every_way(lambda: ChatStream(SERVER_TAGS), payloads)] == ["a"]


def test_closing_twice_gives_the_same_calls() -> None:
    """`close` may be called again, and what comes afterwards changes nothing."""
    stream = ChatStream()
    stream.feed(f"data: {TWO_CALLS['whole calls in one chunk'][0]}\n\n")
    calls = stream.close()
    stream.feed(f"data: {chunk(piece(5, 'c', 'late'))}\n\n")
    assert stream.close() == calls
