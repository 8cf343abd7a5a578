"""A store that fails: outputs stay whole, for good; never a marker whose text is not stored."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from trimtab import ALL, Budget, Call, Host, Policy, Trimmed, UnsupportedOutput, hookimpl
from trimtab._json import blob_id, canonical
from trimtab.blobs.memory import MemoryStore
from trimtab.errors import DamagedBlob, LeftWhole, LostBlob, PluginError, StoreUnavailable
from trimtab.testing.faults import FailingStore
from trimtab.types import BlobStore

SMALL = Budget(limit=600, keep=512)

ERRORS: dict[str, Callable[[], Exception]] = {
    "unavailable": lambda: StoreUnavailable("the disk is full; make room"),
    "damaged": lambda: DamagedBlob("0" * 32, "a checksum is wrong"),
    "lost": lambda: LostBlob("0" * 32),
    "os": lambda: OSError(28, "No space left on device"),
    "sqlite": lambda: sqlite3.OperationalError("database is locked"),
    "type": lambda: TypeError("a mistake in a store of somebody's"),
    "timeout": TimeoutError,
}


def page(number: int) -> str:
    """A text that is moved, different for each number."""
    return "".join(f"{number}.{line}: the locks were opened\n" for line in range(60))


def failing(method: str, error: str, nth: int = 1) -> tuple[Host, FailingStore]:
    """A host over a store whose method raises from its nth call on."""
    store = FailingStore(MemoryStore(), method, nth, ERRORS[error])
    return _host(store), store


def _host(store: Any, **policy: Any) -> Host:
    plain = Host.load(discover=False)
    return Host(store, Policy(**policy), plain.registry)


def sync(host: Host, tool: str, output: Any, **more: Any) -> Trimmed:
    """Trim."""
    return host.trim(tool, output, budget=SMALL, **more)


def twin(host: Host, tool: str, output: Any, **more: Any) -> Trimmed:
    """Trim by the async twin."""
    return asyncio.run(host.atrim(tool, output, budget=SMALL, **more))


def batch(host: Host, tool: str, output: Any, **more: Any) -> Trimmed:
    """Trim as one of a batch."""
    return host.trim_batch([Call(tool, output)], budget=SMALL, **more)[0]


def batch_twin(host: Host, tool: str, output: Any, **more: Any) -> Trimmed:
    """Trim as one of a batch, by the async twin."""
    return asyncio.run(host.atrim_batch([Call(tool, output)], budget=SMALL, **more))[0]


WAYS = [sync, twin, batch, batch_twin]


def assert_whole(trimmed: Trimmed, output: Any) -> None:
    """The output itself, in the prompt and in the row."""
    assert trimmed.value is output
    assert trimmed.row is output
    assert not trimmed.changed
    assert "trimtab:" not in trimmed.text


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output", [page(1), {"content": page(2)}, json.dumps([{"content": page(3)}])])
def test_a_store_that_cannot_put_leaves_outputs_whole(
    error: str, way: Any, output: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever a put raises: whole, with the error beside it and a warning, and whole in every later call."""
    host, store = failing("put", error)
    trimmed = way(host, "fetch", output)
    assert_whole(trimmed, output)
    assert type(trimmed.error) is type(ERRORS[error]())
    assert "fetch: left whole" in caplog.text
    store.heal()
    for later in WAYS:
        assert_whole(later(host, "fetch", output), output)
    assert way(host, "fetch", page(9)).changed
    assert way(_host(store), "fetch", output).changed


@pytest.mark.parametrize("tool", ["fs_read", "fetch"])
def test_a_copy_of_what_went_whole_stays_whole(tool: str) -> None:
    """An equal output, from another call of the same owner's, is remembered too; another tool's or owner's is not."""
    host, store = failing("put", "os")
    sync(host, tool, {"text": page(1)})
    store.heal()
    again = sync(host, tool, {"text": page(1)})
    assert again.value == again.row == {"text": page(1)}
    assert sync(host, tool, {"text": page(1)}, owner="another").moved
    assert sync(host, "other", {"text": page(1)}).changed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", ["unavailable", "os", "type"])
