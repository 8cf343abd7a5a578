"""The session: an application's loop, its own tools beside ours, streams, restarts in the middle, every protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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
from trimtab.testing.replies import FLAVOURS, RESPONSES, STREAMS, Called, Reply, protocol_of
from trimtab.testing.talks import active, begin, call, called, compress, entry, read, response, say, shown_texts, talk
from trimtab.types import Json
from trimtab.wire import protocols

GOOD: dict[str, Json] = {"content": [entry("m1", "m6")]}
BAD: dict[str, Json] = {"content": [entry("m900", "m6")]}


def filled(flavour: str, **config: Any) -> CompressSession:
    """A session with twelve messages of the user."""
    session = CompressSession(protocol_of(flavour), config=CompressConfig(min_chars=0, **config))
    for number in range(12):
        session.say(f"{number} ".ljust(1_000, "w"))
    return session


def clean(session: CompressSession) -> None:
    """The history and the next request have no call without its result, nor the reverse."""
    assert session.protocol.check_pairs(session.messages) == []
    assert session.protocol.check_pairs(session.request()) == []


# The loop -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_turn_in_every_protocol(flavour: str) -> None:
    """Ours are answered by the session, the application's by the application, all in the order of the calls."""
    session = filled(flavour)
    calls = (
        Called(call_id="r1", name="read", arguments={"path": "a"}),
        Called(call_id="k1", name="compress", arguments=GOOD),
        Called(call_id="r2", name="read", arguments={"path": "b"}),
        Called(call_id="s1", name="search_context", arguments={"query": "zebra"}),
    )
    turn = session.receive(RESPONSES[flavour](Reply(text="I read.", calls=calls)))
    assert session.turn is turn
    assert turn.waits
    assert not turn.should_stop
    assert [one.name for one in turn.calls] == ["read", "read"]
    assert [one.ok for one in turn.outcomes] == [True]
    assert [one.name for one in turn.answers] == ["compress", "search_context"]
    with pytest.raises(CallerError, match=r"'r1', 'r2' wait for their answers: pass them to `answer` first"):
        session.request()
    session.answer([Answer(call_id=one.call_id, name=one.name, value=f"text of {one.call_id}") for one in turn.calls])
    clean(session)
    results = canonical(session.messages[12:])
    order = [results.index(text) for text in ("text of r1", "Compressed:", "text of r2", "Nothing in the folded")]
    assert order == sorted(order)
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}
    assert "text of r2" in canonical(session.request())
    assert rebuild_state(session.messages, session.config, protocol=session.protocol) == session.state


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_turn_without_calls_ends_the_loop(flavour: str) -> None:
    """The answer joins the history, and nothing waits."""
    session = filled(flavour)
    turn = session.receive(RESPONSES[flavour](Reply(text="All done.")))
    assert (turn.calls, turn.outcomes, turn.answers, turn.waits) == ((), (), (), False)
    session.say("Thanks.")
    assert "All done." in canonical(session.request())
    clean(session)


@pytest.mark.parametrize("flavour", list(STREAMS))
def test_a_stream_gives_the_same_as_a_whole_response(flavour: str) -> None:
    """The same state and the same request, whichever way the answer came."""
    reply = Reply(text="Folding.", calls=(Called(call_id="k1", name="compress", arguments=json.dumps(GOOD)),))
    whole, streamed = filled(flavour), filled(flavour)
    whole.receive(RESPONSES[flavour](reply))
    reader = streamed.protocol.stream()
    for event in STREAMS[flavour](reply):
        reader.feed(event)
    turn = streamed.receive_stream(reader)
    assert [one.ok for one in turn.outcomes] == [True]
    assert active(streamed) == active(whole) == {"b1": [1, 2, 3, 4, 5, 6]}
    clean(streamed)


