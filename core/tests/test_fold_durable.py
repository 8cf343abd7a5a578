"""Folds between turns: when, where, of what size; what is stored, and what is served from it ever after."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from trimtab._json import canonical
from trimtab.compaction import (
    Attachment,
    DurableCompactor,
    Event,
    FoldRecord,
    FoldSettings,
    Row,
    SummaryRequest,
    dump_record,
    load_record,
    tokens_of,
)
from trimtab.errors import CallerError
from trimtab.testing.folds import Summarizer
from trimtab.tokens import Estimate
from trimtab.types import Json

GOLDEN = Path(__file__).parent / "golden"
WORD = "word "  # one token each, as the counter of these tests has it


class Words:
    """Counts words: sizes in these tests are exact."""

    name, version = "words", "1"

    def count(self, text: str) -> int:
        """Words of a text."""
        return len(text.split(" ")) - text.endswith(" ") if text else 0


WINDOW = FoldSettings(windows=4_000, counter=Words())


def user(number: int, tokens: int = 100, **more: Any) -> Row:
    """A row with a prompt of so many tokens."""
    return Row(id=f"u{number}", messages=[{"role": "user", "content": f"u{number} " + WORD * (tokens - 1)}], **more)


def assistant(number: int, tokens: int = 100, **more: Any) -> Row:
    """A row with an answer of so many tokens."""
    said = {"role": "assistant", "content": f"a{number} " + WORD * (tokens - 1)}
    return Row(id=f"a{number}", messages=[said], **more)


def turns(count: int, tokens: int = 100) -> list[Row]:
    """So many whole turns, each row of so many tokens."""
    return [row for number in range(count) for row in (user(number, tokens), assistant(number, tokens))]


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> DurableCompactor:
    """One of OpenAI's chat."""
    return DurableCompactor("openai-chat", settings, summarizer or Summarizer(), **more)


def texts(messages: list[Json]) -> list[str]:
    """The first words of each message."""
    return [message["content"].split(" ")[0].split("\n")[0] for message in messages]


# Budgets


@pytest.mark.parametrize(
    ("settings", "budgets"),
    [
        (FoldSettings(windows=4_000), (4_000, 2_880, 1_080, 288)),
        (FoldSettings(windows=200_000), (200_000, 144_000, 54_000, 14_400)),
        (FoldSettings(windows=[200_000, 4_000, 32_000]), (4_000, 2_880, 1_080, 288)),
        (FoldSettings(windows=[None, 4_000]), (4_000, 2_880, 1_080, 288)),
        (FoldSettings(windows=4_000, reserve=1_000), (4_000, 2_080, 780, 208)),
        (FoldSettings(windows=4_000, reserve=[10, 1_000]), (4_000, 2_080, 780, 208)),
        (FoldSettings(windows=4_000, reserve=9_000), (4_000, 576, 216, 57)),
        (FoldSettings(windows=4_000, share=0.5), (4_000, 1_800, 675, 180)),
        (FoldSettings(windows=200_000, cap=10_000), (200_000, 10_000, 3_750, 1_000)),
        (FoldSettings(windows=4_000, cap=10_000), (4_000, 2_880, 1_080, 288)),
        (FoldSettings(windows=223), (223, 160, 60, 16)),
    ],
)
def test_budgets(settings: FoldSettings, budgets: tuple[int, int, int, int]) -> None:
    """Nine tenths of the smallest window, less the largest reservation (a fifth of it is always left), by the share, at
    most the cap; what is kept is a share of the trigger; a summary has at most a tenth of it.
    """
    found = settings.budgets()
    assert found is not None
    assert (found.window, found.trigger, found.kept(), found.summary) == budgets


