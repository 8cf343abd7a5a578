"""`trimtab store`: stats, release, collect, verify."""

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
    assert trimtab("store", "collect", "--store", store).text == (
        "0 texts deleted, 0 B freed: 1 owner holds 1 text (`trimtab store release OWNER` lets go); "
        "nobody holds 1 text, put or held less than 1h ago (see --grace)\n"
    )
    assert trimtab("store", "collect", "--store", store, "--grace", "0").text.startswith("1 text deleted, ")
    shown = trimtab("store", "collect", "--store", store, "--grace", "0s", "--json").json
    assert shown == {"store": store, "blobs": 0, "bytes": 0, "unheld": 0, "held": 1}
    assert trimtab("read", blob_id(page), "--raw", "--store", store).text == page
    assert trimtab("read", blob_id(page * 2), "--store", store).code == 2


def test_release_lets_go_and_collect_deletes(trimtab: Any, store: str) -> None:
    """What an owner held is held by nobody afterwards, and then goes; a name that holds nothing is told."""
    assert trimtab("store", "release", "nobody", "--store", store).text == f"nobody holds nothing in {store}\n"
    done = trimtab("store", "release", "kept", "--store", store)
    assert done.code == 0
    assert done.text == (
        "kept let go of 1 text; 2 of the store's texts are held by nobody (`trimtab store collect` deletes them)\n"
    )
    shown = trimtab("store", "release", "kept", "--json", "--store", store).json
    assert shown == {"store": store, "owner": "kept", "released": 0, "unheld": 2}
    assert trimtab("store", "collect", "--grace", "0", "--store", store).text.startswith("2 texts deleted, ")
    assert trimtab("store", "collect", "--grace", "0", "--store", store).text == (
        "0 texts deleted, 0 B freed: the store is empty\n"
    )


def test_release_of_what_another_holds_too(trimtab: Any, store: str, page: str) -> None:
    """A text with a second owner stays, and it is said why."""
    with Host.load(store=store, discover=False) as host:
        host.hold("second", [blob_id(page)])
    trimtab("store", "collect", "--grace", "0", "--store", store)
    assert trimtab("store", "release", "kept", "--store", store).text == (
        "kept let go of 1 text; other owners hold all of them\n"
    )
    assert trimtab("read", blob_id(page), "--raw", "--store", store).text == page


def test_what_trim_stores_is_held_by_default(trimtab: Any, page: str) -> None:
    """The documented owner of what the command stores without `--owner` can let go of it."""
    trimtab("trim", "-", stdin=page.encode())
    assert trimtab("store", "release", "default").text.startswith("default let go of 1 text; ")


@pytest.mark.parametrize("grace", ["0", "0s", "0.5", "1h30m", "7d", "90"])
def test_a_grace_is_a_length_of_time(trimtab: Any, store: str, grace: str) -> None:
    """With a unit, several of them, or in seconds."""
    assert trimtab("store", "collect", "--grace", grace, "--store", store).code == 0


def test_a_dry_run_deletes_nothing(trimtab: Any, store: str) -> None:
    """`--dry-run` tells how many nobody holds, and they stay."""
    done = trimtab("store", "collect", "--dry-run", "--grace", "0s", "--store", store)
    assert done.text == "1 text of 2 held by nobody; nothing was deleted\n"
    assert trimtab("store", "stats", "--json", "--store", store).json["blobs"] == 2


@pytest.mark.parametrize("grace", ["soon", "-1h", "1h30", "1 h", "", "h", "٣"])
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
