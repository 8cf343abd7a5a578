"""A conversation as a list of messages: what stands in each, and what may be taken out, put below or joined."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.errors import CallerError
from trimtab.testing import WireContract
from trimtab.testing.conversations import WRITERS, Turn, conversations
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.histories import Message, Part, Shape

NAMES = sorted(protocols)
FOREIGN: tuple[Json, ...] = import_module(WireContract.__module__).FOREIGN


def shape(protocol: str) -> Shape:
    """How the protocol writes conversations."""
    found: Any = protocols[protocol]
    assert isinstance(found.history, Shape)
    return found.history


def at(node: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path, in plain data or objects."""
    for step in path:
        node = node[step] if isinstance(step, int) or isinstance(node, dict) else getattr(node, step)
    return node


def read_well(protocol: str, request: Json) -> tuple[Message, ...]:
    """The messages of a request, after what holds for all of them."""
    form, wire = shape(protocol), protocols[protocol]
    before = copy.deepcopy(request)
    messages = form.read(request)
    assert form.write(request, [one.native for one in messages]) is request
    again = form.read(request, known=messages)
    assert all(one is other for one, other in zip(messages, again, strict=True))
    parts = [part for message in messages for part in message.parts]
    assert [part.call_id for part in parts if part.kind == "result"] == [
        one.call_id for one in wire.tool_results(request)
    ]
    assert [part.name for part in parts if part.kind == "call"] == [one.call.name for one in wire.past_calls(request)]
    for message in messages:
        assert message.parts, "a message without a part"
        for part in message.parts:
            if part.kind == "text":
                assert at(message.native, part.at) == part.text
            if part.at:
                assert part.at[: len(part.path)] == part.path
        whole = [name for name in ("content", "parts") if isinstance(at_or_none(message.native, name), list | tuple)]
        if message.parts[0].path:
            blocks = {(name, place) for name in whole for place in range(len(at(message.native, (name,))))}
            assert blocks <= {part.path for part in message.parts}
    assert request == before
    return messages


def at_or_none(native: Any, name: str) -> Any:
    """A member, if there is one."""
    return native.get(name) if isinstance(native, dict) else getattr(native, name, None)


@pytest.fixture(scope="module")
def exchanges(cases_dir: Path) -> list[dict[str, Any]]:
    """Every recorded exchange."""
    path = cases_dir / "recorded" / "exchanges.jsonl"
    if not path.is_file():
        pytest.skip(f"no recorded exchanges: {path} is no file")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_recorded_conversations_are_read(exchanges: list[dict[str, Any]]) -> None:
    """Roles are those of the wire, every block is a part, calls and results are those that the protocol finds."""
    for one in exchanges:
        for message in read_well(one["protocol"], one["request"]):
            said = at_or_none(message.native, "role")
            wanted = {"developer": "system", "model": "assistant", None: message.role}.get(said, said)
            assert message.role == wanted, one["id"]


@pytest.mark.cases("field-reports.jsonl", area=("compaction",))
def test_reported_conversations_are_read(case: dict[str, Any]) -> None:
    """Those of the reports, which are Anthropic's, with their calls and results."""
    if "messages" in case["input"]:
        read_well("anthropic", {"messages": case["input"]["messages"]})


@pytest.mark.parametrize("protocol", NAMES)
@given(turns=conversations())
@settings(max_examples=30, deadline=None)
def test_a_told_conversation_is_read(protocol: str, turns: list[Turn]) -> None:
    """What was told is found: what the user said, and each call in the message before the one with its result."""
    request = WRITERS[protocol](turns)
    messages = read_well(protocol, request)
    prompts = [message.of("text")[0].text for message in messages if message.role == "user" and message.of("text")]
    assert prompts == [turn.said for turn in turns]
    calls = [part for message in messages if message.role == "assistant" for part in message.of("call")]
    assert [part.name for part in calls] == [call.name for turn in turns for call in turn.calls]
    results = [part for message in messages for part in message.of("result")]
    assert len(results) == len(calls)
    assert all(message.role != "assistant" or protocol == "ai-sdk" for message in messages if message.of("result"))
    for tie in shape(protocol).ties([message.native for message in messages]):
        assert tie.call_row <= tie.result_row <= tie.call_row + 2 * len(calls)


def empties(value: Json) -> Iterator[Json]:
    """Lists of blocks or calls with nothing in them, and messages with nothing to say."""
    for name in ("content", "parts", "tool_calls"):
        if isinstance(value, dict) and value.get(name) == []:
            yield name


