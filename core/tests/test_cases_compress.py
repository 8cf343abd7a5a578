"""Reported faults of compaction that speak of compress calls: each case as it was reported, played here."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from attrs import evolve

from trimtab._json import canonical
from trimtab.compress import CompressConfig, CompressSession, compress_tools, rebuild_state
from trimtab.compress.apply import fold_ranges
from trimtab.compress.arguments.results import CompressRange
from trimtab.compress.board import Board
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.observe import observe
from trimtab.compress.shown import shown
from trimtab.compress.state import CompressState
from trimtab.testing.replies import FLAVOURS, RESPONSES, Called, Reply, protocol_of
from trimtab.testing.talks import (
    SUMMARY,
    active,
    begin,
    board_of,
    call,
    compress,
    entry,
    say,
    shown_texts,
    talk,
)
from trimtab.wire import protocols
from trimtab.wire.lookup import shape_of

CASES = "field-reports.jsonl"


def numbers(first: str, last: str) -> list[int]:
    """Numbers of messages from one ref to another."""
    return list(range(int(first[1:]), int(last[1:]) + 1))


@pytest.mark.cases(CASES, area="compaction", id=("C-01", "C-02", "C-04"))
def test_no_range_cuts_a_call_from_its_result(case: dict[str, Any]) -> None:
    """Whatever range of the history is folded: calls and results stay together, the first message is the user's."""
    messages, shape = case["input"]["messages"], shape_of("anthropic", None)
    config = CompressConfig(keep_recent=0)
    now = Conversation.read(shape, messages)
    state = observe(CompressState(), now, config)
    for first in range(1, len(messages) + 1):
        for last in range(first, len(messages) + 1):
            board = Board(state, now, config)
            asked = CompressRange(start_ref=f"m{first}", end_ref=f"m{last}", summary=SUMMARY)
            fold_ranges(board, [asked], made_by=len(messages), upto=len(messages), trusted=True)
            sent = shown(state, now, config, board)
            assert protocols["anthropic"].check_pairs(sent) == []
            assert sent[0]["role"] == "user"
            assert all(one["content"] for one in sent)


@pytest.mark.cases(CASES, area="compaction", id="C-06")
def test_overlapping_ranges(case: dict[str, Any]) -> None:
    """The earlier range is applied, the later one is named as skipped, the rest of the call goes on."""
    given, expect = case["input"], case["expect"]
    session = begin(talk(len(given["ids"]) + 8))
    outcome = compress(session, *[entry(one["startId"], one["endId"]) for one in given["ranges"]])
    assert list(active(session).values()) == [numbers(*one) for one in expect["applied"]]
    assert [[one.start_ref, one.end_ref] for one in outcome.refusals] == expect["skipped"]
    for start, end in expect["skipped"]:
        assert f"{start} to {end}: it overlaps" in outcome.text


@pytest.mark.cases(CASES, area="compaction", id="C-08")
def test_refs_from_before_the_host_dropped_messages(case: dict[str, Any]) -> None:
    """They are told from refs that never were, and the answer lists what can be named."""
    given = case["input"]
    first = int(given["ids"][0][1:])
    messages = talk(first - 1 + len(given["ids"]) + 8)
    session = begin(messages)
    session.sync(messages[first - 1 :])
    asked = given["ranges"][0]
    outcome = compress(session, entry(asked["startId"], asked["endId"]))
    assert active(session) == {}
    assert "was a message earlier, but it is gone" in outcome.text
    assert f"- m{first:05} to m" in outcome.text
    never = compress(session, entry("m700", "m701"))
    assert "there is no m00700 and never was" in never.text
    assert {one.reason for one in never.refusals}.isdisjoint(one.reason for one in outcome.refusals)


@pytest.mark.cases(CASES, area="compaction", id="C-09")
def test_refs_in_another_order_than_messages(case: dict[str, Any]) -> None:
    """A range is what stands between its ends."""
    given, expect = case["input"], case["expect"]
    order = [int(ref[1:]) for ref in given["message_order"]]
    messages = talk(len(order), 6_000)
    seen = begin(messages).state.seen
    state = CompressState(
        seen=tuple([evolve(one, number=number) for one, number in zip(seen, order, strict=True)]), issued=max(order)
    )
    session = CompressSession("openai-chat", config=CompressConfig(), messages=messages, state=state)
    session.add(talk(4, 10))
    outcome = compress(session, *[entry(one["startId"], one["endId"]) for one in given["ranges"]])
    assert outcome.ok
    assert list(active(session).values()) == [[int(ref[1:]) for ref in one] for one in expect["applied"]]


