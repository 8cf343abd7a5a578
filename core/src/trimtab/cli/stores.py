"""`trimtab store`: what a store holds, letting go, deleting what nobody holds, checking that all can be read."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Annotated, Final

from attrs import asdict
from cyclopts import Parameter

from trimtab._json import canonical
from trimtab.cli.options import Flat, Places
from trimtab.cli.places import open_host
from trimtab.cli.screen import console, counted, percent, progress, saying, styled
from trimtab.cli.streams import printable
from trimtab.errors import CallerError
from trimtab.types import Collected, Json, StoreStats

__all__ = ["collect", "release", "stats", "verify"]

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")

# Seconds in what a grace may be given in; a bare number is seconds.
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_GRACE: Final = re.compile("(?:[0-9]+(?:[.][0-9]+)?[smhdw])+|[0-9]+(?:[.][0-9]+)?")
_PART: Final = re.compile("([0-9.]+)([smhdw]?)")


def stats(*, json: bool = False, places: Flat = None) -> int:
    """Show what a store holds: how many texts, their sizes, how many owners hold them.

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


def release(owner: Annotated[str, Parameter(metavar="OWNER")], /, *, json: bool = False, places: Flat = None) -> int:
    """Let go of every text that an owner holds, as when its conversation is deleted.

    Deletes nothing: what nobody holds then goes with the next `trimtab store collect`. `trimtab trim` holds what it
    stores for the owner `default`, unless `--owner` names another.

    Args:
        owner: Who lets go, such as a conversation's id.
        json: As JSON, for programs.
    """
    host, url = open_host(places or Places())
    with host:
        before = host.store.stats()
        host.release(owner)
        after = host.store.stats()
    let_go = before.holds - after.holds
    if json:
        _print_json({"store": url, "owner": owner, "released": let_go, "unheld": after.unheld})
    elif not let_go:
        print(printable(f"{owner} holds nothing in {url}"))
    else:
        rest = f"{after.unheld:,} of the store's texts are held by nobody (`trimtab store collect` deletes them)"
        rest = rest if after.unheld else "other owners hold all of them"
        print(printable(f"{owner} let go of {counted(let_go, 'text')}; {rest}"))
    return 0


def collect(
    *,
    grace: Annotated[str, Parameter(metavar="TIME")] = "1h",
    dry_run: bool = False,
    json: bool = False,
    places: Flat = None,
) -> int:
    """Delete the texts that no owner holds.

    A text that was put or held within the grace stays, held or not: its row may still be on its way to the database.
    What an owner holds stays until `trimtab store release`.

    Args:
        grace: How long a text stays after it was last put or held, as in 90s, 30m, 12h, 7d, or in seconds. Default: 1h.
        dry_run: Delete nothing; tell how many texts nobody holds.
        json: As JSON, for programs.
    """
    seconds = _seconds(grace)
    host, url = open_host(places or Places())
    with host:
        if not dry_run:
            with progress(f"collecting {url}"):
                gone = host.collect(seconds)
        found = host.store.stats()
    held = found.blobs - found.unheld
    if dry_run and json:
        _print_json({"store": url, "unheld": found.unheld, "held": held, "blobs": found.blobs})
    elif dry_run:
        print(f"{counted(found.unheld, 'text')} of {found.blobs:,} held by nobody; nothing was deleted")
    elif json:
        _print_json({"store": url, **asdict(gone), "unheld": found.unheld, "held": held})
    else:
        print(_collected(gone, found, grace))
    return 0


def _collected(gone: Collected, found: StoreStats, grace: str) -> str:
    """What was deleted; where nothing was, why."""
    told = f"{counted(gone.blobs, 'text')} deleted, {_bytes(gone.bytes)} freed"
    if gone.blobs:
        return told
    if not found.blobs:
        return f"{told}: the store is empty"
    reasons = []
    if held := found.blobs - found.unheld:
        owners = counted(found.owners, "owner")
        verb = "holds" if found.owners == 1 else "hold"
        reasons.append(f"{owners} {verb} {counted(held, 'text')} (`trimtab store release OWNER` lets go)")
    if found.unheld:
        since = grace if grace[-1] in _SECONDS else f"{grace}s"
        reasons.append(f"nobody holds {counted(found.unheld, 'text')}, put or held less than {since} ago (see --grace)")
    return f"{told}: {'; '.join(reasons)}"


def _seconds(grace: str) -> float:
    if not _GRACE.fullmatch(grace):
        raise CallerError(
            f"--grace {grace!r:.80} is no length of time; write it as in 90s, 30m, 12h, 7d, or in seconds"
        )
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(grace))


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
