"""A session goes on: after a restart, in the middle of a turn, with a client that changes the history."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from attrs import evolve

from trimtab._json import canonical
from trimtab.compress import (
    Answer,
    CompressConfig,
    CompressSession,
    Turn,
    dump_state,
    load_state,
    rebuild_state,
)
from trimtab.errors import CallerError
from trimtab.testing.replies import FLAVOURS, RESPONSES, Called, Reply, protocol_of
from trimtab.testing.talks import active, begin, called, compress, entry, read, response, say, shown_texts, talk
from trimtab.types import Json
from trimtab.wire import protocols

GOOD: dict[str, Json] = {"content": [entry("m1", "m6")]}
BAD: dict[str, Json] = {"content": [entry("m900", "m6")]}


def filled(flavour: str) -> CompressSession:
    """A session with twelve messages of the user."""
    session = CompressSession(protocol_of(flavour), config=CompressConfig(min_chars=0))
    for number in range(12):
        session.say(f"{number} ".ljust(1_000, "w"))
    return session


def clean(session: CompressSession) -> None:
    """The history and the next request have no call without its result, nor the reverse."""
    assert session.protocol.check_pairs(session.messages) == []
    assert session.protocol.check_pairs(session.request()) == []


def again(session: CompressSession, *, state: bool) -> CompressSession:
    """The same conversation after a restart, with its stored state or without."""
    stored = load_state(json.loads(json.dumps(dump_state(session.state)))) if state else None
    messages = json.loads(json.dumps(session.messages))
    return CompressSession(session.protocol, config=session.config, messages=messages, state=stored)


@pytest.mark.parametrize("state", [True, False])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_restart_goes_on_where_it_was(flavour: str, state: bool) -> None:
    """From the stored state, or from the messages alone: the same request, byte for byte."""
    session = filled(flavour)
    for number, arguments in enumerate((GOOD, BAD, {"content": [entry("b1", "m8")]})):
        calls = (Called(call_id=f"k{number}", name="compress", arguments=arguments),)
        session.receive(RESPONSES[flavour](Reply(calls=calls)))
    other = again(session, state=state)
    assert other.state == session.state
    assert canonical(other.request()) == canonical(session.request())
    assert active(other) == {"b2": [1, 2, 3, 4, 5, 6, 7, 8]}


@pytest.mark.parametrize("state", [True, False])
def test_a_restart_in_the_middle_of_a_turn(state: bool) -> None:
    """Calls that wait are there again, ours are not applied twice, and the answers join as they would have."""
    session = begin(talk(12))
    session.receive(response(called("r1", "read", {}), called("k1", "compress", GOOD)))
    other = again(session, state=state)
    assert other.turn is not None
    assert [one.call_id for one in other.turn.calls] == ["r1"]
    assert active(other) == {"b1": [1, 2, 3, 4, 5, 6]}
    other.answer([Answer(call_id="r1", name="read", value="text")])
    assert [one["tool_call_id"] for one in other.messages[-2:]] == ["r1", "k1"]
    assert other.messages[-1]["content"].startswith("Compressed:")
    clean(other)


def test_a_history_that_the_application_keeps() -> None:
    """`sync` answers the calls at its end once; the application says the texts in its own form."""
    session = begin(talk(12))
    message = {"role": "assistant", "content": None, "tool_calls": [called("k1", "compress", GOOD)]}
    history = [*talk(12), message]
    turn = session.sync(history)
    assert isinstance(turn, Turn)
    assert [one.ok for one in turn.outcomes] == [True]
    history.append({"role": "tool", "tool_call_id": "k1", "content": turn.outcomes[0].text})
    assert session.sync(history) is None
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}
    assert len(session.state.marks) == 1
    clean(session)


def test_a_history_of_a_host_that_raises() -> None:
    """A failed call whose answer the host words itself counts once."""
    session = begin(talk(12))
    message = {"role": "assistant", "content": None, "tool_calls": [called("k1", "compress", BAD)]}
    turn = session.sync([*talk(12), message])
    assert turn is not None
    error = turn.outcomes[0].error
    assert error is not None
    said = {"role": "tool", "tool_call_id": "k1", "content": f"Tool failed. CompressFailed: {error}"}
    session.sync([*talk(12), message, said])
    assert session.state.failures == 1
    assert rebuild_state(session.messages, session.config, protocol="openai-chat") == session.state


def test_the_status_says_what_is_folded_saved_and_pending() -> None:
    """Counts of messages and tokens, the blocks in order, what can be folded now."""
    session = begin([{"role": "system", "content": "Be brief."}, *talk(30)])
    before = session.status
    assert (before.messages, before.folded, before.blocks, before.saved, before.failures) == (30, 0, (), 0, 0)
    assert before.tokens == before.shown == sum(one.tokens for one in session.state.seen)
    compress(session, entry("m11", "m16"), entry("m1", "m6"))
    compress(session, entry("m900", "m6"))
    after = session.status
    assert (after.messages, after.folded, after.failures, after.reminders) == (34, 12, 1, 0)
    assert [block.ref for block in after.blocks] == ["b1", "b2"]
    assert after.saved == after.tokens - after.shown > 0
    assert [(one.start_ref, one.end_ref) for one in after.pending] == [("m00017", "m00028")]


def test_a_protocol_without_conversations_is_refused() -> None:
    """An unknown name, with the known ones."""
    with pytest.raises(CallerError, match="unknown protocol 'smoke-signals'; known: "):
        CompressSession("smoke-signals")
    assert "openai-chat" in protocols


def test_an_empty_conversation() -> None:
    """Nothing to send, nothing to list; a call in it is refused for its refs."""
    session = begin([])
    assert session.request() == []
    assert session.status.messages == 0
    outcome = compress(session, entry("m1", "m6"))
    assert "there is no m00006 and never was: the newest message is m00001" in outcome.text
    assert outcome.text.endswith("Nothing can be compressed now: go on with the task.")
    session.add([say("user", 1), *read("c1")])
    clean(session)


def test_a_number_is_given_once() -> None:
    """Messages that come after others were dropped get new numbers; the number of a dropped one leads nowhere."""
    messages = talk(20)
    session = begin(messages)
    session.sync(messages[10:])
    session.add([say("user", 50), say("assistant", 51)])
    assert [one.number for one in session.state.seen] == list(range(11, 23))
    assert [one.reason for one in compress(session, entry("m3", "m16")).refusals] == ["gone-ref"]


def test_numbers_go_on_beyond_five_digits() -> None:
    """After m99999 comes m100000: the space is wider, and no number comes back."""
    session = begin(talk(6))
    state = evolve(session.state, issued=99_998)
    session = CompressSession("openai-chat", messages=session.messages, state=state)
    session.add(talk(30, 900)[6:])
    refs = [one.ref for one in session.state.seen]
    assert refs[6:9] == ["m99999", "m100000", "m100001"]
    assert compress(session, entry("m99999", "m100010")).ok
    assert active(session) == {"b1": list(range(99_999, 100_011))}
    assert shown_texts(session)[6].startswith("<folded b1: messages m99999 to m100010>")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"{text} \n",
        lambda text: text.replace("user", "User"),
        lambda text: text[:-3],
        lambda text: text,
    ],
)
def test_blocks_survive_a_client_that_changes_texts_a_little(change: Callable[[str], str]) -> None:
    """A resumed session trims, spells or pads texts otherwise: by place messages are the same, and so are blocks."""
    session = begin(talk(20))
    compress(session, entry("m3", "m10"))
    changed = [{**one, "content": change(one["content"])} for one in talk(20)] + session.messages[20:]
    other = CompressSession("openai-chat", config=session.config, messages=changed, state=session.state)
    assert [one.ref for one in other.state.seen] == [one.ref for one in session.state.seen]
    assert active(other) == {"b1": list(range(3, 11))}
    assert len(other.request()) == len(session.request())


@pytest.mark.parametrize("others", [True, False])
def test_the_same_history_once_more_is_the_same_turn(others: bool) -> None:
    """A host that asks twice gets the same answers, not a second turn; with one message more it is looked at anew."""
    calls = [called("k", "compress", GOOD), *([called("r", "read", {})] if others else [])]
    messages = [*talk(12), {"role": "assistant", "content": None, "tool_calls": calls}]
    session = begin([], min_chars=0)
    turn = session.sync(messages)
    assert turn is not None
    assert [one.ok for one in turn.outcomes] == [True]
    assert session.sync(list(messages)) is turn
    results = [{"role": "tool", "tool_call_id": one["id"], "content": turn.answers[0].value} for one in calls]
    assert session.sync([*messages, *results]) is None
    assert session.sync([]) is None
    assert session.messages == []
