"""Refs: given in order, kept through what clients do to a history, given anew only where nothing can name them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from attrs import evolve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from trimtab.compress import CompressConfig, CompressSession, CompressState, dump_state, load_state, rebuild_state
from trimtab.compress.refs.alignment import align, hideables
from trimtab.compress.refs.conversation import Conversation
from trimtab.compress.refs.identity import key_of
from trimtab.compress.refs.observe import observe
from trimtab.compress.refs.written import Ref, parse_ref
from trimtab.testing.conversations import WRITERS, Turn, conversations
from trimtab.types import Json
from trimtab.wire import protocols
from trimtab.wire.lookup import shape_of

CONFIG = CompressConfig(min_chars=0, min_summary=1, keep_recent=0)
SHAPE = shape_of("openai-chat", None)
SOME = settings(max_examples=60, deadline=None)


def said(*words: str) -> list[Json]:
    """Messages of the user and the assistant in turn."""
    return [{"role": "assistant" if at % 2 else "user", "content": word} for at, word in enumerate(words)]


def read(messages: Sequence[Json]) -> Conversation:
    """What is seen of a history."""
    return Conversation.read(SHAPE, list(messages))


def seen(*histories: Sequence[Json]) -> CompressState:
    """The state after each of these histories was seen, one after the other."""
    state = CompressState()
    for messages in histories:
        state = observe(state, read(messages), CONFIG)
    return state


def numbers(state: CompressState) -> list[int]:
    """Those of the messages, in order."""
    return [one.number for one in state.seen]


def called(name: str, arguments: Json, result: str, call_id: str = "c") -> list[Json]:
    """A call and its result."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def folds(first: str, last: str, summary: str = "What was said between these messages.") -> list[Json]:
    """A compress call that was taken."""
    entry = {"startId": first, "endId": last, "summary": summary}
    return called("compress", {"content": [entry]}, "Compressed:\n- b1 stands for them")


LONG = [f"message {at}: {'x' * 300} {at}" for at in range(12)]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("m00012", Ref("m", 12)),
        ("m12", Ref("m", 12)),
        ("M0012", Ref("m", 12)),
        ("[m00012]", Ref("m", 12)),
        (" `b3` ", Ref("b", 3)),
        ("<B003>", Ref("b", 3)),
        ("#m 7", Ref("m", 7)),
        ("m_7", Ref("m", 7)),
        ("m100000", Ref("m", 100_000)),
        ("m00000", Ref("m", 0)),
        ("m", None),
        ("12", None),
        ("", None),
        ("m12 to m13", None),
        ("m-12", Ref("m", 12)),
        ("message 12", None),
        ("m1234567890123456", None),
        ("m٣", None),
        ("m12\n", None),
    ],
)
def test_a_ref_is_read_however_it_is_spelt(text: str, ref: Ref | None) -> None:
    """Zeros, case, brackets and blanks count for nothing; digits are ASCII, and a number ends somewhere."""
    assert parse_ref(text) == ref


def test_numbers_are_given_in_order() -> None:
    """The first message is m00001; a system's message has none; what is new gets the next number."""
    messages = [{"role": "system", "content": "Be brief."}, *said("a", "b", "c")]
    state = seen(messages)
    assert [one.ref for one in state.seen] == ["m00001", "m00002", "m00003"]
    assert numbers(seen(messages, [*messages, *said("d")])) == [1, 2, 3, 4]


def test_nothing_new_gives_the_same_object() -> None:
    """A history that says the same leaves the state as it is."""
    state = seen(said(*LONG))
    assert observe(state, read(said(*LONG)), CONFIG) is state


@pytest.mark.parametrize("name", sorted(protocols))
@given(turns=conversations(ids=True))
@SOME
def test_what_clients_add_and_drop_counts_for_nothing(name: str, turns: list[Turn]) -> None:
    """Other ids, cache points and white space around texts leave a message what it was, on every wire."""
    assume(not any("id-" in json.dumps([call.arguments, call.output]) for turn in turns for call in turn.calls))
    shape = shape_of(name, None)
    natives = list(shape.place(WRITERS[name](turns))[1])
    text = json.dumps(natives).replace('"id-', '"another-')
    if name != "bedrock":  # a result that is JSON is there no text
        text = text.replace('"line of an', '"  line of an')
    changed = [{**one, "cache_control": {"type": "ephemeral"}} if name != "gemini" else one for one in json.loads(text)]
    keys = [key_of(row, shape.grows) for row in shape.read(natives)]
    assert [key_of(row, shape.grows) for row in shape.read(changed)] == keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"n": 2.0, "m": [1.0, 0.5]}', '{"n": 2, "m": [1, 0.5]}'),
        ('{"n": 1E2}', '{"n":100}'),
        ('{"a": "\\u00e9"}', '{"a": "é"}'),
        ('{"b": 1, "a": 2}', '{"b": 1, "a": 2} '),
        ("{broken", '{"INVALID_JSON": "{broken"}'),
    ],
)
def test_another_spelling_of_arguments_is_the_same_call(one: str, other: str) -> None:
    """Clients that read arguments and write them again change numbers, escapes and blanks."""
    rows = [SHAPE.read(called("read", {}, "x"))[0].native for _ in range(2)]
    for native, spelt in zip(rows, (one, other), strict=True):
        native["tool_calls"][0]["function"]["arguments"] = spelt
    first, second = SHAPE.read(rows)
    assert key_of(first) == key_of(second)


