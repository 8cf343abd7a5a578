"""`StoreContract`: what every blob store keeps, as tests that a store's own package imports and runs.

from trimtab.testing import StoreContract
from my_package import MyStore

class TestMyStore(StoreContract):
    def make_store(self, tmp_path):
        return MyStore(tmp_path / "texts")
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.errors import CallerError, DamagedBlob, LostBlob, TrimtabError
from trimtab.types import ALL, BlobSize, BlobStore, StoreStats

__all__ = ["StoreContract", "by_id", "stored_texts"]

_ABSENT = "0123456789abcdef" * 2

# Places where a store can lose or change a char: line ends, NUL, what looks like a line end to some, chars of one to
# four bytes, surrogates alone, and as a pair of code points that is not the char it would encode.
_PIECES = ("\n", "\r\n", "\r", "\0", "\u2028", "\x85", "\x1c", "\ufeff", "a", "é", "€", "😀", "\ud835", "\ud83d\ude00")

# Text, its lines.
_LINES = (
    ("", 0),
    ("\n", 1),
    ("\n\n", 2),
    ("a", 1),
    ("a\nb", 2),
    ("a\nb\n", 2),
    ("a\r\nb\r\n", 2),
    ("a\rb", 1),
    ("a\u2028b\x85c\x0bd", 1),
)

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


def stored_texts() -> st.SearchStrategy[str]:
    """Texts of every plane, rich in what is easily lost."""
    anything = st.text(st.characters(exclude_categories=()), max_size=200)
    return anything | st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


def by_id(*texts: str) -> dict[str, str]:
    """The texts by their blob ids, as `put` takes them."""
    return {_id(text): text for text in texts}


def _id(text: str) -> str:
    # Spelt out: the contract does not take the product's word for it.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _lines_of(text: str) -> list[str]:
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + [piece for piece in pieces[-1:] if piece]


# Several chunks of every store, each width of char, a line longer than a chunk, and many empty lines.
_LONG = "".join(f"line {n} é{'😀' * (n % 3)}\r\n" for n in range(20_000)) + "x" * 400_000 + "\n" * 300_000 + "end €"


class _Failing(Mapping[str, str]):
    """Texts of which the last cannot be read."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __getitem__(self, blob_id: str) -> str:
        if blob_id == list(self._texts)[-1]:
            raise TrimtabError("the caller's mapping failed")
        return self._texts[blob_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class StoreContract:
    """Tests of a store; derive from it and override `make_store`.

    `examples`: how many texts each property is tried with.
    """

    examples: ClassVar[int] = 50

    def make_store(self, tmp_path: Path) -> BlobStore:
        """An empty store, which may keep its data in `tmp_path`."""
        raise NotImplementedError

    def reopen(self, store: BlobStore) -> BlobStore | None:
        """Another store over the same data, as another process opens it; None: the data ends with the store."""
        return None

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[BlobStore]:
        """An empty store, closed after the test."""
        store = self.make_store(tmp_path)
        yield store
        store.close()

    def _each(self, claim: Callable[[str], None]) -> None:
        settings(max_examples=self.examples, deadline=None)(given(stored_texts())(claim))()

    # Texts.

    def test_it_is_a_blob_store(self, store: BlobStore) -> None:
        """It has every method of the protocol."""
        assert isinstance(store, BlobStore)

    def test_text_in_is_text_out(self, store: BlobStore) -> None:
        """Whatever the text, `get` gives it back: line ends, NUL, lone surrogates and all."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            assert store.get(_id(text)) == text
            assert store.has(_id(text))

        self._each(claim)

    def test_a_long_text_comes_back(self, store: BlobStore) -> None:
        """A text of many chunks is the same when it comes back."""
        store.put(by_id(_LONG), owner="a")
        assert store.get(_id(_LONG)) == _LONG

    def test_putting_again_changes_nothing(self, store: BlobStore) -> None:
        """`put` is idempotent: the same text twice is one blob, held once."""
        store.put(by_id("one", "two"), owner="a")
        before = store.stats()
        store.put(by_id("two", "one"), owner="a")
        store.put(by_id("two"), owner="a")
        assert store.stats() == before
        assert list(store.ids()) == sorted(by_id("one", "two"))

    def test_equal_texts_of_two_owners_are_one_blob(self, store: BlobStore) -> None:
        """A text is stored once however many hold it."""
        store.put(by_id("one"), owner="a")
        store.put(by_id("one"), owner="b")
        stats = store.stats()
        assert (stats.blobs, stats.owners, stats.holds) == (1, 2, 2)

    def test_putting_nothing_does_nothing(self, store: BlobStore) -> None:
        """`put` of no text makes neither a blob nor an owner."""
        store.put({}, owner="a")
        assert (store.stats().blobs, store.stats().owners) == (0, 0)

    @pytest.mark.parametrize(
        "blob_id", [_ABSENT, "", "../../etc/passwd", _ABSENT.upper(), _ABSENT[:31], _ABSENT + "0", "é" * 32]
    )
    def test_what_is_not_there_is_lost(self, store: BlobStore, blob_id: str) -> None:
        """Reading what was never put raises `LostBlob`, whatever it looks like; asking for it says no."""
        store.put(by_id("one"), owner="a")
        reads: list[Callable[[], Any]] = [
            lambda: store.get(blob_id),
            lambda: store.size(blob_id),
            lambda: store.slice(blob_id, 1, 1),
            lambda: store.lines(blob_id, 1, 1),
            lambda: store.line_start(blob_id, 1),
            lambda: store.line_at(blob_id, 1),
            lambda: store.hold("a", [blob_id]),
        ]
        for read in reads:
            with pytest.raises(LostBlob) as caught:
                read()
            assert caught.value.blob_id == blob_id
        assert not store.has(blob_id)
        assert store.held(ALL, [blob_id]) == store.held("a", [blob_id]) == set()
        assert store.find(ALL, [blob_id]) == {blob_id: []}

    @pytest.mark.parametrize("blob_id", ["", "../x", _id("bad").upper(), _id("bad")[:31], "é" * 32, _id("bad") + "\n"])
    def test_an_id_of_another_form_is_refused(self, store: BlobStore, blob_id: str) -> None:
        """`put` under what is no blob id raises `CallerError`, and nothing of that call is stored."""
        with pytest.raises(CallerError):
            store.put({**by_id("good"), blob_id: "bad"}, owner="a")
        assert list(store.ids()) == []
        assert store.held("a", by_id("good")) == set()

    def test_only_text_is_stored(self, store: BlobStore) -> None:
        """`put` of bytes raises `CallerError`, and nothing of that call is stored."""
        blobs: dict[str, Any] = {**by_id("good"), _id("bad"): b"bad"}
        with pytest.raises(CallerError):
            store.put(blobs, owner="a")
        assert list(store.ids()) == []

    def test_a_text_under_another_id_is_never_served(self, store: BlobStore) -> None:
        """A text put under an id that is not its own is refused, or is damage when it is read."""
        try:
            store.put({_id("one"): "two"}, owner="a")
        except CallerError:
            assert not store.has(_id("one"))
            return
        with pytest.raises(DamagedBlob):
            store.get(_id("one"))
        with pytest.raises(DamagedBlob):
            store.slice(_id("one"), 1, 3)
        assert len(list(store.verify())) == 1

    def test_a_put_that_fails_stores_nothing(self, store: BlobStore) -> None:
        """All or nothing: when the last text cannot be had, the first is not stored and not held."""
        with pytest.raises(TrimtabError):
            store.put(_Failing(by_id("one", "two", "three")), owner="a")
        assert list(store.ids()) == []
        assert store.held("a", by_id("one", "two", "three")) == set()

    # Pages.

    @pytest.mark.parametrize(("text", "lines"), _LINES)
    def test_only_a_newline_ends_a_line(self, store: BlobStore, text: str, lines: int) -> None:
        """Size counts code points, lines ended by a newline only, and bytes of UTF-8."""
        store.put(by_id(text), owner="a")
        size = BlobSize(chars=len(text), lines=lines, bytes=len(text.encode()))
        assert store.size(_id(text)) == size

    def test_pages_of_any_text(self, store: BlobStore) -> None:
        """Slices and lines are the text's own, clipped; line starts and chars point at one another."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            for first in range(-1, min(len(text), 8) + 2):
                assert store.slice(_id(text), first, first + 3) == text[max(first - 1, 0) : max(first + 3, 0)]
            _check_lines(store, text, range(-1, min(len(_lines_of(text)), 8) + 3))

        self._each(claim)

    def test_pages_of_a_long_text(self, store: BlobStore) -> None:
        """The same across the edges of chunks, in a line longer than a chunk, and among empty lines."""
        store.put(by_id(_LONG), owner="a")
        for first in (1, 127_990, 128_001, 255_999, len(_LONG) - 100, len(_LONG), len(_LONG) + 1):
            for count in (0, 1, 20, 300_000):
                assert store.slice(_id(_LONG), first, first + count - 1) == _LONG[first - 1 : first + count - 1]
        _check_lines(store, _LONG, (1, 2, 9_000, 19_999, 20_000, 20_001, 20_002, 200_000, 320_000, 320_001, 320_002))

    def test_pages_joined_are_the_text(self, store: BlobStore) -> None:
        """Pages of lines, read one after another, joined are the text; so are pages of chars."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            size = store.size(_id(text))
            assert "".join(store.lines(_id(text), n, n + 1) for n in range(1, size.lines + 1, 2)) == text
            assert "".join(store.slice(_id(text), n, n + 6) for n in range(1, size.chars + 1, 7)) == text

        self._each(claim)

    # Owners.

    def test_any_string_is_an_owner(self, store: BlobStore) -> None:
        """Owners are told apart exactly, whatever their names hold."""
        for n, owner in enumerate(_OWNERS):
            store.put(by_id(f"of owner {n}"), owner=owner)
        every = by_id(*(f"of owner {n}" for n in range(len(_OWNERS))))
        for n, owner in enumerate(_OWNERS):
            assert store.held(owner, every) == {_id(f"of owner {n}")}
        assert store.held(ALL, every) == set(every)
        assert store.held("nobody", every) == set()

    def test_all_holds_nothing(self, store: BlobStore) -> None:
        """`ALL` and what is no string read at most: `put`, `hold` and `release` refuse them."""
        for owner in (ALL, None, 3):
            wrong: Any = owner
            for act in (
                lambda wrong=wrong: store.put(by_id("one"), owner=wrong),
                lambda wrong=wrong: store.hold(wrong, []),
                lambda wrong=wrong: store.release(wrong),
            ):
                with pytest.raises(CallerError):
                    act()
        assert list(store.ids()) == []

    def test_holding_what_another_put(self, store: BlobStore) -> None:
        """`hold` makes a stored blob the owner's too; twice is as good as once."""
        store.put(by_id("one", "two"), owner="a")
        store.hold("b", [_id("one")])
        store.hold("b", [_id("one"), _id("one")])
        store.hold("c", [])
        assert store.held("b", by_id("one", "two")) == {_id("one")}
        assert store.stats().owners == 2

    def test_holding_a_lost_blob_holds_none(self, store: BlobStore) -> None:
        """When one of the blobs is not there, `hold` raises `LostBlob` and holds none of them."""
        store.put(by_id("one"), owner="a")
        with pytest.raises(LostBlob):
            store.hold("b", [_id("one"), _ABSENT])
        assert store.held("b", [_id("one")]) == set()

    def test_releasing(self, store: BlobStore) -> None:
        """`release` lets go of all that one owner holds and deletes nothing; an unknown owner is no error."""
        store.put(by_id("one", "two"), owner="a")
        store.put(by_id("two"), owner="b")
        store.release("a")
        store.release("a")
        store.release("nobody")
        assert store.held("a", by_id("one", "two")) == set()
        assert store.held("b", by_id("one", "two")) == {_id("two")}
        assert store.get(_id("one")) == "one"
        assert store.stats().unheld == 1

    def test_many_at_once(self, store: BlobStore) -> None:
        """Thousands of ids are asked for in one call, absent and malformed ones among them."""
        texts = by_id(*(f"text {n}" for n in range(30)))
        store.put(texts, owner="a")
        asked = [_id(f"text {n}") for n in range(3_000)] + ["", "x" * 32]
        assert store.held("a", asked) == store.held(ALL, iter(asked)) == set(texts)
        assert {h: found for h, found in store.find("a", asked).items() if found} == {i: [i] for i in texts}

    def test_finding_by_handle(self, store: BlobStore) -> None:
        """A handle of 16 to 32 hex digits finds the ids that begin with it, for their owner only."""
        store.put(by_id("one", "two"), owner="a")
        store.put(by_id("three"), owner="b")
        one, three = _id("one"), _id("three")
        handles = [
            one[:16],
            one[:17],
            one[:31],
            one,
            three[:16],
            _ABSENT[:16],
            one[:15],
            "",
            one[:16].upper(),
            "%" * 16,
        ]
        found = dict.fromkeys(handles[:4], [one])
        assert store.find("a", handles) == {**dict.fromkeys(handles, []), **found}
        assert store.find(ALL, iter(handles)) == {**dict.fromkeys(handles, []), **found, three[:16]: [three]}
        assert store.find("nobody", handles) == dict.fromkeys(handles, [])

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
            store.get(_id("one"))
        assert store.find(ALL, [_id("one")[:16]]) == {_id("one")[:16]: []}
        store.put(by_id("one"), owner="a")
        assert store.get(_id("one")) == "one"

    def test_grace(self, store: BlobStore) -> None:
        """What was put or held within `grace` seconds stays, held or not."""
        store.put(by_id("one"), owner="a")
        store.release("a")
        assert store.collect(3600).blobs == 0
        assert store.collect(float("inf")).blobs == 0
        assert store.get(_id("one")) == "one"
        for grace in (-1.0, float("nan")):
            with pytest.raises(CallerError):
                store.collect(grace)

    def test_held_again_is_kept(self, store: BlobStore) -> None:
        """A blob that was let go of and is held or put again outlives a collection."""
        store.put(by_id("one", "two", "three"), owner="a")
        store.release("a")
        store.hold("b", [_id("one")])
        store.put(by_id("two"), owner="b")
        assert store.collect(0).blobs == 1
        assert store.held("b", by_id("one", "two", "three")) == {_id("one"), _id("two")}

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
        store.put(by_id("", "one", _LONG), owner="a")
        store.put(by_id("two"), owner="b")
        store.release("b")
        store.collect(0)
        assert list(store.verify()) == []
        assert list(store.ids()) == sorted(by_id("", "one", _LONG))

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
        assert other.lines(_id("one\ntwo\n"), 2, 2) == "two\n"
        other.release("a")
        other.close()
        third = self.reopen(store)
        assert third is not None
        assert third.get(_id("three")) == "three"
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
                assert store.get(_id(f"shared {m}")) == f"shared {m}"

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
                assert store.get(_id(f"shared {m % 3}")) == f"shared {m % 3}"
                store.release(f"owner {n}")

        _together(work)
        assert list(store.verify()) == []
        assert store.stats().holds == 0


def _check_lines(store: BlobStore, text: str, numbers: range | tuple[int, ...]) -> None:
    lines = _lines_of(text)
    for first in numbers:
        assert store.lines(_id(text), first, first + 1) == "".join(lines[max(first - 1, 0) : max(first + 1, 0)])
        start = store.line_start(_id(text), first)
        assert start == len("".join(lines[: max(first - 1, 0)])) + 1
        if 1 <= first <= len(lines):
            assert store.line_at(_id(text), start) == first
            assert store.line_at(_id(text), start + len(lines[first - 1]) - 1) == first
    assert store.line_at(_id(text), len(text) + 1) == len(lines)


def _together(work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work, n) for n in range(8)]:
            done.result()
