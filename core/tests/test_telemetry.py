"""Spans and log records: one for every trim and every failure, none where nobody asked for them."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from trimtab import ALL, Budget, Call, Host, Policy
from trimtab._json import blob_id
from trimtab.blobs.memory import MemoryStore
from trimtab.errors import StoreUnavailable
from trimtab.testing.faults import FailingStore

trace = pytest.importorskip("opentelemetry.trace", reason="spans need opentelemetry-api")
tracing = pytest.importorskip("trimtab.testing.tracing")

PAGE = "a secret line that no log may show\n" * 90
SMALL = Budget(limit=600, keep=512)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The spans of an application that traces."""
    provider = tracing.Provider(recording=True)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    made: list[Any] = provider.tracer.spans
    return made


def over(store: Any, **policy: Any) -> Host:
    """A host over a store."""
    return Host(store, Policy(**policy), Host.load(discover=False).registry)


def run_all(host: Host) -> None:
    """One of each operation, some of which fail."""
    read = host.trim("fs_read", {"text": PAGE}, budget=SMALL)
    host.trim("fetch", PAGE, budget=SMALL)
    host.trim_batch([Call("a", PAGE), Call("b", "short")], budget=SMALL)
    host.render(read.row)
    host.run_read_tool("fs_read", {"uri": f"trimtab:{blob_id(PAGE)[:16]}"}, allow=ALL)
    host.run_read_tool("fs_read", {"uri": "trimtab:" + "0" * 16}, allow=ALL)
    asyncio.run(host.atrim("fetch", PAGE, budget=SMALL))


def test_each_operation_is_a_span(spans: list[Any]) -> None:
    """Trims (each of a batch too), reads, and renderings that ask the store are spans with the tool's name; all end."""
    run_all(over(MemoryStore()))
    assert [one.name for one in spans] == [
        "trimtab.trim",
        "trimtab.trim",
        "trimtab.trim_batch",
        "trimtab.trim",
        "trimtab.trim",
        "trimtab.render",
        "trimtab.read",
        "trimtab.read",
        "trimtab.trim",
    ]
    assert all(one.ended and not one.exceptions for one in spans)
    tools = [one.attributes.get("gen_ai.tool.name") for one in spans]
    assert tools == ["fs_read", "fetch", None, "a", "b", "fs_read", "fs_read", "fs_read", "fetch"]
    trims = [one.attributes for one in spans if one.name == "trimtab.trim"]
    assert [one["trimtab.changed"] for one in trims] == [False, True, True, False, True]
    assert [one["trimtab.texts_moved"] for one in trims] == [1, 1, 1, 0, 1]
    assert spans[2].attributes == {"trimtab.outputs": 2}


