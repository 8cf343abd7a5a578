"""What the SQLite store costs, against compressing, hashing and inserting the same texts; and a page of a long text."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from trimtab._json import blob_id
from trimtab.blobs.files import FileStore
from trimtab.blobs.sqlite import SqliteStore

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_WORDS = [f"{stem}{n}" for stem in ("search", "result", "page", "über", "the", "of ") for n in range(700)]


def prose(size: int) -> str:
    """About so many chars of words and lines that compress to a third, as pages do."""
    draw = random.Random(size)
    words = draw.choices(_WORDS, k=size // 8 + 1)
    return " ".join(word if n % 12 else f"{word}\n" for n, word in enumerate(words))[:size]


class Plain:
    """The measure: SHA-256, zstd level 3 and a plain insert, one transaction to a put, as safe on the disk."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute("CREATE TABLE plain (id TEXT PRIMARY KEY, data BLOB)")

    def put(self, texts: list[str]) -> None:
        """Store texts."""
        self.db.execute("BEGIN IMMEDIATE")
        for text in texts:
            data = text.encode()
            row = (hashlib.sha256(data).hexdigest()[:32], zstd.compress(data, 3))
            self.db.execute("INSERT INTO plain VALUES (?, ?)", row)
        self.db.execute("COMMIT")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[SqliteStore, Plain]]:
    """Ours and the measure, on the same disk."""
    ours, plain = SqliteStore(str(tmp_path / "ours.db")), Plain(tmp_path / "plain.db")
    yield ours, plain
    ours.close()
    plain.db.close()


def new_texts(texts: list[str]) -> Callable[[], list[str]]:
    """The same texts at each call, but none of them stored before."""
    number = count()
    return lambda: [f"{next(number):>8}{text[8:]}" for text in texts]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("1 text of 2 kB", [prose(2_000)]),
        ("1 text of 20 kB", [prose(20_000)]),
        ("50 texts of 20 kB", [prose(20_000)] * 50),
        ("1 text of 1 MB", [prose(1_000_000)]),
        ("1 text of 20 MB", [prose(20_000_000)]),
        (
            "1 MB of one line again and again",
            ["a line like all others, of about as many chars as lines have\n" * 16_000],
        ),
    ],
)
def test_put(compare: Any, stores: tuple[SqliteStore, Plain], name: str, texts: list[str]) -> None:
    """A put is at least half as fast as what it cannot do without."""
    ours, plain = stores
    rounds = 5 if len(texts[0]) > 10_000_000 else 40
    made = new_texts(texts)
    # Made before: whoever trims has the id of a text already. (The store hashes it once more, to be sure.)
    ready = [{blob_id(text): text for text in made()} for _ in range(rounds + 1)]
    for_ours, for_plain = iter(ready), iter([list(one.values()) for one in ready])
    compare.ratio(
        f"put, {name}",
        lambda: ours.put(next(for_ours), owner="a"),
        lambda: plain.put(next(for_plain)),
        goal=0.5,
        rounds=rounds,
        at_least=True,
    )


def test_put_again(compare: Any, stores: tuple[SqliteStore, Plain]) -> None:
    """A text that is there is read back and compared, which takes less than storing it."""
    ours, plain = stores
    text = prose(1_000_000)
    again, fresh = {blob_id(text): text}, new_texts([text])
    compare.ratio(
        "put of 1 MB that is there",
        lambda: ours.put(again, owner="a"),
        lambda: plain.put(fresh()),
        goal=1,
        at_least=True,
    )


@pytest.fixture(scope="module")
def long_text() -> str:
    """100 MB in 1.4 million lines, every char of which may be wide."""
    return (prose(1_000_000) + "😀\n") * 100


@pytest.mark.parametrize("kind", [SqliteStore, FileStore])
def test_page(compare: Any, tmp_path: Path, long_text: str, kind: type[SqliteStore | FileStore]) -> None:
    """A page of a text of 100 MB takes milliseconds and a small part of its memory, wherever it is."""
    store = kind(str(tmp_path / "texts"))
    name = blob_id(long_text)
    store.put({name: long_text}, owner="a")
    lines = store.size(name).lines
    for where, first in (("start", 1), ("middle", lines // 2), ("end", lines - 200)):
        what = f"{kind.__name__}, 200 lines at the {where} of 100 MB"

        def page(first: int = first) -> str:
            return store.lines(name, first, first + 199)

        compare.seconds(what, page, goal=20)
        compare.peak(f"{what}, memory", page, size=1_000_000, goal=2, unit="MB")
    at = len(long_text) // 2
    compare.seconds(f"{kind.__name__}, line of a char", lambda: store.line_at(name, at), goal=20)
    compare.seconds(f"{kind.__name__}, 20,000 chars", lambda: store.slice(name, at, at + 19_999), goal=20)
    store.close()


def test_lookups(compare: Any, tmp_path: Path) -> None:
    """Looking for 1,000 handles among 20,000 blobs."""
    store = SqliteStore(str(tmp_path / "texts.db"))
    for n in range(20):
        store.put({blob_id(f"{n} {m}"): f"{n} {m}" for m in range(1_000)}, owner="a")
    ids = [blob_id(f"3 {m}") for m in range(1_000)]
    handles = [name[:16] for name in ids]
    compare.seconds("1,000 handles of 20,000 blobs", lambda: store.find("a", handles), goal=20)
    compare.seconds("1,000 ids of 20,000 blobs", lambda: store.held("a", ids), goal=20)
    store.close()