@pytest.mark.parametrize("method", ["find", "get"])
def test_a_store_that_cannot_prove_a_rendering_leaves_it(way: Any, error: str, method: str) -> None:
    """A rendering that comes back goes on as it is when the store cannot be asked for its original."""
    inner = MemoryStore()
    first = sync(_host(inner), "run", page(1) * 9, owner="chat")
    large = Budget(limit=2_000, keep=1_500)
    wide = _host(inner).trim("run", page(1) * 9, budget=large, owner="chat")
    assert len(wide.text) > SMALL.limit > len(first.text)
    host = _host(FailingStore(inner, method, 1, ERRORS[error]))
    trimmed = way(host, "run", wide.value, owner="chat")
    assert trimmed.value is trimmed.row is wide.value
    assert type(trimmed.error) is type(ERRORS[error]())


def test_one_of_a_batch_fails_alone() -> None:
    """The output whose put fails is whole, those before and after it are trimmed and stored."""
    for nth in (1, 2, 3):
        store = _FailsOnce(MemoryStore(), nth)
        host = _host(store)
        results = host.trim_batch([Call("t", page(n)) for n in range(3)], budget=SMALL)
        assert [one.changed for one in results] == [n + 1 != nth for n in range(3)]
        assert [host.inflate(one.row) for one in results] == [page(n) for n in range(3)]
        assert [one.error is None for one in results] == [n + 1 != nth for n in range(3)]


class _FailsOnce:
    """A store whose nth put raises, and no other."""

    def __init__(self, inner: BlobStore, nth: int) -> None:
        self._inner = inner
        self._left = nth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        self._left -= 1
        if self._left == 0:
            raise StoreUnavailable("once")
        self._inner.put(blobs, owner=owner)


class _HalfPut:
    """A store that breaks its contract: it keeps one of the texts, then raises."""

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        first = next(iter(blobs))
        self._inner.put({first: blobs[first]}, owner=owner)
        raise OSError("the rest did not fit")


