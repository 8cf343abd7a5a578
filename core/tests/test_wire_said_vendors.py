"""What is said and brought is what the vendors' own accumulators give and their own request types take."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from trimtab.testing.messages import SPOKEN, ToldMessage, told_messages
from trimtab.testing.streams import server_sent
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.histories import Answer, Shape
from trimtab.wire.types import SpeakingStream, synthetic_id


def shape(protocol: str) -> Shape:
    """How the protocol writes conversations."""
    found: Any = protocols[protocol]
    assert isinstance(found.history, Shape)
    return found.history


def said(protocol: str, events: list[Json]) -> list[Json]:
    """What a reader says of these events."""
    stream = protocols[protocol].stream()
    assert isinstance(stream, SpeakingStream)
    for event in events:
        stream.feed(event)
    stream.close()
    return stream.said()


def taken(annotation: Any) -> Callable[[Json], object]:
    """A check that a value is of a vendor's request type, with nothing in it that the type does not know."""
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(annotation)

    def check(value: Json) -> None:
        exhaust(adapter.validate_python(value, extra="forbid"))

    return check


def exhaust(value: Any) -> None:
    """Look at all of a value: what is of an iterable type is only checked when it is gone through."""
    if isinstance(value, dict):
        value = value.values()
    if hasattr(value, "__iter__") and not isinstance(value, str):
        for one in value:
            exhaust(one)


def client(library: str, name: str, events: list[Json], *, named: bool) -> Any:
    """A vendor's client whose server answers with these events."""
    vendor, transport = pytest.importorskip(library), pytest.importorskip("httpx2")
    if named:
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    else:
        data = server_sent([*(json.dumps(event) for event in events), "[DONE]"])

    def answer(_: Any) -> Any:
        return transport.Response(200, headers={"content-type": "text/event-stream"}, content=data)

    return getattr(vendor, name)(
        api_key="none", http_client=transport.Client(transport=transport.MockTransport(answer))
    )


def bare(value: Any) -> Any:
    """A value without members that are null, and without what only the vendor's client adds."""
    if isinstance(value, dict):
        gone = ("parsed_arguments", "parsed_output", "parsed")
        return {key: bare(one) for key, one in value.items() if one is not None and key not in gone}
    return [bare(one) for one in value] if isinstance(value, list) else value


@given(told_messages())
@settings(max_examples=25, deadline=None)
def test_anthropic_accumulates_the_same(told: ToldMessage) -> None:
    """The content is that of anthropic's accumulator, and a message that its request type takes."""
    _, events = SPOKEN["anthropic"][1](told)
    usage = {"input_tokens": 1, "output_tokens": 1}
    events[0]["message"]["usage"] = usage
    for event in events:
        if event["type"] == "message_delta":
            event |= {"usage": usage, "delta": {**event["delta"], "stop_sequence": None, "stop_details": None}}
    with client("anthropic", "Anthropic", events, named=True).messages.stream(
        model="m", max_tokens=9, messages=[]
    ) as theirs:
        content = theirs.get_final_message().to_dict()["content"]
    [message] = said("anthropic", events)
    assert bare(message["content"]) == bare(content)


@given(told_messages())
@settings(max_examples=25, deadline=None)
def test_openai_chat_accumulates_the_same(told: ToldMessage) -> None:
    """Content and calls are those of openai's accumulator."""
    _, events = SPOKEN["openai-chat"][1](told)
    events = [{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **one} for one in events]
    with client("openai", "OpenAI", events, named=False).chat.completions.stream(model="m", messages=[]) as theirs:
        expected = bare(theirs.get_final_completion().choices[0].message.to_dict())
    [message] = said("openai-chat", events)
    for call in expected.get("tool_calls", ()):
        call.pop("index", None)
    assert bare(message) == {key: value for key, value in expected.items() if value}