@pytest.mark.parametrize("protocol", NAMES)
@given(turns=conversations(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_parts_may_go(protocol: str, turns: list[Turn], data: st.DataObject) -> None:
    """What is left has the other parts as the same objects and no empty list, or else nothing is left."""
    form = shape(protocol)
    for message in form.read(WRITERS[protocol](turns)):
        paths = data.draw(st.sets(st.sampled_from([part.path for part in message.parts])))
        before = copy.deepcopy(message.native)
        left = form.without(message, paths)
        assert message.native == before
        if not paths:
            assert left is message.native
        if left is None:
            kept = [part for part in message.parts if part.path not in paths]
            assert all(part.kind in ("thinking", "aside") for part in kept)
            continue
        assert not [*empties(left)]
        [again] = form.read([left])
        assert [(part.kind, part.call_id, part.text) for part in again.parts] == [
            (part.kind, part.call_id, part.text) for part in message.parts if part.path not in paths
        ]
        assert again.role == message.role


SIGNED: list[Json] = [{"type": "thinking", "thinking": "step 1\n\n", "signature": "c2lnMg=="}]


@pytest.mark.parametrize(
    ("protocol", "native", "gone", "left"),
    [
        pytest.param(
            "openai-chat",
            {"role": "assistant", "content": "Hm", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            [("tool_calls", 0)],
            {"role": "assistant", "content": "Hm"},
            id="no empty list of calls",
        ),
        pytest.param(
            "openai-chat",
            {"role": "assistant", "content": "Hm", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            [("content",)],
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            id="no content is null where calls are",
        ),
        pytest.param(
            "openai-chat",
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [{"id": "a", "function": {}}],
            },
            [("tool_calls", 0)],
            None,
            id="thinking alone is nothing",
        ),
        pytest.param(
            "anthropic",
            {"role": "assistant", "content": [*SIGNED, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            [("content", 1)],
            None,
            id="thinking goes with its call",
        ),
        pytest.param(
            "anthropic",
            {"role": "assistant", "content": [*SIGNED, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            [("content", 1)],
            {"role": "assistant", "content": [*SIGNED, {"type": "text", "text": "b"}]},
            id="thinking that stays is the same to the byte",
        ),
        pytest.param(
            "anthropic",
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
                ],
            },
            [("content", 1)],
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
            id="what the provider did goes with its result",
        ),
        pytest.param(
            "bedrock",
            {"role": "user", "content": [{"text": "a"}, {"cachePoint": {"type": "default"}}, {"text": "b"}]},
            [("content", 0)],
            {"role": "user", "content": [{"text": "b"}]},
            id="no cache point comes first",
        ),
        pytest.param(
            "ai-sdk",
            {
                "id": "a",
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {"type": "tool-f", "toolCallId": "a", "state": "output-available", "input": {}, "output": 1},
                    {"type": "text", "text": "so"},
                ],
            },
            [("parts", 1)],
            {"id": "a", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "so"}]},
            id="call and result are one block",
        ),
        pytest.param(
            "gemini",
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"name": "g"}},
                ],
            },
            [("parts", 0)],
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "g"}, "thoughtSignature": "skip_thought_signature_validator"},
                ],
            },
            id="the first of several calls has the signature",
        ),
    ],
)
def test_what_is_left_is_legal(protocol: str, native: Json, gone: list[tuple[Any, ...]], left: Json) -> None:
    """What each provider refuses does not come about."""
    [message] = shape(protocol).read([native])
    assert shape(protocol).without(message, gone) == left


def leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Every value that is neither object nor list, with its path."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if not inner:
        yield path, value
        return
    for step, one in inner:
        yield from leaves(one, (*path, step))


