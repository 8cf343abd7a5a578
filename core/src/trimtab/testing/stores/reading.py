"""Texts and their pages: what is put comes back, whole and in any part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings

from trimtab.errors import CallerError, DamagedBlob, LostBlob, TrimtabError
from trimtab.testing.stores.base import ABSENT, LONG, StoreClaims
from trimtab.testing.texts import by_id, id_of, stored_texts
from trimtab.types import ALL, BlobSize, BlobStore

__all__ = ["ReadingClaims"]

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


class ReadingClaims(StoreClaims):
    """Claims about texts and pages. `examples`: how many texts each property is tried with."""

    examples: ClassVar[int] = 50

    def _each(self, claim: Callable[[str], None]) -> None:
        settings(max_examples=self.examples, deadline=None)(given(stored_texts())(claim))()

    def test_it_is_a_blob_store(self, store: BlobStore) -> None:
        """It has every method of the protocol."""
        assert isinstance(store, BlobStore)

    def test_text_in_is_text_out(self, store: BlobStore) -> None:
        """Whatever the text, `get` gives it back: line ends, NUL, lone surrogates and all."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            assert store.get(id_of(text)) == text
            assert store.has(id_of(text))

        self._each(claim)

    def test_a_long_text_comes_back(self, store: BlobStore) -> None:
        """A text of many chunks is the same when it comes back."""
        store.put(by_id(LONG), owner="a")
        assert store.get(id_of(LONG)) == LONG

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
        "blob_id", [ABSENT, "", "../../etc/passwd", ABSENT.upper(), ABSENT[:31], ABSENT + "0", "é" * 32]
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

    @pytest.mark.parametrize(
        "blob_id", ["", "../x", id_of("bad").upper(), id_of("bad")[:31], "é" * 32, id_of("bad") + "\n"]
    )
    def test_an_id_of_another_form_is_refused(self, store: BlobStore, blob_id: str) -> None:
        """`put` under what is no blob id raises `CallerError`, and nothing of that call is stored."""
        with pytest.raises(CallerError):
            store.put({**by_id("good"), blob_id: "bad"}, owner="a")
        assert list(store.ids()) == []
        assert store.held("a", by_id("good")) == set()

    def test_only_text_is_stored(self, store: BlobStore) -> None:
        """`put` of bytes raises `CallerError`, and nothing of that call is stored."""
        blobs: dict[str, Any] = {**by_id("good"), id_of("bad"): b"bad"}
        with pytest.raises(CallerError):
            store.put(blobs, owner="a")
        assert list(store.ids()) == []

    def test_a_text_under_another_id_is_never_served(self, store: BlobStore) -> None:
        """A text put under an id that is not its own is refused, or is damage when it is read."""
        try:
            store.put({id_of("one"): "two"}, owner="a")
        except CallerError:
            assert not store.has(id_of("one"))
            return
        with pytest.raises(DamagedBlob):
            store.get(id_of("one"))
        with pytest.raises(DamagedBlob):
            store.slice(id_of("one"), 1, 3)
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
        assert store.size(id_of(text)) == size

    def test_pages_of_any_text(self, store: BlobStore) -> None:
        """Slices and lines are the text's own, clipped; line starts and chars point at one another."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            for first in range(-1, min(len(text), 8) + 2):
                assert store.slice(id_of(text), first, first + 3) == text[max(first - 1, 0) : max(first + 3, 0)]
            _check_lines(store, text, range(-1, min(len(_lines_of(text)), 8) + 3))

        self._each(claim)

    def test_pages_of_a_long_text(self, store: BlobStore) -> None:
        """The same across the edges of chunks, in a line longer than a chunk, and among empty lines."""
        store.put(by_id(LONG), owner="a")
        for first in (1, 127_990, 128_001, 255_999, len(LONG) - 100, len(LONG), len(LONG) + 1):
            for count in (0, 1, 20, 300_000):
                assert store.slice(id_of(LONG), first, first + count - 1) == LONG[first - 1 : first + count - 1]
        _check_lines(store, LONG, (1, 2, 9_000, 19_999, 20_000, 20_001, 20_002, 200_000, 320_000, 320_001, 320_002))

    def test_pages_joined_are_the_text(self, store: BlobStore) -> None:
        """Pages of lines, read one after another, joined are the text; so are pages of chars."""

        def claim(text: str) -> None:
            store.put(by_id(text), owner="a")
            size = store.size(id_of(text))
            assert "".join(store.lines(id_of(text), n, n + 1) for n in range(1, size.lines + 1, 2)) == text
            assert "".join(store.slice(id_of(text), n, n + 6) for n in range(1, size.chars + 1, 7)) == text

        self._each(claim)


def _lines_of(text: str) -> list[str]:
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + [piece for piece in pieces[-1:] if piece]


def _check_lines(store: BlobStore, text: str, numbers: range | tuple[int, ...]) -> None:
    lines = _lines_of(text)
    for first in numbers:
        assert store.lines(id_of(text), first, first + 1) == "".join(lines[max(first - 1, 0) : max(first + 1, 0)])
        start = store.line_start(id_of(text), first)
        assert start == len("".join(lines[: max(first - 1, 0)])) + 1
        if 1 <= first <= len(lines):
            assert store.line_at(id_of(text), start) == first
            assert store.line_at(id_of(text), start + len(lines[first - 1]) - 1) == first
    assert store.line_at(id_of(text), len(text) + 1) == len(lines)
