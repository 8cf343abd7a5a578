"""Failures in a row: one count, shorter answers, the newest two in sight, an end to the loop, the host's own form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from trimtab.compress import (
    Answer,
    CompressConfig,
    CompressSession,
    Outcome,
    dump_state,
    load_state,
    rebuild_state,
)
from trimtab.errors import CompressFailed
from trimtab.testing.replies import FLAVOURS, RESPONSES, Called, Reply, protocol_of
from trimtab.testing.talks import (
    SUMMARY,
    active,
    begin,
    call,
    called,
    compress,
    decompress,
    entry,
    response,
    search,
    talk,
)
from trimtab.types import Json
from trimtab.wire import RawCall, protocols

STOP = "STOP: calls have failed 3 times in a row. Go on with the task without compress."


def fail(session: CompressSession, number: int) -> Outcome:
    """A call that is refused, another one for each number."""
    return compress(session, entry(f"m{900 + number}", "m9"))


def sent_ids(session: CompressSession) -> list[str]:
    """Ids of the calls in the next request, in order; each has its result there."""
    sent = session.request()
    assert protocols["openai-chat"].check_pairs(sent) == []
    return [one["id"] for message in sent for one in message.get("tool_calls", ())]


def test_answers_by_count() -> None:
    """Two in full with what to do instead, the third with the cause and an end, later ones short without a cause."""
    session = begin(talk(20))
    texts = [fail(session, number).text for number in range(6)]
    for number in (0, 1):
        assert texts[number].startswith(f"Nothing was changed.\n- entry 0, m{900 + number} to m9: there is no m00")
        assert "Can be compressed now:\n- m00001 to m000" in texts[number]
    assert texts[2].startswith("Nothing was changed.\n- entry 0, m902 to m9: there is no m00902 and never was")
    assert texts[2].endswith(f"\n{STOP}")
    assert "Can be compressed" not in texts[2]
    assert texts[3:] == [
        f"Nothing was changed. Calls have failed {count} times in a row. Go on with the task without compress."
        for count in (4, 5, 6)
    ]


def test_parse_failures_and_refusals_have_one_count() -> None:
    """Whatever the source, the count goes on; the words of each are of its source."""
    session = begin(talk(20))
    refused = fail(session, 0)
    unreadable = call(session, "compress", '{"content": [{"startId": "m1",')
    unopened = decompress(session, "b1")
    assert [one.failures for one in (refused, unreadable, unopened)] == [1, 2, 3]
    assert "there is no m00900" in refused.text
    assert "The arguments of compress end too early" in unreadable.text
    assert "there is no b1 and never was" in unopened.text
    assert unopened.text.endswith("Go on with the task without decompress.")
    assert session.status.failures == 3


@pytest.mark.parametrize("success", [lambda one: compress(one, entry("m11", "m16")), lambda one: decompress(one, "b1")])
def test_a_success_resets_the_count(success: Callable[[CompressSession], Outcome]) -> None:
    """After it the next failure is the first again, answered in full."""
    session = begin(talk(20))
    compress(session, entry("m1", "m6"))
    for number in range(4):
        fail(session, number)
    assert success(session).ok
    assert session.state.failures == 0
    assert fail(session, 0).failures == 1


def test_a_success_beside_a_failure_of_the_same_message_counts_by_order() -> None:
    """The count is that of the calls after the last success."""
    session = begin(talk(40))
    bad, good = {"content": [entry("m900", "m9")]}, {"content": [entry("m1", "m9")]}
    turn = session.receive(response(called("a", "compress", bad), called("b", "compress", good)))
    assert [one.failures for one in turn.outcomes] == [1, 0]
    assert session.state.failures == 0


def test_calls_of_one_message_fail_once() -> None:
    """The model saw no answer between them: each is answered as a first failure, and none is a repeat."""
    session = begin(talk(20))
    bad = {"content": [entry("m900", "m9")]}
    turn = session.receive(response(*[called(f"c{n}", "compress", bad) for n in range(5)]))
    assert [one.failures for one in turn.outcomes] == [1] * 5
    assert not turn.should_stop
    assert len({one.text for one in turn.outcomes}) == 1
    assert session.state.failures == 1


def test_searches_are_not_counted() -> None:
    """Neither a search nor another tool's call resets the count or adds to it."""
    session = begin(talk(20))
    fail(session, 0)
    search(session, {"query": "word"})
    search(session, {})
    assert fail(session, 1).failures == 2


