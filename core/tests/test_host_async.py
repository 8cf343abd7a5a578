"""The async twins: the same results, the store's work in another thread."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trimtab import ALL, Budget, Call, Host, Policy
from trimtab._json import blob_id
from trimtab.blobs.memory import MemoryStore
from trimtab.errors import LostBlob, NotOurs, UnsupportedOutput

SMALL = Budget(limit=600, keep=512)
PAGE = "the pilot came aboard at noon\n" * 90
URI = f"trimtab:{blob_id(PAGE)[:16]}"

# What touches the store, by name: arguments for a host that has trimmed `PAGE`, given its row.
OPERATIONS: dict[str, Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "trim": lambda _: (("fetch", {"p": PAGE}), {"budget": SMALL, "focus": "noon", "arguments": {"q": 1}, "owner": "a"}),
    "trim_batch": lambda _: (([Call("a", PAGE), Call("fs_read", {"text": PAGE})],), {"budget": SMALL, "owner": "a"}),
    "render": lambda row: ((row,), {}),
    "render_text": lambda row: ((row,), {}),
    "inflate": lambda row: ((row,), {"owner": ALL}),
    "allow_list": lambda row: (([row, row],), {"owner": "default"}),
    "read": lambda _: ((URI,), {"allow": ALL, "char": 5, "count": 90}),
    "grep": lambda _: ((URI, "noon"), {"allow": ALL, "line": 3}),
    "run_read_tool": lambda _: (("fs_search", {"uri": URI, "pattern": "pilot"}), {"allow": ALL}),
    "hold": lambda _: (("b", [blob_id(PAGE)]), {}),
    "release": lambda _: (("b",), {}),
    "collect": lambda _: ((0.0,), {}),
}


def seen(result: Any) -> Any:
    """A result as data that can be compared."""
    results = result if isinstance(result, list) else [result]
    return [(one.text, one.row_text, one.changed) if hasattr(one, "row_text") else one for one in results]


def test_every_twin_is_listed() -> None:
    """Each async method has a sync one of the same parameters, and stands in the table of these tests."""
    twins = {name[1:] for name in vars(Host) if name.startswith("a") and inspect.iscoroutinefunction(vars(Host)[name])}
    assert twins - {"trim_request"} == set(OPERATIONS)
    for name in twins:
        sync, twin = (inspect.signature(getattr(Host, one)) for one in (name, f"a{name}"))
        assert sync.parameters == twin.parameters


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_twin_gives_the_same(name: str) -> None:
    """Called the same way on hosts in the same state, both give the same."""
    results = []
    for is_async in (False, True):
        with Host.load(discover=False) as host:
            row = host.trim("fetch", PAGE, budget=SMALL).row
            positional, named = OPERATIONS[name](row)
            if is_async:
                results.append(asyncio.run(getattr(host, f"a{name}")(*positional, **named)))
            else:
                results.append(getattr(host, name)(*positional, **named))
    assert seen(results[0]) == seen(results[1])


class Where(MemoryStore):
    """A store that notes in which thread it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def __getattribute__(self, name: str) -> Any:
        if name in ("put", "get", "held", "find", "slice", "hold", "release", "collect", "size"):
            self.threads.add(threading.get_ident())
        return super().__getattribute__(name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_store_works_in_another_thread(name: str) -> None:
    """No twin asks the store in the thread of the event loop."""
    store = Where()
    host = Host(store, Policy(), Host.load(discover=False).registry)
    row = host.trim("fs_read", {"text": PAGE}).row
    positional, named = OPERATIONS[name](row)
    store.threads.clear()
    asyncio.run(getattr(host, f"a{name}")(*positional, **named))
    assert store.threads
    assert threading.get_ident() not in store.threads


def test_errors_are_the_same() -> None:
    """What a sync method raises its twin raises too."""
    with Host.load(discover=False) as host:
        row = host.trim("fetch", PAGE, budget=SMALL, owner="a").row
        for coroutine, error in (
            (host.atrim("t", {"x": b""}), UnsupportedOutput),
            (host.atrim_batch([Call("t", {"x": b""})]), UnsupportedOutput),
            (host.ainflate(row, owner="b"), LostBlob),
            (host.aread("/etc/passwd", allow=ALL), NotOurs),
            (host.agrep("/etc/passwd", "x", allow=ALL), NotOurs),
            (host.ahold("b", ["f" * 32]), LostBlob),
        ):
            with pytest.raises(error):
                asyncio.run(coroutine)


def test_many_at_once(tmp_path: Path) -> None:
    """A hundred trims at once over a store in a file: each is stored and opens, and none waits for ever."""

    async def all_of_them(host: Host) -> list[Any]:
        trims = [host.atrim("fetch", f"{n % 30}: {PAGE}", budget=SMALL, owner="chat") for n in range(100)]
        trimmed = await asyncio.gather(*trims)
        return await asyncio.gather(*(host.ainflate(json.loads(one.row_text), owner="chat") for one in trimmed))

    with Host.load(store=f"sqlite:///{tmp_path / 'texts.db'}", discover=False) as host:
        assert asyncio.run(all_of_them(host)) == [f"{n % 30}: {PAGE}" for n in range(100)]


def test_a_slow_store_does_not_hold_the_loop() -> None:
    """While the store works, other tasks go on."""
    asked, answered = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def put(self, blobs: Mapping[str, str], *, owner: str) -> None:
            asked.set()
            assert answered.wait(10)
            super().put(blobs, owner=owner)

    async def other() -> None:
        await asyncio.to_thread(asked.wait, 10)
        answered.set()

    async def both(host: Host) -> bool:
        trimmed, _ = await asyncio.gather(host.atrim("fetch", PAGE, budget=SMALL), other())
        return bool(trimmed.changed)

    assert asyncio.run(both(Host(Slow(), Policy(), Host.load(discover=False).registry)))