def test_a_stream_that_breaks_off_gives_what_was_whole() -> None:
    """A cut call is applied as far as its entries are complete, and answered."""
    session = filled("openai-chat")
    text = json.dumps({"content": [entry("m1", "m6"), entry("m7", "m8")]})[:-120]
    reply = Reply(calls=(Called(call_id="k1", name="compress", arguments=text),), cut=True)
    reader = session.protocol.stream()
    for event in STREAMS["openai-chat"](reply):
        reader.feed(event)
    (outcome,) = session.receive_stream(reader).outcomes
    assert outcome.ok
    assert outcome.text.endswith("\nNot compressed:\n- what comes after that: the call breaks off")
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}
    clean(session)


def test_a_decoded_call_that_was_cut_is_not_taken() -> None:
    """Of an object nobody can tell where it was cut: its last summary may be half of one, so none is taken."""
    session = filled("anthropic")
    use = {"type": "tool_use", "id": "k1", "name": "compress", "input": GOOD}
    turn = session.receive({"type": "message", "role": "assistant", "content": [use], "stop_reason": "max_tokens"})
    assert not turn.outcomes[0].ok
    assert "The arguments of compress end too early" in turn.outcomes[0].text
    assert active(session) == {}
    clean(session)


def test_the_request_keeps_what_else_it_says() -> None:
    """Model, tools and system are as given; only the messages are put in."""
    session = begin(talk(12))
    compress(session, entry("m1", "m6"))
    given = {"model": "m", "tools": [*session.tools()], "messages": [], "temperature": 0}
    made = session.request(given)
    assert {**made, "messages": []} == given
    assert made["messages"] == session.request()


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({}, ["compress", "decompress", "search_context"]),
        ({"decompress": "", "search": ""}, ["compress"]),
        ({"compress": ""}, ["decompress", "search_context"]),
        ({"compress": "fold", "decompress": "unfold", "search": "look"}, ["fold", "unfold", "look"]),
    ],
)
def test_the_tools_that_are_offered(config: dict[str, Any], names: list[str]) -> None:
    """By the names of the settings; one without a name is not offered."""
    session = begin([], **config)
    assert [one["function"]["name"] for one in session.tools()] == names


# Names and places of calls --------------------------------------------------------------------------------------------


def test_tools_have_the_names_that_they_are_given() -> None:
    """A tool of the application's that is called `compress` is its own where ours has another name."""
    session = begin(talk(12), compress="fold", decompress="unfold", search="look")
    turn = session.receive(response(called("a", "compress", GOOD), called("b", "fold", GOOD), called("c", "look", {})))
    assert [(one.call_id, one.name) for one in turn.calls] == [("a", "compress")]
    assert [one.ok for one in turn.outcomes] == [True]
    session.answer([Answer(call_id="a", name="compress", value="archive.zip")])
    clean(session)
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}


def test_a_tool_that_is_not_offered_is_the_applications() -> None:
    """Without a name for ours each call is handed out."""
    session = begin(talk(12), compress="", decompress="", search="")
    turn = session.receive(response(*[called(name, name, {}) for name in ("compress", "decompress", "search_context")]))
    assert len(turn.calls) == 3
    assert turn.outcomes == ()


def test_calls_with_one_id_or_none_are_each_answered() -> None:
    """Ids that repeat and ids that are missing: each call has one result, of its own."""
    for ids in (("x", "x", "x"), ("", "", "")):
        session = begin(talk(24), min_chars=0)
        entries = (entry("m1", "m6"), entry("m900", "m8"), entry("m7", "m12"))
        turn = session.receive(
            response(*[called(i, "compress", {"content": [one]}) for i, one in zip(ids, entries, strict=True)])
        )
        assert [one.ok for one in turn.outcomes] == [True, False, True]
        heads = [one["content"].split("\n")[0] for one in session.messages[-3:]]
        assert heads == ["Compressed:", "Nothing was changed.", "Compressed:"]
        clean(session)


