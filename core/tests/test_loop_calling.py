"""Summarizers that misbehave, and what providers say of their tokens: a step goes on whatever they do."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, Event, FoldSettings, LoopCompactor, Row, SummaryRequest
from trimtab.compaction.asking import calling
from trimtab.compaction.measuring.usage import tokens_of
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, refused
from trimtab.types import Json

GOOD = "A summary that has more than fifty characters, and says what was done."
SETTINGS = FoldSettings(windows=2_000)


def turn(steps: int) -> list[Json]:
    """A turn with so many calls, each with its result."""
    said: list[Json] = [{"role": "user", "content": "Port the parser."}]
    for number in range(steps):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"r{number} " + "word " * 100},
        ]
    return said


MESSAGES = turn(20)
ROWS = [*(Row(id=str(at), messages=(one,)) for at, one in enumerate(MESSAGES)), Row(id="q", messages=MESSAGES[:1])]


class Unreadable(Exception):
    """An error that cannot even be printed."""

    def __str__(self) -> str:
        raise ValueError("no text")


def raising(error: BaseException) -> Any:
    """A summarizer that raises it."""

    def summarize(request: SummaryRequest) -> str:
        raise error

    return summarize


def generated(request: SummaryRequest) -> Iterator[str]:
    """A generator function, which is no summarizer."""
    yield GOOD


FAILING = {
    "empty": lambda request: "",
    "none": lambda request: None,
    "white space": lambda request: " \n\t\u3000",
    "notes": lambda request: "<analysis>" + "so and so " * 50 + "</analysis>",
    "refusal": lambda request: "I'm sorry, but I can't help with that, since it is not allowed here.",
    "10 MB": lambda request: "word " * 2_000_000,
    "10 MB of notes": lambda request: "<think>" * 1_400_000,
    "bytes": lambda request: GOOD.encode(),
    "a number": lambda request: 5,
    "a list": lambda request: [GOOD],
    "a generator": generated,
    "no argument": lambda: GOOD,
    "error": raising(OSError("down")),
    "group": raising(ExceptionGroup("several", [OSError("down")])),
    "stop": raising(StopIteration("x")),
    "memory": raising(MemoryError()),
    "recursion": raising(RecursionError()),
    "cancelled": raising(asyncio.CancelledError()),
    "unreadable": raising(Unreadable()),
}


def folded(lane: str, how: str, summarizer: Any, limit: float | None, events: list[Event]) -> Any:
    """One fold that is due."""
    kind: Any = LoopCompactor if lane == "loop" else DurableCompactor
    compactor = kind("openai-chat", SETTINGS, summarizer, timeout=limit, on_event=events.append)
    given = MESSAGES if lane == "loop" else ROWS
    if how == "sync":
        return (compactor.step if lane == "loop" else compactor.serve)(given)
    return asyncio.run((compactor.astep if lane == "loop" else compactor.aserve)(given))


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("lane", ["loop", "durable"])
@pytest.mark.parametrize(("how", "limit"), [("sync", None), ("sync", 60.0), ("async", None)])
def test_a_summarizer_that_fails_leaves_the_history(name: str, lane: str, how: str, limit: float | None) -> None:
    """Whatever it gives or raises: one event that says why, and the messages as they were."""
    events: list[Event] = []
    served = folded(lane, how, FAILING[name], limit, events)
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert events[-1].reason.startswith("the summarizer failed 2 times")
    assert served.event == events[-1]
    wanted = MESSAGES if lane == "loop" else [*MESSAGES, MESSAGES[0]]
    assert [id(one) for one in served.messages] == [id(one) for one in wanted]


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("lane", ["loop", "durable"])
@pytest.mark.parametrize("limit", [None, 60.0])
def test_an_end_is_raised(end: type[BaseException], lane: str, limit: float | None) -> None:
    """What is no failure goes through, after one event."""
    events: list[Event] = []
    with pytest.raises(end):
        folded(lane, "sync", raising(end()), limit, events)
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert end.__name__ in events[-1].reason


async def stubborn(request: SummaryRequest) -> str:
    """Goes on when it is cancelled, three times."""
    for _ in range(3):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    return GOOD


def test_one_that_will_not_be_cancelled_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time limit the step goes on without it, and a caller who is cancelled is."""
    monkeypatch.setattr(calling, "_GRACE", 0.001)

    async def ended() -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            while not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=0.001)

    async def main() -> None:
        late = await LoopCompactor("openai-chat", SETTINGS, stubborn, timeout=0.001).astep(MESSAGES)
        assert late.event is not None
        assert "no summary within" in late.event.reason
        assert late.messages is MESSAGES
        events: list[Event] = []
        lane = LoopCompactor("openai-chat", SETTINGS, stubborn, on_event=events.append)
        waiting = asyncio.create_task(lane.astep(MESSAGES))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert [event.kind for event in events] == ["compacting", "skipped"]
        await ended()

    asyncio.run(main())


