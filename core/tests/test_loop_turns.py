"""Whole turns: what a durable fold named stays named, and the ways of calling a step agree."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trimtab.compaction import Attachment, DurableCompactor, FoldSettings, LoopCompactor, Row, Stepped, SummaryRequest
from trimtab.testing.conversations import WRITERS, Told, Turn
from trimtab.testing.folds import RememberingSummarizer, Words, refused
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

SETTINGS = FoldSettings(windows=4_000)


def steps(protocol: str, count: int) -> list[list[Json]]:
    """So many steps of a turn, each a call and its result."""
    shape = shape_of(protocol, None)
    found = []
    for number in range(count):
        told = Told(call_id=f"c{number}", name="read", arguments={"path": f"/f{number}"}, output=f"r{number} " * 100)
        written = shape.place(WRITERS[protocol]([Turn(said="go", calls=(told,))]))[1]
        found.append([native for native in written if shape.role(native) != "system"][1:])
    return found


def histories(protocol: str, count: int) -> list[list[Json]]:
    """The messages before each step of a turn."""
    messages: list[Json] = [shape_of(protocol, None).user_text("Port the parser.")]
    found = []
    for step in steps(protocol, count):
        messages = [*messages, *step]
        found.append(messages)
    return found


@pytest.mark.parametrize("protocol", sorted(WRITERS))
@pytest.mark.parametrize("files", [3, 120])
def test_what_a_durable_fold_names_stays_named(protocol: str, files: int) -> None:
    """The row with the names of the attached files is sent on, also where these take more room than the summary."""
    attachments = [Attachment(id=f"f{number}", name=f"report-{number:03}.pdf") for number in range(files)]
    text = shape_of(protocol, None).user_text
    rows = [Row(id=str(at), messages=[text(f"Go on, {at}."), *step]) for at, step in enumerate(steps(protocol, 20))]
    rows[0] = Row(id="0", messages=rows[0].messages, attachments=attachments)
    rows.append(Row(id="q", messages=[text("Port the parser.")]))
    served = DurableCompactor(protocol, SETTINGS, RememberingSummarizer()).serve(rows)
    assert served.record is not None
    lane = LoopCompactor(protocol, SETTINGS, RememberingSummarizer())
    messages = served.messages
    folds = 0
    for step in steps(protocol, 40):
        messages = [*messages, *step]
        stepped = lane.step(messages)
        folds += stepped.event is not None
        assert refused(protocol, stepped.messages) == []
        assert all(one.name in str(stepped.messages) for one in attachments)
    assert folds > 1


@pytest.mark.parametrize("protocol", sorted(WRITERS))
def test_every_way_of_calling_agrees(protocol: str) -> None:
    """The compactor's own memo or one that is passed, sync or async, by one compactor or a new one for each step."""

    async def summarize(request: SummaryRequest) -> str:
        return f"A summary of what begins with {request.history[:40]!r} and goes on for some time."

    def plain(request: SummaryRequest) -> str:
        return f"A summary of what begins with {request.history[:40]!r} and goes on for some time."

    def run(summarizer: Any, own: bool, later: bool) -> list[Stepped]:
        lane, memo = LoopCompactor(protocol, SETTINGS, summarizer), None
        found = []
        for messages in histories(protocol, 40):
            if not own:
                lane = LoopCompactor(protocol, SETTINGS, summarizer)
            stepped = asyncio.run(lane.astep(messages, memo=memo)) if later else lane.step(messages, memo=memo)
            memo = None if own else stepped.memo
            found.append(stepped)
        return found

    wanted = run(plain, own=True, later=False)
    assert sum(one.event is not None for one in wanted) > 2
    assert run(plain, own=False, later=False) == wanted
    assert run(plain, own=True, later=True) == wanted
    assert run(summarize, own=False, later=True) == wanted


def test_a_step_that_is_too_large_ends_no_folding() -> None:
    """A first step above the trigger cannot be folded alone. With those behind it it can, and the window holds it."""
    settings = FoldSettings(windows=8_000, reserve=800, counter=Words())
    loop = LoopCompactor("openai-chat", settings, RememberingSummarizer())
    messages: list[Json] = [{"role": "user", "content": "go"}]
    sizes = []
    for number in range(6):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "word " * 5_300},
        ]
        stepped = loop.step(messages)
        sizes.append(sum(Words().count(str(message["content"])) for message in stepped.messages))
    assert max(sizes) < 7_200
    assert stepped.event is not None


def test_a_second_try_that_fails_leaves_the_first() -> None:
    """A fold that keeps less is tried where the first does not reach; if that fails, the first one counts."""
    summarizer = RememberingSummarizer(raising=RuntimeError("down"), since=2, words=1_900)
    settings = FoldSettings(windows=40_000, counter=Words(), tools=["x " * 20_000])
    messages: list[Json] = [
        {"role": "user", "content": "go"},
        *(one for many in steps("openai-chat", 90) for one in many),
    ]
    stepped = LoopCompactor("openai-chat", settings, summarizer).step(messages)
    assert len(summarizer.requests) > 1
    assert stepped.event is not None
    assert (stepped.event.kind, stepped.memo.fruitless) == ("done", 1)
    assert "cannot be brought below" in stepped.event.reason
    assert stepped.memo.summary.startswith("Summary 1")


def test_a_new_turn_tries_again() -> None:
    """What could not be folded in one turn is no reason not to try in the next."""
    memo = (
        LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer())
        .step([{"role": "user", "content": "word " * 8_000}])
        .memo
    )
    assert memo.fruitless == 2
    rows = [Row(id="1", messages=[{"role": "user", "content": "go"}])]
    assert DurableCompactor("openai-chat", SETTINGS).serve(rows, None, memo).memo.fruitless == 0


def test_a_step_that_is_repeated_folds_once() -> None:
    """Where the provider failed the same step is taken again: what it counted before the fold says nothing of now."""
    summarizer = RememberingSummarizer()
    loop = LoopCompactor("openai-chat", SETTINGS, summarizer)
    messages: list[Json] = [
        {"role": "user", "content": "go"},
        *(one for many in steps("openai-chat", 20) for one in many),
    ]
    stepped = loop.step(messages, usage=5_000)
    assert stepped.event is not None
    again = [loop.step(messages, usage=5_000, memo=stepped.memo) for _ in range(3)]
    assert [one.messages for one in again] == [stepped.messages] * 3
    assert [one.event for one in again] == [None] * 3
    assert len(summarizer.requests) == 1


def test_a_count_of_another_prompt_is_not_believed() -> None:
    """With the memo lost the last step's count is of what was folded: far below what is sent now."""
    messages: list[Json] = [
        {"role": "user", "content": "go"},
        *(one for many in steps("openai-chat", 40) for one in many),
    ]
    stepped = LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer()).step(messages, usage=900)
    assert stepped.event is not None
    assert stepped.event.kind == "done"
