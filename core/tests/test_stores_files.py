"""What the store of files keeps beyond the contract: nothing outside its folder, no half files, damaged holds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from trimtab._json import blob_id
from trimtab.blobs import holds
from trimtab.blobs.files import FileStore
from trimtab.errors import DamagedBlob, LostBlob, StoreUnavailable
from trimtab.testing.texts import by_id

_LONG = "".join(f"line {n}: {n * n}\n" for n in range(60_000))
_ID = blob_id(_LONG)

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The store's folder."""
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> Iterator[FileStore]:
    """An empty store."""
    store = FileStore(str(root), timeout=0.2)
    yield store
    store.close()


def _file(root: Path, text: str) -> Path:
    return root / "blobs" / blob_id(text)[:2] / blob_id(text)


def _holds(root: Path) -> list[Path]:
    return sorted(path for path in (root / "holds").rglob("*") if path.is_file())


# Nothing outside the folder.


@pytest.mark.parametrize(
    "name", ["../../etc/x", "..\\..\\y\0z", "/etc/x", "a/b", "~", "C:\\x", ".", "..", "", "\n", "con", "x" * 10_000]
)
def test_owner_names_are_no_paths(tmp_path: Path, root: Path, store: FileStore, name: str) -> None:
    """Whatever an owner is called, all files lie in the folder and their names are the store's own."""
    store.put(by_id("one"), owner=name)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert {path.name for path in root.iterdir()} == {"trimtab-store", "blobs", "holds", "lock", "queue"}
    (hold,) = _holds(root)
    assert len(hold.parent.name) == len(hold.name) == 32
    assert store.held(name, by_id("one")) == set(by_id("one"))
    store.release(name)
    assert _holds(root) == []


def test_a_sibling_is_not_read(tmp_path: Path, store: FileStore) -> None:
    """A path for an id reads nothing, neither above the folder nor in one whose name begins the same."""
    (tmp_path / "store-evil").mkdir()
    (tmp_path / "store-evil" / "x").write_text("secret")
    for name in ("../store-evil/x", "../../store-evil/x", str(tmp_path / "store-evil" / "x"), "../trimtab-store"):
        with pytest.raises(LostBlob):
            store.get(name)
        assert not store.has(name)


@needs_links
def test_links_are_not_followed(tmp_path: Path, root: Path, store: FileStore) -> None:
    """A link where a text was is damage; a put takes its place and leaves its target alone."""
    store.put(by_id("one"), owner="a")
    outside = tmp_path / "outside"
    _file(root, "one").rename(outside)
    _file(root, "one").symlink_to(outside)
    with pytest.raises(DamagedBlob, match="link"):
        store.get(blob_id("one"))
    before = outside.read_bytes()
    store.put(by_id("one"), owner="a")
    assert store.get(blob_id("one")) == "one"
    assert outside.read_bytes() == before
    assert not _file(root, "one").is_symlink()


