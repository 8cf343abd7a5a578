"""What the claims about stores share: the store under test, and a long text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trimtab.types import BlobStore

__all__ = ["ABSENT", "LONG", "StoreClaims"]

# The id of no text that is put.
ABSENT = "0123456789abcdef" * 2

# Several chunks of every store, each width of char, a line longer than a chunk, and many empty lines.
LONG = "".join(f"line {n} é{'😀' * (n % 3)}\r\n" for n in range(20_000)) + "x" * 400_000 + "\n" * 300_000 + "end €"


class StoreClaims:
    """The store under test."""

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
