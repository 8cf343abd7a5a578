"""Repairs keep what they move as it came, and know what else providers take only together."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, FoldSettings, Row
from trimtab.compaction.cuts import clean_cuts
from trimtab.compaction.repair import repaired
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.types import Json
from trimtab.wire.lookup import shape_of


def mended(name: str, natives: list[Json]) -> tuple[list[Any], list[str]]:
    """What is sent of these messages, and the kinds of the repairs."""
    shape = shape_of(name, None)
    fixed, repairs = repaired(shape, shape.read(natives))
    return shape.joined(fixed), [repair.kind for repair in repairs]


def use(call_id: str) -> Json:
    """A call of Anthropic's."""
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}}


def result(call_id: str, **more: Json) -> Json:
    """A result of Anthropic's."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": f"of {call_id}", **more}


def user(*blocks: Json) -> Json:
    """A message of Anthropic's user."""
    return {"role": "user", "content": list(blocks)}


TEXT: Json = {"type": "text", "text": "and hurry"}
LATE: dict[str, tuple[list[Json], Json]] = {
    "anthropic": (
        [{"role": "assistant", "content": [use("a")]}, user(TEXT)],
        user(result("a", cache_control={"type": "ephemeral"}, new={"x": 1})),
    ),
    "bedrock": (
        [
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "read", "input": {}}}]},
            {"role": "user", "content": [{"text": "and hurry"}]},
            {"role": "assistant", "content": [{"text": "yes"}]},
        ],
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "x"}], "type": "new"}}]},
    ),
    "gemini": (
        [
            {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
            {"role": "user", "parts": [{"text": "and hurry"}]},
            {"role": "model", "parts": [{"text": "yes"}]},
        ],
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "read", "response": {"a": 1}, "parts": [{"inlineData": {}}]}}],
        },
    ),
    "openai-chat": (
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
            },
            {"role": "user", "content": "and hurry"},
        ],
        {"role": "tool", "tool_call_id": "a", "content": "x", "new": {"x": 1}},
    ),
    "ai-sdk": (
        [
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "read", "input": {}}],
            },
            {"role": "user", "content": "and hurry"},
        ],
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "a",
                    "toolName": "read",
                    "output": {"type": "json", "value": {"x": 1}},
                    "providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}},
                }
            ],
        },
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_what_is_moved_stays_as_it_came(name: str) -> None:
    """A result that came too late stands right behind its call, with every field that it had."""
    (call, *between), late = LATE[name]
    first = shape_of(name, None).user_text("go")
    sent, kinds = mended(name, [first, call, *between, late])
    assert kinds == ["moved"]
    key = "parts" if name == "gemini" else "content"
    moved = sent[2] if name == "openai-chat" else sent[2][key][0]
    assert moved is (late if name == "openai-chat" else late[key][0])


def test_results_of_calls_that_are_moved_and_made_up_are_in_the_order_of_the_calls() -> None:
    """Where a wire has no ids the order tells which answers which."""
    calls: list[Json] = [{"functionCall": {"name": "read", "args": {"n": n}}} for n in range(2)]
    natives: list[Json] = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": [{"text": "hurry"}]},
        {"role": "model", "parts": [{"text": "yes"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "of 0"}}}]},
    ]
    sent, kinds = mended("gemini", natives)
    assert sorted(kinds) == ["answered", "moved"]
    responses = [part["functionResponse"]["response"] for part in sent[2]["parts"] if "functionResponse" in part]
    assert [*responses[0]] == ["output"]
    assert [*responses[1]] == ["error"]


@pytest.mark.parametrize(
    "after",
    [
        [user(TEXT, result("a"), result("b"))],
        [user(result("a"), TEXT, result("b"))],
        [user(result("a")), user(TEXT, result("b"))],
        [user(result("a"), TEXT), user(result("b"))],
        [user(TEXT), user(result("a"), result("b"))],
    ],
)
def test_results_come_before_what_is_said_with_them(after: list[Json]) -> None:
    """The provider wants all results first, in the messages of a user that it makes one
    (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
    """
    natives: list[Json] = [user(TEXT), {"role": "assistant", "content": [use("a"), use("b")]}, *after]
    sent, kinds = mended("anthropic", natives)
    assert set(kinds) == {"moved"}
    blocks = [block for message in sent[2:] for block in message["content"]]
    assert [block.get("tool_use_id", "text") for block in blocks] == ["a", "b", "text"]
    given = {id(block) for message in natives for block in message["content"]}
    assert all(id(block) in given for block in blocks)


def test_what_marks_a_place_may_stand_before_a_result() -> None:
    """A cache point between results is no text: nothing is moved."""
    blocks: list[Json] = [{"toolUse": {"toolUseId": one, "name": "read", "input": {}}} for one in "ab"]
    results: list[Json] = [{"toolResult": {"toolUseId": one, "content": [{"text": "x"}]}} for one in "ab"]
    natives: list[Json] = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [results[0], {"cachePoint": {"type": "default"}}, results[1]]},
    ]
    assert mended("bedrock", natives) == (natives, [])


SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


@pytest.mark.parametrize("left", [SEARCH, FOUND])
def test_half_of_what_a_tool_of_the_providers_did(left: Json) -> None:
    """A search that was interrupted, or a result whose search is gone, is left out and reported."""
    said: Json = {"type": "text", "text": "I looked it up."}
    natives: list[Json] = [user(TEXT), {"role": "assistant", "content": [left, said]}, user(TEXT)]
    sent, kinds = mended("anthropic", natives)
    assert kinds == ["left-out"]
    assert sent[1]["content"] == [said]
    alone, _ = mended("anthropic", [user(TEXT), {"role": "assistant", "content": [left]}, user(TEXT)])
    assert alone == [user(TEXT), user(TEXT)]


