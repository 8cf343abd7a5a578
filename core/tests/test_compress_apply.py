"""Ranges become blocks: what is folded, what stays, how blocks are folded again and opened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trimtab.compress import CompressConfig, CompressSession, Outcome
from trimtab.compress.folded import block_text
from trimtab.testing.talks import (
    SUMMARY,
    active,
    begin,
    called,
    compress,
    entry,
    read,
    response,
    say,
    shown_texts,
    talk,
)
from trimtab.types import Json
from trimtab.wire import protocols


def numbers(first: int, last: int) -> list[int]:
    """Numbers of messages, both inclusive."""
    return list(range(first, last + 1))


def reasons(outcome: Outcome) -> list[tuple[int, str]]:
    """Why entries were refused, by entry."""
    return [(one.index, one.reason) for one in outcome.refusals]


def test_a_range_becomes_a_block() -> None:
    """A block stands in the place of its messages, the summary verbatim in it; the others stay, in order."""
    session = begin(talk(20))
    outcome = compress(session, entry("m00003", "m00010", topic="the first half"))
    assert (outcome.ok, outcome.failures, outcome.should_stop, outcome.error) == (True, 0, False, None)
    assert active(session) == {"b1": numbers(3, 10)}
    (block,) = session.state.blocks
    assert (block.tier, block.topic, block.summary, block.blocks, block.chars) == (
        1,
        "the first half",
        SUMMARY,
        (),
        8_000,
    )
    texts = shown_texts(session)
    assert texts[2] == block_text(block)
    assert SUMMARY in texts[2]
    assert [text.split(" w")[0] for text in texts[1:4:2]] == ["assistant 1", "user 10"]
    assert len(texts) == 22 - 8 + 1


def test_the_history_itself_stays_whole() -> None:
    """Nothing of the session's messages is folded: what was there is there, the same objects."""
    messages = talk(20)
    session = begin(messages)
    compress(session, entry("m00001", "m00010"))
    assert all(one is other for one, other in zip(session.messages, messages, strict=False))
    assert len(session.messages) == 22


@pytest.mark.parametrize(
    ("start", "end", "folded"),
    [
        ("m00002", "m00007", numbers(2, 7)),
        ("m2", "M7", numbers(2, 7)),
        ("[m00002]", "`m7`", numbers(2, 7)),
        ("m00001", "m00099999999", None),
        ("m00002", "m00020", numbers(2, 17)),
        ("m00001", "m00001", None),
    ],
)
def test_refs_are_read_as_models_spell_them(start: str, end: str, folded: list[int] | None) -> None:
    """Zeros, case and brackets do not matter; the newest messages stay out of a range that reaches into them."""
    session = begin(talk(20))
    compress(session, entry(start, end))
    assert active(session).get("b1") == folded


def test_the_newest_messages_stay() -> None:
    """With `keep_recent` 4 the call itself is one of four."""
    session = begin(talk(20))
    outcome = compress(session, entry("m00001", "m00021"))
    assert active(session) == {"b1": numbers(1, 17)}
    assert outcome.folds[0].kept == ("m00018", "m00019", "m00020", "m00021")
    assert "m00018, m00019, m00020, m00021" in outcome.text


def test_without_newest_messages_the_prompt_and_the_answer_stay() -> None:
    """With `keep_recent` 0 the last request of the user and what follows it of the answer's own message stays."""
    session = begin([*talk(20), say("user", 21)], keep_recent=0)
    outcome = compress(session, entry("m00001", "m00022"))
    assert active(session) == {"b1": numbers(1, 20)}
    assert outcome.folds[0].kept == ("m00021", "m00022")


def test_work_after_the_last_prompt_can_be_folded() -> None:
    """Of a long run of tool calls after one request all but the newest can be folded, the request not."""
    messages = [say("user", 0), *(one for n in range(10) for one in read(f"c{n}"))]
    session = begin(messages)
    compress(session, entry("m00001", "m00021"))
    # The call (m22) and the three before it; m19 is the result of m18.
    assert active(session) == {"b1": numbers(2, 17)}


def test_the_first_prompt_can_be_kept() -> None:
    """With `keep_first_prompt` it stays visible before the block."""
    session = begin(talk(20), keep_first_prompt=True)
    compress(session, entry("m00001", "m00010"))
    assert active(session) == {"b1": numbers(2, 10)}
    assert shown_texts(session)[0].startswith("user 0 ")
    assert "m00001 is protected" in compress(session, entry("m00001", "m00001")).text


