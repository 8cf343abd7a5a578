"""Folds of any history of any protocol, cut and damaged anywhere: what is sent is what a provider takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab._json import canonical
from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Memo, Repair, slide
from trimtab.testing.conversations import WRITERS, Told, Turn, conversations
from trimtab.testing.folds import RememberingSummarizer, damaged_histories, refused, rows_of
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

NAMES = sorted(WRITERS)
WINDOWS = st.sampled_from([230, 300, 1_000, 3_000])


def thinking_of(name: str, natives: list[Json]) -> list[str]:
    """The canonical bytes of all thinking, signatures included, in order."""
    messages = shape_of(name, None).read(natives)
    return [canonical(part.value) for message in messages for part in message.of("thinking")]


def in_order(some: list[str], all_of: list[str]) -> bool:
    """Whether the first are among the second, in their order."""
    left = iter(all_of)
    return all(one in left for one in some)


def ids_in(natives: list[Json]) -> tuple[Counter[str], Counter[str]]:
    """The ids of the calls and of the results in these messages, as the vendors spell them."""
    calls, results = Counter[str](), Counter[str]()
    for one in walked(natives):
        kind, role = one.get("type"), one.get("role")
        if str(kind).startswith(("tool-", "dynamic-tool")) and "toolCallId" in one:  # both in one part
            calls[one["toolCallId"]] += 1
            results[one["toolCallId"]] += 1
        elif kind in ("function", "tool_use", "toolCall"):
            calls[one["id"]] += 1
        elif kind in ("function_call", "function_call_output"):
            (calls if kind == "function_call" else results)[one["call_id"]] += 1
        elif kind == "tool_result":
            results[one["tool_use_id"]] += 1
        elif role in ("tool", "toolResult"):
            results[one["tool_call_id" if role == "tool" else "toolCallId"]] += 1
        for member, id_member, found in (
            ("toolUse", "toolUseId", calls),
            ("toolResult", "toolUseId", results),
            ("functionCall", "id", calls),
            ("functionResponse", "id", results),
        ):
            if member in one:
                found[one[member].get(id_member, "")] += 1
    return calls, results


def walked(value: Json) -> Iterator[dict[str, Json]]:
    """All objects in a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walked(inner)


def check(name: str, given_messages: list[Json], sent: list[Json], repairs: tuple[Repair, ...]) -> None:
    """What holds of whatever is sent."""
    assert refused(name, sent) == []
    assert in_order(thinking_of(name, sent), thinking_of(name, given_messages))
    calls, results = ids_in(given_messages)
    assert Counter(repair.call_id for repair in repairs if repair.kind == "answered") <= calls
    assert Counter(repair.call_id for repair in repairs if repair.kind == "left-out") <= results


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_r8_between_turns(name: str, data: Any) -> None:
    """The durable fold, of rows of any size, with a summarizer that answers or does not."""
    natives = data.draw(damaged_histories(name))
    rows = rows_of(natives, seed=data.draw(st.integers(0, 3)))
    summarizer = RememberingSummarizer(words=2, raising=data.draw(st.sampled_from([None, None, ValueError("down")])))
    compactor = DurableCompactor(name, FoldSettings(windows=data.draw(WINDOWS)), summarizer)
    served = compactor.serve(rows)
    check(name, natives, served.messages, served.repairs)
    again = compactor.serve(rows, served.record)
    if again.event is None:
        assert again.messages == served.messages
    check(name, natives, again.messages, again.repairs)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_r8_inside_a_turn(name: str, data: Any) -> None:
    """The in-loop fold, step by step with what was given so far, and with an edit in the middle."""
    natives = data.draw(damaged_histories(name))
    compactor = LoopCompactor(name, FoldSettings(windows=data.draw(WINDOWS)), RememberingSummarizer(words=2))
    memo = Memo()
    for upto in range(1, len(natives) + 1):
        if data.draw(st.booleans()):
            stepped = compactor.step(natives[:upto], memo=memo)
            check(name, natives, stepped.messages, stepped.repairs)
            memo = stepped.memo
    edited = natives[1:]
    stepped = compactor.step(edited, memo=memo)
    check(name, edited, stepped.messages, stepped.repairs)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_r8_the_window(name: str, data: Any) -> None:
    """The sliding window, by size and by number of rows."""
    natives = data.draw(damaged_histories(name))
    rows = rows_of(natives, seed=data.draw(st.integers(0, 3)))
    most = data.draw(st.none() | st.integers(1, 6))
    slid = slide(name, rows, FoldSettings(windows=data.draw(WINDOWS | st.none())), most=most)
    check(name, natives, slid.messages, slid.repairs)
    assert list(slid.rows) == rows[len(rows) - len(slid.rows) :]


def lanes_of(name: str, natives: list[Json], settings_: FoldSettings) -> list[Any]:
    """What each lane sends of these messages."""
    rows, summarizer = rows_of(natives, seed=2), RememberingSummarizer(words=2)
    return [
        DurableCompactor(name, settings_, summarizer).serve(rows),
        slide(name, rows, settings_),
        LoopCompactor(name, settings_, summarizer).step(natives),
    ]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_orphan_is_reported(name: str, data: Any) -> None:
    """Whatever messages are lost: each call without a result and each result without a call that is sent is told once;
    of what is folded none, and nothing else ever. The orphans are counted apart from the code, by the vendors' members.
    """
    told = [
        Turn(
            said="go",
            calls=tuple(
                Told(call_id=f"c{turn}{place}", name=f"read{turn}{place}", arguments={}, output="line\n" * 90)
                for place in range(count)
            ),
        )
        for turn, count in enumerate(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=6)))
    ]
    whole = list(shape_of(name, None).place(WRITERS[name](told))[1])
    natives = [native for native in whole if data.draw(st.integers(0, 3))]
    calls, results = ids_in(natives)
    answered, left_out = list((calls - results).elements()), list((results - calls).elements())
    for lane in lanes_of(name, natives, FoldSettings(windows=1_000_000)):
        reported = [(repair.kind, repair.call_id) for repair in lane.repairs if repair.kind in ("answered", "left-out")]
        orphans = [*(("answered", one) for one in answered), *(("left-out", one) for one in left_out)]
        assert sorted(reported) == sorted(orphans)
    for lane in lanes_of(name, natives, FoldSettings(windows=data.draw(WINDOWS))):
        assert {one.call_id for one in lane.repairs if one.kind == "answered"} <= set(answered)
        assert {one.call_id for one in lane.repairs if one.kind == "left-out"} <= set(left_out)
        sent_calls, sent_results = ids_in(lane.messages)
        assert sent_calls == sent_results


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_history_without_a_fault_needs_no_repair(name: str, data: Any) -> None:
    """Cuts of our own make no orphans: of a whole conversation nothing has to be mended, whatever is folded."""
    natives = list(shape_of(name, None).place(WRITERS[name](data.draw(conversations(longest=8, ids=True))))[1])
    settings_ = FoldSettings(windows=data.draw(WINDOWS))
    lanes = lanes_of(name, natives, settings_)
    assert [lane.repairs for lane in lanes] == [(), (), ()]
    known = {id(native) for native in natives}
    joins = bool(shape_of(name, None).alternates)
    new = [native for lane in lanes for native in lane.messages if id(native) not in known]
    assert all(joins or "<conversation-summary>" in str(native) for native in new)