@needs_links
@pytest.mark.parametrize("folder", ["blobs", "holds", f"blobs/{blob_id('one')[:2]}"])
def test_a_linked_folder_is_refused(tmp_path: Path, root: Path, store: FileStore, folder: str) -> None:
    """A link where one of the store's folders was: nothing is written through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / folder).parent.mkdir(exist_ok=True)
    (root / folder).symlink_to(outside)
    with pytest.raises(StoreUnavailable, match="link"):
        store.put(by_id("one"), owner="a")
    assert list(outside.iterdir()) == []


@needs_links
def test_a_pipe_is_not_waited_for(root: Path, store: FileStore) -> None:
    """What is no regular file is damage at once."""
    _file(root, "one").parent.mkdir(parents=True)
    os.mkfifo(_file(root, "one"))
    with pytest.raises(DamagedBlob):
        store.get(blob_id("one"))


# Whole files only.


@pytest.mark.parametrize("length", [0, 1, 11, 12, 40, -1, -1000])
def test_a_truncated_text_is_damage(root: Path, store: FileStore, length: int) -> None:
    """A file that was cut anywhere serves nothing, neither page nor whole; a put mends it."""
    store.put(by_id(_LONG), owner="a")
    file = _file(root, _LONG)
    file.write_bytes(file.read_bytes()[:length])
    for read in (store.get, store.size, lambda name: store.lines(name, 1, 1)):
        with pytest.raises(DamagedBlob):
            read(_ID)
    assert [fault.place for fault in store.verify()] == [f"blobs/{_ID[:2]}/{_ID}"]
    assert store.stats().blobs == 1
    store.put(by_id(_LONG), owner="a")
    assert store.get(_ID) == _LONG


def test_a_changed_byte_is_damage(root: Path, store: FileStore) -> None:
    """Any changed byte of a file is found by whatever reads it."""
    text = "one\ntwo\n"
    store.put(by_id(text), owner="a")
    content = _file(root, text).read_bytes()
    for at in range(len(content)):
        _file(root, text).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamagedBlob):
            store.get(blob_id(text))
        assert len(list(store.verify())) == 1


def test_a_page_reads_only_what_it_touches(root: Path, store: FileStore) -> None:
    """A page of a long text comes from one frame: it is served though the last frame is damaged."""
    store.put(by_id(_LONG), owner="a")
    content = bytearray(_file(root, _LONG).read_bytes())
    content[-20] ^= 1
    _file(root, _LONG).write_bytes(content)
    assert store.lines(_ID, 30_001, 30_002) == "line 30000: 900000000\nline 30001: 900060001\n"
    with pytest.raises(DamagedBlob):
        store.lines(_ID, 60_000, 60_000)


def test_half_written_files_are_swept_up_late(root: Path) -> None:
    """What a killed process left is no blob, and is deleted once nobody can be writing it any more."""
    now = 1_700_000_000.0
    store = FileStore(str(root), clock=lambda: now)
    store.put(by_id("one"), owner="a")
    left = [_file(root, "one").parent / ".new-left", root / "holds" / ".new-left", root / ".new-left"]
    for path in left:
        path.write_text("half")
        os.utime(path, (now, now))
    assert list(store.verify()) == []
    assert list(store.ids()) == list(by_id("one"))
    assert store.collect(0).blobs == 0
    assert all(path.exists() for path in left)
    now += 3600
    assert store.collect(0).blobs == 0
    assert not any(path.exists() for path in left)


def test_a_put_that_fails_late_is_taken_back(root: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the hold cannot be written, the texts that came in are deleted again, and only these."""
    store.put(by_id("before"), owner="a")
    store.release("a")

    def full(self: holds.Holds, staged: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(holds.Holds, "commit", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            store.put(by_id("before", "one", "two"), owner="a")
    assert list(store.ids()) == list(by_id("before"))
    assert store.held("a", by_id("before", "one", "two")) == set()
    assert [path.name for path in root.rglob(".new-*")] == []


def test_a_newer_store_is_refused(root: Path, store: FileStore) -> None:
    """A folder of a later release says so, and is not touched."""
    (root / "trimtab-store").write_bytes(b"trimtab files 9\n")
    with pytest.raises(StoreUnavailable, match="files 9"):
        FileStore(str(root))


# Holds.


def test_a_damaged_hold_is_counted_and_skipped(root: Path, store: FileStore) -> None:
    """Holds written by two threads at once are each whole; one that is cut later is told, the rest load."""

    def work(n: int) -> None:
        for m in range(10):
            store.put(by_id(f"{n} {m}"), owner="a\nb")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = by_id(*(f"{n} {m}" for n in range(2) for m in range(10)))
    assert store.held("a\nb", every) == set(every)

    cut = _holds(root)[7]
    cut.write_bytes(cut.read_bytes()[:30])
    again = FileStore(str(root))
    assert [fault.place for fault in again.verify()] == [cut.relative_to(root).as_posix()]
    assert len(again.held("a\nb", every)) == 19
    assert again.stats().holds == 19


def test_nothing_is_collected_beside_a_damaged_hold(root: Path, store: FileStore) -> None:
    """What a damaged hold file holds is not known, so `collect` deletes nothing and says which file it is."""
    store.put(by_id("one"), owner="a")
    store.put(by_id("two"), owner="b")
    store.release("b")
    (cut,) = _holds(root)
    content = cut.read_bytes()
    cut.write_bytes(content[:-1])
    with pytest.raises(StoreUnavailable, match=cut.name):
        store.collect(0)
    assert len(list(store.ids())) == 2
    cut.write_bytes(content)
    assert store.collect(0).blobs == 1
    assert store.get(blob_id("one")) == "one"


def test_a_hold_of_what_is_not_there_is_told(root: Path, store: FileStore) -> None:
    """A text deleted behind the store's back is not held any more, and `verify` tells who held it."""
    store.put(by_id("one"), owner="a")
    _file(root, "one").unlink()
    assert store.held("a", by_id("one")) == set()
    assert store.find("a", [blob_id("one")[:16]]) == {blob_id("one")[:16]: []}
    assert [fault.place for fault in store.verify()] == [_holds(root)[0].relative_to(root).as_posix()]


def test_holding_the_same_again_makes_no_new_file(root: Path, store: FileStore) -> None:
    """An owner that holds the same texts again and again keeps one hold file."""
    for _ in range(5):
        store.put(by_id("one", "two"), owner="a")
    assert len(_holds(root)) == 1


@needs_links
def test_a_lock_that_is_not_let_go_of(root: Path, store: FileStore) -> None:
    """After the timeout a put is `StoreUnavailable` and has written nothing; reading needs no lock."""
    store.put(by_id("one"), owner="a")
    with store._lock.alone():
        with pytest.raises(StoreUnavailable, match="locked"):
            store.put(by_id("two"), owner="a")
        assert store.get(blob_id("one")) == "one"
        assert not store.has(blob_id("two"))
    assert [path.name for path in root.rglob(".new-*")] == []
    store.put(by_id("two"), owner="a")
    assert store.get(blob_id("two")) == "two"