def test_calls_of_protected_tools_stay_with_their_results() -> None:
    """They stay visible in the middle of a range, behind the block; the rest of the range is folded."""
    messages = [*talk(8), *read("p1", tool="plan"), *talk(8)]
    session = begin(messages, protected_tools=["plan"])
    outcome = compress(session, entry("m00001", "m00014"))
    assert active(session) == {"b1": [*numbers(1, 8), *numbers(11, 14)]}
    assert outcome.folds[0].kept == ("m00009", "m00010")
    sent = session.request()
    assert [one["role"] for one in sent[:3]] == ["user", "assistant", "tool"]
    assert "m00001 to m00008, m00011 to m00014" in outcome.text


def test_a_range_of_protected_messages_alone_is_refused_with_that_cause() -> None:
    """The true cause is said."""
    session = begin([*talk(8), *read("p1", tool="plan"), *talk(8)], protected_tools=["plan"])
    outcome = compress(session, entry("m00009", "m00010"))
    assert reasons(outcome) == [(0, "held")]
    assert "m00009 is protected" in outcome.text


@pytest.mark.parametrize(
    ("start", "end", "folded"), [(3, 9, numbers(3, 8)), (4, 10, numbers(5, 10)), (4, 9, numbers(5, 8))]
)
def test_half_of_a_call_and_its_result_stays(start: int, end: int, folded: list[int]) -> None:
    """A range whose edge lies between a call and its result leaves that half visible, and the pair whole."""
    messages = [*talk(2), *(one for n in range(6) for one in read(f"c{n}", 3_000)), *talk(4)]
    session = begin(messages)
    outcome = compress(session, entry(f"m{start}", f"m{end}"))
    assert active(session) == {"b1": folded}
    assert {f"m{number:05}" for number in numbers(start, end)} - {f"m{n:05}" for n in folded} == set(
        outcome.folds[0].kept
    )
    assert protocols["openai-chat"].check_pairs(session.request()) == []


def test_half_of_a_pair_alone_names_the_other_half() -> None:
    """A range of a result alone is refused, and says which message belongs to it."""
    session = begin([*talk(2), *read("c1", 9_000), *talk(6)])
    outcome = compress(session, entry("m00004", "m00004"))
    assert "m00004 belongs together with m00003, which is outside of the range" in outcome.text


def test_parallel_calls_are_folded_with_all_their_results() -> None:
    """A message with three calls goes with its three results or not at all."""
    message = {"role": "assistant", "content": None, "tool_calls": [called(f"c{n}", "read", {}) for n in range(3)]}
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": "r" * 3_000} for n in range(3)]
    session = begin([*talk(2, 3_000), message, *results, *talk(6)])
    compress(session, entry("m00001", "m00005"))
    assert active(session) == {"b1": [1, 2]}
    outcome = compress(session, entry("m00003", "m00006"))
    assert active(session) == {"b1": [1, 2], "b2": [3, 4, 5, 6]}
    assert outcome.ok


def responses_session(**config: Any) -> CompressSession:
    """A session of OpenAI's Responses: reasoning is an item of its own before the call that it led to."""
    items: list[Json] = []
    for number in range(8):
        items += [
            {"role": "user", "content": "u" * 500},
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "g" * 10},
            {"type": "function_call", "id": f"fc_{number}", "call_id": f"c{number}", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{number}", "output": "o" * 2_000},
        ]
    return CompressSession("openai-responses", config=CompressConfig(**config), messages=items)


def items_call(session: CompressSession, *entries: Json) -> Outcome:
    """A compress call as an item of a response."""
    arguments = json.dumps({"content": list(entries)})
    item = {"type": "function_call", "call_id": f"k{len(session.messages)}", "name": "compress", "arguments": arguments}
    return session.receive({"object": "response", "output": [item]}).outcomes[0]


@pytest.mark.parametrize(
    ("start", "end", "folded"),
    [(1, 12, numbers(1, 12)), (3, 12, numbers(5, 12)), (1, 10, numbers(1, 9)), (2, 14, numbers(2, 13))],
)
def test_reasoning_goes_with_the_call_that_it_led_to(start: int, end: int, folded: list[int]) -> None:
    """Reasoning, its call and the result are folded together, where an edge cuts through them they all stay."""
    session = responses_session()
    items_call(session, entry(f"m{start}", f"m{end}"))
    assert active(session) == {"b1": folded}
    sent = session.request()
    assert protocols["openai-responses"].check_pairs(sent) == []
    kinds = [one.get("type", "message") for one in sent]
    assert all(kinds[at + 1] == "function_call" for at, kind in enumerate(kinds) if kind == "reasoning")