@given(st.lists(st.text(st.sampled_from("ab \n"), max_size=4), min_size=2, max_size=2))
@SOME
def test_different_texts_are_different_messages(texts: list[str]) -> None:
    """Keys are equal only where texts are, but for white space around; and whose it is counts."""
    left, right = [key_of(row) for row in SHAPE.read([{"role": "user", "content": text} for text in texts])]
    assert (left == right) == (texts[0].strip(" \n") == texts[1].strip(" \n"))
    other = SHAPE.read([{"role": "assistant", "content": texts[0]}])[0]
    assert key_of(other) != left


def edited(messages: list[Json], at: int, change: Callable[[str], str]) -> list[Json]:
    """The history with one text changed."""
    return [{**one, "content": change(one["content"])} if place == at else one for place, one in enumerate(messages)]


@pytest.mark.parametrize("at", [0, 1, 5, 10])
def test_an_edited_message_keeps_its_ref(at: int) -> None:
    """One with a few other chars in its place is the same message; its size is counted anew, as its text is new."""
    before = said(*LONG)
    after = edited(before, at, lambda text: f"Well: {text}")
    state = seen(before, after)
    assert numbers(state) == list(range(1, 13))
    assert state == seen(after)


@pytest.mark.parametrize("at", [1, 5, 10])
def test_a_message_cut_short_keeps_its_ref(at: int) -> None:
    """Clients clear old results in their places: between two that are there still, it is the same message."""
    before = said(*LONG)
    after = edited(before, at, lambda _: "[cleared]")
    assert seen(before, after) == seen(after)


def test_a_text_is_the_same_in_a_list_of_blocks() -> None:
    """Clients write results as texts or as lists of texts."""
    call, result = called("read", {}, "the text")
    blocks = {**result, "content": [{"type": "text", "text": "the text\n", "cache_control": {"type": "ephemeral"}}]}
    assert read([call, result]).keys == read([call, blocks]).keys


def test_all_messages_edited_keep_their_refs() -> None:
    """A client that spells all its texts otherwise from some day on has the same messages, as long as one is equal."""
    before = said(*LONG)
    after = [{**one, "content": one["content"].replace("message", "Message")} for one in before[:-1]] + before[-1:]
    assert numbers(seen(before, after)) == list(range(1, 13))


def test_a_summary_in_the_place_of_old_messages_is_new() -> None:
    """It gets the next number, each time again; those that stay keep theirs."""
    whole = said(*LONG)
    once = [*said(f"Summary: {'y' * 700}"), *whole[6:]]
    twice = [*said(f"Summary: {'z' * 500}"), *whole[8:]]
    assert numbers(seen(whole, once)) == [13, 7, 8, 9, 10, 11, 12]
    assert numbers(seen(whole, once, twice)) == [14, 9, 10, 11, 12]
    assert numbers(seen(whole, once, [*once, *said("go on")])) == [13, 7, 8, 9, 10, 11, 12, 14]


def test_messages_that_come_back_are_new() -> None:
    """What was gone and is there again gets new numbers: nothing says that it is the same, and none is given twice."""
    whole = said(*LONG)
    assert numbers(seen(whole, whole[4:], whole)) == [13, 14, 15, 16, *range(5, 13)]


@pytest.mark.parametrize("cut", [1, 4, 11])
def test_a_fork_is_as_if_it_had_been_the_only_way(cut: int) -> None:
    """Where a conversation goes on differently, what came after is gone with its numbers."""
    whole = said(*LONG)
    other = [*whole[:cut], {"role": "user", "content": "Another way."}]
    assert seen(whole, other) == seen(other)
    assert seen(whole, other, [*other, *said("and", "on")]) == seen([*other, *said("and", "on")])