def test_the_count_survives_a_restart_and_a_rebuild() -> None:
    """A model that fails does not begin at the first attempt again because a state was stored or rebuilt."""
    session = begin(talk(20))
    for number in range(3):
        fail(session, number)
    stored = load_state(json.loads(json.dumps(dump_state(session.state))))
    rebuilt = rebuild_state(session.messages, session.config, protocol="openai-chat")
    for state in (stored, rebuilt):
        again = CompressSession("openai-chat", config=session.config, messages=session.messages, state=state)
        assert fail(again, 3).failures == 4


@pytest.mark.parametrize(
    "again",
    [
        '{"content": [{"startId": "m900", "endId": "m9", "summary": "%s"}]}',
        '{"content":[{"endId":"m9","summary":"%s","startId":"m900"}]}',
        '```json\n{"ranges": [{"start_ref": "m900", "end_ref": "m9", "summary": "%s",}]}\n```',
        '{\'content\': \'[{"startId": "m900", "endId": "m9", "summary": "%s"}]\'}',
    ],
)
def test_the_same_failing_call_ends_the_loop(again: str) -> None:
    """However it is spelt the second time."""
    session = begin(talk(20))
    assert not compress(session, entry("m900", "m9")).should_stop
    assert call(session, "compress", again % SUMMARY).should_stop


@pytest.mark.parametrize("arguments", [{}, "", "{", "no call at all", {"range": "all"}, [1]])
def test_the_same_unreadable_call_ends_the_loop(arguments: Json) -> None:
    """Arguments of which nothing can be used are compared, too."""
    session = begin(talk(20))
    assert not call(session, "compress", arguments).should_stop
    assert call(session, "compress", arguments).should_stop


def test_two_failing_calls_in_turn_end_the_loop() -> None:
    """A model that goes to and fro between two calls repeats itself."""
    session = begin(talk(20))
    assert [fail(session, number).should_stop for number in (0, 1, 0)] == [False, False, True]


def test_another_call_is_no_repeat() -> None:
    """Another range, another summary, another tool: each is a new attempt, until there are too many."""
    session = begin(talk(20), stop_after=5)
    stops = [
        compress(session, entry("m900", "m9")).should_stop,
        compress(session, entry("m900", "m9", SUMMARY + "!")).should_stop,
        compress(session, entry("m901", "m9")).should_stop,
        decompress(session, "m900").should_stop,
        decompress(session, "m901").should_stop,
    ]
    assert stops == [False, False, False, False, True]


def test_a_repeat_after_other_work_does_not_end_the_loop() -> None:
    """The same call many turns later is answered as any failure: the model is not caught in it."""
    session = begin(talk(20))
    fail(session, 0)
    session.add(talk(12))
    outcome = fail(session, 0)
    assert (outcome.failures, outcome.should_stop) == (2, False)


def test_a_turn_ends_the_loop_only_if_nothing_succeeded_after() -> None:
    """A repeat before a call that was taken is no reason to stop; after it, it is."""
    bad, good = {"content": [entry("m900", "m9")]}, {"content": [entry("m1", "m9")]}
    for order, stops in (((bad, good), False), ((good, bad), False), ((bad,), True)):
        session = begin(talk(40))
        compress(session, entry("m900", "m9"))
        turn = session.receive(response(*[called(f"c{n}", "compress", one) for n, one in enumerate(order)]))
        assert turn.should_stop is stops


def test_the_newest_two_failed_calls_stay_in_sight() -> None:
    """With their results, so that the model sees what it did; older ones are not sent."""
    session = begin(talk(20))
    ids = []
    for number in range(5):
        ids.append(f"call-{len(session.messages)}")
        fail(session, number)
        assert sent_ids(session) == ids[-2:]


def test_of_calls_that_succeeded_the_newest_stays_in_sight() -> None:
    """An older one has done its work: its block stands there. Failures beside it stay."""
    session = begin(talk(40))
    ids = [f"call-{len(session.messages)}"]
    compress(session, entry("m1", "m6"))
    assert sent_ids(session) == ids
    ids.append(f"call-{len(session.messages)}")
    fail(session, 0)
    ids.append(f"call-{len(session.messages)}")
    compress(session, entry("m7", "m12"))
    assert sent_ids(session) == ids[1:]


