"""The session: an application's loop, its own tools beside ours, streams, restarts in the middle, every protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab._json import canonical
from trimtab.compress import (
    Answer,
    CompressConfig,
    CompressSession,
    rebuild_state,
)
from trimtab.errors import CallerError
from trimtab.testing.replies import FLAVOURS, RESPONSES, STREAMS, Called, Reply, protocol_of
from trimtab.testing.talks import active, begin, call, called, compress, entry, response, talk
from trimtab.types import Json

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


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"window": 0}, "window must be a whole number from 1, not 0"),
        ({"growth": "x"}, "growth must be a whole number from 1, not 'x'"),
        ({"pressure": 75}, "pressure and emergency are shares of the window"),
        ({"tags": "yes"}, "tags must be 'all', 'text' or 'none', not 'yes'"),
        ({"protected_tools": "read"}, "protected_tools are several names, not one text 'read'"),
        ({"search": "compress"}, "the tools need different names"),
        ({"counter": "o200k"}, r"as trimtab\.tokens\.Exact\(\"o200k\"\) is, not 'o200k'"),
    ],
)
def test_a_configuration_that_is_none(config: dict[str, Any], complaint: str) -> None:
    """It is refused where it is made: a text has a `count` of its own, which would count no tokens, silently."""
    with pytest.raises(CallerError, match=complaint):
        CompressConfig(**config)


def test_what_is_given_to_the_wrong_method() -> None:
    """The error names the right one, and nothing has changed."""
    session = CompressSession("openai-chat")
    message: Any = {"role": "user", "content": "Go on."}
    with pytest.raises(CallerError, match="a text, not dict; a whole message goes to `add`"):
        session.say(message)
    reader: Any = message
    with pytest.raises(CallerError, match="dict does not keep the message: pass it whole to `receive`"):
        session.receive_stream(reader)
    with pytest.raises(CallerError, match=r"unknown protocol 'parrot'.* a plugin's is given itself"):
        CompressSession("parrot")
    assert session.messages == []


def test_a_request_with_other_messages_is_refused() -> None:
    """They would be lost; the session's own, given once more, are replaced by what is shown of them."""
    session = CompressSession("openai-chat")
    session.say("go")
    with pytest.raises(CallerError, match="messages of its own"):
        session.request({"model": "m", "messages": [{"role": "system", "content": "Be kind."}]})
    assert session.request({"model": "m", "messages": session.messages})["model"] == "m"


@pytest.mark.parametrize("response", [{"error": {"message": "overloaded"}}, "hello", None, 3])
def test_what_is_no_response_is_refused(response: Any) -> None:
    """An error body is no turn without calls: the loop would end as if all was said."""
    session = CompressSession("openai-chat")
    session.say("go")
    before = session.messages
    with pytest.raises(CallerError, match="no response of openai-chat"):
        session.receive(response)
    assert session.messages == before
