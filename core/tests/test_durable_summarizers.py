"""What a summarizer does to a fold between turns: it fails, hangs, is cancelled, is async, is not there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, Event, FoldSettings, SummaryRequest
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, Words, worded_row, worded_turns

WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080, summary 288


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> DurableCompactor:
    """One of OpenAI's chat."""
    return DurableCompactor("openai-chat", settings, summarizer or RememberingSummarizer(), **more)


class Hangs:
    """Never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def __call__(self, request: SummaryRequest) -> str:
        """Wait."""
        self.asked.set()
        await asyncio.Event().wait()
        return ""


@pytest.mark.parametrize(
    "summarize",
    [
        lambda request: "",
        lambda request: None,
        lambda request: " \n\t ",
        lambda request: "<analysis>only what I thought about it, at some length, and nothing else</analysis>",
        lambda request: "I'm sorry, but I can't help with that.",
        lambda request: "word " * 2_000_000,
        lambda request: 7,
        RememberingSummarizer(raising=ValueError("down")),
        RememberingSummarizer(raising=RecursionError()),
    ],
    ids=["empty", "none", "blank", "scratchpad", "refusal", "10 MB", "a number", "raises", "recursion"],
)
def test_a_summarizer_that_gives_none(summarize: Any) -> None:
    """The history is served as it was, nothing is stored; `compacting`, then one `skipped` that says why."""
    events: list[Event] = []
    rows = [*worded_turns(14), worded_row("u14")]
    served = compactor(summarize, on_event=events.append).serve(rows)
    assert served.messages == [row.messages[0] for row in rows]
    assert served.record is None
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert events[-1] == served.event
    assert events[-1].reason


def test_a_summarizer_that_hangs() -> None:
    """With a time limit the history is served as it was; a wait that is cancelled ends the turn and tells it."""
    rows = [*worded_turns(14), worded_row("u14")]
    served = asyncio.run(compactor(Hangs(), timeout=0.01).aserve(rows))
    assert served.messages == [row.messages[0] for row in rows]
    assert served.event is not None
    assert served.event.kind == "skipped"
    events: list[Event] = []

    async def cancelled() -> None:
        hangs = Hangs()
        waiting = asyncio.ensure_future(compactor(hangs, on_event=events.append).aserve(rows))
        await hangs.asked.wait()
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert "CancelledError" in events[-1].reason


def test_an_interrupt_passes_through() -> None:
    """What is no error of the summarizer's ends the turn; the fold is told to be skipped."""
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        compactor(RememberingSummarizer(raising=KeyboardInterrupt()), on_event=events.append).serve(
            [*worded_turns(14), worded_row("u14")]
        )
    assert [event.kind for event in events] == ["compacting", "skipped"]


def test_sync_and_async_give_the_same() -> None:
    """`aserve` with a sync or an async summarizer serves what `serve` does."""

    async def summarize(request: SummaryRequest) -> str:
        return RememberingSummarizer()(request)

    rows = [*worded_turns(14), worded_row("u14")]
    one = compactor().serve(rows)
    for summarizer in (summarize, RememberingSummarizer()):
        other = asyncio.run(compactor(summarizer).aserve(rows))
        assert (other.messages, other.record, other.event) == (one.messages, one.record, one.event)


def test_without_a_summarizer_nothing_is_needed() -> None:
    """The default is the extractive one: no network, the same bytes each time."""
    rows = [*worded_turns(14), worded_row("u14")]
    served = [DurableCompactor("openai-chat", WINDOW).serve(rows) for _ in range(2)]
    assert served[0].event is not None
    assert served[0].event.kind == "done"
    assert served[0].messages == served[1].messages


@pytest.mark.parametrize("given", ["nobody", 7, object()])
def test_an_unknown_summarizer(given: Any) -> None:
    """It is refused when the compactor is made, with the names that there are."""
    with pytest.raises(CallerError, match="summarizer"):
        DurableCompactor("openai-chat", WINDOW, given)
    with pytest.raises(CallerError, match="openai-chat"):
        DurableCompactor("nothing", WINDOW)