def test_half_a_put_shows_no_marker() -> None:
    """Some of an output's texts stored and some not: no marker for any of them."""
    host = _host(_HalfPut(MemoryStore()))
    output = [{"content": page(n)} for n in range(4)]
    trimmed = sync(host, "search", output)
    assert_whole(trimmed, output)
    assert host.store.stats().blobs == 1


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("method", ["held", "get"])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_row_is_shown_without_its_store(
    error: str, method: str, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Rendering raises nothing whatever the store does: most rows do not ask it, a read page shows its marker."""
    inner = MemoryStore()
    trimmed, read = (sync(_host(inner), tool, {"text": page(1)}) for tool in ("fetch", "fs_read"))
    host = _host(FailingStore(inner, method, 1, ERRORS[error]))

    assert canonical(called(host, "render", is_async, trimmed.row)) == trimmed.text
    assert caplog.text == ""
    assert called(host, "render", is_async, read.row) == read.row["$persistedToolOutput"]["skeleton"]
    assert "shown with markers" in caplog.text


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("is_async", [False, True])
def test_what_needs_the_store_says_what_it_said(error: str, is_async: bool) -> None:
    """Opening a row, the allow list and reading raise what the store raised; nothing is guessed in its place."""
    inner = MemoryStore()
    trimmed = sync(_host(inner), "fetch", page(1))
    uri = f"trimtab:{blob_id(page(1))[:16]}"
    calls: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
        ("get", "inflate", (trimmed.row,), {}),
        ("held", "allow_list", ([trimmed.row],), {}),
        ("slice", "read", (uri,), {"allow": ALL}),
        ("slice", "grep", (uri, "x"), {"allow": ALL}),
    ]
    for method, name, positional, named in calls:
        host = _host(FailingStore(inner, method, 1, ERRORS[error]))
        with pytest.raises(type(ERRORS[error]())):
            called(host, name, is_async, *positional, **named)


@pytest.mark.parametrize("error", ["unavailable", "damaged", "lost"])
def test_a_models_read_is_answered(error: str, caplog: pytest.LogCaptureFixture) -> None:
    """A store that fails while a model reads is an answer with the reason, and a warning for the application."""
    inner = MemoryStore()
    sync(_host(inner), "fetch", page(1))
    host = _host(FailingStore(inner, "slice", 1, ERRORS[error]))
    uri = f"trimtab:{blob_id(page(1))[:16]}"
    for name, arguments in (("fs_read", {"uri": uri}), ("fs_search", {"uri": uri, "pattern": "locks"})):
        answer = host.run_read_tool(name, arguments, allow=ALL)
        assert answer["error"]["kind"] == type(ERRORS[error]()).__name__
        assert answer == asyncio.run(host.arun_read_tool(name, arguments, allow=ALL))
    assert caplog.text.count("WARNING") == 4


def called(host: Host, name: str, is_async: bool, *positional: Any, **named: Any) -> Any:
    """What a method of the host gives, or its async twin."""
    if is_async:
        return asyncio.run(getattr(host, f"a{name}")(*positional, **named))
    return getattr(host, name)(*positional, **named)


class _Interrupts:
    """A store whose put is interrupted, as by Ctrl-C."""

    def __init__(self, inner: BlobStore, how: type[BaseException]) -> None:
        self._inner = inner
        self._how: type[BaseException] | None = how

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
        how, self._how = self._how, None
        if how is not None:
            raise how
        self._inner.put(blobs, owner=owner)


@pytest.mark.parametrize("how", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_failure_of_the_store(how: type[BaseException]) -> None:
    """Ctrl-C in the middle of a put comes out, and is not remembered: the next call trims."""
    host = _host(_Interrupts(MemoryStore(), how))
    with pytest.raises(how):
        sync(host, "fetch", page(1))
    assert sync(host, "fetch", page(1)).changed


def test_a_cancelled_trim_is_not_remembered() -> None:
    """A task that is cancelled while its text is put has no result; the next call trims."""
    started, release = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
            started.set()
            release.wait(10)
            super().put(blobs, owner=owner)

    async def cancel(host: Host) -> None:
        task = asyncio.create_task(host.atrim("fetch", page(1), budget=SMALL))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    host = _host(Slow())
    asyncio.run(cancel(host))
    trimmed = sync(host, "fetch", page(1))
    assert trimmed.changed
    assert host.inflate(trimmed.row) == page(1)


class _Flaky:
    """A store that fails at random, from a seed."""

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner
        self._random = random.Random(7)

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._inner, name)
        if name in ("put", "find", "get") and self._random.random() < 0.4:
            return self._fail
        return there

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("at random")


def test_threads_over_a_flaky_store_lose_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Eight threads, a store that fails at random: each result is whole or opens to its output, and stays so."""
    caplog.set_level(logging.ERROR, logger="trimtab")
    inner = MemoryStore()
    host = _host(_Flaky(inner))

    def work(number: int) -> tuple[int, Trimmed]:
        return number % 25, sync(host, "fetch", page(number % 25), owner="chat")

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(200)))
    sound = _host(inner)
    assert all(sound.inflate(one.row, owner="chat") == page(number) for number, one in results)
    assert {one.changed for _, one in results} == {True, False}
    whole = {number for number, one in results if one.error is not None}
    assert all(sync(host, "fetch", page(number), owner="chat").value == page(number) for number in whole)


LIMITED = """
import random, resource, sys
from trimtab import Budget, Host
from trimtab._json import blob_id

noise = random.Random(5)
large = "".join(chr(noise.randrange(0x4E00, 0x9FA5)) for _ in range(400_000))
with Host.load(store=sys.argv[1], discover=False) as host:
    before = host.trim("fetch", "the locks were opened\\n" * 2_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    failed = host.trim("fetch", [{"content": "short " * 900}, {"content": large}])
    assert failed.error is not None and not failed.changed, failed
    assert failed.value == failed.row == [{"content": "short " * 900}, {"content": large}]
    assert host.inflate(before.row) == "the locks were opened\\n" * 2_000
    assert not host.store.has(blob_id(large))
    assert host.trim("fetch", "a small page " * 2_000).changed
    assert list(host.store.verify()) == []
    print(type(failed.error).__name__)
"""


@pytest.mark.skipif(os.name == "nt", reason="files have no size limit that a process can set there")
@pytest.mark.parametrize("kind", ["sqlite", "file"])
def test_files_that_may_not_grow_are_a_failure_like_any_other(tmp_path: Path, kind: str) -> None:
    """Where the operating system lets no file grow any more: the output stays whole, the store stays sound."""
    url = f"sqlite:///{tmp_path / 'texts.db'}" if kind == "sqlite" else (tmp_path / "texts").as_uri()
    done = subprocess.run([sys.executable, "-c", LIMITED, url], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "StoreUnavailable\n"), done.stderr


