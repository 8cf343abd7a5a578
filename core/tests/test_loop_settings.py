"""What a step costs beside the summarizer, and settings that cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest

from trimtab.compaction import FoldSettings, LoopCompactor, Memo
from trimtab.compaction.settings import Budgets
from trimtab.errors import CallerError
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.tokens import Estimate
from trimtab.types import Json
from trimtab.wire.lookup import shape_of


def steps(protocol: str, count: int, words: int = 100) -> list[list[Json]]:
    """So many steps of a turn, each a call and its result, with all that rides along in this protocol."""
    shape = shape_of(protocol, None)
    found = []
    for number in range(count):
        told = Told(call_id=f"c{number}", name="read", arguments={"path": f"/f{number}"}, output=f"r{number} " * words)
        written = shape.place(WRITERS[protocol]([Turn(said="go", calls=(told,))]))[1]
        found.append([native for native in written if shape.role(native) != "system"][1:])
    return found


def turn(protocol: str, count: int) -> list[Json]:
    """A request and so many steps."""
    request = shape_of(protocol, None).user_text("Port the parser.")
    return [request, *(native for step in steps(protocol, count) for native in step)]


@pytest.mark.parametrize("protocol", sorted(WRITERS))
def test_where_nothing_is_folded_the_list_is_given_back(protocol: str) -> None:
    """Itself, not a copy: with all that stands in it, and no call of the summarizer."""
    summarizer = RememberingSummarizer()
    lane = LoopCompactor(protocol, FoldSettings(windows=1_000_000), summarizer)
    messages = turn(protocol, 12)
    stepped = lane.step(messages)
    assert stepped.messages is messages
    assert (stepped.memo, stepped.event, stepped.repairs, summarizer.requests) == (Memo(), None, (), [])
    assert lane.step(tuple(messages)).messages == messages


@pytest.mark.parametrize("protocol", sorted(WRITERS))
def test_a_long_turn_in_any_protocol(protocol: str) -> None:
    """Each prompt is one that the provider takes; a fold is told only what is new; each that is not folded begins with
    the one before; what is told in all is no more than 1.2 times what came.
    """
    summarizer = RememberingSummarizer()
    lane = LoopCompactor(protocol, FoldSettings(windows=4_000), summarizer)
    messages = turn(protocol, 0)
    before: list[Json] = []
    for step in steps(protocol, 80):
        messages = [*messages, *step]
        stepped = lane.step(messages)
        assert refused(protocol, stepped.messages) == []
        assert stepped.event is not None or stepped.messages[: len(before)] == before
        before = list(stepped.messages)
    told = " ".join(request.history for request in summarizer.requests).split(" ")
    firsts = [told.index(f"r{number}") for number in range(60)]
    assert firsts == sorted(firsts)
    assert len(summarizer.requests) > 5
    assert len(told) <= 1.2 * 101 * 80


def test_each_text_is_counted_once() -> None:
    """A turn is measured before every step; what was counted is not counted again."""
    counted: list[str] = []

    class Counting(Estimate):
        def count(self, text: str) -> int:
            counted.append(text)
            return super().count(text)

    lane = LoopCompactor("openai-chat", FoldSettings(windows=1_000_000, counter=Counting()), RememberingSummarizer())
    messages = turn("openai-chat", 40)
    for count in range(1, len(messages), 2):
        lane.step(messages[:count])
    lane.step(messages)
    assert len(counted) == len(set(counted))


def test_a_text_that_is_changed_in_place_is_counted_anew() -> None:
    """A message that grows, as those of some protocols do, is the same object with more in it."""
    lane = LoopCompactor("openai-chat", FoldSettings(windows=2_000), RememberingSummarizer())
    messages = turn("openai-chat", 4)
    assert lane.step(messages).event is None
    messages[2]["content"] += " and more" * 2_000
    assert lane.step(messages).event is not None


@pytest.mark.parametrize("place", [1, 2, 5])
def test_what_is_folded_and_changed_in_place_drops_the_memo(place: int) -> None:
    """Also where the list and the message are the same objects as before."""
    lane = LoopCompactor("openai-chat", FoldSettings(windows=2_000), RememberingSummarizer())
    messages = turn("openai-chat", 20)
    assert lane.step(messages).memo.consumed > 5
    messages[place]["content"] = "another"
    del messages[7:]
    again = lane.step(messages)
    assert again.memo == Memo()
    assert again.messages is messages


@pytest.mark.parametrize(
    "wrong",
    [
        {"windows": "200k"},
        {"windows": b"8"},
        {"windows": object()},
        {"windows": [[8_000]]},
        {"reserve": None},
        {"reserve": "x"},
        {"reserve": [None, 100]},
        {"reserve": float("nan")},
        {"share": 80},
        {"share": True},
        {"cap": 0},
        {"cap": 159},
        {"cap": True},
        {"media": -1},
        {"counter": None},
        {"counter": len},
        {"counter": "o200k"},
    ],
)
def test_settings_that_cannot_be_meant(wrong: dict[str, Any]) -> None:
    """They are refused when they are made: a counter's name, say, would count no token and never fold."""
    with pytest.raises(CallerError, match=next(iter(wrong))):
        FoldSettings(**{"windows": 8_000, **wrong})


@pytest.mark.parametrize("windows", [222, 10, 1e-9, 10**400, float("inf"), [None, float("nan")], []])
def test_windows_that_hold_no_prompt(windows: Any) -> None:
    """Where a summary could not be as long as prose is at least, no summarizer is asked in vain at every step."""
    assert FoldSettings(windows=windows).budgets() is None
    assert FoldSettings(windows=223).budgets() == Budgets(window=223, trigger=160, summary=16)
