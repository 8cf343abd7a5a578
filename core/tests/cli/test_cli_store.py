"""`trimtab store`: stats, collect, verify."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from trimtab import Host
from trimtab._json import blob_id

STORES = ["sqlite:///trimtab.db", "file://{folder}/texts"]


@pytest.fixture(params=STORES, ids=["sqlite", "file"])
def store(request: pytest.FixtureRequest, trimtab: Any, tmp_path: Path, page: str) -> str:
    """A store with two texts: `page`, held by `kept`, and another, which `gone` has let go of."""
    url = str(request.param).format(folder=tmp_path)
    with Host.load(store=url, discover=False) as host:
        host.store.put({blob_id(page): page}, owner="kept")
        host.store.put({blob_id(page * 2): page * 2}, owner="gone")
        host.release("gone")
    return url


def test_stats_count_what_is_there(trimtab: Any, store: str, page: str) -> None:
    """Texts, sizes, owners, and what nobody holds; for programs as the store's own totals."""
    done = trimtab("store", "stats", "--store", store)
    assert done.code == 0
    assert "2, 1 held by nobody (`trimtab store collect` deletes them)" in done.text
    assert f"{3 * len(page):,}" in done.text
    shown = trimtab("store", "stats", "--json", "--store", store).json
    assert (shown["store"], shown["blobs"], shown["unheld"], shown["owners"]) == (store, 2, 1, 1)
    assert shown["chars"] == 3 * len(page)


def test_collect_deletes_what_nobody_holds(trimtab: Any, store: str, page: str) -> None:
    """With no grace the text that nobody holds goes, the held one stays; a second time there is nothing to do."""
    assert trimtab("store", "collect", "--store", store).text == "0 texts deleted, 0 B freed\n"
    assert trimtab("store", "collect", "--store", store, "--grace", "0s").text.startswith("1 text deleted, ")
    assert trimtab("store", "collect", "--store", store, "--grace", "0s", "--json").json["blobs"] == 0
    assert trimtab("read", blob_id(page), "--raw", "--store", store).text == page
    assert trimtab("read", blob_id(page * 2), "--store", store).code == 2


def test_a_dry_run_deletes_nothing(trimtab: Any, store: str) -> None:
    """`--dry-run` tells how many nobody holds, and they stay."""
    done = trimtab("store", "collect", "--dry-run", "--grace", "0s", "--store", store)
    assert done.text == "1 text of 2 held by nobody; nothing was deleted\n"
    assert trimtab("store", "stats", "--json", "--store", store).json["blobs"] == 2


@pytest.mark.parametrize("grace", ["soon", "-1h"])
def test_a_wrong_grace_is_code_2(trimtab: Any, store: str, grace: str) -> None:
    """A grace is a length of time."""
    done = trimtab("store", "collect", "--grace", grace, "--store", store)
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_verify_reads_everything(trimtab: Any, store: str) -> None:
    """A whole store is code 0."""
    assert trimtab("store", "verify", "--store", store).text == "2 texts read, all whole\n"
    assert trimtab("store", "verify", "--json", "--store", store).json == {"store": store, "blobs": 2, "faults": []}


def damage(folder: Path, url: str, victim: str) -> None:
    """Change one stored byte of a text."""
    if url.startswith("sqlite"):
        with sqlite3.connect(folder / "trimtab.db") as db:
            (key,) = db.execute("SELECT key FROM blob WHERE id = ?", (victim,)).fetchone()
            place = key << 20
            (frame,) = db.execute("SELECT frame FROM piece WHERE key = ?", (place,)).fetchone()
            changed = frame[:40] + bytes([frame[40] ^ 255]) + frame[41:]
            db.execute("UPDATE piece SET frame = ? WHERE key = ?", (changed, place))
        db.close()
        return
    path = folder / "texts" / "blobs" / victim[:2] / victim
    data = bytearray(path.read_bytes())
    data[-40] ^= 255
    path.write_bytes(data)


def test_verify_names_what_is_damaged(trimtab: Any, store: str, tmp_path: Path, page: str) -> None:
    """A damaged text is named, in words and for programs, and the exit code is 1; reading it is an error, not text."""
    victim = blob_id(page)
    damage(tmp_path, store, victim)
    done = trimtab("store", "verify", "--store", store)
    assert done.code == 1
    assert victim in done.text
    assert "1 fault" in done.err
    (fault,) = trimtab("store", "verify", "--json", "--store", store).json["faults"]
    assert victim in fault["place"]
    read = trimtab("read", victim, "--store", store, "--raw")
    assert (read.code, read.out) == (1, b"")
    assert "is damaged" in read.err


def test_what_is_no_database_is_an_error(trimtab: Any, tmp_path: Path) -> None:
    """A file that is no store is code 1 with what to do."""
    (tmp_path / "trimtab.db").write_bytes(b"something else entirely, and long enough to be looked at\n" * 40)
    done = trimtab("store", "stats")
    assert done.code == 1
    assert "it is not an SQLite database; give another path" in done.err
