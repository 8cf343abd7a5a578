"""Store URLs: what they name, and what is said about one that names nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from trimtab.blobs import BUILTIN_STORES, open_store, parse_store_url
from trimtab.blobs.files import FileStore
from trimtab.blobs.memory import MemoryStore
from trimtab.blobs.sqlite import SqliteStore
from trimtab.errors import PolicyError, StoreUnavailable
from trimtab.testing.texts import by_id
from trimtab.types import BlobStore


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("memory:", ("memory", "")),
        ("memory://", ("memory", "")),
        ("sqlite:///relative.db", ("sqlite", "relative.db")),
        ("sqlite:///data/a b.db", ("sqlite", "data/a b.db")),
        ("sqlite:///50%25.db", ("sqlite", "50%25.db")),
        ("sqlite:////srv/texts.db", ("sqlite", "/srv/texts.db")),
        ("sqlite:///C:/texts.db", ("sqlite", "C:/texts.db")),
        (r"sqlite:///C:\data\texts.db", ("sqlite", r"C:\data\texts.db")),
        ("file:///srv/texts", ("file", "/srv/texts")),
        ("file:///srv/a%20b%C3%A9", ("file", "/srv/a bé")),
        ("file:///C:/texts", ("file", "C:/texts")),
        (r"file:///C:\texts", ("file", r"C:\texts")),
        ("s3://bucket/texts", ("s3", "//bucket/texts")),
    ],
)
def test_urls(url: str, parsed: tuple[str, str]) -> None:
    """A URL names a scheme and a path."""
    assert parse_store_url(url) == parsed


@pytest.mark.parametrize(
    "url",
    [
        "",
        "texts.db",
        "/srv/texts.db",
        "sqlite:",
        "sqlite:///",
        "sqlite:texts.db",
        "sqlite://texts.db",
        "sqlite:///a\0b",
        "sqlite:///:memory:",
        "file:texts",
        "file://host/texts",
        "file:///",
        "file:///a%00b",
        "memory:texts",
        "s3://bucket/texts",
        "SQLITE:///texts.db",
        r"C:\texts.db",
    ],
)
def test_what_names_no_store(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else is a `PolicyError`, and makes no file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError):
        open_store(url)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scheme_is_told_the_known_ones() -> None:
    """The message lists the schemes that there are, a plugin's too."""
    with pytest.raises(PolicyError, match="`attic:`, `file:`, `memory:`, `sqlite:`"):
        open_store("s3://bucket", {**BUILTIN_STORES, "attic": lambda url: MemoryStore()})


def test_each_scheme_opens_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in factories take the whole URL; a path relative now stays where it is when the process moves."""
    monkeypatch.chdir(tmp_path)
    kinds: list[tuple[str, type[BlobStore]]] = [
        ("memory:", MemoryStore),
        ("sqlite:///texts.db", SqliteStore),
        (f"sqlite:///{tmp_path}/more.db", SqliteStore),
        (f"file://{tmp_path}/texts", FileStore),
    ]
    for url, kind in kinds:
        monkeypatch.chdir(tmp_path)
        store = open_store(url)
        assert isinstance(store, kind)
        monkeypatch.chdir("/")
        store.put(by_id("one"), owner="a")
        assert list(store.ids()) == list(by_id("one"))
        store.close()
    assert {"texts.db", "more.db", "texts"} <= {path.name for path in tmp_path.iterdir()}


def test_a_plugins_store_opens_by_its_scheme() -> None:
    """A factory of a plugin's is given the URL as it was written."""
    seen = []

    def attic(url: str) -> BlobStore:
        seen.append(url)
        return MemoryStore()

    open_store("attic://box/7", {"attic": attic})
    assert seen == ["attic://box/7"]


@pytest.mark.parametrize("url", ["sqlite:///{}/no/such/texts.db", "sqlite:///{}", "file://{}/plain/texts"])
def test_a_place_that_cannot_be_used(url: str, tmp_path: Path) -> None:
    """A folder that is missing or in the way is `StoreUnavailable` when the store is opened, and names the path."""
    (tmp_path / "plain").write_text("a file")
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        open_store(url.format(tmp_path))
