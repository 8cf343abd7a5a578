"""Folds inside a turn: the memo, what each fold takes in, what happens when folding does not help."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from attrs import evolve

from trimtab._json import canonical
from trimtab.compaction import (
    Attachment,
    DurableCompactor,
    Event,
    FoldSettings,
    LoopCompactor,
    Memo,
    Row,
    SummaryRequest,
)
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, Words, refused
from trimtab.types import Json

WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080, summary 288
SYSTEM = {"role": "system", "content": "Be brief."}
REQUEST = {"role": "user", "content": "Port the parser, and keep its tests."}


def step(number: int, tokens: int = 200) -> list[Json]:
    """A call and its result of so many tokens together."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"r{number} " + "word " * (tokens - 3)},
    ]


def turn(steps: int, tokens: int = 200) -> list[Json]:
    """A turn of so many steps."""
    return [SYSTEM, REQUEST, *(native for number in range(steps) for native in step(number, tokens))]


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> LoopCompactor:
    """One of OpenAI's chat."""
    return LoopCompactor("openai-chat", settings, summarizer or RememberingSummarizer(), **more)


def summaries(messages: list[Json]) -> list[str]:
    """The summaries in it."""
    return [str(one["content"]) for one in messages if str(one["content"]).startswith("<conversation-summary>")]


def test_under_the_trigger() -> None:
    """The list that was given, itself; no call, no event, an empty memo."""
    summarizer = RememberingSummarizer()
    messages = turn(14)
    stepped = compactor(summarizer).step(messages)
    assert stepped.messages == messages
    assert all(one is other for one, other in zip(stepped.messages, messages, strict=True))
    assert (stepped.event, stepped.memo, summarizer.requests) == (None, Memo(), [])


def test_over_the_trigger() -> None:
    """System verbatim, one summary, the turn's request, and the newest whole steps that fit what is kept."""
    stepped = compactor().step(turn(15))
    assert stepped.event is not None
    assert stepped.event.kind == "done"
    assert stepped.messages[0] is SYSTEM
    assert stepped.messages[1]["content"].startswith("<conversation-summary>")
    assert stepped.messages[2] is REQUEST
    assert stepped.messages[3:] == [native for number in range(10, 15) for native in step(number)]
    assert stepped.memo.consumed == 2 + 2 * 10


def test_r4_a_step_whose_candidate_fits_makes_no_call() -> None:
    """R4: with the memo the steps after a fold cost nothing, until what was added is too much again."""
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    asked = []
    for count in range(1, 41):
        lane.step(turn(count))
        asked.append(len(summarizer.requests))
    assert asked[14] == 1
    assert asked[:14] == [0] * 14
    assert asked[-1] <= 1 + (40 - 14) // 8
    assert sorted(set(asked)) == list(range(asked[-1] + 1))


def test_r4_the_input_stays_flat() -> None:
    """R4: each fold takes in the prior summary and the increment alone, over any number of steps; in all, without prior
    summaries, at most 1.2 times the new text.
    """
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    for count in range(1, 200):
        lane.step(turn(count))
    sizes = [Words().count(request.history) for request in summarizer.requests]
    assert len(sizes) > 15
    assert max(sizes) <= 2_000 + 1_000
    assert all(Words().count(request.prior or "") <= 288 for request in summarizer.requests)
    assert sum(sizes) <= 1.2 * lane.step(turn(199)).memo.consumed * 100
    results = {f"r{number}" for number in range(200)}
    told = [word for request in summarizer.requests for word in request.history.split() if word in results]
    assert len(told) == len(set(told))


def test_r4_a_summarizer_that_fails_at_a_step() -> None:
    """R4: what was folded before stays in use, the run goes on, and the next step tries again."""
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    for count in range(1, 23):
        good = lane.step(turn(count))
    broken = RememberingSummarizer(raising=OSError("down"))
    lane = compactor(broken)
    memo = good.memo
    for count in range(23, 30):
        stepped = lane.step(turn(count), memo=memo)
        assert stepped.memo == memo
        assert stepped.messages[:3] == good.messages[:3]
        assert stepped.messages[3:] == turn(count)[memo.consumed :]
        if stepped.event is not None:
            assert stepped.event.kind == "skipped"
            assert "down" in stepped.event.reason
    assert broken.requests
    healed = compactor(RememberingSummarizer()).step(turn(30), memo=memo)
    assert healed.event is not None
    assert healed.event.kind == "done"


