"""What was said: the message of a stream is that of the whole response, however the stream is cut."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.testing.messages import SPOKEN, VALUES, ToldMessage, told_messages
from trimtab.testing.streams import cuts, server_sent
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.arguments import INVALID
from trimtab.wire.histories import Answer, Shape
from trimtab.wire.types import SpeakingStream, is_synthetic


def shape(protocol: str) -> Shape:
    """How the protocol writes conversations."""
    found: Any = protocols[protocol]
    assert isinstance(found.history, Shape)
    return found.history


def heard(protocol: str, pieces: Sequence[Any], *, asking: bool = False) -> list[Json]:
    """What a reader says of these pieces; `asking`: it is asked after each of them as well."""
    stream = protocols[protocol].stream()
    assert isinstance(stream, SpeakingStream)
    for piece in pieces:
        stream.feed(piece)
        if asking:
            stream.said()
    calls = stream.close()
    said = stream.said()
    assert stream.said() == said
    assert stream.close() == calls
    return said


@pytest.mark.parametrize("wire", sorted(SPOKEN))
@given(told=told_messages())
@settings(max_examples=10, deadline=None)
def test_a_stream_says_what_the_response_says(wire: str, told: ToldMessage) -> None:
    """Cut anywhere, with any line ends, or as events; asked on the way or only at the end."""
    protocol, write = SPOKEN[wire]
    whole, events = write(told)
    before = copy.deepcopy((whole, events))
    expected = shape(protocol).said(whole)
    assert expected
    assert heard(protocol, events) == expected
    assert heard(protocol, events, asking=True) == expected
    assert (whole, events) == before
    payloads = [json.dumps(event, ensure_ascii=False) for event in events]
    for line_end, places in (("\n", (0, 1)), ("\r\n", (3, 4))):
        ways = [*cuts(server_sent(payloads, line_end))]
        for way in places:
            assert heard(protocol, ways[way]) == expected
    if protocol != "ai-sdk":  # whose messages no server sends whole
        assert heard(protocol, [json.dumps(whole)]) == expected


@pytest.mark.parametrize("wire", sorted(SPOKEN))
@given(told=told_messages(), data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_stream_that_breaks_off(wire: str, told: ToldMessage, data: st.DataObject) -> None:
    """What had come can be sent again: its calls have objects and ids, its text is a beginning of the text."""
    protocol, write = SPOKEN[wire]
    whole, events = write(told)
    kept = events[: data.draw(st.integers(0, len(events)))]
    said = heard(protocol, kept)
    form = shape(protocol)
    assert protocols[protocol].with_calls(said, {}) is said
    stream = protocols[protocol].stream()
    for event in kept:
        stream.feed(event)
    calls = [(one.call_id, one.name) for one in stream.close()]
    found = [(one.call.call_id, one.call.name) for one in protocols[protocol].past_calls(said)]
    assert [name for _, name in found] == [name for _, name in calls]
    if protocol != "gemini":
        assert found == calls
    full = form.read(form.said(whole))
    for message in form.read(said):
        for part in message.parts:
            if part.kind == "text":
                assert any(other.text.startswith(part.text) for one in full for other in one.of("text"))
            if part.kind == "thinking" and protocol in ("anthropic", "bedrock"):
                assert part.value in [other.value for one in full for other in one.of("thinking")]


@pytest.fixture(scope="module")
def exchanges(cases_dir: Path) -> list[dict[str, Any]]:
    """Every recorded exchange."""
    path = cases_dir / "recorded" / "exchanges.jsonl"
    if not path.is_file():
        pytest.skip(f"no recorded exchanges: {path} is no file")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_recorded_responses_go_on(exchanges: list[dict[str, Any]]) -> None:
    """What was said has the calls of the response, and its results pair with them; thinking is the same to the byte."""
    for one in exchanges:
        wire, form = protocols[one["protocol"]], shape(one["protocol"])
        if one["stream"]:
            said = heard(one["protocol"], [one["response"]])
        else:
            said = form.said(one["response"])
            assert heard(one["protocol"], [json.dumps(one["response"])]) == said, one["id"]
        assert said, one["id"]
        past = [(call.call.name, call.call.raw_args) for call in wire.past_calls(said)]
        wanted = [(call["name"], call["arguments"]) for call in one["expect_calls"]]
        if one["protocol"] == "anthropic" and one["stream"]:  # whose streams have text for arguments
            wanted = [(name, json.loads(arguments or "{}")) for name, arguments in wanted]
        assert past == wanted, one["id"]
        assert wire.with_calls(said, {}) is said, one["id"]
        calls = [call.call for call in wire.past_calls(said)]
        answers = [Answer(call_id=call.call_id, name=call.name, value="done") for call in calls]
        request = form.answered(said, answers)
        paired = [fault for fault in wire.check_pairs(request) if fault.kind == "call-without-result"]
        assert paired == [], one["id"]
        [*_, last] = [message.role for message in form.read(request)]
        assert last in (("user", "tool") if calls else ("assistant",)), one["id"]


def test_a_call_that_was_cut_off() -> None:
    """Its arguments are an object that holds what came; it can be answered by its id."""
    begun = '{"content": ["a'
    chunk = {
        "choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": begun}}]}}]
    }
    [message] = heard("openai-chat", [chunk])
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {INVALID: begun}
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    }
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": begun}}
    [message] = heard("anthropic", [start, delta])
    assert message["content"] == [{"type": "tool_use", "id": "a", "name": "f", "input": {INVALID: begun}}]
    added = {"type": "function_call", "id": "fc", "call_id": "a", "name": "f", "arguments": "", "status": "in_progress"}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": begun},
    ]
    [item] = heard("openai-responses", events)
    assert item == {**added, "arguments": json.dumps({INVALID: begun}, separators=(",", ":")), "status": "incomplete"}


@pytest.mark.parametrize(
    ("protocol", "events"),
    [
        ("openai-chat", [{"choices": [{"delta": {"role": "assistant", "content": ""}}]}]),
        ("openai-chat", []),
        ("anthropic", [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]),
        (
            "anthropic",
            [
                {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
            ],
        ),
        (
            "anthropic",
            [
                {
                    "type": "content_block_start",
                    "index": 0,
                    "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                },
                {"type": "content_block_stop", "index": 0},
            ],
        ),
        ("bedrock", [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "hm"}}}}]),
        ("gemini", [{"candidates": [{"content": {"parts": [{"text": ""}]}}]}]),
        (
            "openai-responses",
            [{"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}}],
        ),
        ("ai-sdk", [{"type": "start", "messageId": "m"}, {"type": "start-step"}]),
    ],
)
def test_nothing_that_can_stand(protocol: str, events: list[Json]) -> None:
    """Unsigned thinking, a provider's tool without its result, an empty text: no message."""
    assert heard(protocol, events) == []