@pytest.mark.parametrize("window", [0, None, -1, math.nan, math.inf, -math.inf, [], [None, 0], 1, True])
def test_a_window_that_is_none(window: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Window 0, None, negative, NaN, none at all: skipped with a warning, no summarizer is asked, whatever a cap."""
    summarizer, events = Summarizer(), list[Event]()
    rows = turns(100)
    with caplog.at_level(logging.WARNING, "trimtab"):
        served = compactor(
            summarizer, FoldSettings(windows=window, cap=1_000, counter=Words()), on_event=events.append
        ).serve(rows)
    assert summarizer.requests == []
    assert served.messages == [row.messages[0] for row in rows]
    assert served.record is None
    assert served.event is not None
    assert served.event.kind == "skipped"
    assert "no window is known" in served.event.reason
    assert "no window is known" in caplog.text
    assert events == []


@pytest.mark.parametrize(
    "settings",
    [{"share": 0}, {"share": 1.5}, {"share": math.nan}, {"reserve": -1}, {"cap": 0}, {"media": True}, {"windows": "9"}],
)
def test_settings_that_are_none(settings: dict[str, Any]) -> None:
    """A number that cannot be meant is an error that says what is right."""
    with pytest.raises(CallerError, match=r"must be|are numbers"):
        FoldSettings(**{"windows": 4_000, **settings})


# The trigger


def test_the_trigger_is_strict() -> None:
    """At the trigger nothing happens; with one token more the prompt is folded."""
    rows = [*turns(14), user(14, 80)]
    summarizer = Summarizer()
    assert compactor(summarizer).serve(rows).event is None
    assert summarizer.requests == []
    served = compactor(summarizer).serve([*rows[:-1], user(14, 81)])
    assert served.event is not None
    assert (served.event.kind, served.event.before) == ("done", 2_881)


@pytest.mark.parametrize(
    "more",
    [
        {"system": "x " * 100},
        {"tools": [{"name": "x " * 120}]},
        {"reserve": 200},
        {"cap": 2_800},
        {"share": 0.7},
        {"windows": [4_000, 3_800]},
    ],
)
def test_everything_counts(more: dict[str, Any]) -> None:
    """System prompt, tool schemas, the reservation, the cap, the share, the smaller model: each brings the fold on."""
    rows = [*turns(14), user(14, 70)]
    assert compactor().serve(rows).event is None
    assert compactor(settings=evolve(WINDOW, **more)).serve(rows).event is not None


def test_r8_media_count_at_a_fixed_price() -> None:
    """Two images bring the fold on, however small; the size of their base64 counts for nothing (R8)."""

    def picture(data: str) -> Row:
        block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return Row(id=data[:3], messages=[{"role": "user", "content": [block]}])

    rows = [*turns(10), picture("AAA="), picture("BBB="), user(20)]
    served = compactor().serve(rows)
    assert served.event is not None
    assert served.event.before == 4_100
    assert compactor(settings=evolve(WINDOW, media=300)).serve(rows).event is None
    huge = [*turns(10), picture("A" * 900_000), user(20)]
    assert compactor(settings=evolve(WINDOW, media=300)).serve(huge).event is None


def test_what_the_provider_counted_is_the_anchor() -> None:
    """Its last count and the estimate of what came since, not an estimate of all."""
    rows = [*turns(10), user(10)]
    counted = [evolve(row, tokens=2_781) if row.id == "a9" else row for row in rows]
    served = compactor().serve(counted)
    assert served.event is not None
    assert served.event.before == 2_881
    low = [evolve(row, tokens=900) if row.id == "a14" else row for row in [*turns(15), user(15)]]
    assert compactor().serve(low).event is None
    assert compactor().serve([*turns(15), user(15)]).event is not None


@pytest.mark.parametrize("tokens", [0, -5, math.nan, True, None, "9"])
def test_a_count_that_is_none(tokens: Any) -> None:
    """What is no number of tokens is no anchor; the whole is estimated."""
    rows = [evolve(row, tokens=tokens) for row in [*turns(15), user(15)]]
    served = compactor().serve(rows)
    assert served.event is not None
    assert served.event.before == 3_100


def test_counts_from_before_a_fold_do_not_hold() -> None:
    """A count of the whole prompt says nothing of the folded one; the next that is made of it does."""
    rows = [evolve(row, tokens=2_900) if row.id == "a13" else row for row in [*turns(14), user(14)]]
    summarizer = Summarizer()
    served = compactor(summarizer).serve(rows)
    assert served.record is not None
    asked = len(summarizer.requests)
    assert compactor(summarizer).serve(rows, served.record).event is None
    more = [*rows, assistant(14, tokens=100), user(15)]
    assert compactor(summarizer).serve(more, served.record).event is None
    assert len(summarizer.requests) == asked
    counted = [*rows, evolve(assistant(14), tokens=2_850), user(15)]
    event = compactor(summarizer).serve(counted, served.record).event
    assert event is not None
    assert event.before == 2_950


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 5}, 56),
        ({"usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}, 120),
        ({"usage": {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 64}}}, 120),
        ({"usageMetadata": {"promptTokenCount": 70, "candidatesTokenCount": 7, "thoughtsTokenCount": 900}}, 77),
        ({"inputTokens": 1, "cacheReadInputTokens": 50, "outputTokens": 2, "totalTokens": 53}, 53),
        ({"promptTokens": 4, "completionTokens": 5}, 9),
        ({"input_tokens": 100}, 100),
        ({"output_tokens": 100}, None),
        ({"input_tokens": math.nan, "output_tokens": 3}, None),
        ({"total_tokens": 100}, None),
        ({}, None),
        (None, None),
        (True, None),
        (12, 12),
        (-1, None),
    ],
)  # fmt: skip
def test_usage(usage: Json, tokens: int | None) -> None:
    """Each provider's usage as one number, what is cached included; what came out alone is not taken for it."""
    assert tokens_of(usage) == tokens


# The boundary


def test_the_kept_part_begins_with_the_earliest_prompt_that_fits() -> None:
    """1,080 tokens are kept: the prompt and four turns of 200; the record names the row before."""
    rows = [*turns(14), user(14)]
    served = compactor().serve(rows)
    assert served.record is not None
    assert served.record.boundary == "a9"
    assert served.record.made_at == "u14"
    assert texts(served.messages) == [
        "<conversation-summary>",
        *(word for number in range(10, 14) for word in (f"u{number}", f"a{number}")),
        "u14",
    ]


def test_none_fits() -> None:
    """Then the last prompt alone is kept, however large."""
    served = compactor().serve([*turns(5), user(5, 2_000)])
    assert served.record is not None
    assert served.record.boundary == "a4"
    assert texts(served.messages) == ["<conversation-summary>", "u5"]


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ([user(0, 3_000)], WINDOW),
        ([user(0, 1_500), assistant(0, 1_500)], WINDOW),
        ([*turns(1), user(1)], evolve(WINDOW, system="x " * 2_700)),
        ([assistant(0, 2_000), assistant(1, 2_000)], WINDOW),
    ],
    ids=["one prompt", "one turn", "all fits", "no prompt"],
)
def test_nothing_to_fold(rows: list[Row], settings: FoldSettings) -> None:
    """One turn, or all that could be folded fits into what is kept: nothing is asked, and it is said."""
    summarizer = Summarizer()
    served = compactor(summarizer, settings).serve(rows)
    assert summarizer.requests == []
    assert served.event is not None
    assert served.event.kind == "skipped"
    assert "nothing to fold" in served.event.reason
    assert served.record is None
    assert served.messages == [row.messages[0] for row in rows]