def test_a_memo_that_no_longer_matches() -> None:
    """An edited, shorter or other history drops it: nothing of the old one is served."""
    lane = compactor()
    memo = lane.step(turn(15)).memo
    assert memo.summary
    edited = turn(15)
    edited[5] = {**edited[5], "content": "another result"}
    for messages in (edited, turn(4), [REQUEST], []):
        stepped = compactor(RememberingSummarizer(raising=OSError())).step(messages, memo=memo)
        assert stepped.memo.summary == ""
        assert stepped.messages == messages
    assert compactor().step(turn(15), memo=memo).memo == memo


def test_a_memo_survives_what_clients_change() -> None:
    """Cache points that move are no edit."""
    lane = compactor()
    memo = lane.step(turn(15)).memo
    marked = turn(15)
    marked[3] = {**marked[3], "cache_control": {"type": "ephemeral"}}
    assert compactor().step(marked, memo=memo).memo == memo


def test_each_prompt_begins_with_the_one_before() -> None:
    """Between folds, byte for byte."""
    lane = compactor()
    before = None
    for count in range(1, 60):
        stepped = lane.step(turn(count))
        now = canonical(stepped.messages)[:-1]
        if before is not None and (stepped.event is None or stepped.event.kind == "skipped"):
            assert now.startswith(before)
        before = now


def test_usage_is_the_anchor() -> None:
    """What the last step took, and the estimate of what came after its answer: taken of what was sent, not of all."""
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    assert lane.step(turn(10), usage=2_600).event is None
    event = lane.step(turn(10), usage=2_800).event
    assert event is not None
    assert event.before == 2_800 + 198
    memo = lane.step(turn(15)).memo
    assert memo.summary
    assert lane.step(turn(15), usage=1_500).event is None
    assert lane.step(turn(15), usage={"output_tokens": 5_000}).event is None


def test_usage_of_another_history_is_none() -> None:
    """With the memo what was counted is dropped too."""
    lane = compactor()
    lane.step(turn(15))
    assert lane.step(turn(3), usage=100_000).event is None


def test_estimates_are_measured_by_what_was_counted() -> None:
    """Where a provider counts twice what is estimated, half as much is kept, so that a fold brings the prompt below."""
    plain = compactor().step(turn(15))
    twice = compactor().step(turn(15), usage=2 * 2_813)
    assert len(twice.messages) < len(plain.messages)
    assert twice.event is not None
    assert twice.event.after is not None
    assert twice.event.after <= 2_880


# When folding does not help


def test_at_most_two_attempts() -> None:
    """Tools that fill the window alone: two attempts in the turn at most, and it is said, not tried at each step."""
    events: list[Event] = []
    summarizer = RememberingSummarizer()
    settings = evolve(WINDOW, tools=["x " * 4_000])
    lane = compactor(summarizer, settings, on_event=events.append)
    for count in range(1, 60):
        lane.step(turn(count))
    assert len(summarizer.requests) <= 2
    said = [event for event in events if event.kind != "compacting"]
    assert 1 <= len(said) <= 3
    assert "cannot be brought below" in said[-1].reason


def test_the_newest_step_alone_is_too_large() -> None:
    """It cannot be folded now: it is said; when the next step comes it can, and is."""
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    huge = [SYSTEM, REQUEST, *step(0), *step(1, 5_000)]
    first = lane.step(huge)
    assert first.event is not None
    assert "cannot be brought below" in first.event.reason
    asked = len(summarizer.requests)
    assert asked <= 2
    assert lane.step(huge).event is None
    later = lane.step([*huge, *step(2)])
    assert later.event is not None
    assert later.event.kind == "done"
    assert later.event.reason == ""
    assert later.event.after is not None
    assert later.event.after <= 2_880


def test_nothing_is_folded_twice_for_one_step() -> None:
    """The same step asked for again serves the same bytes with no further call."""
    summarizer = RememberingSummarizer()
    lane = compactor(summarizer)
    first = lane.step(turn(15))
    asked = len(summarizer.requests)
    again = lane.step(turn(15))
    assert again.messages == first.messages
    assert again.event is None
    assert len(summarizer.requests) == asked