def test_a_paused_turn_stays() -> None:
    """A message that ended while the provider's own tool was at work goes back as it is, so that it can go on."""
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": use},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}},
        {"type": "message_stop"},
    ]
    assert heard("anthropic", events) == [{"role": "assistant", "content": [use]}]


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", "", None, {"a": 1}])
@pytest.mark.parametrize("protocol", ["openai-chat", "vllm", "anthropic", "bedrock", "openai-responses", "parsed"])
def test_calls_without_id(protocol: str, arguments: Json) -> None:
    """A call of a whole response that came without an id has the one that it is given out with, and an object."""
    written: dict[str, Json] = {
        "openai-chat": {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}] * 2},
        "anthropic": {"content": [{"type": "tool_use", "name": "f", "input": arguments}] * 2},
        "bedrock": {"role": "assistant", "content": [{"toolUse": {"name": "f", "input": arguments}}] * 2},
        "openai-responses": {"output": [{"type": "function_call", "name": "f", "arguments": arguments}] * 2},
        "parsed": {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}] * 2},
    }
    response = written.get(protocol, written["openai-chat"])
    wire = protocols[protocol]
    before = json.dumps(response)
    said = shape(protocol).said(response)
    assert json.dumps(response) == before
    given = [one.call_id for one in wire.tool_calls(response)]
    assert [one.call.call_id for one in wire.past_calls(said)] == given
    assert len({*given}) == 2
    assert all(map(is_synthetic, given))
    assert wire.with_calls(said, {}) is said
    answers = [Answer(call_id=one, name="f", value="done") for one in reversed(given)]
    request = shape(protocol).answered(said, answers)
    assert wire.check_pairs(request) == []
    assert [one.call_id for one in wire.tool_results(request)] == given