def test_what_gains_nothing_is_not_asked_for() -> None:
    """With a system prompt above the trigger no turn asks a summarizer until as much has come as a summary takes."""
    summarizer = Summarizer(words=3)
    settings = evolve(WINDOW, system="x " * 3_000)
    record, asked = None, []
    for count in range(1, 40):
        served = compactor(summarizer, settings).serve([*turns(count), user(count)], record)
        record = served.record
        asked.append(len(summarizer.requests))
    assert asked[0] == 0
    assert asked[-1] <= 39 * 200 / 288


def test_calls_and_results_of_several_rows_stay_together() -> None:
    """A boundary never falls between a call and its result, though a prompt stands between them."""
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    rows = [
        *turns(12),
        user(12),
        Row(id="call", messages=[{"role": "assistant", "content": None, "tool_calls": [call]}]),
        user(13, 400),
        Row(id="result", messages=[{"role": "tool", "tool_call_id": "c", "content": WORD * 400}]),
        user(14, 100),
    ]
    served = compactor().serve(rows)
    assert served.record is not None
    assert served.record.boundary not in ("call", "u13")
    assert [repair.kind for repair in served.repairs] in ([], ["moved"])


def test_the_boundary_may_be_an_error_row() -> None:
    """A row that sends nothing, or only an error, can be the last that is folded."""
    failed = Row(id="error", messages=[])
    rows = [*turns(10), failed, *turns(14)[20:], user(14)]
    served = compactor().serve(rows)
    assert served.record is not None
    assert served.record.boundary == "error"
    assert compactor().serve(rows, served.record).messages == served.messages


def test_a_cleared_context() -> None:
    """Nothing up to the newest clear marker is served or told to a summarizer, but what the system says."""
    system = Row(id="s", messages=[{"role": "system", "content": "Be brief."}])
    marker = Row(id="cleared", messages=[], clears=True)
    rows = [system, *turns(20), marker, user(20)]
    summarizer = Summarizer()
    served = compactor(summarizer).serve(rows)
    assert texts(served.messages) == ["Be", "u20"]
    assert summarizer.requests == []
    before = compactor(summarizer).serve(rows[:-2])
    assert before.record is not None
    assert texts(compactor().serve(rows, before.record).messages) == ["Be", "u20"]


