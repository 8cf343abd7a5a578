"""Killed processes, full disks, many writers: what a put said is there is there, and nothing is there by half."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from trimtab._json import blob_id
from trimtab.blobs import open_store
from trimtab.errors import StoreUnavailable

KINDS = ["sqlite:///{}/texts.db", "file://{}/texts"]

# Puts pairs of new texts, small and large, and says after each put which are stored.
_WRITER = """
import sys
from trimtab._json import blob_id
from trimtab.blobs import open_store

store = open_store(sys.argv[1])
name = sys.argv[2]
for n in range(100_000):
    texts = [f"{name} {n} " + "text " * (n % 7) ** 5, f"{name} {n} beside"]
    store.put({blob_id(text): text for text in texts}, owner=name)
    print(*map(blob_id, texts), flush=True)
"""

# Waits for its start; then puts what all put and what it alone puts, and holds what another may have put.
_ONE_OF_EIGHT = """
import sys
from trimtab._json import blob_id
from trimtab.blobs import open_store

name = sys.argv[2]
sys.stdin.readline()
store = open_store(sys.argv[1])
for n in range(15):
    texts = [f"shared {n}", f"{name} alone {n} " + "x" * 20_000]
    store.put({blob_id(text): text for text in texts}, owner=f"owner {name}")
    assert store.get(blob_id(texts[0])) == texts[0]
    store.hold(f"reader {name}", [blob_id(texts[0])])
    if n % 5 == 4:
        store.collect(3600)
store.close()
"""

# Opens with no limit, then may not write any file beyond so many bytes, as on a full disk.
_LIMITED = """
import random
import resource
import signal
import sys
from trimtab._json import blob_id
from trimtab.blobs import open_store
from trimtab.errors import StoreUnavailable

store = open_store(sys.argv[1])
store.put({blob_id("before"): "before"}, owner="a")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
noise = "".join(map(chr, random.Random(1).choices(range(33, 120), k=2_000_000)))
for _ in range(3):
    try:
        store.put({blob_id(text): text for text in ("small", noise, "last")}, owner="b")
    except StoreUnavailable as error:
        print("unavailable:", error)
    else:
        sys.exit("the put should have failed")
assert store.get(blob_id("before")) == "before"
assert not store.held("b", map(blob_id, ("small", noise, "last")))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.put({blob_id("after"): "after"}, owner="b")
"""


@contextmanager
def _child(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def _kill_in_the_middle(url: str, rounds: int) -> None:
    """Each round: a process puts, is killed with no warning, and what it said is stored is looked for."""
    promised: dict[str, set[str]] = {}
    for n in range(rounds):
        name = f"writer {n}"
        said = promised.setdefault(name, set())
        with _child(_WRITER, url, name) as child:
            assert child.stdout is not None
            for _ in range(1 + n * 7 % 40):
                said.update(child.stdout.readline().split())
            child.kill()
            # What it still said before it died.
            for line in child.stdout:
                said.update(line.split() if line.endswith("\n") else ())
        store = open_store(url)
        for owner, stored in promised.items():
            assert store.held(owner, stored) == stored
        assert all(blob_id(store.get(stored)) == stored for stored in said)
        assert list(store.verify()) == []
        # What was put together is held together, also by the put that was cut off.
        assert len(store.held(name, store.ids())) % 2 == 0
        store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_while_putting(tmp_path: Path, kind: str) -> None:
    """A process killed at any moment: every text whose put returned is there and held, and nothing is damaged."""
    _kill_in_the_middle(kind.format(tmp_path), 20)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_while_putting_many_times(tmp_path: Path, kind: str) -> None:
    """The same, two hundred times."""
    _kill_in_the_middle(kind.format(tmp_path), 200)


@pytest.mark.parametrize("kind", KINDS)
def test_eight_processes_at_once(tmp_path: Path, kind: str) -> None:
    """Eight processes make the store and write the same and different texts: nothing is lost, no lock is reported."""
    url = kind.format(tmp_path)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _ONE_OF_EIGHT, url, str(n)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for n in range(8)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=120)
        assert (child.returncode, errors) == (0, "")
    store = open_store(url)
    shared = [blob_id(f"shared {n}") for n in range(15)]
    for name in range(8):
        alone = [blob_id(f"{name} alone {n} " + "x" * 20_000) for n in range(15)]
        assert store.held(f"owner {name}", shared + alone) == {*shared, *alone}
        assert store.held(f"reader {name}", shared + alone) == set(shared)
    assert store.stats().blobs == 15 + 8 * 15
    assert list(store.verify()) == []
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no size limit for files there")
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_system_that_is_full(tmp_path: Path, kind: str) -> None:
    """A put that the disk does not take is `StoreUnavailable`, whole and for good; what was there stays readable."""
    url = kind.format(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, url], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("unavailable:") == 3
    assert done.stdout.count("nothing was written") == 3
    store = open_store(url)
    assert set(store.ids()) == {blob_id("before"), blob_id("after")}
    assert list(store.verify()) == []
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.startswith(".new-")]
    store.close()


def test_a_missing_folder_that_appears(tmp_path: Path) -> None:
    """What could not be opened opens once it can be: nothing of the failure is remembered."""
    url = f"sqlite:///{tmp_path}/later/texts.db"
    with pytest.raises(StoreUnavailable, match="folder"):
        open_store(url)
    (tmp_path / "later").mkdir()
    store = open_store(url)
    store.put({blob_id("one"): "one"}, owner="a")
    store.close()