@pytest.mark.parametrize("window", [0, None, float("nan"), -3])
def test_no_window(window: Any) -> None:
    """Skipped, with the messages as they were."""
    summarizer = RememberingSummarizer()
    messages = turn(100)
    stepped = compactor(summarizer, evolve(WINDOW, windows=window)).step(messages)
    assert stepped.messages == messages
    assert stepped.event is not None
    assert stepped.event.kind == "skipped"
    assert summarizer.requests == []


# What stays


def test_the_summary_of_a_durable_fold_stays() -> None:
    """Both lanes together: what was folded between turns is served on, with its manifests, before the turn's own."""
    rows = [
        Row(id=f"{role}-{number}", messages=[{"role": role, "content": f"{role} {number} " + "word " * 148}])
        for number in range(10)
        for role in ("user", "assistant")
    ]
    file = Attachment(id="f1", name="report.pdf")
    rows[0] = evolve(rows[0], attachments=[file])
    served = DurableCompactor("openai-chat", WINDOW, RememberingSummarizer()).serve(
        [*rows, Row(id="q", messages=[REQUEST])]
    )
    assert served.event is not None
    assert "report.pdf" in served.messages[0]["content"]
    first = compactor().step(served.messages)
    assert first.event is None
    lane = compactor()
    for count in range(1, 40):
        messages = [*served.messages, *(native for number in range(count) for native in step(number))]
        stepped = lane.step(messages)
        assert stepped.messages[0] is served.messages[0]
        assert refused("openai-chat", stepped.messages) == []
    assert len(summaries(stepped.messages)) == 2
    assert REQUEST in stepped.messages


def test_the_request_of_the_turn_stays() -> None:
    """Word for word while no newer one has come, unless it is larger than two summaries."""
    stepped = compactor().step(turn(15))
    assert REQUEST in stepped.messages
    pasted = turn(15)
    pasted[1] = {"role": "user", "content": "word " * 700}
    assert pasted[1] not in compactor().step(pasted).messages
    more = [native for number in range(20, 24) for native in step(number, 400)]
    newer = [*turn(12), {"role": "user", "content": "And document it."}, *more]
    sent = compactor().step(newer).messages
    assert REQUEST not in sent
    assert {"role": "user", "content": "And document it."} in sent


def test_what_is_readable_is_named() -> None:
    """Uris of texts that were omitted from folded results, and the turn's files, stand in the summary row."""
    messages = turn(15)
    uri = "trimtab:3f2a9c1b7d04e5f6"
    messages[3] = {**messages[3], "content": f"<omitted chars 1-900 of 900; full text: fs_read {uri}>" + " word" * 200}
    files = [Attachment(id="f1", name="a, b.txt")]
    sent = compactor(files=files).step(messages).messages
    assert uri in sent[1]["content"]
    assert '"a, b.txt"' in sent[1]["content"]
    bare = compactor(files=files, read_tool="", file_tool="").step(messages).messages
    assert uri not in bare[1]["content"]


def test_async_gives_the_same() -> None:
    """`astep` with a sync or an async summarizer."""

    async def summarize(request: SummaryRequest) -> str:
        return RememberingSummarizer()(request)

    one = compactor().step(turn(15))
    for summarizer in (summarize, RememberingSummarizer()):
        other = asyncio.run(compactor(summarizer).astep(turn(15)))
        assert (other.messages, other.memo, other.event) == (one.messages, one.memo, one.event)


@pytest.mark.parametrize("messages", [{"messages": []}, "go"])
def test_what_is_no_list_of_messages(messages: Any) -> None:
    """It is refused, with what is wanted."""
    with pytest.raises(CallerError, match="pass the list of messages"):
        compactor().step(messages)


def test_cancelled() -> None:
    """The memo is the one of before."""
    events: list[Event] = []

    asked = asyncio.Event()

    async def hangs(request: SummaryRequest) -> str:
        asked.set()
        await asyncio.Event().wait()
        return ""

    lane = compactor(hangs, on_event=events.append)

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(lane.astep(turn(15)))
        await asked.wait()
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert compactor(RememberingSummarizer()).step(turn(14)).memo == Memo()
