"""Folds between turns: what is kept, what is folded, and what is never folded."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from trimtab.compaction import DurableCompactor, FoldSettings, LoopCompactor, Row, slide
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, Words, worded_row, worded_turns
from trimtab.types import Json

WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080, summary 288


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> DurableCompactor:
    """One of OpenAI's chat."""
    return DurableCompactor("openai-chat", settings, summarizer or RememberingSummarizer(), **more)


def texts(messages: list[Json]) -> list[str]:
    """The first words of each message."""
    return [message["content"].split(" ")[0].split("\n")[0] for message in messages]


def test_the_kept_part_begins_with_the_earliest_prompt_that_fits() -> None:
    """1,080 tokens are kept: the prompt and four turns of 200; the record names the row before."""
    rows = [*worded_turns(14), worded_row("u14")]
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
    served = compactor().serve([*worded_turns(5), worded_row("u5", 2_000)])
    assert served.record is not None
    assert served.record.boundary == "a4"
    assert texts(served.messages) == ["<conversation-summary>", "u5"]


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ([worded_row("u0", 3_000)], WINDOW),
        ([worded_row("u0", 1_500), worded_row("a0", 1_500)], WINDOW),
        ([*worded_turns(1), worded_row("u1")], evolve(WINDOW, system="x " * 2_700)),
        ([worded_row("a0", 2_000), worded_row("a1", 2_000)], WINDOW),
    ],
    ids=["one prompt", "one turn", "all fits", "no prompt"],
)
def test_nothing_to_fold(rows: list[Row], settings: FoldSettings) -> None:
    """One turn, or all that could be folded fits into what is kept: nothing is asked, and it is said."""
    summarizer = RememberingSummarizer()
    served = compactor(summarizer, settings).serve(rows)
    assert summarizer.requests == []
    assert served.event is not None
    assert served.event.kind == "skipped"
    assert "nothing to fold" in served.event.reason
    assert served.record is None
    assert served.messages == [row.messages[0] for row in rows]


def test_what_gains_nothing_is_not_asked_for() -> None:
    """With a system prompt above the trigger no turn asks a summarizer until as much has come as a summary takes."""
    summarizer = RememberingSummarizer(words=3)
    settings = evolve(WINDOW, system="x " * 3_000)
    record, asked = None, []
    for count in range(1, 40):
        served = compactor(summarizer, settings).serve([*worded_turns(count), worded_row(f"u{count}")], record)
        record = served.record
        asked.append(len(summarizer.requests))
    assert asked[0] == 0
    assert asked[-1] <= 39 * 200 / 288


def test_calls_and_results_of_several_rows_stay_together() -> None:
    """A boundary never falls between a call and its result, though a prompt stands between them."""
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    rows = [
        *worded_turns(12),
        worded_row("u12"),
        Row(id="call", messages=[{"role": "assistant", "content": None, "tool_calls": [call]}]),
        worded_row("u13", 400),
        Row(id="result", messages=[{"role": "tool", "tool_call_id": "c", "content": "word " * 400}]),
        worded_row("u14", 100),
    ]
    served = compactor().serve(rows)
    assert served.record is not None
    assert served.record.boundary not in ("call", "u13")
    assert [repair.kind for repair in served.repairs] in ([], ["moved"])


def test_the_boundary_may_be_an_error_row() -> None:
    """A row that sends nothing, or only an error, can be the last that is folded."""
    failed = Row(id="error", messages=[])
    rows = [*worded_turns(10), failed, *worded_turns(14)[20:], worded_row("u14")]
    served = compactor().serve(rows)
    assert served.record is not None
    assert served.record.boundary == "error"
    assert compactor().serve(rows, served.record).messages == served.messages


