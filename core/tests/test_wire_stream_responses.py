"""OpenAI Responses, streamed: items in pieces, repeated whole, under ids that proxies change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.testing.streams import read_every_way, read_pieces, server_sent
from trimtab.wire.streams.responses import ResponsesStream

ARGS = '{"topic":"setup","n":[1,{"a":"}"}]}'
MORE = '{"query":"port 8131"}'
HEAD, TAIL = ARGS[:9], ARGS[9:]


def event(kind: str, **fields: Any) -> str:
    """The payload of one event; fields that are None are left out."""
    return json.dumps({"type": f"response.{kind}", **{key: one for key, one in fields.items() if one is not None}})


def item(call_id: str | None = "a", args: Any = "", item_id: str | None = "fc_1", name: str = "f", **more: Any) -> Any:
    """A call's item; what is None is left out."""
    found = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": args, **more}
    return {key: one for key, one in found.items() if one is not None}


def added(found: Any, index: int | None = 0) -> str:
    """An item begins."""
    return event("output_item.added", output_index=index, item=found)


def done(found: Any, index: int | None = 0) -> str:
    """An item has ended."""
    return event("output_item.done", output_index=index, item=found)


def delta(text: str, item_id: str | None = "fc_1", index: int | None = 0) -> str:
    """A piece of arguments."""
    return event("function_call_arguments.delta", item_id=item_id, output_index=index, delta=text)


def whole(text: Any, item_id: str | None = "fc_1", index: int | None = 0) -> str:
    """The arguments once more."""
    return event("function_call_arguments.done", item_id=item_id, output_index=index, arguments=text)


def completed(*output: Any, **fields: Any) -> str:
    """The response is complete."""
    return event("completed", response={"status": "completed", "output": list(output), **fields})


PIECES = [delta(HEAD), delta(TAIL)]

ONE_CALL: dict[str, list[str]] = {
    "as documented": [added(item()), *PIECES, whole(ARGS), done(item(args=ARGS)), completed(item(args=ARGS))],
    "pieces alone": [added(item()), *PIECES, completed()],
    "the whole replaces the pieces": [added(item()), delta("{garbled"), whole(ARGS), completed()],
    "an empty whole replaces nothing": [added(item()), *PIECES, whole(""), done(item()), completed(item())],
    "no pieces": [added(item()), whole(ARGS), completed()],
    "the item alone": [done(item(args=ARGS)), completed()],
    "the response alone": [completed(item(args=ARGS))],
    "no item id": [added(item(item_id=None)), delta(HEAD, "a"), delta(TAIL, None), completed()],
    "the item id changes": [
        added(item()),
        delta(HEAD, "x"),
        delta(TAIL, "y"),
        done(item(args=ARGS, item_id="z")),
        completed(),
    ],
    "no output index": [
        added(item(), None),
        delta(HEAD, index=None),
        delta(TAIL, index=None),
        done(item(args=ARGS), None),
        completed(),
    ],
    "neither id nor index": [
        added(item(item_id=None), None),
        delta(HEAD, None, None),
        delta(TAIL, None, None),
        completed(),
    ],
    "ids change and the index is gone": [
        added(item(), None),
        delta(HEAD, "x", None),
        delta(TAIL, "y", None),
        completed(),
    ],
    "the start is lost": [*PIECES, done(item(args=ARGS)), completed()],
    "the response has another item id, and another place": [
        added(item(), 3),
        delta(HEAD, index=3),
        delta(TAIL, index=3),
        completed({"type": "reasoning", "id": "rs"}, item(args=ARGS, item_id="fc_9")),
    ],
    "the call id comes late": [added(item(None)), *PIECES, done(item(args=ARGS)), completed()],
    "arguments where the item begins, and pieces": [added(item(args=ARGS)), *PIECES, completed()],
    "arguments where the item begins": [added(item(args=ARGS)), completed()],
    "a late piece": [added(item()), *PIECES, whole(ARGS), delta("}"), completed()],
    "a piece of an item that never began": [added(item()), *PIECES, delta("{}", "fc_7", 7), completed()],
    "text and reasoning around it": [
        event("output_text.delta", output_index=1, content_index=0, delta="Hm"),
        added({"type": "reasoning", "id": "rs"}, 0),
        added(item(), 2),
        delta(HEAD, index=2),
        delta(TAIL, index=2),
        event("reasoning_text.delta", item_id="rs", output_index=0, delta="{"),
        completed(),
    ],
    "no completed event, but the end mark": [added(item()), *PIECES, "[DONE]"],
    "a response that is not streamed": [
        json.dumps({"object": "response", "status": "completed", "output": [item(args=ARGS)]})
    ],
}