@pytest.mark.parametrize("error", sorted(ERRORS))
@pytest.mark.parametrize("method", ["get", "size", "slice", "find"])
def test_a_read_call_is_answered_whatever_the_store_raises(method: str, error: str) -> None:
    """A model's read call gets an error to read, never an exception into the application's loop."""
    host, store = failing(method, error)
    store.put({blob_id(page(1)): page(1)}, owner="default")
    uri = f"trimtab:{blob_id(page(1))}"
    answer = host.run_read_tool("fs_read", {"uri": uri}, allow=ALL)
    assert set(answer) == {"error"} or answer["text"].startswith("1.0: the locks")
    assert set(answer) != {"error"} or {"kind", "message"} == set(answer["error"])


def test_without_a_read_tool_no_name_reads_back() -> None:
    """Where the application offers no read-back tool, the default search tool's name is an ordinary one."""
    policy = Policy(read_tool="")
    assert not policy.is_read_tool("fs_search")
    assert Policy(read_tool="", read_aliases=("my_read",)).is_read_tool("my_read")


class BrokenCounter:
    """A counter that cannot count."""

    name = "broken"
    version = "1"

    def count(self, text: str) -> int:
        """Raise."""
        raise RuntimeError(f"no vocabulary for {len(text)} chars")


def test_a_counter_that_raises_leaves_the_output_whole() -> None:
    """A counter is somebody's part as a codec is: the output goes out whole, with the error beside it."""
    with Host.load(discover=False) as host:
        trimmed = host.trim("x", page(1), budget=Budget(unit="tokens", limit=200, keep=128, counter=BrokenCounter()))
        assert trimmed.value == page(1)
        assert isinstance(trimmed.error, RuntimeError)