FAILURES: dict[str, Callable[[], Any]] = {
    "store": lambda: over(FailingStore(MemoryStore(), "put", 1)).trim("fetch", PAGE, budget=SMALL),
    "store in a batch": lambda: over(FailingStore(MemoryStore(), "put", 1)).trim_batch(
        [Call("fetch", PAGE)], budget=SMALL
    ),
    "store, async": lambda: asyncio.run(over(FailingStore(MemoryStore(), "put", 1)).atrim("fetch", PAGE, budget=SMALL)),
    "codec": lambda: over(MemoryStore(), tools={"fetch": {"codec": "operator:truediv"}}).trim(
        "fetch", PAGE, budget=SMALL
    ),
    "not json": lambda: over(MemoryStore(), unsupported="whole").trim("fetch", {"page": PAGE.encode()}),
}


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_is_an_event_and_a_record(name: str, spans: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """What left an output whole stands on its trim's span, as exception and status, and in one warning."""
    FAILURES[name]()
    span = next(one for one in spans if one.name == "trimtab.trim")
    assert len(span.exceptions) == 1
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.status.description == type(span.exceptions[0]).__name__
    (record,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert record.getMessage().startswith("fetch: left whole: ")


def test_a_store_that_fails_later_is_told_too(spans: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """A row shown without its text, and a model's read that could not be answered, are failures of their spans."""
    inner = MemoryStore()
    row = over(inner).trim("fs_read", {"text": PAGE}).row
    spans.clear()
    over(FailingStore(inner, "get", 1)).render(row)
    uri = f"trimtab:{blob_id(PAGE)[:16]}"
    over(FailingStore(inner, "slice", 1)).run_read_tool("fs_read", {"uri": uri}, allow=ALL)
    assert [(one.name, [type(error) for error in one.exceptions]) for one in spans] == [
        ("trimtab.render", [StoreUnavailable]),
        ("trimtab.read", [StoreUnavailable]),
    ]
    assert len([one for one in caplog.records if one.levelno == logging.WARNING]) == 2


def test_each_trim_is_a_record(caplog: pytest.LogCaptureFixture) -> None:
    """Every trim is one record at debug level, from the logger `trimtab`."""
    caplog.set_level(logging.DEBUG, logger="trimtab")
    host = over(MemoryStore())
    host.trim("fetch", PAGE, budget=SMALL)
    host.trim("fetch", "short")
    host.trim_batch([Call("a", PAGE), Call("b", "short")], budget=SMALL)
    assert [one.getMessage().split(":")[0] for one in caplog.records] == ["fetch", "fetch", "a", "b"]
    assert {one.name for one in caplog.records} == {"trimtab"}


def test_no_content_reaches_spans_or_logs(spans: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Neither attributes, events nor records hold any of a tool's output."""
    caplog.set_level(logging.DEBUG)
    run_all(over(MemoryStore()))
    for failure in FAILURES.values():
        failure()
    told = [caplog.text, *(repr(one.attributes) for one in spans), *(str(e) for one in spans for e in one.exceptions)]
    assert not any("secret" in one for one in told)


def test_a_span_that_does_not_record_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """In an unsampled trace nothing is written to a span, for success, failure and cancellation, and nothing raises."""
    provider = tracing.Provider(recording=False)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    run_all(over(MemoryStore()))
    for failure in FAILURES.values():
        failure()
    asyncio.run(cancelled())
    assert all(one.ended for one in provider.tracer.spans)


async def cancelled() -> None:
    """A trim that is cancelled while its text is put."""
    started, release = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
            started.set()
            release.wait(10)

    task = asyncio.create_task(over(Slow()).atrim("fetch", PAGE, budget=SMALL))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("how", ["no provider", "no-op provider", "no package"])
def test_without_a_tracer_nothing_is_different(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tracer, with the API's own no-op one, or without the package: the same results, nothing raises."""
    if how == "no package":
        for name in [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "opentelemetry", None)
    elif how == "no-op provider":
        monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    host = over(MemoryStore())
    run_all(host)
    assert host.trim("fetch", PAGE, budget=SMALL).changed
    for failure in FAILURES.values():
        failure()


def test_spans_of_tasks_do_not_mix(spans: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    """Many async trims at once: each span is current for its own trim only, and what was current before is again."""
    caplog.set_level(logging.DEBUG, logger="opentelemetry")
    host = over(MemoryStore())

    async def outer(number: int) -> bool:
        with trace.use_span(tracing.Span(f"caller {number}", recording=True)):
            await host.atrim("fetch", f"{number}: {PAGE}", budget=SMALL)
            return bool(trace.get_current_span().name == f"caller {number}")

    async def all_of_them() -> Sequence[bool]:
        return await asyncio.gather(*map(outer, range(20)))

    assert all(asyncio.run(all_of_them()))
    assert len(spans) == 20
    assert "detach" not in caplog.text


QUIET = """
from trimtab import Budget, Host, Policy
from trimtab.blobs.memory import MemoryStore

class Broken(MemoryStore):
    def put(self, blobs, *, owner):
        raise OSError("disk full")

registry = Host.load().registry
host = Host(Broken(), Policy(unsupported="whole"), registry)
assert host.trim("fetch", "a line\\n" * 9_000).error is not None
assert host.trim("fetch", {1: b""}).error is not None
assert host.render({"$persistedToolOutput": {"v": 99}}) is not None
"""


def test_nothing_is_written_where_nobody_listens() -> None:
    """Without any logging set up, failures write nothing on the terminal: they are in what is returned."""
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
