"""The record of a fold: written once, served ever after, through further folds, branches and crashes."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trimtab._json import canonical
from trimtab.compaction import Attachment, DurableCompactor, FoldRecord, FoldSettings, dump_record, load_record
from trimtab.errors import CallerError
from trimtab.testing.folds import RememberingSummarizer, Words, worded_row, worded_turns
from trimtab.types import Json

GOLDEN = Path(__file__).parent / "golden"
WINDOW = FoldSettings(windows=4_000, counter=Words())  # trigger 2,880, keep 1,080, summary 288


def compactor(summarizer: Any = None, settings: FoldSettings = WINDOW, **more: Any) -> DurableCompactor:
    """One of OpenAI's chat."""
    return DurableCompactor("openai-chat", settings, summarizer or RememberingSummarizer(), **more)


def texts(messages: list[Json]) -> list[str]:
    """The first words of each message."""
    return [message["content"].split(" ")[0].split("\n")[0] for message in messages]


def test_written_once_and_served_many_times() -> None:
    """From the stored record the same bytes are served, with no further call, until the prompt is too large again."""
    summarizer = RememberingSummarizer()
    rows = [*worded_turns(14), worded_row("u14")]
    first = compactor(summarizer).serve(rows)
    assert first.record is not None
    stored = load_record(dump_record(first.record))
    assert stored == first.record
    asked = len(summarizer.requests)
    before = canonical(first.messages)[:-1]
    for count in range(14, 22):
        served = compactor(summarizer).serve([*worded_turns(count), worded_row(f"u{count}")], stored)
        assert served.record is stored
        assert served.event is None
        assert canonical(served.messages).startswith(before)
        before = canonical(served.messages)[:-1]
    assert len(summarizer.requests) == asked


def test_folds_of_folds() -> None:
    """The second fold takes up the first one's summary and only the rows since; one summary is served."""
    summarizer = RememberingSummarizer()
    record = None
    for count in range(1, 60):
        served = compactor(summarizer).serve([*worded_turns(count), worded_row(f"u{count}")], record)
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
    summarizer, record, told, new = RememberingSummarizer(), None, 0, 0
    for count in range(1, 120):
        asked = len(summarizer.requests)
        served = compactor(summarizer).serve([*worded_turns(count), worded_row(f"u{count}")], record)
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
    summarizer = RememberingSummarizer()
    rows = [*worded_turns(14), worded_row("u14")]
    old = compactor(summarizer).serve(rows).record
    more = [*worded_turns(30), worded_row("u30")]
    before = dump_record(old) if old else None
    new = compactor(summarizer).serve(more, old)
    assert new.event is not None
    assert old is not None
    assert dump_record(old) == before
    unsaved = compactor(RememberingSummarizer(raising=OSError("down"))).serve(more, load_record(before))
    assert unsaved.record == old
    assert texts(unsaved.messages)[:2] == ["<conversation-summary>", "u10"]
    assert compactor(summarizer).serve(more, load_record(dump_record(new.record))).messages == new.messages


def test_forks() -> None:
    """A record of another branch folds nothing here and is not lost; of several the furthest reaching counts."""
    summarizer = RememberingSummarizer()
    trunk = worded_turns(14)
    early = compactor(summarizer).serve([*trunk, worded_row("u14")]).record
    late = compactor(summarizer).serve([*worded_turns(30), worded_row("u30")], early).record
    assert early is not None
    assert late is not None
    fork = [*trunk, worded_row("u99")]
    alone = compactor(RememberingSummarizer(raising=OSError())).serve(fork[:10], late)
    assert alone.messages == [row.messages[0] for row in fork[:10]]
    assert alone.record is late
    both = compactor(summarizer).serve(fork, [late, early])
    assert both.record is early
    assert texts(both.messages)[:2] == ["<conversation-summary>", "u10"]
    assert compactor(summarizer).serve([*worded_turns(30), worded_row("u30")], [early, late]).record is late


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


def test_folded_behind_the_answer() -> None:
    """Served when the answer is stored, the rows are folded before the next question: that turn asks no summarizer."""
    summarizer = RememberingSummarizer()
    rows = [*worded_turns(14), worded_row("u14"), worded_row("a14")]
    record = compactor(summarizer).serve(rows).record
    assert record is not None
    asked = len(summarizer.requests)
    served = compactor(summarizer).serve([*rows, worded_row("u15")], load_record(dump_record(record)))
    assert served.event is None
    assert len(summarizer.requests) == asked
    assert texts(served.messages)[0] == "<conversation-summary>"
    assert texts(served.messages)[-1] == "u15"


def test_two_processes() -> None:
    """Each has folded the same conversation at another row: both records serve, and of both the later one is used."""
    rows = [*worded_turns(30), worded_row("u30")]
    early, late = (compactor().serve(rows[:count]).record for count in (31, 61))
    assert early is not None
    assert late is not None
    for record in (early, late, [early, late], [late, None, early]):
        served = compactor().serve(rows, record)
        assert texts(served.messages)[0] == "<conversation-summary>"
        assert texts(served.messages)[-1] == "u30"
    assert compactor().serve(rows, [early, late]).record is late


def test_an_answer_is_made_again() -> None:
    """Without the row of the old answer the branch is served from the same record, to the same bytes."""
    rows = [*worded_turns(14), worded_row("u14")]
    first = compactor().serve(rows)
    again = compactor(RememberingSummarizer(raising=OSError("down"))).serve(rows, [first.record, None])
    assert again.messages == first.messages
