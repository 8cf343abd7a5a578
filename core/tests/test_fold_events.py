"""Events and spans of folds: exactly one verdict for each that is due; nothing where nobody listens (R5)."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from typing import Any

import pytest

from trimtab.compaction import DurableCompactor, Event, FoldSettings, LoopCompactor, Row, SummaryRequest
from trimtab.testing.folds import RememberingSummarizer
from trimtab.types import Json

trace = pytest.importorskip("opentelemetry.trace", reason="spans need opentelemetry-api")
tracing = pytest.importorskip("trimtab.testing.tracing")

SETTINGS = FoldSettings(windows=1_000)  # trigger 720
MESSAGES: list[Json] = [
    {"role": "user" if number % 2 == 0 else "assistant", "content": f"{number} " + "word " * 100} for number in range(9)
]
ROWS = [Row(id=str(number), messages=[message]) for number, message in enumerate(MESSAGES)]
LANES = ("durable", "loop")


@pytest.fixture(params=[True, False], ids=["recording", "not recording"])
def tracer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A tracer that is set up for the whole process."""
    provider = tracing.Provider(recording=request.param)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return provider.tracer


async def hanging(request: SummaryRequest) -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return ""


def run(lane: str, how: str, events: list[Event]) -> None:
    """A fold that ends as it is told to."""
    raising = {"error": ValueError("down"), "interrupt": KeyboardInterrupt()}.get(how)
    summarizer: Any = hanging if how == "cancel" else RememberingSummarizer(raising=raising)
    kind: Any = DurableCompactor if lane == "durable" else LoopCompactor
    compactor = kind("openai-chat", SETTINGS, summarizer, on_event=events.append)
    given = ROWS if lane == "durable" else MESSAGES
    if how != "cancel":
        (compactor.serve if lane == "durable" else compactor.step)(given)
        return

    async def cancelled() -> None:
        waiting = asyncio.ensure_future((compactor.aserve if lane == "durable" else compactor.astep)(given))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        await waiting

    asyncio.run(cancelled())


ENDS = {"success": None, "error": None, "interrupt": KeyboardInterrupt, "cancel": asyncio.CancelledError}


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("how", ENDS)
def test_one_verdict(lane: str, how: str) -> None:
    """`compacting`, then exactly one `done` or `skipped`, however it ends; `skipped` says why."""
    events: list[Event] = []
    if ENDS[how] is None:
        run(lane, how, events)
    else:
        with pytest.raises(ENDS[how]):  # type: ignore[arg-type]
            run(lane, how, events)
    assert [event.kind for event in events] == ["compacting", "done" if how == "success" else "skipped"]
    assert {event.lane for event in events} == {lane}
    assert bool(events[-1].reason) is (how != "success")
    assert events[0].before == events[1].before > 720


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("how", ENDS)
def test_r5_without_a_tracer(lane: str, how: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Ending a turn raises nothing of its own and writes nothing, for success, error and cancel."""
    before = capfd.readouterr()
    assert before.out == before.err == ""
    test_one_verdict(lane, how)
    after = capfd.readouterr()
    assert after.out == after.err == ""


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("how", ENDS)
def test_r5_spans(lane: str, how: str, tracer: Any) -> None:
    """One span for a fold, ended, with the names of the conventions; one that does not record is not written to."""
    test_one_verdict(lane, how)
    (span,) = tracer.spans
    assert (span.name, span.ended) == ("trimtab.fold", True)
    if not tracer.recording:
        assert span.attributes == {}
        return
    assert span.attributes["gen_ai.operation.name"] == "compact"
    assert span.attributes["trimtab.lane"] == lane
    assert span.attributes["trimtab.verdict"] == ("done" if how == "success" else "skipped")
    assert span.attributes["gen_ai.usage.input_tokens"] > 0
    assert (span.attributes["gen_ai.usage.output_tokens"] > 0) is (how == "success")
    assert bool(span.exceptions) is (how == "error")
    assert "word word" not in str(span.attributes)


def test_r5_without_the_package() -> None:
    """Where OpenTelemetry is not installed folds work as they do."""
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from trimtab.compaction import DurableCompactor, FoldSettings, Row\n"
        "rows = [Row(id=str(n), messages=[{'role': ('user', 'assistant')[n % 2], 'content': 'word ' * 100}])"
        " for n in range(9)]\n"
        "print(DurableCompactor('openai-chat', FoldSettings(windows=1_000)).serve(rows).event.kind)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_no_fold_no_span(tracer: Any) -> None:
    """Where none is due nothing is told or written."""
    events: list[Event] = []
    DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer(), on_event=events.append).serve(ROWS[:3])
    assert (events, tracer.spans) == ([], [])


def test_a_listener_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and changes nothing of the fold."""

    def raises(event: Event) -> None:
        raise RuntimeError("no screen")

    with caplog.at_level(logging.ERROR, "trimtab"):
        served = DurableCompactor("openai-chat", SETTINGS, RememberingSummarizer(), on_event=raises).serve(ROWS)
    assert served.event is not None
    assert served.event.kind == "done"
    assert [record.exc_info is not None for record in caplog.records] == [True, True]