def test_what_a_chat_takes_back() -> None:
    """Members that only responses have are left out; spoken words are named by their id."""
    message = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [{"type": "url_citation"}],
        "audio": {"id": "audio_1", "data": "UklGRg==", "expires_at": 1, "transcript": "hi"},
        "tool_calls": [],
        "reasoning_details": [{"type": "reasoning.text", "text": "hm"}],
    }
    assert shape("openai-chat").said({"choices": [{"message": message}]}) == [
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "audio_1"},
            "reasoning_details": [{"type": "reasoning.text", "text": "hm"}],
        }
    ]


def test_pieces_that_chat_servers_add() -> None:
    """Lists whose elements come in pieces are put together by index; what rides on a call stays on it."""
    signed = {"google": {"thought_signature": "c2ln"}}
    deltas: list[Json] = [
        {"reasoning_details": [{"type": "reasoning.text", "text": "h", "index": 0, "format": "x"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "m", "index": 0, "format": "x", "signature": "s"}]},
        {"content": [{"type": "text", "text": "so"}]},
        {
            "tool_calls": [
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed}
            ]
        },
        {"tool_calls": [{"index": 1, "id": "b", "type": "custom", "custom": {"name": "g", "input": "free"}}]},
    ]
    [message] = heard("openai-chat", [{"choices": [{"delta": delta}]} for delta in deltas])
    assert message == {
        "role": "assistant",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "hm", "index": 0, "format": "x", "signature": "s"},
        ],
        "content": [{"type": "text", "text": "so"}],
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed},
            {"id": "b", "type": "custom", "custom": {"name": "g", "input": "free"}},
        ],
    }


def test_reasoning_that_is_not_stored() -> None:
    """Without storage, reasoning that is only an id is not found again; with its content it goes back."""
    bare = {"type": "reasoning", "id": "rs", "summary": []}
    sealed = {**bare, "encrypted_content": "gAAA"}
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    form = shape("openai-responses")
    assert form.said({"store": False, "output": [bare, call]}) == [call]
    assert form.said({"store": False, "output": [sealed, call]}) == [sealed, call]
    assert form.said({"store": True, "output": [bare, call]}) == [bare, call]
    assert form.said({"store": True, "status": "incomplete", "output": [bare]}) == []


def test_objects_stay_as_they_are() -> None:
    """A vendor's response object gives its own messages, items and blocks: the same objects."""
    chat_types = pytest.importorskip("openai.types.chat")
    message = {"role": "assistant", "content": "Hm"}
    completion = chat_types.ChatCompletion.model_validate({
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    })  # fmt: skip
    [found] = shape("openai-chat").said(completion)
    assert found is completion.choices[0].message

    types = pytest.importorskip("anthropic.types")
    block = types.TextBlock(type="text", text="Hm")
    usage = types.Usage(input_tokens=1, output_tokens=1)
    whole = types.Message.model_construct(
        id="m", type="message", role="assistant", content=[block], model="m", stop_reason="end_turn", usage=usage
    )
    [found] = shape("anthropic").said(whole)
    assert found["content"][0] is block

    genai = pytest.importorskip("google.genai.types")
    content = genai.ModelContent("Hm")
    answer = genai.GenerateContentResponse(candidates=[genai.Candidate(content=content)])
    [found] = shape("gemini").said(answer)
    assert found is answer.candidates[0].content


WORDS = st.sampled_from(
    [
        *("candidates", "choices", "content", "contentBlockDelta", "content_block", "data-x", "delta", "id", "index"),
        *("item", "message", "output", "parts", "response", "text", "toolUse", "tool_calls", "type"),
    ]
)
STRANGE = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)


@given(st.lists(STRANGE, max_size=4), st.sampled_from(sorted(protocols)))
@settings(max_examples=80, deadline=None)
def test_what_is_no_stream(events: list[Json], protocol: str) -> None:
    """Whatever objects come, a reader says a list, and raises nothing."""
    stream = protocols[protocol].stream()
    assert isinstance(stream, SpeakingStream)
    for event in events:
        stream.feed(event if isinstance(event, dict) else {"type": event})
        assert isinstance(stream.said(), list)
    stream.close()
    assert isinstance(stream.said(), list)