@pytest.mark.parametrize("protocol", NAMES)
@given(turns=conversations(), results=st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_line_goes_below_one_text(protocol: str, turns: list[Turn], results: bool) -> None:
    """Only that text is another, by the line at its end; a message without text is the same object."""
    form = shape(protocol)
    for message in form.read(WRITERS[protocol](turns)):
        with_line = form.with_line(message, message.native, "[m00001]", results=results)
        texts = [part.text for part in message.of("text") if part.text]
        if with_line is message.native:
            assert not texts
            continue
        assert texts or results
        before, after = dict(leaves(message.native)), dict(leaves(with_line))
        assert before.keys() == after.keys()
        [changed] = [path for path in before if before[path] != after[path]]
        assert after[changed] == f"{before[changed]}\n[m00001]"


def in_short(messages: Sequence[Message]) -> list[tuple[str, ...]]:
    """All parts but texts, sorted."""
    parts = [part for one in messages for part in one.parts if part.kind != "text"]
    return sorted((part.kind, part.call_id, json.dumps(part.value, sort_keys=True)) for part in parts)


@pytest.mark.parametrize("protocol", ["bedrock", "gemini", "vllm"])
@given(turns=conversations(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_no_two_of_a_role_in_a_row(protocol: str, turns: list[Turn], data: st.DataObject) -> None:
    """Where a provider refuses it, whatever messages are left out, runs are joined and nothing in them is lost."""
    form = shape(protocol)
    natives = [one.native for one in form.read(WRITERS[protocol](turns))]
    natives = [one for one in natives if data.draw(st.booleans())]
    before = copy.deepcopy(natives)
    joined = form.joined(natives)
    assert natives == before
    roles = [form.role(one) for one in joined]
    assert not [one for one, other in itertools.pairwise(roles) if one == other and one in form.alternates]
    assert in_short(form.read(joined)) == in_short(form.read(natives))
    texts = "".join(part.text for one in form.read(joined) for part in one.of("text")).replace("\n", "")
    assert sorted(texts) == sorted("".join(part.text for one in form.read(natives) for part in one.of("text")))
    for message in form.read(joined):
        found = [part.kind for part in message.parts if message.role == "user"]
        assert found == sorted(found, key=lambda kind: kind != "result")
    same = form.joined(joined)
    assert all(one is other for one, other in zip(same, joined, strict=True))


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic", "openai-responses", "ai-sdk", "parsed"])
@given(turns=conversations())
@settings(max_examples=10, deadline=None)
def test_others_are_left_alone(protocol: str, turns: list[Turn]) -> None:
    """These providers take messages of one role in a row, or join them themselves."""
    natives = [one.native for one in shape(protocol).read(WRITERS[protocol](turns))] * 2
    joined = shape(protocol).joined(natives)
    assert all(one is other for one, other in zip(joined, natives, strict=True))


def test_reasoning_that_nothing_follows() -> None:
    """Responses refuse reasoning without what it led to: it is left out of a list where that is gone."""
    form = shape("openai-responses")
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    user = {"role": "user", "content": "go"}
    assert form.joined([user, reasoning, call]) == [user, reasoning, call]
    assert form.joined([reasoning, reasoning, call]) == [reasoning, reasoning, call]
    assert form.joined([user, reasoning, user, reasoning]) == [user, user]
    assert form.joined([reasoning, {"type": "function_call_output", "call_id": "a", "output": ""}])[0] is not reasoning


@pytest.mark.parametrize("protocol", NAMES)
def test_what_is_nobodys_is_read(protocol: str) -> None:
    """A payload of another shape has messages of one part each, or none, and nothing raises."""
    form = shape(protocol)
    for payload in FOREIGN:
        messages = form.read(payload)
        assert form.write(payload, [one.native for one in messages]) is payload
        for message in messages:
            form.without(message, [part.path for part in message.parts])
            form.with_line(message, message.native, "x", results=True)
        form.joined([message.native for message in messages])
        form.ties([message.native for message in messages])
        assert isinstance(form.said(payload), list)


@frozen
class _Broken:
    """An object that cannot be asked for its content."""

    role: str = "user"

    @property
    def content(self) -> str:
        raise RuntimeError("not loaded")


@pytest.mark.parametrize("protocol", NAMES)
def test_an_object_that_raises(protocol: str) -> None:
    """A caller's object that raises when it is read is the caller's fault, named by its place."""
    with pytest.raises(CallerError, match=r"message 1 .*_Broken raised RuntimeError"):
        shape(protocol).read([{"role": "user", "content": "a", "parts": [{"text": "a"}]}, _Broken()])


def test_nested_deeply() -> None:
    """Depth is no matter: nothing that is read goes into values."""
    deep: Json = "x"
    for _ in range(100_000):
        deep = [deep]
    for protocol in NAMES:
        request: list[Json] = [
            {"role": "assistant", "content": [deep, {"type": "tool_use", "input": deep, "name": "f"}]}
        ]
        [message] = shape(protocol).read(request)
        shape(protocol).without(message, [part.path for part in message.parts[:1]])


def test_objects_of_sdks() -> None:
    """Messages may be objects of a vendor's SDK, in lists or tuples; what is changed is a copy."""
    types = pytest.importorskip("openai.types.chat")
    message = types.ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": "Hm",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        }
    )
    form = shape("openai-chat")
    request = ({"role": "user", "content": "go"}, message)
    [_, read] = form.read(request)
    assert read.role == "assistant"
    assert [(part.kind, part.path) for part in read.parts] == [("text", ("content",)), ("call", ("tool_calls", 0))]
    left: Any = form.without(read, [("tool_calls", 0)])
    assert (left.content, left.tool_calls, len(message.tool_calls)) == ("Hm", None, 1)
    below: Any = form.with_line(read, message, "x", results=False)
    assert (below.content, message.content) == ("Hm\nx", "Hm")

    blocks = pytest.importorskip("anthropic.types")
    content = (
        blocks.TextBlock(type="text", text="Hm"),
        blocks.ToolUseBlock(type="tool_use", id="a", name="f", input={}),
    )
    [read] = shape("anthropic").read([{"role": "assistant", "content": content}])
    assert [part.kind for part in read.parts] == ["text", "call"]
    assert shape("anthropic").without(read, [("content", 1)]) == {"role": "assistant", "content": [content[0]]}

    genai = pytest.importorskip("google.genai.types")
    given = [genai.UserContent("go"), genai.ModelContent(genai.Part.from_function_call(name="f", args={})), "and?"]
    messages = shape("gemini").read(given)
    assert [(one.role, [part.kind for part in one.parts]) for one in messages] == [
        ("user", ["text"]),
        ("assistant", ["call"]),
        ("user", ["text"]),
    ]
    joined: Any = shape("gemini").joined([given[0], "and?"])
    assert len(joined) == 1
    assert [at_or_none(part, "text") for part in joined[0].parts] == ["go", "and?"]


def texts(*parts: Part) -> list[tuple[str, str]]:
    """Kinds and texts of parts."""
    return [(part.kind, part.text) for part in parts]


@pytest.mark.parametrize(
    ("protocol", "native", "found"),
    [
        ("openai-chat", {"role": "assistant", "content": None, "refusal": "No."}, [("other", "")]),
        (
            "openai-chat",
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            [("text", "No.")],
        ),
        (
            "vllm",
            {"role": "assistant", "content": "a", "reasoning": "hm"},
            [("thinking", ""), ("text", "a")],
        ),
        ("gemini", {"text": "a bare part"}, [("text", "a bare part")]),
        (
            "gemini",
            {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "a"}]},
            [("thinking", ""), ("text", "a")],
        ),
        (
            "bedrock",
            {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "a"}], "citations": []}}]},
            [("text", "a")],
        ),
        (
            "ai-sdk",
            {"role": "user", "content": "a", "parts": [{"type": "text", "text": "a"}]},
            [("text", "a")],
        ),
        (
            "parsed",
            {
                "kind": "request",
                "parts": [{"part_kind": "system-prompt", "content": "a"}, {"part_kind": "user-prompt", "content": "b"}],
            },
            [("text", "a"), ("text", "b")],
        ),
        ("openai-responses", {"type": "mcp_approval_response", "approve": True}, [("other", "")]),
    ],
)
def test_kinds_of_parts(protocol: str, native: Json, found: list[tuple[str, str]]) -> None:
    """Texts are found wherever a wire has them, once; thinking is known."""
    [message] = shape(protocol).read([native])
    assert texts(*message.parts) == found