@given(told_messages())
@settings(max_examples=25, deadline=None)
def test_openai_responses_accumulate_the_same(told: ToldMessage) -> None:
    """Output items are those of openai's accumulator, whether its last event has them or not."""
    _, events = SPOKEN["openai-responses"][1](told)
    head = {"created_at": 1, "model": "m", "parallel_tool_calls": True, "tools": [], "tool_choice": "auto"}
    for place, event in enumerate(events):
        event["sequence_number"] = place
        if "response" in event:
            event["response"] |= head
        if event["type"] == "response.output_item.added" and event["item"]["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            there = {"item_id": "msg", "output_index": event["output_index"], "content_index": 0}
            event["more"] = {"type": "response.content_part.added", **there, "part": part}
    sent = [one for event in events for one in (event, event.pop("more", None)) if one is not None]
    for place, event in enumerate(sent):
        event["sequence_number"] = place
        if event["type"].startswith("response.output_text"):
            event["logprobs"] = []
    with client("openai", "OpenAI", sent, named=True).responses.stream(model="m", input="x") as theirs:
        output = [one.to_dict() for one in theirs.get_final_response().output]
    assert bare(said("openai-responses", sent)) == bare(output)
    assert bare(said("openai-responses", sent[:-1])) == bare(output)


REQUESTS = {
    "anthropic": ("anthropic.types", "MessageParam"),
    "openai-chat": ("openai.types.chat", "ChatCompletionMessageParam"),
    "openai-responses": ("openai.types.responses", "ResponseInputItemParam"),
    "gemini": ("google.genai.types", "Content"),
}


def request_type(protocol: str) -> Callable[[Json], object]:
    """A check that a message is of the vendor's request type."""
    module, name = REQUESTS[protocol]
    annotation = getattr(pytest.importorskip(module), name)
    if protocol == "gemini":
        found: Callable[[Json], object] = annotation.model_validate  # which forbids what it does not know
        return found
    return taken(annotation)


@pytest.mark.parametrize("protocol", sorted(REQUESTS))
def test_said_is_of_the_request_type(protocol: str) -> None:
    """What a response says is a message of the vendor's request type, extras of other servers aside."""
    check = request_type(protocol)

    @given(told_messages())
    @settings(max_examples=25, deadline=None)
    def of_any(told: ToldMessage) -> None:
        whole, events = SPOKEN[protocol][1](told)
        for message in (*shape(protocol).said(whole), *said(protocol, events)):
            check({key: value for key, value in message.items() if key != "reasoning_content"})

    of_any()


VALUES: list[Json] = [
    *(
        "done",
        "",
        " \n",
        1,
        None,
        True,
        [],
        {},
        [1, 2],
        {"a": [1]},
        {"output": 1},
        [{"type": "text"}],
        [{"type": "document", "id": 1}],
        [{"a": 1}],
    ),
    *([{"type": "text", "text": "a"}], [{"type": "input_text", "text": "a"}], [{"text": "a"}], [{"json": {"a": 1}}]),
]


@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize("protocol", sorted(REQUESTS))
def test_results_are_of_the_request_type(protocol: str, is_error: bool) -> None:
    """Whatever a tool returned, its result is a message of the vendor's request type."""
    check = request_type(protocol)
    for value in VALUES:
        answers = [Answer(call_id=one, name="f", value=value, is_error=is_error) for one in ("call_a", "call_b")]
        brought = shape(protocol).results(answers)
        for message in brought:
            check(message)
        results = protocols[protocol].tool_results(brought)
        assert [one.call_id for one in results] == ["call_a", "call_b"]
        if protocol in ("anthropic", "gemini"):
            assert all(one.is_error is is_error or value == {"error": 1} for one in results)


@pytest.mark.parametrize("value", VALUES)
def test_results_of_bedrock(value: Json) -> None:
    """Blocks that Bedrock takes: JSON is an object, no text is blank, at least one block."""
    [message] = shape("bedrock").results([Answer(call_id="a", name="f", value=value, is_error=True)])
    [block] = message["content"]
    assert (block["toolResult"]["toolUseId"], block["toolResult"]["status"]) == ("a", "error")
    assert block["toolResult"]["content"]
    for one in block["toolResult"]["content"]:
        assert isinstance(one.get("json", {}), dict)
        assert one.get("text", "x").strip(" \t\r\n")


def test_no_answers_no_message() -> None:
    """Where nothing is answered, nothing is said."""
    assert {name: shape(name).results([]) for name in protocols} == {name: [] for name in protocols}


def answer(call_id: str, value: Json = "done", *, name: str = "f", is_error: bool = False) -> Answer:
    """What a tool returned."""
    return Answer(call_id=call_id, name=name, value=value, is_error=is_error)


def test_results_of_custom_tools() -> None:
    """Each call is answered in its own kind, in the order of the calls."""
    calls: list[Json] = [
        {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "free"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
    ]
    assert shape("openai-responses").results([answer("b"), answer("a")], calls) == [
        {"type": "custom_tool_call_output", "call_id": "a", "output": "done"},
        {"type": "function_call_output", "call_id": "b", "output": "done"},
    ]


def test_results_of_older_functions() -> None:
    """A function call of chat's older form is answered by a message of role `function`."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    form = shape("openai-chat")
    found = form.said({"choices": [{"message": call}]})
    [given] = protocols["openai-chat"].tool_calls({"choices": [{"message": call}]})
    request = form.answered(found, [answer(given.call_id)])
    assert request[1] == {"role": "function", "name": "f", "content": "done"}
    assert protocols["openai-chat"].check_pairs(request) == []


def test_results_of_gemini() -> None:
    """A result has the id of its call where the wire had one; else order is what tells calls of one name apart."""
    made = [synthetic_id(place, "f") for place in range(2)]
    parts: list[Json] = [{"functionCall": {"name": "f", "args": {}}}] * 2
    response = {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    form, wire = shape("gemini"), protocols["gemini"]
    calls = wire.tool_calls(response)
    assert [one.call_id for one in calls] == made
    request = form.answered(form.said(response), [answer(one.call_id, place) for place, one in enumerate(calls)])
    assert request[1]["parts"] == [
        {"functionResponse": {"name": "f", "response": {"output": 0}}},
        {"functionResponse": {"name": "f", "response": {"output": 1}}},
    ]
    assert wire.check_pairs(request) == []
    [brought] = form.results([answer("id-1", {"a": 1}), answer("id-2", {"a": 1}, is_error=True)])
    assert brought["parts"] == [
        {"functionResponse": {"id": "id-1", "name": "f", "response": {"a": 1}}},
        {"functionResponse": {"id": "id-2", "name": "f", "response": {"error": {"a": 1}}}},
    ]


def test_results_of_ui_messages() -> None:
    """A UI message takes the results into its parts; a model message is followed by one of role `tool`."""
    parts: list[Json] = [
        {"type": "text", "text": "Hm"},
        {"type": "tool-f", "toolCallId": "a", "state": "input-available", "input": {}},
        {"type": "dynamic-tool", "toolName": "g", "toolCallId": "b", "state": "input-available", "input": {}},
    ]
    message: Json = {"id": "m", "role": "assistant", "parts": parts}
    form, wire = shape("ai-sdk"), protocols["ai-sdk"]
    [filled] = form.answered([message], [answer("b", "no", is_error=True), answer("a", {"x": 1})])
    assert filled["parts"][0] is parts[0]
    assert filled["parts"][1] == {**parts[1], "state": "output-available", "output": {"x": 1}}
    assert filled["parts"][2] == {**parts[2], "state": "output-error", "errorText": "no"}
    assert parts[1]["state"] == "input-available"
    assert form.answered([message], [])[0] is message
    assert wire.check_pairs([filled]) == []
    call = {"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}
    request = form.answered([{"role": "assistant", "content": [call]}], [answer("a")])
    assert [one["role"] for one in request] == ["assistant", "tool"]
    assert wire.check_pairs(request) == []