class Counts:
    """A counter that gives whatever it is told to."""

    version = "1"

    def __init__(self, gives: Any, name: str = "odd") -> None:
        self.name = name
        self._gives = gives

    def count(self, text: str) -> Any:
        """That."""
        return self._gives(text) if callable(self._gives) else self._gives


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gives", [float("nan"), -1, True, False, "17", 1e9, None, [3], float("inf")])
def test_a_count_that_is_none_leaves_the_output_whole(
    way: Any, gives: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What a counter gives must be a whole number from 0; else the output is whole, and the error names the counter."""
    monkeypatch.setitem(globals(), "SMALL", Budget(unit="tokens", limit=200, keep=128, counter=Counts(gives)))
    with Host.load(discover=False) as host:
        output = page(1)
        trimmed = way(host, "x", output)
        assert_whole(trimmed, output)
        assert isinstance(trimmed.error, PluginError)
        assert f"token counter 'odd' gave {gives!r} ({type(gives).__name__})" in str(trimmed.error)
        assert "x: left whole" in caplog.text


def test_a_count_may_be_of_any_integer_type() -> None:
    """A number that says that it is an integer, as numpy's do, is one."""

    class Whole:
        """Three hundred."""

        def __index__(self) -> int:
            return 300

    with Host.load(discover=False) as host:
        budget = Budget(unit="tokens", limit=200, keep=128, counter=Counts(lambda text: Whole()))
        assert host.trim("x", page(1), budget=budget).over_budget


def test_a_counter_that_fails_in_a_batch_fails_one_output() -> None:
    """The rest of the batch is trimmed; what could not be counted is whole, and says why."""

    def count(text: str) -> int:
        if "2.1:" in text and "omitted" in text:
            raise RuntimeError("no vocabulary")
        return len(text) // 4

    budget = Budget(unit="tokens", limit=300, keep=300, batch=400, counter=Counts(count))
    with Host.load(discover=False) as host:
        one, two = host.trim_batch([Call("x", page(1)), Call("x", page(2))], budget=budget)
        assert one.changed
        assert_whole(two, two.value)
        assert isinstance(two.error, RuntimeError)


class MakesCounters:
    """An application's plugin whose counters cannot be made."""

    @hookimpl
    def trimtab_token_counters(self) -> Mapping[str, Any]:
        """One factory that raises, one that gives something else."""
        return {"raises": lambda: 1 // 0, "other": lambda: 3}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("raises", "its factory raised ZeroDivisionError"), ("other", "its factory gave int, which is no token counter")],
)
def test_a_counter_that_cannot_be_made_is_named(name: str, complaint: str) -> None:
    """As a name that nothing registers, it is an error and not an output that stays whole: no output is to blame."""
    with (
        Host.load(plugins=[MakesCounters()], discover=False) as host,
        pytest.raises(PluginError, match=f"token counter '{name}': {complaint}"),
    ):
        host.trim("x", page(1), budget=Budget(unit="tokens", limit=200, keep=128, counter=name))


def test_what_went_whole_says_why_each_time() -> None:
    """A later call for an output that went whole gives the first failure again, also once the store is well."""
    host, store = failing("put", "os")
    first = host.trim("x", page(1), budget=SMALL)
    store.heal()
    again = host.trim("x", page(1), budget=SMALL)
    assert again.value == page(1)
    assert isinstance(first.error, OSError)
    assert isinstance(again.error, LeftWhole)
    assert "OSError" in str(again.error)
    assert str(first.error) in str(again.error)


@pytest.mark.parametrize("policy", [Policy(read_tool=""), Policy()])
def test_a_split_pair_is_refused_where_it_stays(policy: Policy) -> None:
    """A surrogate pair as two code points is refused as soon as its text would stay in the prompt and in the row."""
    with Host.load(policy=policy, discover=False) as host, pytest.raises(UnsupportedOutput, match="surrogate pair"):
        host.trim("x", "\ud83d\ude00" + ("" if policy.read_tool else "long " * 9_000))


def test_one_owners_failure_changes_nothing_of_anothers() -> None:
    """An output that went whole for one conversation stays trimmed for the other that has it too."""
    host, store = failing("put", "os", nth=2)
    sent = sync(host, "x", page(1), owner="a")
    assert sent.changed
    assert sync(host, "x", page(1), owner="b").value == page(1)
    store.heal()
    assert sync(host, "x", page(1), owner="a").value == sent.value
    assert sync(host, "x", page(1), owner="b").value == page(1)


OUTPUTS = [page(1), {"content": page(2)}, json.dumps([{"content": page(3)}])]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_what_was_sent_trimmed_stays_so_when_a_put_fails(
    way: Any, error: str, output: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The texts are held already, so nothing has to be stored: the same bytes again, and the failure in the log."""
    host, store = failing("put", error, nth=2)
    sent = sync(host, "fetch", output, owner="a")
    assert sent.changed
    again = way(host, "fetch", output, owner="a")
    assert store.failed
    assert (again.value, again.row, again.error) == (sent.value, sent.row, None)
    assert "fetch: a put failed, but its texts are held already" in caplog.text
    assert_whole(way(host, "fetch", output, owner="b"), output)
    assert host.inflate(again.row, owner="a") == output
    store.heal()
    assert way(host, "fetch", output, owner="a").value == sent.value


@pytest.mark.parametrize("way", WAYS)
def test_what_the_store_lost_goes_whole_when_a_put_fails(way: Any) -> None:
    """A marker whose text is not held any more would lead nowhere."""
    host, _ = failing("put", "os", nth=2)
    assert sync(host, "fetch", page(1), owner="a").changed
    host.release("a")
    output = page(1)
    again = way(host, "fetch", output, owner="a")
    assert_whole(again, output)
    assert isinstance(again.error, OSError)


@pytest.mark.parametrize("way", WAYS)
def test_a_store_that_cannot_say_what_it_holds_leaves_outputs_whole(way: Any) -> None:
    """When `held` fails after a put did, the output goes whole, with what the put raised beside it."""
    store = FailingStore(FailingStore(MemoryStore(), "put", 2, ERRORS["os"]), "held", 1, ERRORS["type"])
    host = _host(store)
    assert sync(host, "fetch", page(1), owner="a").changed
    output = page(1)
    again = way(host, "fetch", output, owner="a")
    assert_whole(again, output)
    assert isinstance(again.error, OSError)
    assert "could not say what it holds: TypeError" in again.error.__notes__[0]