@pytest.mark.parametrize(
    ("protocol", "native", "role"),
    [
        ("openai-responses", {"type": "mcp_approval_response", "approve": True}, "user"),
        ("openai-responses", {"type": "tool_search_output", "execution": "server", "tools": []}, "assistant"),
        ("openai-responses", {"type": "tool_search_output", "call_id": "a", "tools": []}, "tool"),
        ("openai-responses", {"type": "additional_tools", "role": "developer", "tools": []}, "system"),
        ("openai-responses", "go", "user"),
        ("anthropic", {"role": "system", "content": [{"type": "tool_addition", "tool": {}}]}, "system"),
        ("gemini", {"role": "function", "parts": []}, "user"),
        ("parsed", {"kind": "response", "parts": []}, "assistant"),
        ("parsed", {"name": "f", "arguments": {}}, "assistant"),
    ],
)
def test_roles(protocol: str, native: Json, role: str) -> None:
    """Whose a message is, where the wire does not say it outright."""
    assert shape(protocol).role(native) == role


def test_many_messages_are_read_once() -> None:
    """Reading asks for the places of a message only: its count grows with the messages, and not when they are known."""
    asked = 0

    def sites(request: Json) -> Iterator[Any]:
        nonlocal asked
        asked += len(request)
        return iter(())

    from attrs import evolve

    form = evolve(shape("openai-chat"), sites=sites)
    request = [{"role": "user", "content": str(place)} for place in range(500)]
    messages = form.read(request)
    assert asked == 500
    form.read([*request, {"role": "user", "content": "new"}], known=messages)
    assert asked == 501