def test_what_a_provider_has_not_finished() -> None:
    """The last message may wait for the tool that the provider runs, and a pair may stand in two messages."""
    paused: list[Json] = [user(TEXT), {"role": "assistant", "content": [SEARCH]}]
    assert mended("anthropic", paused) == (paused, [])
    two: list[Json] = [
        user(TEXT),
        {"role": "assistant", "content": [SEARCH, use("a")]},
        user(result("a")),
        {"role": "assistant", "content": [FOUND, TEXT]},
        user(TEXT),
    ]
    assert mended("anthropic", two) == (two, [])
    shape = shape_of("anthropic", None)
    assert clean_cuts(shape, shape.read(two)) == [0, 1, 4]


def test_a_question_is_not_cut_from_its_answer() -> None:
    """What a person was asked of a call, and granted, is folded together or not at all."""
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "rm", "arguments": "{}", "server_label": "x"}
    granted = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    rows = [
        Row(id="u", messages=[{"role": "user", "content": "word " * 900}]),
        Row(id="a", messages=[asked]),
        Row(id="g", messages=[granted]),
        Row(id="b", messages=[{"role": "assistant", "content": "done"}]),
        Row(id="q", messages=[{"role": "user", "content": "well?"}]),
    ]
    settings = FoldSettings(windows=1_000)
    served = DurableCompactor("openai-responses", settings, RememberingSummarizer(words=2)).serve(rows)
    assert served.record is not None
    assert served.record.boundary != "a"
    shape = shape_of("openai-responses", None)
    assert clean_cuts(shape, shape.read([message for row in rows for message in row.messages])) == [0, 1, 3, 4]


def test_a_call_that_waits_for_a_persons_leave() -> None:
    """In model messages of the AI SDK: it is not answered, the SDK runs it when it is granted."""
    call = {"type": "tool-call", "toolCallId": "a", "toolName": "rm", "input": {}}
    asked = {"type": "tool-approval-request", "approvalId": "p", "toolCallId": "a"}
    granted = {"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "p", "approved": True}]}
    done = {"type": "tool-result", "toolCallId": "a", "toolName": "rm", "output": {"type": "text", "value": "ok"}}
    waits: list[Json] = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call, asked]}]
    for natives in (waits, [*waits, granted], [*waits, granted, {"role": "tool", "content": [done]}]):
        assert mended("ai-sdk", natives) == (natives, [])
    sent, kinds = mended("ai-sdk", [*waits, {"role": "user", "content": "never mind"}])
    assert kinds == ["left-out", "answered"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]
    assert sent[1]["content"] == [call]


def test_a_denial_that_came_too_late_is_left_where_it_is() -> None:
    """What is a result for the pairing only is not moved, and not lost."""
    call = {"type": "tool-call", "toolCallId": "a", "toolName": "rm", "input": {}}
    denied = {"type": "tool-result", "toolCallId": "a", "toolName": "rm", "output": {"type": "execution-denied"}}
    natives: list[Json] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": "hm"},
        {"role": "tool", "content": [denied]},
    ]
    assert mended("ai-sdk", natives) == (natives, [])


@pytest.mark.parametrize("doubled", [False, True])
def test_results_of_one_message_brought_by_two_of_the_users(doubled: bool) -> None:
    """Anthropic wants all in the message that follows: the later one is moved up, as it came; a doubled one goes."""
    later = result("b", cache_control={"type": "ephemeral"})
    natives: list[Json] = [
        user(TEXT),
        {"role": "assistant", "content": [use("a"), use("b")]},
        user(result("a")),
        user(*([result("a")] if doubled else []), later, TEXT),
    ]
    sent, kinds = mended("anthropic", natives)
    assert sorted(kinds) == (["left-out", "moved"] if doubled else ["moved"])
    assert sent[2:] == [user(result("a"), later), user(TEXT)]
    assert sent[2]["content"][1] is later
    assert refused("anthropic", sent) == []


def test_answers_to_calls_without_an_id_are_told_once() -> None:
    """One that was made up may be taken for another call's and be made again: each call is told once all the same."""
    calls = [{"id": one, "type": "function", "function": {"name": "read", "arguments": {}}} for one in ("", "a", "b")]
    asked: Json = {"role": "assistant", "content": None, "tool_calls": calls}
    results: list[Json] = [{"role": "tool", "tool_call_id": one, "content": "found"} for one in ("", "b")]
    shape = shape_of("vllm", None)
    sent, repairs = repaired(shape, shape.read([{"role": "user", "content": "go"}, asked, asked, *results]))
    assert refused("vllm", sent) == []
    assert sorted((repair.kind, repair.call_id) for repair in repairs) == [
        ("answered", ""),
        ("answered", "a"),
        ("answered", "a"),
        ("answered", "b"),
    ]


def test_an_answer_that_is_made_up_stays_with_its_own_call() -> None:
    """A call without an id gets its answer before the model speaks again, not behind what it says and calls next."""

    def said(*ids: str) -> Json:
        calls = [{"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}} for one in ids]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def brought(one: str) -> Json:
        return {"role": "tool", "tool_call_id": one, "content": "x"}

    history = [said("a", "b", ""), brought("b"), brought(""), said("a", "c"), user(TEXT), brought("a"), brought("c")]
    fixed, repairs = mended("vllm", history)
    assert refused("vllm", fixed) == []
    assert repairs == ["opened", "answered"]
    assert [one for one in history if one not in fixed] == []