@pytest.mark.parametrize("name", ONE_CALL)
def test_one_call(name: str) -> None:
    """A call comes out once and to the byte, whatever repeats, changes or is missing."""
    calls = read_every_way(ResponsesStream, ONE_CALL[name])
    assert [(call.call_id, call.name, call.raw_args, call.complete) for call in calls] == [("a", "f", ARGS, True)]


TWO_CALLS: dict[str, list[str]] = {
    "interleaved": [
        added(item()), added(item("b", item_id="fc_2", name="g"), 1),
        delta(HEAD), delta(MORE[:3], "fc_2", 1), delta(TAIL), delta(MORE[3:], "fc_2", 1), completed(),
    ],
    "one index for all": [
        added(item()), *PIECES, added(item("b", item_id="fc_2", name="g")), delta(MORE, "fc_2"), completed(),
    ],
    "one index for all, no item ids": [
        added(item(item_id=None)), delta(ARGS, None),
        added(item("b", item_id=None, name="g")), delta(MORE, None), completed(),
    ],
    "no index and no item ids": [
        added(item(item_id=None), None), delta(ARGS, None, None), done(item(item_id=None, args=ARGS), None),
        added(item("b", item_id=None, name="g"), None), delta(MORE, None, None), completed(),
    ],
    "one in the events, both in the response": [
        added(item()), *PIECES, completed(item(args=ARGS), item("b", MORE, "fc_2", "g")),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_CALLS)
def test_two_calls(name: str) -> None:
    """Two calls stay two."""
    calls = read_every_way(ResponsesStream, TWO_CALLS[name])
    assert [(one.call_id, one.name, one.raw_args) for one in calls] == [("a", "f", ARGS), ("b", "g", MORE)]


def test_servers_that_give_every_call_the_same_id() -> None:
    """Calls with one call id are told apart by item id and place, also where the response repeats them."""
    both = [item("call_0", ARGS), item("call_0", MORE, "fc_2", "g")]
    events = [
        added(item("call_0")),
        *PIECES,
        added(item("call_0", item_id="fc_2", name="g"), 1),
        delta(MORE, "fc_2", 1),
    ]
    calls = read_every_way(ResponsesStream, [*events, completed(*both)])
    assert [(one.call_id, one.raw_args) for one in calls] == [("call_0", ARGS), ("call_0", MORE)]


def test_calls_without_any_id_on_one_index() -> None:
    """An item that begins on the index of one that has begun is another; both get ids of their own."""
    start, end = item(None, item_id=None), item(None, MORE, None)
    for events in (
        [added(start), delta(MORE, None)],
        [added(start), done(end)],
        [added(start), delta(MORE, None), done(end)],
    ):
        first, second = read_every_way(ResponsesStream, [*events, *events, completed()])
        assert first.raw_args == second.raw_args == MORE
        assert first.call_id != second.call_id


OTHER_KINDS: dict[str, tuple[list[str], str, str, Any, bool]] = {
    "a custom tool": (
        [
            added({"type": "custom_tool_call", "id": "ct", "call_id": "a", "name": "sql", "input": ""}),
            event("custom_tool_call_input.delta", item_id="ct", output_index=0, delta="SELECT"),
            event("custom_tool_call_input.delta", item_id="ct", output_index=0, delta=" 1"),
            event("custom_tool_call_input.done", item_id="ct", output_index=0, input="SELECT 1"),
        ],
        "a", "sql", "SELECT 1", False,
    ),
    "an MCP call": (
        [
            added({"type": "mcp_call", "id": "mcp_1", "name": "search", "server_label": "s", "arguments": ""}),
            event("mcp_call_arguments.delta", item_id="mcp_1", output_index=0, delta=MORE),
            event("mcp_call_arguments.done", item_id="mcp_1", output_index=0, arguments=MORE),
            done({"type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": MORE, "output": "found"}),
        ],
        "mcp_1", "search", MORE, True,
    ),
    "a shell call": (
        [done({"type": "local_shell_call", "id": "ls", "call_id": "a", "action": {"type": "exec", "command": ["ls"]}})],
        "a", "local_shell", {"type": "exec", "command": ["ls"]}, False,
    ),
    "arguments as an object": ([done(item(args={"q": 1}))], "a", "f", {"q": 1}, False),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_KINDS)
def test_other_kinds_of_calls(name: str) -> None:
    """Custom tools have free text; what the provider ran itself is marked."""
    payloads, *expected = OTHER_KINDS[name]
    (call,) = read_every_way(ResponsesStream, [*payloads, completed()])
    assert [call.call_id, call.name, call.raw_args, call.by_provider] == expected
    assert call.complete


def test_searches_that_the_provider_runs_are_no_calls() -> None:
    """A tool search and a web search have nothing for a host to answer."""
    kinds = ("tool_search_call", "web_search_call", "file_search_call", "message", "reasoning")
    events = [done({"type": kind, "id": f"x{place}", "arguments": "{}"}, place) for place, kind in enumerate(kinds)]
    assert read_every_way(ResponsesStream, [*events, completed()]) == []


CUT: dict[str, list[str]] = {
    "no end": [],
    "incomplete": [event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}})],
    "incomplete without a reason": [event("incomplete")],
    "completed that says incomplete": [completed(status="incomplete")],
    "failed": [event("failed", response={"error": {"code": "server_error"}}), "[DONE]"],
    "cancelled": [event("cancelled", response={})],
    "an error": ['{"type":"error","message":"overloaded"}', "[DONE]"],
    "an item that is incomplete": [done(item(args=HEAD, status="incomplete")), completed()],
    "damaged data": ['{"type":', completed()],
}