def test_a_fork_undoes_what_was_folded_after_it() -> None:
    """Blocks, failures and reminders are those of the moment; what was folded before stays folded."""
    begin = [*said(*LONG[:5]), *folds("m00001", "m00002")]
    whole = [*begin, *said(*LONG[5:9]), *folds("m00003", "m00007"), *said("go on")]
    session = CompressSession("openai-chat", config=CONFIG, messages=whole)
    assert [block.active for block in session.state.blocks] == [True, True]
    session.sync([*begin, *said("Another way.")])
    assert [block.ref for block in session.state.blocks] == ["b1"]
    assert session.state == rebuild_state([*begin, *said("Another way.")], CONFIG, protocol="openai-chat")


def test_a_short_text_that_was_said_there_too_is_no_sign() -> None:
    """ "go on" is said on every way: the fork is where it differs, not behind that."""
    whole = [*said(*LONG[:6]), *said("go on", LONG[6])]
    other = [*said(*LONG[:3]), {"role": "assistant", "content": "no"}, *said("go on", "Another answer.")]
    assert seen(whole, other) == seen(other)


def test_a_long_text_that_was_said_there_too_is_a_sign() -> None:
    """What stands behind a gap and is told by its length is the message that it was: a client took out the others."""
    whole = said(*LONG)
    assert numbers(seen(whole, [*whole[:2], *whole[6:9], *said("new")])) == [1, 2, 7, 8, 9, 10]


def test_a_number_that_a_new_message_names_is_not_given_again() -> None:
    """A text that another client wrote may name what is gone; it must not come to name something else."""
    whole = said(*LONG)
    other = [*whole[:4], {"role": "user", "content": "As in m00007 above, but shorter."}]
    assert numbers(seen(whole, other)) == [1, 2, 3, 4, 13]
    elsewhere = [*whole[:4], {"role": "user", "content": "As in m00003 above, and at 7am."}]
    assert numbers(seen(whole, elsewhere)) == [1, 2, 3, 4, 5]


def test_a_block_that_a_new_message_names_does_not_come_again() -> None:
    """The next block has another number; that of the one that is gone leads nowhere."""
    begin = said(*LONG[:5])
    whole = [*begin, *folds("m00001", "m00002"), *said("a")]
    for text, ref in (("See that.", "b1"), ("See b1.", "b2")):
        session = CompressSession("openai-chat", config=CONFIG, messages=whole)
        session.sync([*begin, *said(text, "Yes."), *folds("m00002", "m00003")])
        assert [block.ref for block in session.state.active] == [ref]


def test_another_way_has_its_own_numbers() -> None:
    """What the model says on it, with refs of its own, is as if there had been no other way."""
    begin = said(*LONG[:5])
    one = [*begin, *said("One way.", LONG[6], LONG[7]), *folds("m00001", "m00007"), *said("a", "b")]
    other = [*begin, *said("Another.", f"As in m00007: {LONG[8]}", "c"), *folds("m00002", "m00008"), *said("d")]
    session = CompressSession("openai-chat", config=CONFIG, messages=one)
    for messages in (other, one, other):
        session.sync(messages)
        assert session.state == rebuild_state(messages, CONFIG, protocol="openai-chat")
        assert session.state.active


def test_where_the_front_is_gone_numbers_never_begin_anew() -> None:
    """Calls of the past would name other messages than they meant."""
    whole = said(*LONG)
    assert numbers(seen(whole, whole[5:], said("Something", "else"))) == [13, 14]
    assert numbers(seen(whole, said("Something", "else"))) == [1, 2]


def test_calls_of_ours_may_be_taken_out_of_sight() -> None:
    """A client that does not keep them keeps what they did; the conversation goes on as it was."""
    begin = said(*LONG[:5])
    session = CompressSession("openai-chat", config=CONFIG, messages=[*begin, *folds("m00001", "m00002")])
    blocks = session.state.blocks
    for messages in (begin, [*begin, *said("go on")], [*begin, *said("go on", "yes")]):
        session.sync(messages)
        assert session.state.blocks == blocks
        assert session.state.marks
    assert numbers(session.state) == [1, 2, 3, 4, 5, 8, 9]


def test_calls_that_are_in_sight_again_are_the_same() -> None:
    """A client that shows them now and then does not have their work done twice."""
    whole = [
        *said(*LONG[:5]),
        *folds("m00001", "m00002"),
        *said("a"),
        *called("decompress", {"ref": "b7"}, "Nothing was changed."),
    ]
    session = CompressSession("openai-chat", config=CONFIG, messages=whole)
    before = session.state
    for _ in range(2):
        session.sync([*whole[:5], whole[7]])
        session.sync(whole)
    after = session.state
    assert [(block.ref, block.tier, block.spans) for block in after.blocks] == [("b1", 1, ((1, 2),))]
    assert [(mark.tool, mark.ok) for mark in after.marks] == [("compress", True), ("decompress", False)]
    assert [mark.message for mark in after.marks] == [after.seen[5].number, after.seen[8].number]
    assert after.blocks[0].made_by == after.seen[5].number
    assert after.failures == before.failures == 1
    assert session.state == load_state(dump_state(after))