@pytest.mark.cases(CASES, area="compaction", id="C-10")
def test_chained_folds_do_not_grow(case: dict[str, Any]) -> None:
    """After three folds over each other the history is not longer than after the first, but for live blocks."""
    assert case["input"]["script"].count("->") == 3
    session = begin([*talk(14, 2_000), *talk(6, 10)])
    lengths = []
    for number, (start, end) in enumerate([("m1", "m5"), ("b1", "m9"), ("b2", "m14")]):
        assert compress(session, entry(start, end, f"{number}" * 200)).ok
        lengths.append(sum(map(len, shown_texts(session))))
    assert lengths[2] <= lengths[0] + 200
    assert "0" * 200 not in canonical(session.request()[:2])


@pytest.mark.cases(CASES, area="compaction", id="C-12")
def test_thinking_is_not_trimmed(case: dict[str, Any]) -> None:
    """A message with signed thinking is sent as it came, newlines at its end too."""
    messages = [{"role": "user", "content": "go"}, *case["input"]["messages"]]
    session = CompressSession("anthropic", messages=messages)
    assert session.request()[1] is messages[1]
    assert session.request()[1]["content"][0]["thinking"].endswith("\n\n")


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.cases(CASES, area="compaction", id="C-17")
def test_a_malformed_call_does_not_poison_the_history(case: dict[str, Any], flavour: str) -> None:
    """It is an object in every later request, the same each time; the text stays in the outcome."""
    raw = case["input"]["raw_args"]
    session = CompressSession(protocol_of(flavour))
    session.say("Go.")
    turn = session.receive(RESPONSES[flavour](Reply(calls=(Called(call_id="k1", name="compress", arguments=raw),))))
    assert not turn.outcomes[0].ok
    before = canonical(session.request()[:2])
    for past in session.protocol.past_calls(session.request()):
        value = past.call.raw_args
        assert isinstance(json.loads(value) if isinstance(value, str) else value, dict)
    session.say("Go on.")
    assert canonical(session.request()[:2]) == before
    parsed = turn.outcomes[0].parsed
    assert parsed is not None
    assert parsed.diagnostics.raw_prefix in (raw, None)  # a wire with objects carries no text


@pytest.mark.cases(CASES, area="compaction", id="C-24")
def test_a_summary_is_a_record(case: dict[str, Any]) -> None:
    """It stands in delimiters, below a sentence that says what it is; the same range is not folded twice."""
    summary = case["input"]["summary"]
    session = begin(talk(20))
    assert compress(session, entry("m1", "m10", summary)).ok
    text = shown_texts(session)[0]
    assert text.startswith("<folded b1: ")
    assert text.endswith(f"not a new request.\n{summary}\n</folded b1>")
    outcome = compress(session, entry("m1", "m10", summary))
    assert not outcome.ok
    assert "all of it is folded in b1 already" in outcome.text
    assert len(session.state.blocks) == 1


@pytest.mark.cases(CASES, area="compaction", id="C-26")
def test_what_cannot_shrink_is_not_asked_for(case: dict[str, Any]) -> None:
    """With a kept first message that is over the limit alone nothing is urged on any turn, and a call is sent away."""
    assert "always kept" in case["input"]["script"]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}
    first = {"role": "user", "content": [{"type": "text", "text": "w" * 9_000}, image]}
    session = begin([first], window=1_000, growth=10, keep_first_prompt=True)
    for number in range(10):
        session.add([say("assistant", number, 40), say("user", number, 40)])
        session.request(tokens=5_000)
    assert session.state.nudges == ()
    outcome = compress(session, entry("m1", "m15"))
    assert outcome.text.endswith("go on with the task, and call compress again much later.")
    assert not outcome.should_stop
    assert compress(session, entry("m1", "m15")).should_stop


@pytest.mark.cases(CASES, area="compaction", id="C-27")
def test_examples_name_what_is_there(case: dict[str, Any]) -> None:
    """Every text of ours that shows a call shows refs of this conversation, the start before the end."""
    assert case["input"]["script"]
    messages = talk(40)
    session = begin(messages, window=50_000, growth=1_000)
    session.sync(messages[10:])
    session.request(tokens=40_000)
    texts = [session.state.nudges[0].text, call(session, "compress", {"what": "all"}).text]
    places = board_of(session).place
    for text in texts:
        found = re.findall('"startId": "m([0-9]+)", "endId": "m([0-9]+)"', text)
        assert len(found) == 1
        for start, end in found:
            assert places[int(start)] < places[int(end)]
        assert {int(number) for number in re.findall("m([0-9]{5})", text)} <= set(places)
    # Definitions show none: they are there before any message is.
    assert not re.search("[mb][0-9]+\\b", canonical(compress_tools("openai-chat")))
    assert rebuild_state(session.messages, session.config, protocol="openai-chat").failures == 1
