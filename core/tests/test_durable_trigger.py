"""When a prompt is folded between turns: budgets, the trigger, what a provider counted."""

from __future__ import annotations

import logging
import math
from typing import Any

import pytest
from attrs import evolve

from trimtab.compaction import DurableCompactor, Event, FoldSettings, Row, tokens_of
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, Words, worded_row, worded_turns
from trimtab.tokens import Estimate
from trimtab.types import Json

WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080, summary 288


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> DurableCompactor:
    """One of OpenAI's chat."""
    return DurableCompactor("openai-chat", settings, summarizer or RememberingSummarizer(), **more)


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
    summarizer, events = RememberingSummarizer(), list[Event]()
    rows = worded_turns(100)
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


def test_the_estimator_is_the_default_counter() -> None:
    """Without a counter of one's own tokens are estimated, by script and neighbour."""
    assert FoldSettings(windows=1).counter == Estimate()


def test_the_trigger_is_strict() -> None:
    """At the trigger nothing happens; with one token more the prompt is folded."""
    rows = [*worded_turns(14), worded_row("u14", 80)]
    summarizer = RememberingSummarizer()
    assert compactor(summarizer).serve(rows).event is None
    assert summarizer.requests == []
    served = compactor(summarizer).serve([*rows[:-1], worded_row("u14", 81)])
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
    rows = [*worded_turns(14), worded_row("u14", 70)]
    assert compactor().serve(rows).event is None
    assert compactor(settings=evolve(WINDOW, **more)).serve(rows).event is not None


def test_r8_media_count_at_a_fixed_price() -> None:
    """Two images bring the fold on, however small; the size of their base64 counts for nothing (R8)."""

    def picture(data: str) -> Row:
        block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return Row(id=data[:3], messages=[{"role": "user", "content": [block]}])

    rows = [*worded_turns(10), picture("AAA="), picture("BBB="), worded_row("u20")]
    served = compactor().serve(rows)
    assert served.event is not None
    assert served.event.before == 4_100
    assert compactor(settings=evolve(WINDOW, media=300)).serve(rows).event is None
    huge = [*worded_turns(10), picture("A" * 900_000), worded_row("u20")]
    assert compactor(settings=evolve(WINDOW, media=300)).serve(huge).event is None


def test_what_the_provider_counted_is_the_anchor() -> None:
    """Its last count and the estimate of what came since, not an estimate of all."""
    rows = [*worded_turns(10), worded_row("u10")]
    counted = [evolve(row, tokens=2_781) if row.id == "a9" else row for row in rows]
    served = compactor().serve(counted)
    assert served.event is not None
    assert served.event.before == 2_881
    low = [evolve(row, tokens=900) if row.id == "a14" else row for row in [*worded_turns(15), worded_row("u15")]]
    assert compactor().serve(low).event is None
    assert compactor().serve([*worded_turns(15), worded_row("u15")]).event is not None


@pytest.mark.parametrize("tokens", [0, -5, math.nan, True, None, "9"])
def test_a_count_that_is_none(tokens: Any) -> None:
    """What is no number of tokens is no anchor; the whole is estimated."""
    rows = [evolve(row, tokens=tokens) for row in [*worded_turns(15), worded_row("u15")]]
    served = compactor().serve(rows)
    assert served.event is not None
    assert served.event.before == 3_100


def test_counts_from_before_a_fold_do_not_hold() -> None:
    """A count of the whole prompt says nothing of the folded one; the next that is made of it does."""
    rows = [evolve(row, tokens=2_900) if row.id == "a13" else row for row in [*worded_turns(14), worded_row("u14")]]
    summarizer = RememberingSummarizer()
    served = compactor(summarizer).serve(rows)
    assert served.record is not None
    asked = len(summarizer.requests)
    assert compactor(summarizer).serve(rows, served.record).event is None
    more = [*rows, worded_row("a14", tokens=100), worded_row("u15")]
    assert compactor(summarizer).serve(more, served.record).event is None
    assert len(summarizer.requests) == asked
    counted = [*rows, evolve(worded_row("a14"), tokens=2_850), worded_row("u15")]
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