def test_reasoning_goes_with_its_own_call() -> None:
    """Two items of reasoning are two messages: with one out of sight, the other one is still before its call."""
    shape = shape_of("openai-responses", None)
    own, other = [
        [
            {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": name},
            {"type": "function_call", "call_id": name, "name": name, "arguments": "{}"},
            {"type": "function_call_output", "call_id": name, "output": "Nothing was changed."},
        ]
        for name in ("compress", "read")
    ]
    user = {"role": "user", "content": LONG[0]}
    state = observe(CompressState(), Conversation.read(shape, [user, *own, *other]), CONFIG)
    assert numbers(observe(state, Conversation.read(shape, [user, *other]), CONFIG)) == [1, 5, 6, 7]


def test_searches_may_be_taken_out_of_sight_with_them() -> None:
    """All our tools are alike in that."""
    begin = said(*LONG[:5])
    own = [*folds("m00001", "m00002"), *called("search_context", {"query": "x"}, "Nothing.")]
    session = CompressSession("openai-chat", config=CONFIG, messages=[*begin, *own])
    session.sync(begin)
    assert [block.ref for block in session.state.active] == ["b1"]


def test_a_result_made_anew_is_a_fork() -> None:
    """A call of ours that is there with another result is no call out of sight."""
    begin = said(*LONG[:5])
    call, result = folds("m00001", "m00002")
    session = CompressSession("openai-chat", config=CONFIG, messages=[*begin, call, result])
    session.sync([*begin, call, {**result, "content": "The tool said: Compressed"}])
    assert numbers(session.state) == [1, 2, 3, 4, 5, 6, 7]


def test_what_hidden_messages_did_goes_with_what_came_before_them() -> None:
    """A number that is given again must not find a call that its former message made."""
    begin = said(*LONG[:5])
    session = CompressSession("openai-chat", config=CONFIG, messages=[*begin, *folds("m00001", "m00002")])
    session.sync(begin)
    session.sync([*begin[:2], *said("Another way.", "Yes."), *folds("m00001", "m00002")])
    assert [mark.message for mark in session.state.marks] == [5]
    assert [block.made_by for block in session.state.blocks] == [5]
    assert session.state == rebuild_state(session.messages, CONFIG, protocol="openai-chat")


def test_a_call_with_other_arguments_is_another_call() -> None:
    """However alike the messages look, a call that says something else is judged for itself."""
    begin = said(*LONG[:5])
    one = [*begin, *folds("m00001", "m00002"), *said("go on")]
    other = [*begin, *folds("m00002", "m00003"), *said("go on")]
    session = CompressSession("openai-chat", config=CONFIG, messages=one)
    session.sync(other)
    assert [block.spans for block in session.state.active if block.made_by in numbers(session.state)] == [((2, 3),)]


@given(
    st.lists(st.sampled_from(["a", "b", "go on", *LONG]), max_size=12),
    st.lists(st.sampled_from(["a", "b", "c", "go on", *LONG]), max_size=12),
)
@SOME
def test_any_two_histories_are_aligned(before: list[str], after: list[str]) -> None:
    """Pairs ascend on both sides, and beginnings that are equal stay what they were."""
    state = seen(said(*before))
    now = read(said(*after))
    found = align(state.seen, now, hideables(state.seen), CONFIG.tools)
    places = [place for place in found if place is not None]
    assert len(found) == len(after)
    assert places == sorted(set(places))
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        assert found[same] == same
        same += 1


@given(st.lists(st.lists(st.sampled_from(["a", "go on", "yes", *LONG]), max_size=8), min_size=1, max_size=6))
@SOME
def test_numbers_stay_apart_whatever_histories_come(histories: list[list[str]]) -> None:
    """No two messages have one number, none a higher one than was given, and seeing again changes nothing."""
    state = CompressState()
    for words in histories:
        before, now = state, read(said(*words))
        state = observe(state, now, CONFIG)
        found = numbers(state)
        assert len(set(found)) == len(found) == len(words)
        assert max(found, default=0) <= state.issued
        assert [one.key for one in state.seen] == list(now.keys)
        assert observe(state, now, CONFIG) is state
        assert observe(before, now, CONFIG) == state


def test_numbers_go_on_beyond_five_digits() -> None:
    """The space is wider than its usual spelling."""
    state = evolve(seen(said("a")), issued=99_999)
    state = observe(state, read(said("a", "b")), CONFIG)
    assert [one.ref for one in state.seen] == ["m00001", "m100000"]