def test_calls_beside_another_tools_call_stay_in_sight() -> None:
    """A message is hidden whole or not at all."""
    session = begin(talk(20))
    both = [called("c", "compress", {"content": [entry("m900", "m9")]}), called("r", "read", {})]
    turn = session.receive(response(*both))
    assert [one.name for one in turn.calls] == ["read"]
    session.answer([answer_to(turn.calls[0])])
    assert [one["tool_call_id"] for one in session.messages[-2:]] == ["c", "r"]
    for number in range(4):
        fail(session, number)
    assert sent_ids(session)[:2] == ["c", "r"]


def answer_to(one: RawCall) -> Answer:
    """What a tool returned."""
    return Answer(call_id=one.call_id, name=one.name, value="done")


def test_a_failure_can_be_raised() -> None:
    """For hosts whose tools raise; the message is the text for the model, and a success has no error."""
    session = begin(talk(20))
    outcome = fail(session, 0)
    with pytest.raises(CompressFailed) as caught:
        raise outcome.error or AssertionError
    assert str(caught.value) == outcome.text
    assert compress(session, entry("m1", "m9")).error is None


def result_of(flavour: str, session: CompressSession) -> tuple[str, bool | None]:
    """The newest result's text, and whether the wire says that it is an error; None: it has no place for that."""
    last: Any = session.messages[-1]
    if flavour in ("openai-chat", "vllm"):
        return last["content"], None
    if flavour == "openai-responses":
        return last["output"], None
    if flavour == "anthropic":
        return last["content"][0]["content"], last["content"][0].get("is_error", False)
    if flavour == "gemini":
        ((kind, text),) = last["parts"][0]["functionResponse"]["response"].items()
        return text, kind == "error"
    if flavour == "bedrock":
        result = last["content"][0]["toolResult"]
        return result["content"][0]["text"], result.get("status") == "error"
    if flavour == "ai-sdk":
        output = last["content"][0]["output"]
        return output["value"], output["type"] == "error-text"
    if flavour == "ai-sdk-ui":
        part = last["parts"][-1]
        return part.get("errorText", part.get("output")), part["state"] == "output-error"
    return last["content"], last["is_error"]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_failure_is_a_result_in_the_providers_own_form(flavour: str) -> None:
    """Marked as an error where the wire can say so, and always with the text that says it; a success is not."""
    session = CompressSession(protocol_of(flavour), config=CompressConfig(min_chars=0))
    for number in range(8):
        session.say(f"{number} ".ljust(1_000, "w"))
    for start, failed in (("m900", True), ("m1", False)):
        arguments = {"content": [entry(start, "m2")]}
        reply = Reply(calls=(Called(call_id=f"call-{start}", name="compress", arguments=arguments),))
        turn = session.receive(RESPONSES[flavour](reply))
        text, marked = result_of(flavour, session)
        assert text == turn.outcomes[0].text
        assert text.startswith("Nothing was changed." if failed else "Compressed:")
        assert marked in (None, failed)
        assert protocols[protocol_of(flavour)].check_pairs(session.request()) == []


@pytest.mark.parametrize("prefix", ["", "Error: ", "Tool compress failed with CompressFailed: "])
def test_a_host_that_words_errors_itself_is_replayed_alike(prefix: str) -> None:
    """A refused call stays refused in a rebuild, also with a host's words before its text and other settings now."""
    session = begin(talk(20))
    compress(session, entry("m1", "m2"))
    messages = session.messages
    messages[-1] = {**messages[-1], "content": prefix + messages[-1]["content"]}
    state = rebuild_state(messages, CompressConfig(min_chars=0), protocol="openai-chat")
    assert (state.blocks, state.failures) == ((), 1)


def test_a_call_that_was_taken_in_part_is_replayed_in_part() -> None:
    """Entries that were refused stay refused in a rebuild, whatever the settings are now, however many there were."""
    session = begin(talk(60))
    small = [entry(f"m{number}", f"m{number}", "short") for number in range(40, 55)]
    outcome = compress(session, *small, entry("m1", "m9"), {"endId": "m8"}, entry("m11", "m12", "short"))
    assert len(outcome.refusals) == 16
    state = rebuild_state(session.messages, CompressConfig(min_chars=0, min_summary=1), protocol="openai-chat")
    assert state.blocks == session.state.blocks
    assert active(session) == {"b1": list(range(1, 10))}
