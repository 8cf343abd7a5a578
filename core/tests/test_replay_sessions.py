"""What a session is read from, and the sessions that are made up."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from trimtab._json import blob_id, canonical
from trimtab.errors import CallerError
from trimtab.replay import session_of
from trimtab.replay.generated import generate
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.wire import protocols

CALL = Told(call_id="c1", name="read", arguments={"path": "a"}, output="text")
TURNS = [Turn(said="go", calls=(CALL,)), Turn(said="and now?", calls=(CALL,)), Turn(said="well?")]


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_each_answer_had_a_request(name: str) -> None:
    """From one conversation: all that stands before each answer of the model, and the whole where one is due."""
    whole = WRITERS[name](TURNS)
    session = session_of(whole, protocol=name)
    shape = session.shape
    messages = shape.read(whole)
    assert session.derived
    for request in session.requests[:-1]:
        natives = shape.place(request)[1]
        assert list(natives) == [message.native for message in messages[: len(natives)]]
        assert messages[len(natives)].role == "assistant"
        assert messages[len(natives) - 1].role != "assistant"
    answers = sum(message.role == "assistant" and before.role != "assistant" for before, message in pairwise(messages))
    assert len(session.requests) == answers + (messages[-1].role != "assistant")
    assert {
        key: value for key, value in session.requests[0].items() if key not in ("messages", "input", "contents")
    } == {key: value for key, value in whole.items() if key not in ("messages", "input", "contents")}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_recorded_requests_are_taken_as_they_are(name: str) -> None:
    """A list of requests is the session itself; a bare list of messages is one conversation."""
    recorded = [WRITERS[name](TURNS[:count]) for count in (1, 2, 3)]
    session = session_of(recorded, protocol=name)
    assert not session.derived
    assert all(one is other for one, other in zip(session.requests, recorded, strict=True))
    bare = session_of(list(session.shape.place(recorded[-1])[1]), protocol=name)
    assert bare.derived
    assert all(isinstance(request, list) for request in bare.requests)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_requests_may_be_bare_lists(name: str) -> None:
    """Each is the whole history of one request."""
    session = generate(2, protocol=name, size=0.1)
    bare = [list(session.shape.place(request)[1]) for request in session.requests]
    again = session_of(bare, protocol=name)
    assert not again.derived
    assert list(again.requests) == bare


@pytest.mark.parametrize("other", [name for name in sorted(WRITERS) if name not in ("vllm", "openai-chat")])
def test_requests_of_several_protocols_are_refused(other: str) -> None:
    """A session that went from one provider to another is none; unless one is named, as which all are read."""
    mixed = [generate(2, protocol=name, size=0.1).requests[-1] for name in (other, "openai-chat")]
    with pytest.raises(CallerError, match=f"request 1 of 2 (is written as {other}, the last one as|has no messages)"):
        session_of(mixed)
    same = [generate(2, protocol=other, size=0.1).requests[at] for at in (0, -1)]
    assert len(session_of(same).requests) == 2


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_requests_are_found_in_the_lines_of_a_log(name: str) -> None:
    """As the member `request` or `body` of each line, or one in the other; a single one is one conversation."""
    requests = generate(2, protocol=name, size=0.1).requests
    for wrap in (
        lambda one: {"at": 1, "type": "call", "request": one, "response": {"id": "r", "usage": {"input_tokens": 1}}},
        lambda one: {"status": 200, "body": one},
        lambda one: {"request": {"method": "POST", "headers": {}, "body": one}, "response": {"body": {}}},
    ):
        session = session_of([wrap(one) for one in requests], protocol=name)
        assert not session.derived
        assert all(one is other for one, other in zip(session.requests, requests, strict=True))
        assert session_of(wrap(requests[-1]), protocol=name).derived


def test_a_log_that_can_be_read_in_two_ways_is_not_read() -> None:
    """A line with two of these members, or one in a line that is itself a request or a message."""
    request = generate(1, size=0.1).requests[-1]
    with pytest.raises(CallerError, match=r"members: request, body"):
        session_of([{"request": request, "body": request}])
    message = {"role": "user", "content": "go", "request": request}
    assert session_of([message], protocol="openai-chat").requests == ([message],)


def test_an_item_with_an_input_is_no_request() -> None:
    """A custom tool's call has a text of that name, as a request may have."""
    items = [
        {"role": "user", "content": "go"},
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin Patch"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
    ]
    session = session_of(items, protocol="openai-responses")
    assert session.derived
    assert [len(request) for request in session.requests] == [1, 3]
    one = session_of([{"model": "m", "input": "go"}, {"model": "m", "input": items}], protocol="openai-responses")
    assert not one.derived


@pytest.mark.parametrize(
    ("value", "name", "complaint"),
    [
        ("hello", None, "the input looks like no wire protocol"),
        ({}, "anthropic", "the input has no messages as anthropic writes them"),
        ([], "anthropic", "the input has no messages"),
        ({"messages": []}, "openai-chat", "has no messages"),
        ([{"role": "assistant", "content": "hi"}], None, "has only what the model says"),
        (
            [{"messages": [{"role": "user", "content": "x"}]}, {"model": "m"}],
            "anthropic",
            "request 2 of 2 has no messages",
        ),
        (
            [{"request": {"messages": [{"role": "user", "content": "x"}]}}, {"level": "info"}],
            None,
            "request 2 of 2 has no messages as .* alone or as a member `request` or `body`",
        ),
        ([{"prompt": "go", "completion": "done"}], None, "no wire protocol .members: prompt, completion.; name one"),
        ({"messages": []}, "openai", "unknown protocol 'openai'"),
    ],
)
def test_what_is_no_session_is_refused(value: Any, name: str | None, complaint: str) -> None:
    """The error says what is missing, and where."""
    with pytest.raises(CallerError, match=complaint):
        session_of(value, protocol=name)


@pytest.mark.parametrize("name", sorted(protocols))
def test_a_made_up_session_is_legal(name: str) -> None:
    """In every built-in protocol: each call has its result, and the protocol finds its own."""
    session = generate(4, protocol=name, size=0.1)
    assert session_of(session.requests[-1]).protocol.name in (name, "openai-chat")
    for request in session.requests:
        assert protocols[name].check_pairs(request) == []
    assert len(protocols[name].tool_results(session.requests[-1])) > 4


def test_a_made_up_session_is_the_same_everywhere() -> None:
    """From the same numbers in every version of Python; other numbers make another one."""
    assert blob_id(canonical(generate(3).requests[-1])) == "267d528c27c39bdb504b3e55af015b0f"
    assert generate(3, seed=2).requests != generate(3).requests


@pytest.mark.parametrize(("turns", "name"), [(0, "anthropic"), (-1, "anthropic"), (1, "mcp"), (1, "")])
def test_what_cannot_be_made_up_is_refused(turns: int, name: str) -> None:
    """No turns, or no protocol."""
    with pytest.raises(CallerError):
        generate(turns, protocol=name)
