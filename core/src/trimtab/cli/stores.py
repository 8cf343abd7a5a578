"""`trimtab store`: what a store holds, deleting what nobody holds, checking that all of it can be read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from attrs import asdict
from cyclopts import Parameter

from trimtab._json import canonical
from trimtab.cli.options import Flat, Places
from trimtab.cli.places import open_host
from trimtab.cli.screen import console, counted, percent, progress, saying, styled
from trimtab.types import Json, StoreStats

__all__ = ["collect", "stats", "verify"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def stats(*, json: bool = False, places: Flat = None) -> int:
    """Show what a store holds: texts, their sizes, who holds them.

    Args:
        json: As JSON, for programs.
    """
    host, url = open_host(places or Places())
    with host:
        found = host.store.stats()
    if json:
        _print_json({"store": url, **asdict(found)})
        return 0
    screen = console(sys.stdout)
    screen.print(styled((url, "bold")), soft_wrap=True)
    for name, value in _facts(found).items():
        screen.print(styled((f"  {name:<12}", "dim"), value), soft_wrap=True)
    return 0


def collect(
    *,
    grace: Annotated[timedelta, Parameter(metavar="TIME")] = timedelta(hours=1),
    dry_run: bool = False,
    json: bool = False,
    places: Flat = None,
) -> int:
    """Delete the texts that no owner holds.

    A text that was put or held within the grace stays, held or not: its row may still be on its way to the database.

    Args:
        grace: How long a text stays after it was last put or held, as in 90s, 30m, 12h, 7d. Default: 1h.
        dry_run: Delete nothing; tell how many texts nobody holds.
        json: As JSON, for programs.
    """
    host, url = open_host(places or Places())
    with host:
        if dry_run:
            found = host.store.stats()
            if json:
                _print_json({"store": url, "unheld": found.unheld, "blobs": found.blobs})
            else:
                print(f"{counted(found.unheld, 'text')} of {found.blobs:,} held by nobody; nothing was deleted")
            return 0
        with progress(f"collecting {url}"):
            gone = host.collect(grace.total_seconds())
    if json:
        _print_json({"store": url, **asdict(gone)})
    else:
        print(f"{counted(gone.blobs, 'text')} deleted, {_bytes(gone.bytes)} freed")
    return 0


def verify(*, json: bool = False, places: Flat = None) -> int:
    """Read every text of a store and check it against its id.

    Exits with 1 if something is damaged.

    Args:
        json: As JSON, for programs.
    """
    host, url = open_host(places or Places())
    with host:
        total = host.store.stats().blobs
        with progress(f"checking {counted(total, 'text')}"):
            faults = list(host.store.verify())
    if json:
        _print_json({"store": url, "blobs": total, "faults": [asdict(one) for one in faults]})
    else:
        screen = console(sys.stdout)
        for fault in faults:
            screen.print(styled((fault.place, "bold red"), f": {fault.what}"), soft_wrap=True)
        if faults:
            saying((f"{counted(len(faults), 'fault')}: restore a backup; put again, a damaged text is mended", "red"))
        else:
            print(f"{counted(total, 'text')} read, all whole")
    return 1 if faults else 0


def _print_json(value: Mapping[str, Json]) -> None:
    print(canonical(dict(value)))


def _facts(found: StoreStats) -> dict[str, str]:
    smaller = f" ({percent(found.bytes, found.stored_bytes)})" if found.bytes else ""
    unheld = f", {found.unheld:,} held by nobody (`trimtab store collect` deletes them)" if found.unheld else ""
    return {
        "texts": f"{found.blobs:,}{unheld}",
        "chars": f"{found.chars:,}",
        "as UTF-8": _bytes(found.bytes),
        "stored": f"{_bytes(found.stored_bytes)}{smaller}",
        "owners": f"{found.owners:,}, with {counted(found.holds, 'hold')}",
    }


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in _UNITS[:-1]:
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} {_UNITS[-1]}"
