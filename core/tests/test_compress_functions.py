"""The functions that hold nothing do what the session does."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compress import (
    CompressConfig,
    CompressSession,
    CompressState,
    apply_calls,
    rebuild_state,
    remind,
    render,
    report,
    search_folded,
)
from trimtab.errors import CallerError, CompressFailed
from trimtab.wire import protocols

CONFIG = CompressConfig(window=20_000, growth=500)
SUMMARY = "The files were read; none of them names the parser. " * 3


def history(*last: Any) -> list[Any]:
    """An agent that reads four files, as chat messages; then what is given."""
    messages: list[Any] = [{"role": "user", "content": "Port the parser."}]
    for n in range(4):
        call = {"id": f"r{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{n}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"r{n}", "content": f"file {n}\n" + "value = 1\n" * 400})
    return [*messages, *last]


def call(name: str, arguments: str, call_id: str = "c1") -> Any:
    """An assistant's message with one call."""
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


FOLD = call("compress", '{"content":[{"startId":"m2","endId":"m5","summary":"' + SUMMARY + '"}]}')


def test_they_are_what_the_session_is() -> None:
    """State, turn, what is shown and the report are the same, step by step."""
    messages = history(FOLD)
    session = CompressSession("openai-chat", config=CONFIG, messages=messages)
    done = apply_calls(messages, CONFIG, protocol="openai-chat")
    assert done.turn is not None
    assert session.turn is not None
    assert done.turn.answers == session.turn.answers
    assert done.turn.outcomes[0].ok
    answered = session.messages
    state = rebuild_state(answered, CONFIG, protocol="openai-chat", state=done.state)
    assert state == session.state
    assert render(answered, CONFIG, protocol="openai-chat", state=state) == session.request()
    assert report(answered, CONFIG, protocol="openai-chat", state=state) == session.status
    (hit, *_) = search_folded(answered, "file 1", CONFIG, protocol="openai-chat", state=state, limit=1)
    assert (hit.ref, hit.block) == ("m00005", "b1")


def test_the_state_given_is_never_changed() -> None:
    """A state goes in, another comes out; without anything new it is the same object."""
    messages = history(FOLD)
    before = CompressState()
    after = apply_calls(messages, CONFIG, protocol="openai-chat", state=before).state
    assert before == CompressState()
    assert after.blocks
    assert rebuild_state(messages, CONFIG, protocol="openai-chat", state=after) is after


def test_a_refused_call_changes_no_block_and_can_be_raised() -> None:
    """The failure is an error whose message is the text for the model."""
    done = apply_calls(history(call("compress", '{"content":[]}')), CONFIG, protocol="openai-chat")
    assert done.turn is not None
    (outcome,) = done.turn.outcomes
    assert done.state.blocks == ()
    error = outcome.error
    assert isinstance(error, CompressFailed)
    assert str(error) == outcome.text == done.turn.answers[0].value


def test_a_reminder_is_shown_from_then_on() -> None:
    """Where one is due the state has it, and what is rendered ends with it; a second one does not follow at once."""
    messages = history()
    state = remind(messages, CONFIG, protocol="openai-chat")
    assert len(state.nudges) == 1
    assert "<context-status>" in render(messages, CONFIG, protocol="openai-chat", state=state)[-1]["content"]
    assert remind(messages, CONFIG, protocol="openai-chat", state=state) is state


def test_without_calls_there_is_no_turn() -> None:
    """A history that ends with a result or a prompt has nothing to apply; a request keeps its other members."""
    request = {"model": "m", "messages": history()}
    assert apply_calls(request, CONFIG).turn is None
    rendered = render(request, CompressConfig(tags="none"))
    assert rendered is request


def test_an_unknown_protocol_is_named() -> None:
    """Each of them says which there are."""
    for ask in (apply_calls, render, remind, report):
        with pytest.raises(CallerError, match="unknown protocol 'x'; known: openai-chat"):
            ask([], CONFIG, protocol="x")


@pytest.mark.parametrize("arguments", ['{"content": [', "", "not JSON", '{"content":[]}'])
def test_malformed_calls_are_sent_as_objects(arguments: str) -> None:
    """Functions read a history of the host's own as a session does: the same state, and a request that can be sent."""
    refused = {"role": "tool", "tool_call_id": "c1", "content": "Nothing was changed.\n- no"}
    messages = history({**call("compress", arguments), "content": "I fold."}, refused)
    session = CompressSession("openai-chat", config=CONFIG, messages=messages)
    state = rebuild_state(messages, CONFIG, protocol="openai-chat")
    assert state == session.state
    sent = render(messages, CONFIG, protocol="openai-chat", state=state)
    assert sent == CompressSession("openai-chat", messages=messages).request()
    assert protocols["openai-chat"].with_calls(sent, {}) is sent
