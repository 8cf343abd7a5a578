"""Owners, collection, totals, many at once: what is held stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from trimtab.errors import CallerError, LostBlob
from trimtab.testing.stores.base import ABSENT, LONG, StoreClaims
from trimtab.testing.texts import by_id, id_of
from trimtab.types import ALL, BlobStore, StoreStats

__all__ = ["HoldingClaims"]

_OWNERS = (
    "",
    "a",
    "A",
    "a\n",
    "a\0b",
    "a\0c",
    "../../etc/x",
    "..\\y",
    "ALL",
    "%",
    "*",
    "\ud800",
    "o" * 10_000,
    "o" * 10_001,
)


class HoldingClaims(StoreClaims):
    """Claims about owners, collection and totals."""

    def test_any_string_is_an_owner(self, store: BlobStore) -> None:
        """Owners are told apart exactly, whatever their names hold."""
        for n, owner in enumerate(_OWNERS):
            store.put(by_id(f"of owner {n}"), owner=owner)
        every = by_id(*(f"of owner {n}" for n in range(len(_OWNERS))))
        for n, owner in enumerate(_OWNERS):
            assert store.held(owner, every) == {id_of(f"of owner {n}")}
        assert store.held(ALL, every) == set(every)
        assert store.held("nobody", every) == set()

    def test_all_holds_nothing(self, store: BlobStore) -> None:
        """`ALL` and what is no string read at most: `put`, `hold` and `release` refuse them."""
        for owner in (ALL, None, 3):
            wrong: Any = owner
            with pytest.raises(CallerError):
                store.put(by_id("one"), owner=wrong)
            with pytest.raises(CallerError):
                store.hold(wrong, [])
            with pytest.raises(CallerError):
                store.release(wrong)
        assert list(store.ids()) == []

    def test_holding_what_another_put(self, store: BlobStore) -> None:
        """`hold` makes a stored blob the owner's too; twice is as good as once."""
        store.put(by_id("one", "two"), owner="a")
        store.hold("b", [id_of("one")])
        store.hold("b", [id_of("one"), id_of("one")])
        store.hold("c", [])
        assert store.held("b", by_id("one", "two")) == {id_of("one")}
        assert store.stats().owners == 2

    def test_holding_a_lost_blob_holds_none(self, store: BlobStore) -> None:
        """When one of the blobs is not there, `hold` raises `LostBlob` and holds none of them."""
        store.put(by_id("one"), owner="a")
        with pytest.raises(LostBlob):
            store.hold("b", [id_of("one"), ABSENT])
        assert store.held("b", [id_of("one")]) == set()

    def test_releasing(self, store: BlobStore) -> None:
        """`release` lets go of all that one owner holds and deletes nothing; an unknown owner is no error."""
        store.put(by_id("one", "two"), owner="a")
        store.put(by_id("two"), owner="b")
        store.release("a")
        store.release("a")
        store.release("nobody")
        assert store.held("a", by_id("one", "two")) == set()
        assert store.held("b", by_id("one", "two")) == {id_of("two")}
        assert store.get(id_of("one")) == "one"
        assert store.stats().unheld == 1

    def test_many_at_once(self, store: BlobStore) -> None:
        """Thousands of ids are asked for in one call, absent and malformed ones among them."""
        texts = by_id(*(f"text {n}" for n in range(30)))
        store.put(texts, owner="a")
        asked = [id_of(f"text {n}") for n in range(3_000)] + ["", "x" * 32]
        assert store.held("a", asked) == store.held(ALL, iter(asked)) == set(texts)
        assert {h: found for h, found in store.find("a", asked).items() if found} == {i: [i] for i in texts}

    def test_finding_by_handle(self, store: BlobStore) -> None:
        """A handle of 16 to 32 hex digits finds the ids that begin with it, for their owner only."""
        store.put(by_id("one", "two"), owner="a")
        store.put(by_id("three"), owner="b")
        one, three = id_of("one"), id_of("three")
        handles = [
            one[:16],
            one[:17],
            one[:31],
            one,
            three[:16],
            ABSENT[:16],
            one[:15],
            "",
            one[:16].upper(),
            "%" * 16,
        ]
        none: dict[str, list[str]] = {handle: [] for handle in handles}
        found = {handle: [one] for handle in handles[:4]}
        assert store.find("a", handles) == {**none, **found}
        assert store.find(ALL, iter(handles)) == {**none, **found, three[:16]: [three]}
        assert store.find("nobody", handles) == none

    # Collecting.

    def test_collecting_what_nobody_holds(self, store: BlobStore) -> None:
        """`collect(0)` deletes what no owner holds, says what, and nothing else; it can be put again."""
        store.put(by_id("one", "two"), owner="a")
        store.put(by_id("two", "three"), owner="b")
        assert store.collect(0).blobs == 0
        store.release("a")
        before = store.stats().stored_bytes
        gone = store.collect(0)
        assert (gone.blobs, gone.bytes) == (1, before - store.stats().stored_bytes)
        assert gone.bytes > 0
        assert list(store.ids()) == sorted(by_id("two", "three"))
        with pytest.raises(LostBlob):
            store.get(id_of("one"))
        assert store.find(ALL, [id_of("one")[:16]]) == {id_of("one")[:16]: []}
        store.put(by_id("one"), owner="a")
        assert store.get(id_of("one")) == "one"

    def test_grace(self, store: BlobStore) -> None:
        """What was put or held within `grace` seconds stays, held or not."""
        store.put(by_id("one"), owner="a")
        store.release("a")
        assert store.collect(3600).blobs == 0
        assert store.collect(float("inf")).blobs == 0
        assert store.get(id_of("one")) == "one"
        for grace in (-1.0, float("nan")):
            with pytest.raises(CallerError):
                store.collect(grace)

    def test_held_again_is_kept(self, store: BlobStore) -> None:
        """A blob that was let go of and is held or put again outlives a collection."""
        store.put(by_id("one", "two", "three"), owner="a")
        store.release("a")
        store.hold("b", [id_of("one")])
        store.put(by_id("two"), owner="b")
        assert store.collect(0).blobs == 1
        assert store.held("b", by_id("one", "two", "three")) == {id_of("one"), id_of("two")}

    # Totals, checks.

    def test_totals(self, store: BlobStore) -> None:
        """`stats` counts blobs, chars, bytes, owners, holds and what nobody holds."""
        assert store.stats() == StoreStats(blobs=0, chars=0, bytes=0, stored_bytes=0, owners=0, holds=0, unheld=0)
        store.put(by_id("one", "é\ud800"), owner="a")
        store.put(by_id("one"), owner="b")
        store.put(by_id("gone"), owner="c")
        store.release("c")
        stats = store.stats()
        assert (stats.blobs, stats.chars, stats.bytes) == (3, 9, 12)
        assert (stats.owners, stats.holds, stats.unheld) == (2, 3, 1)
        assert stats.stored_bytes > 0

    def test_a_sound_store_has_no_faults(self, store: BlobStore) -> None:
        """`verify` finds nothing wrong with what was put, held, released and collected."""
        store.put(by_id("", "one", LONG), owner="a")
        store.put(by_id("two"), owner="b")
        store.release("b")
        store.collect(0)
        assert list(store.verify()) == []
        assert list(store.ids()) == sorted(by_id("", "one", LONG))

    def test_closing_twice(self, store: BlobStore) -> None:
        """`close` may be called again."""
        store.close()
        store.close()

    def test_what_was_put_is_there_for_another(self, store: BlobStore) -> None:
        """Texts, pages and holds are seen by a second store over the same data, and outlive the first."""
        other = self.reopen(store)
        if other is None:
            pytest.skip("its data ends with the store")
        store.put(by_id("one\ntwo\n", "three"), owner="a")
        assert other.held("a", by_id("one\ntwo\n", "three")) == set(by_id("one\ntwo\n", "three"))
        store.close()
        assert other.lines(id_of("one\ntwo\n"), 2, 2) == "two\n"
        other.release("a")
        other.close()
        third = self.reopen(store)
        assert third is not None
        assert third.get(id_of("three")) == "three"
        assert third.stats().unheld == 2
        third.close()

    # At once.

    def test_threads(self, store: BlobStore) -> None:
        """Eight threads put the same and different texts at once: all is there, held by whom it should be."""
        start = threading.Barrier(8)

        def work(n: int) -> None:
            start.wait()
            for m in range(10):
                store.put(by_id(f"shared {m}", f"own {n} {m}"), owner=f"owner {n}")
                assert store.get(id_of(f"shared {m}")) == f"shared {m}"

        _together(work)
        for n in range(8):
            mine = by_id(*(text for m in range(10) for text in (f"shared {m}", f"own {n} {m}")))
            assert store.held(f"owner {n}", mine) == set(mine)
        assert store.stats().blobs == 90
        assert list(store.verify()) == []

    def test_collecting_while_others_put(self, store: BlobStore) -> None:
        """A text is there from the return of its put until it is released, however much is collected meanwhile."""
        start = threading.Barrier(8)

        def work(n: int) -> None:
            start.wait()
            for m in range(15):
                if n == 0:
                    store.collect(0)
                    continue
                store.put(by_id(f"shared {m % 3}"), owner=f"owner {n}")
                assert store.get(id_of(f"shared {m % 3}")) == f"shared {m % 3}"
                store.release(f"owner {n}")

        _together(work)
        assert list(store.verify()) == []
        assert store.stats().holds == 0


def _together(work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work, n) for n in range(8)]:
            done.result()