def test_a_call_in_words_is_answered_in_words() -> None:
    """A model without the tool writes its call between tags: the answer is a message that says it is no user's."""
    session = begin(talk(12))
    text = f"I fold.\n<acp_compress>{json.dumps(GOOD)}</acp_compress>"
    turn = session.receive(response(text=text))
    assert turn.waits
    assert [one.ok for one in turn.outcomes] == [True]
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}
    last = session.messages[-1]
    assert last["role"] == "user"
    assert last["content"].startswith("<context-status>\nCompressed:\n- b1 stands for m00001 to m00006")
    assert rebuild_state(session.messages, session.config, protocol="openai-chat") == session.state


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "answers to 'r1', 'r2' are wanted, not to none"),
        (["r1"], "answers to 'r1', 'r2' are wanted, not to 'r1'"),
        (["r1", "r2", "r3"], "not to 'r1', 'r2', 'r3'"),
        (["r1", "r1"], "not to 'r1', 'r1'"),
        (["k1", "r1"], "not to 'k1', 'r1'"),
    ],
)
def test_answers_must_be_those_that_are_wanted(given: list[str], said: str) -> None:
    """What is missing and what is too much is named; the turn stays open."""
    session = begin(talk(12))
    calls = [called("r1", "read", {}), called("k1", "compress", GOOD), called("r2", "read", {})]
    turn = session.receive(response(*calls))
    with pytest.raises(CallerError, match=said):
        session.answer([Answer(call_id=one, name="read", value="x") for one in given])
    session.answer([Answer(call_id=one.call_id, name=one.name, value="x") for one in reversed(turn.calls)])
    clean(session)


def test_nothing_goes_on_while_calls_wait() -> None:
    """Neither the user, nor a request, nor another response."""
    session = begin(talk(12))
    session.receive(response(called("r1", "read", {})))
    for act in (lambda: session.say("Hm?"), session.request, lambda: session.receive(response(text="x"))):
        with pytest.raises(CallerError, match="'r1' wait for their answers"):
            act()


def test_answers_that_nobody_asked_for_are_refused() -> None:
    """Before any call, too."""
    session = begin(talk(2))
    with pytest.raises(CallerError, match="answers to no calls are wanted, not to 'x'"):
        session.answer([Answer(call_id="x", name="read", value="x")])


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", ["openai-chat", "openai-responses", "vllm"])
def test_a_malformed_call_is_kept_as_an_object(flavour: str) -> None:
    """Providers refuse malformed arguments in a history: they are an object with the text, the same each time."""
    session = filled(flavour)
    raw = '{"topic":"a","content":['
    turn = session.receive(RESPONSES[flavour](Reply(calls=(Called(call_id="k1", name="compress", arguments=raw),))))
    assert not turn.outcomes[0].ok
    first = canonical(session.messages)
    for past in session.protocol.past_calls(session.messages):
        raw_args = past.call.raw_args
        value = json.loads(raw_args) if isinstance(raw_args, str) else raw_args
        assert value == {"INVALID_JSON": raw}
    session.say("Go on.")
    assert canonical(session.messages).startswith(first[:-1])
    assert rebuild_state(session.messages, session.config, protocol=session.protocol) == session.state


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"content": json.dumps([entry("m1", "m6")])}),
        json.dumps({"content": entry("m1", "m6")}),
        json.dumps(json.dumps(GOOD)),
        f"```json\n{json.dumps(GOOD)}\n```",
        json.dumps(GOOD)[:-1],
        str(GOOD),
        json.dumps({"content": ["m1 - m6 reading\n" + "s" * 100]}),
    ],
)
def test_damaged_calls_are_taken_and_replayed(arguments: str) -> None:
    """However the call was spelt, live and in a rebuild the same block comes of it."""
    session = begin(talk(12))
    assert call(session, "compress", arguments).ok
    state = rebuild_state(session.messages, session.config, protocol="openai-chat")
    assert state == session.state
    assert active(session) == {"b1": [1, 2, 3, 4, 5, 6]}


# Going on -------------------------------------------------------------------------------------------------------------


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


# Changes by clients ---------------------------------------------------------------------------------------------------


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