def test_a_cleared_context() -> None:
    """Nothing up to the newest clear marker is served or told to a summarizer, but what the system says."""
    system = Row(id="s", messages=[{"role": "system", "content": "Be brief."}])
    marker = Row(id="cleared", messages=[], clears=True)
    rows = [system, *worded_turns(20), marker, worded_row("u20")]
    summarizer = RememberingSummarizer()
    served = compactor(summarizer).serve(rows)
    assert texts(served.messages) == ["Be", "u20"]
    assert summarizer.requests == []
    before = compactor(summarizer).serve(rows[:-2])
    assert before.record is not None
    assert texts(compactor().serve(rows, before.record).messages) == ["Be", "u20"]


def test_what_the_system_says_is_never_folded() -> None:
    """It stands where it stood: first, also after a fold; the summarizer is not told it."""
    summarizer = RememberingSummarizer()
    rows = [Row(id="s", messages=[{"role": "system", "content": "Be brief."}]), *worded_turns(14), worded_row("u14")]
    served = compactor(summarizer).serve(rows)
    assert texts(served.messages)[:3] == ["Be", "<conversation-summary>", "u10"]
    assert "Be brief" not in summarizer.requests[0].history


@pytest.mark.parametrize(("words", "kind", "reason"), [(60, "done", ""), (160, "skipped", "takes no less room")])
def test_a_summary_as_large_as_what_it_stands_for(words: int, kind: str, reason: str) -> None:
    """It is not used: a fold makes a prompt smaller, or is skipped."""
    rows = [*worded_turns(1, 175), worded_row("u1", 2_600)]
    summarizer = RememberingSummarizer(words=words)
    served = compactor(summarizer).serve(rows)
    assert len(summarizer.requests) == 1
    assert served.event is not None
    assert served.event.kind == kind
    assert reason in served.event.reason
    assert (served.record is None) == (kind == "skipped")


def noted(rows: list[Row]) -> list[Row]:
    """The rows with a note of the system's before each message of the user's."""
    notes = [Row(id=row.id, messages=[{"role": "system", "content": f"note {row.id}"}, *row.messages]) for row in rows]
    return [note if note.id.startswith("u") else row for note, row in zip(notes, rows, strict=True)]


def test_rows_that_begin_with_what_the_system_says() -> None:
    """A turn begins there in every lane: they fold, or slide, as without it; all notes are sent, and nobody's twice."""
    rows = noted([*worded_turns(30), worded_row("u30")])
    natives = [native for row in rows for native in row.messages]
    lanes: list[Any] = [
        compactor().serve(rows),
        slide("openai-chat", rows, WINDOW),
        LoopCompactor("openai-chat", WINDOW, RememberingSummarizer()).step(natives),
    ]
    for lane in lanes:
        said = [native["content"] for native in lane.messages if native["role"] == "system"]
        assert said == [f"note u{number}" for number in range(31)]
        assert len(lane.messages) < len(natives) - 30
    durable, slid, _ = lanes
    assert durable.record.boundary == "a25"
    assert slid.rows[0].id == slide("openai-chat", [*worded_turns(30), worded_row("u30")], WINDOW).rows[0].id == "u20"


def test_the_window_counts_what_never_slides_out() -> None:
    """Notes of the system's add up: what is left for turns gets smaller, and the newest turn is always sent."""
    rows = noted([*worded_turns(30), worded_row("u30")])
    long = [
        Row(id=row.id, messages=[{"role": "system", "content": "note " * 80}, *row.messages[1:]])
        if row.id.startswith("u")
        else row
        for row in rows
    ]
    slid = slide("openai-chat", long, WINDOW)
    assert slid.after <= 2_880
    assert slid.before == 31 * 80 + 61 * 100
    assert [row.id for row in slid.rows][-1] == "u30"
    assert len(slid.rows) < len(slide("openai-chat", rows, WINDOW).rows)


@pytest.mark.parametrize("rows", [{"messages": []}, "go", [{"role": "user", "content": "go"}], [None]])
def test_what_is_no_list_of_rows(rows: Any) -> None:
    """It is refused, with what is wanted."""
    with pytest.raises(CallerError, match=r"a list of trimtab\.compaction\.Row"):
        compactor().serve(rows)
    with pytest.raises(CallerError, match="are lists"):
        Row(id="1", messages={"role": "user", "content": "go"})