@pytest.mark.parametrize("name", CUT)
def test_what_was_cut_is_not_complete(name: str) -> None:
    """Without the whole arguments a call has the pieces that came, and is marked."""
    (call,) = read_every_way(ResponsesStream, [added(item()), delta(HEAD), *CUT[name]])
    assert (call.raw_args, call.complete) == (HEAD, False)


def test_events_named_by_their_line_only() -> None:
    """A payload without `type` is what its `event:` line says; with both, the payload counts."""
    lines = []
    for payload in ONE_CALL["as documented"]:
        value = json.loads(payload)
        lines.append(f"event: {value.pop('type')}\ndata: {json.dumps(value)}\n\n")
    (call,) = read_pieces(ResponsesStream(), ["".join(lines)])
    assert (call.call_id, call.raw_args, call.complete) == ("a", ARGS, True)
    wrong = server_sent(ONE_CALL["as documented"]).replace(b"data:", b"event: message\ndata:")
    assert read_pieces(ResponsesStream(), [wrong]) == [call]


def test_calls_in_the_text() -> None:
    """A call between trigger tags counts once, though its text is repeated whole."""
    text = f"<acp_compress>{ARGS}</acp_compress>"
    pieces = [event("output_text.delta", output_index=0, content_index=0, delta=letter) for letter in text]
    again = [
        event("output_text.done", output_index=0, content_index=0, text=text),
        completed({"type": "message", "content": [{"type": "output_text", "text": text}]}),
    ]
    for payloads in ([*pieces, *again], [*pieces, completed()], again, again[1:]):
        (call,) = read_every_way(ResponsesStream, payloads)
        assert (call.name, call.raw_args, call.complete) == ("compress", ARGS, True)
