"""Streams bent in several ways at once, as gateways and proxies do: the calls are those that were sent."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.testing.streams import read_pieces, server_sent
from trimtab.wire.streams.chat import ChatStream
from trimtab.wire.streams.responses import ResponsesStream

NAMES = ("compress", "search_web", "get-weather", "f1", "mcp__files__read")
VALUES = st.text(max_size=6) | st.integers() | st.lists(st.text('{}[]"\\', max_size=4), max_size=2)
ARGUMENTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)


def cut(draw: st.DrawFn, text: str, most: int) -> list[str]:
    """A text in pieces, none of them empty."""
    places = sorted(set(draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=most))))
    return [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True) if begin < end]


def heads(draw: st.DrawFn, name: str, pieces: list[str]) -> list[tuple[str, str]]:
    """Name and arguments of the chunks of one call: the name first, in pieces, in each chunk, or with everything."""
    how = draw(st.sampled_from(["first", "alone", "pieces", "each", "again at the end", "empty first", "whole"]))
    if how == "whole":
        return [(name, "".join(pieces))]
    if how == "alone":
        return [(name, ""), *(("", piece) for piece in pieces)]
    if how == "pieces":
        return [*((piece, "") for piece in cut(draw, name, 2)), *(("", piece) for piece in pieces)]
    if how == "each":
        return [(name, piece) for piece in pieces]
    if how == "empty first" and len(pieces) > 1:
        return [("", pieces[0]), (name, pieces[1]), *(("", piece) for piece in pieces[2:])]
    rest = [("", piece) for piece in pieces[1:]]
    return [(name, pieces[0]), *rest, *([(name, "")] if how == "again at the end" else [])]


@st.composite
def bent_streams(draw: st.DrawFn) -> tuple[list[str], list[tuple[str | None, str, str]]]:
    """Payloads of one completion, and the calls in it (an id that was never sent is None)."""
    indexes = draw(st.sampled_from(["right", "missing", "all 0", "from 1", "jumping", "null", "digits"]))
    ids = draw(st.sampled_from(["first", "each", "late", "never"]))
    payloads, expected = [], []
    name = ""
    for place in range(draw(st.integers(1, 4))):
        # What neither id nor index tells apart, the name must.
        name = draw(st.sampled_from([one for one in NAMES if one != name]))
        text = json.dumps(draw(ARGUMENTS), ensure_ascii=draw(st.booleans()))
        chunks = heads(draw, name, cut(draw, text, 4))
        nameless = not chunks[0][0]
        late = ids == "late" and len(chunks) > 1 and not nameless
        for number, (said, arguments) in enumerate(chunks):
            entry: dict[str, Any] = {"function": {"name": said, "arguments": arguments}}
            if not said and draw(st.booleans()):
                del entry["function"]["name"]
            given = number == (1 if late else 0) or ids == "each"
            if given and (ids != "never" or nameless):
                entry["id"] = f"call_{place}"
            elif draw(st.booleans()):
                entry["id"] = draw(st.sampled_from([None, ""]))
            index = {"right": place, "all 0": 0, "from 1": place + 1, "jumping": 3 * place, "digits": str(place)}.get(
                indexes
            )
            if index is not None or indexes == "null":
                entry["index"] = index
            choice = {"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}
            payloads.append(json.dumps({"choices": [choice]}))
        sent = ids != "never" or nameless
        expected.append((f"call_{place}" if sent else None, name, text))
    payloads.append(
        json.dumps(
            {"choices": [{"index": 0, "delta": {}, "finish_reason": draw(st.sampled_from(["stop", "tool_calls"]))}]}
        )
    )
    return payloads, expected


@given(bent_streams())
@settings(max_examples=120, deadline=None)
def test_bent_streams(stream: tuple[list[str], list[tuple[str | None, str, str]]]) -> None:
    """Index, id and name each bent in one of the known ways: every call comes out once and to the byte."""
    payloads, expected = stream
    found = read_pieces(ChatStream(), [server_sent(payloads)])
    assert [(one.name, one.raw_args) for one in found] == [(name, text) for _, name, text in expected]
    for one, (call_id, _, _) in zip(found, expected, strict=True):
        assert one.call_id == call_id or (call_id is None and one.call_id)
        assert one.complete
    assert len({one.call_id for one in found}) == len(found)


@st.composite
def bent_responses(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Payloads of one response whose calls come one after another, and the calls in it."""
    ids = draw(st.sampled_from(["right", "missing", "changed"]))
    places = draw(st.sampled_from(["right", "missing", "all 0", "from 2"]))
    late = draw(st.booleans())  # the call id comes with the end of the item only
    repeats = draw(st.sampled_from(["both", "arguments", "item", "none"])) if not late else "item"
    fresh = count()
    events: list[dict[str, Any]] = []
    expected, output = [], []
    for place in range(draw(st.integers(1, 4))):
        name, text = draw(st.sampled_from(NAMES)), json.dumps(draw(ARGUMENTS))
        index = {"right": place, "all 0": 0, "from 2": place + 2}.get(places)

        def item(arguments: str, call_id: str | None, place: int = place, name: str = name) -> dict[str, Any]:
            item_id = {"right": f"fc_{place}", "changed": f"x{next(fresh)}"}.get(ids)
            found = {"id": item_id, "call_id": call_id, "name": name, "arguments": arguments}
            return {"type": "function_call", **{key: one for key, one in found.items() if one is not None}}

        def send(kind: str, index: int | None = index, place: int = place, **fields: Any) -> None:
            item_id = {"right": f"fc_{place}", "changed": f"x{next(fresh)}"}.get(ids)
            at = {"item_id": None if "item" in fields else item_id, "output_index": index}
            found = {key: one for key, one in {**at, **fields}.items() if one is not None}
            events.append({"type": f"response.{kind}", **found})

        call_id = f"call_{place}"
        send("output_item.added", item=item("", None if late else call_id))
        for piece in cut(draw, text, 3):
            send("function_call_arguments.delta", delta=piece)
        if repeats in ("both", "arguments"):
            send("function_call_arguments.done", arguments=text)
        if repeats in ("both", "item"):
            send("output_item.done", item=item(text, call_id))
        output.append(item(text, call_id))
        expected.append((call_id, name, text))
    whole = draw(st.sampled_from([[], output, [{"type": "reasoning", "id": "rs"}, *output]]))
    events.append({"type": "response.completed", "response": {"status": "completed", "output": whole}})
    return [json.dumps(event) for event in events], expected


@given(bent_responses())
@settings(max_examples=120, deadline=None)
def test_bent_responses(stream: tuple[list[str], list[tuple[str, str, str]]]) -> None:
    """Item ids and places dropped or changed, call ids late, arguments repeated or not: each call comes out once."""
    payloads, expected = stream
    found = read_pieces(ResponsesStream(), [server_sent(payloads)])
    assert [(one.call_id, one.name, one.raw_args) for one in found] == expected
    assert all(one.complete for one in found)
