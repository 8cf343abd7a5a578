"""Folds of any history of any protocol, cut and damaged anywhere: what is sent is what a provider takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab._json import canonical
from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Memo, Repair, slide
from trimtab.testing.conversations import WRITERS, conversations
from trimtab.testing.folds import Summarizer, damaged_histories, refused, rows_of
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


def check(name: str, given_messages: list[Json], sent: list[Json], repairs: tuple[Repair, ...]) -> None:
    """What holds of whatever is sent."""
    assert refused(name, sent) == []
    assert in_order(thinking_of(name, sent), thinking_of(name, given_messages))
    orphans = [repair for repair in repairs if repair.kind == "left-out"]
    assert all(isinstance(repair.call_id, str) for repair in orphans)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_r8_between_turns(name: str, data: Any) -> None:
    """The durable fold, of rows of any size, with a summarizer that answers or does not."""
    natives = data.draw(damaged_histories(name))
    rows = rows_of(natives, seed=data.draw(st.integers(0, 3)))
    summarizer = Summarizer(words=2, raising=data.draw(st.sampled_from([None, None, ValueError("down")])))
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
    compactor = LoopCompactor(name, FoldSettings(windows=data.draw(WINDOWS)), Summarizer(words=2))
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


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_history_without_a_fault_needs_no_repair(name: str, data: Any) -> None:
    """Cuts of our own make no orphans: of a whole conversation nothing has to be mended, whatever is folded."""
    natives = list(shape_of(name, None).place(WRITERS[name](data.draw(conversations(longest=8, ids=True))))[1])
    settings_ = FoldSettings(windows=data.draw(WINDOWS))
    rows = rows_of(natives, seed=data.draw(st.integers(0, 3)))
    summarizer = Summarizer(words=1)
    lanes: list[Any] = [
        DurableCompactor(name, settings_, summarizer).serve(rows),
        slide(name, rows, settings_),
        LoopCompactor(name, settings_, summarizer).step(natives),
    ]
    assert [lane.repairs for lane in lanes] == [(), (), ()]
    known = {id(native) for native in natives}
    joins = bool(shape_of(name, None).alternates)
    new = [native for lane in lanes for native in lane.messages if id(native) not in known]
    assert all(joins or "<conversation-summary>" in str(native) for native in new)