def test_thinking_in_a_message_goes_with_it() -> None:
    """Anthropic's thinking is a block of its message: it is folded with it, and never left alone."""
    messages: list[Json] = []
    for number in range(8):
        messages += [
            {"role": "user", "content": "u" * 500},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm\n\n", "signature": "c2ln"},
                    {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "o" * 2_000}]},
        ]
    session = CompressSession("anthropic", messages=messages)
    use = {"type": "tool_use", "id": "k", "name": "compress", "input": {"content": [entry("m00002", "m00011")]}}
    session.receive({"type": "message", "role": "assistant", "content": [use], "stop_reason": "tool_use"})
    assert active(session) == {"b1": numbers(2, 10)}
    sent = session.request()
    assert protocols["anthropic"].check_pairs(sent) == []
    # What is not folded is sent as it was, the newlines that its signature covers too.
    assert sent[2]["content"][0] is messages[10]["content"][0]


def test_several_ranges_become_several_blocks_in_their_order() -> None:
    """Blocks are numbered by place, whatever the order of the entries."""
    session = begin(talk(30))
    outcome = compress(session, entry("m00013", "m00018"), entry("m00001", "m00006"))
    assert outcome.ok
    assert active(session) == {"b1": numbers(1, 6), "b2": numbers(13, 18)}


def test_of_ranges_that_overlap_the_earlier_one_counts() -> None:
    """The later one is refused and named; the rest of the call is applied."""
    session = begin(talk(40))
    outcome = compress(session, entry("m4", "m9"), entry("m1", "m6"), entry("m11", "m12"))
    assert active(session) == {"b1": numbers(1, 6), "b2": numbers(11, 12)}
    assert reasons(outcome) == [(0, "overlap")]
    assert "entry 0, m4 to m9: it overlaps entry 1, m1 to m6" in outcome.text


def test_a_range_that_is_refused_overlaps_nothing() -> None:
    """An earlier range with a summary that cannot be taken does not take its messages from a later one."""
    session = begin(talk(40))
    outcome = compress(session, entry("m1", "m9", "short"), entry("m4", "m12"))
    assert active(session) == {"b1": numbers(4, 12)}
    assert reasons(outcome) == [(0, "summary-too-short")]


def test_the_same_range_twice_in_a_call_is_one() -> None:
    """Of two equal entries the first counts."""
    session = begin(talk(40))
    outcome = compress(session, entry("m1", "m9"), entry("m1", "m9"))
    assert active(session) == {"b1": numbers(1, 9)}
    assert reasons(outcome) == [(1, "overlap")]


def test_several_calls_in_one_message_are_applied_in_turn() -> None:
    """Each gets its own result; a later one sees what an earlier one has done."""
    session = begin(talk(40))
    turn = session.receive(
        response(
            called("one", "compress", {"content": [entry("m1", "m9")]}),
            called("two", "compress", {"content": [entry("m5", "m12")]}),
            called("three", "compress", {"content": [entry("m10", "m16")]}),
        )
    )
    assert [one.ok for one in turn.outcomes] == [True, False, True]
    assert reasons(turn.outcomes[1]) == [(0, "folded-ref")]
    assert active(session) == {"b1": numbers(1, 9), "b2": numbers(10, 16)}
    assert [one["tool_call_id"] for one in session.messages[-3:]] == ["one", "two", "three"]


def test_entries_are_counted_as_in_the_reasons_of_unusable_ones() -> None:
    """A refused entry after two unusable ones has its own number, so that no two entries have the same."""
    session = begin(talk(40))
    outcome = compress(session, {"endId": "m3"}, entry("m1", "m9"), 7, entry("m88", "m9"), entry("m2", "m4"))
    assert reasons(outcome) == [(3, "unknown-ref"), (4, "overlap")]
    numbered = [line.split(",")[0].split(":")[0] for line in outcome.text.split("\n") if line.startswith("- entry")]
    assert numbered == ["- entry 3", "- entry 4", "- entry 0", "- entry 2"]


def test_refs_go_by_place_not_by_number() -> None:
    """Where messages stand in another order than their numbers, a range is what lies between its ends."""
    first, second = talk(12), talk(24)[12:]
    session = begin(first)
    session.sync([*second, *first])
    outcome = compress(session, entry("m00020", "m00003"))
    assert active(session) == {"b1": [20, 21, 22, 23, 24, 1, 2, 3]}
    assert outcome.ok
    assert reasons(compress(session, entry("m00004", "m00013"))) == [(0, "reversed")]