@pytest.mark.parametrize("rounds", range(1, 8))
def test_cancelled_at_any_await(rounds: int) -> None:
    """The caller is cancelled after so many rounds of the loop: one verdict; a second step folds as if nothing was."""
    events: list[Event] = []

    async def slow(request: SummaryRequest) -> str:
        for _ in range(4):
            await asyncio.sleep(0)
        return GOOD

    async def main() -> None:
        lane = LoopCompactor("openai-chat", SETTINGS, slow, on_event=events.append)
        waiting = asyncio.create_task(lane.astep(MESSAGES))
        for _ in range(rounds):
            await asyncio.sleep(0)
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            assert [event.kind for event in events] == ["compacting", "skipped"]
        again = await lane.astep(MESSAGES)
        assert again.memo.summary == GOOD
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert [event.kind for event in events].count("compacting") * 2 == len(events)


def test_what_is_left_behind_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A summarizer that fails after its caller was cancelled: asyncio has nothing to complain of."""
    monkeypatch.setattr(calling, "_GRACE", 0.001)
    complaints: list[Any] = []

    async def fails(request: SummaryRequest) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise OSError("late") from error
        return GOOD

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        waiting = asyncio.create_task(LoopCompactor("openai-chat", SETTINGS, fails).astep(MESSAGES))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gc.collect()

    asyncio.run(main())
    assert complaints == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 10**400, True, "5"])
@pytest.mark.parametrize("kind", [LoopCompactor, DurableCompactor])
def test_a_time_limit_that_is_none(kind: Any, seconds: Any) -> None:
    """It is refused when the compactor is made: no fold would ever end well."""
    with pytest.raises(CallerError, match="timeout is a number of seconds"):
        kind("openai-chat", SETTINGS, timeout=seconds)


# What the last step took


class Loop:
    """An object that has everything, and itself."""

    def __getattr__(self, name: str) -> Loop:
        return self


CYCLE: dict[str, Any] = {}
CYCLE["usage"] = CYCLE
USAGES = {
    "nothing": ({}, None),
    "a cycle": (CYCLE, None),
    "an object that has everything": (Loop(), None),
    "beyond any float": (10**400, None),
    "not a number": (float("nan"), None),
    "infinite": (float("inf"), None),
    "negative": (-1, None),
    "a bool": (True, None),
    "a text": ("1234", None),
    "a list": ([1, 2], None),
    "a response": (SimpleNamespace(usage=SimpleNamespace(prompt_tokens=30, completion_tokens=10)), 40),
    "a number within": ({"usage": 7}, 7),
    "only what came out": ({"usage": {"output_tokens": 50}}, None),
}


@pytest.mark.parametrize("name", USAGES)
def test_any_usage(name: str) -> None:
    """What is no count is none; what is one is taken, and no step fails over it."""
    usage, tokens = USAGES[name]
    assert tokens_of(usage) == tokens
    lane = LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer())
    for steps in range(1, 12):
        sent = lane.step(turn(steps), usage=usage).messages
        assert refused("openai-chat", sent) == []


def test_what_is_stored_of_a_turn() -> None:
    """What the provider counted, unless the turn was folded on its way."""
    lane = LoopCompactor("openai-chat", SETTINGS, RememberingSummarizer())
    usage = {"prompt_tokens": 30, "completion_tokens": 10}
    assert lane.step(turn(1)).memo.counted(usage) == 40
    assert lane.step(turn(1)).memo.counted({"completion_tokens": 10}) is None
    assert lane.step(MESSAGES).memo.counted(usage) is None


@pytest.mark.parametrize("gives", [1.5, None, -1, True, "7"])
def test_a_counter_that_gives_no_count(gives: Any) -> None:
    """It is the application's mistake, and is said at once: it would decide silently when to fold."""
    counter: Any = SimpleNamespace(name="mine", version="1", count=lambda text: gives)
    with pytest.raises(Exception, match="must give a whole number from 0"):
        LoopCompactor("openai-chat", FoldSettings(windows=2_000, counter=counter), RememberingSummarizer()).step(
            MESSAGES
        )


def test_a_sync_step_of_an_async_summarizer() -> None:
    """It is said, with one event; the memo is as before."""
    events: list[Event] = []
    with pytest.raises(CallerError, match="use aserve or astep"):
        folded("loop", "sync", stubborn, None, events)
    assert [event.kind for event in events] == ["compacting", "skipped"]