def test_what_the_system_says_is_never_folded() -> None:
    """It stands where it stood: first, also after a fold; the summarizer is not told it."""
    summarizer = Summarizer()
    rows = [Row(id="s", messages=[{"role": "system", "content": "Be brief."}]), *turns(14), user(14)]
    served = compactor(summarizer).serve(rows)
    assert texts(served.messages)[:3] == ["Be", "<conversation-summary>", "u10"]
    assert "Be brief" not in summarizer.requests[0].history


# The record


def test_written_once_and_served_many_times() -> None:
    """From the stored record the same bytes are served, with no further call, until the prompt is too large again."""
    summarizer = Summarizer()
    rows = [*turns(14), user(14)]
    first = compactor(summarizer).serve(rows)
    assert first.record is not None
    stored = load_record(dump_record(first.record))
    assert stored == first.record
    asked = len(summarizer.requests)
    before = canonical(first.messages)[:-1]
    for count in range(14, 22):
        served = compactor(summarizer).serve([*turns(count), user(count)], stored)
        assert served.record is stored
        assert served.event is None
        assert canonical(served.messages).startswith(before)
        before = canonical(served.messages)[:-1]
    assert len(summarizer.requests) == asked


def test_folds_of_folds() -> None:
    """The second fold takes up the first one's summary and only the rows since; one summary is served."""
    summarizer = Summarizer()
    record = None
    for count in range(1, 60):
        served = compactor(summarizer).serve([*turns(count), user(count)], record)
        record = served.record
        assert sum(text == "<conversation-summary>" for text in texts(served.messages)) == (record is not None)
    seen = [word for request in summarizer.requests for word in request.history.split() if word[0] == "u"]
    assert seen == [f"u{number}" for number in range(len(seen))]
    for place, request in enumerate(summarizer.requests):
        assert (request.prior or "").startswith(f"Summary {place}" if place else "")


def test_the_cost_of_folds() -> None:
    """Each fold's input is at most the prior summary, the new text and 1,000 tokens; over all folds, without prior
    summaries, at most 1.2 times the new text.
    """
    summarizer, record, told, new = Summarizer(), None, 0, 0
    for count in range(1, 120):
        asked = len(summarizer.requests)
        served = compactor(summarizer).serve([*turns(count), user(count)], record)
        requests = summarizer.requests[asked:]
        if served.event is not None:
            folded = served.event.folded * 100
            prior = sum(Words().count(request.prior or "") for request in requests)
            history = sum(Words().count(request.history) for request in requests)
            assert history <= folded + 1_000
            assert len(requests) == 1
            assert prior <= 288
            told, new = told + history, new + folded
        record = served.record
    assert new > 8_000
    assert told <= 1.2 * new


def test_killed_between_summarizing_and_saving() -> None:
    """The record that was given is not changed, and serves what it served; the new one serves what was sent."""
    summarizer = Summarizer()
    rows = [*turns(14), user(14)]
    old = compactor(summarizer).serve(rows).record
    more = [*turns(30), user(30)]
    before = dump_record(old) if old else None
    new = compactor(summarizer).serve(more, old)
    assert new.event is not None
    assert old is not None
    assert dump_record(old) == before
    unsaved = compactor(Summarizer(raising=OSError("down"))).serve(more, load_record(before))
    assert unsaved.record == old
    assert texts(unsaved.messages)[:2] == ["<conversation-summary>", "u10"]
    assert compactor(summarizer).serve(more, load_record(dump_record(new.record))).messages == new.messages


def test_forks() -> None:
    """A record of another branch folds nothing here and is not lost; of several the furthest reaching counts."""
    summarizer = Summarizer()
    trunk = turns(14)
    early = compactor(summarizer).serve([*trunk, user(14)]).record
    late = compactor(summarizer).serve([*turns(30), user(30)], early).record
    assert early is not None
    assert late is not None
    fork = [*trunk, user(99)]
    alone = compactor(Summarizer(raising=OSError())).serve(fork[:10], late)
    assert alone.messages == [row.messages[0] for row in fork[:10]]
    assert alone.record is late
    both = compactor(summarizer).serve(fork, [late, early])
    assert both.record is early
    assert texts(both.messages)[:2] == ["<conversation-summary>", "u10"]
    assert compactor(summarizer).serve([*turns(30), user(30)], [early, late]).record is late


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: {**stored, "v": 2},
        lambda stored: {**stored, "v": True},
        lambda stored: {key: value for key, value in stored.items() if key != "summary"},
        lambda stored: {**stored, "files": [{"id": 1, "name": "x"}]},
        lambda stored: {**stored, "blobs": "x"},
        lambda stored: "{}",
    ],
)
def test_a_record_that_is_damaged(change: Callable[[Any], Any]) -> None:
    """It is refused with what to do, never guessed at."""
    record = FoldRecord(boundary="a", made_at="b", summary="c", files=(Attachment(id="1", name="x"),))
    with pytest.raises(CallerError, match="stored fold"):
        load_record(change(dump_record(record)))


def test_a_record_of_version_1_opens() -> None:
    """What was once stored opens for good; what is served from it are the same bytes (the golden files)."""
    golden = runpy.run_path(str(GOLDEN / "make_golden.py"))
    stored = json.loads((GOLDEN / "folds" / "record.json").read_text(encoding="utf-8"))
    record = load_record(stored)
    assert record == golden["FOLD"]
    assert dump_record(record) == stored
    for name, data in golden["of_folds"]().items():
        assert (GOLDEN / "folds" / name).read_bytes() == data, f"{name}: see core/tests/golden/README.md"


# Summarizers


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
        Summarizer(raising=ValueError("down")),
        Summarizer(raising=RecursionError()),
    ],
    ids=["empty", "none", "blank", "scratchpad", "refusal", "10 MB", "a number", "raises", "recursion"],
)
def test_a_summarizer_that_gives_none(summarize: Any) -> None:
    """The history is served as it was, nothing is stored; `compacting`, then one `skipped` that says why."""
    events: list[Event] = []
    rows = [*turns(14), user(14)]
    served = compactor(summarize, on_event=events.append).serve(rows)
    assert served.messages == [row.messages[0] for row in rows]
    assert served.record is None
    assert [event.kind for event in events] == ["compacting", "skipped"]
    assert events[-1] == served.event
    assert events[-1].reason


def test_a_summarizer_that_hangs() -> None:
    """With a time limit the history is served as it was; a wait that is cancelled ends the turn and tells it."""
    rows = [*turns(14), user(14)]
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
        compactor(Summarizer(raising=KeyboardInterrupt()), on_event=events.append).serve([*turns(14), user(14)])
    assert [event.kind for event in events] == ["compacting", "skipped"]


def test_sync_and_async_give_the_same() -> None:
    """`aserve` with a sync or an async summarizer serves what `serve` does."""

    async def summarize(request: SummaryRequest) -> str:
        return Summarizer()(request)

    rows = [*turns(14), user(14)]
    one = compactor().serve(rows)
    for summarizer in (summarize, Summarizer()):
        other = asyncio.run(compactor(summarizer).aserve(rows))
        assert (other.messages, other.record, other.event) == (one.messages, one.record, one.event)


def test_without_a_summarizer_nothing_is_needed() -> None:
    """The default is the extractive one: no network, the same bytes each time."""
    rows = [*turns(14), user(14)]
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


@pytest.mark.parametrize("rows", [{"messages": []}, "go", [{"role": "user", "content": "go"}], [None]])
def test_what_is_no_list_of_rows(rows: Any) -> None:
    """It is refused, with what is wanted."""
    with pytest.raises(CallerError, match=r"a list of trimtab\.compaction\.Row"):
        compactor().serve(rows)
    with pytest.raises(CallerError, match="are lists"):
        Row(id="1", messages={"role": "user", "content": "go"})


def test_a_summary_as_large_as_what_it_stands_for() -> None:
    """It is not used: a fold makes a prompt smaller, or is skipped."""
    settings = FoldSettings(windows=4_000, counter=Words(), system="x " * 1_500)
    rows = [*turns(6), user(6, 800)]
    served = compactor(Summarizer(words=180), settings).serve(rows)
    assert served.event is not None
    after = served.event.after
    assert served.event.kind == "skipped" or (after is not None and after < served.event.before)


def test_the_estimator_is_the_default_counter() -> None:
    """Without a counter of one's own tokens are estimated, by script and neighbour."""
    assert FoldSettings(windows=1).counter == Estimate()
