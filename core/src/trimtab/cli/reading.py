"""`trimtab read` and `grep`: stored texts for the person who runs the application, whoever holds them."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Final

from cyclopts import Parameter
from rich.console import Console

from trimtab.cli.options import Count, Flat, Places
from trimtab.cli.places import STORE_VARIABLE, open_host
from trimtab.cli.screen import console, counted, progress, saying, styled
from trimtab.cli.streams import emit, is_terminal, write_bytes
from trimtab.errors import BadPattern, CallerError, UnknownBlob
from trimtab.grep import SECONDS, Finder, finder
from trimtab.host import Host
from trimtab.measure import shown
from trimtab.readback import BlobText, Place, Room, blob_of, page_at
from trimtab.types import ALL, Match, Page

__all__ = ["grep", "read"]

_URI = Annotated[str, Parameter(help="The uri from a marker, as in trimtab:3f2a9c1b7d04e5f6; its digits will do.")]
_BARE: Final = re.compile("[0-9a-f]{16,32}")

# Seconds to find a match again, to colour it.
_LOOK_AGAIN: Final = 0.1

# A page of this room is the rest of the text.
_BOUNDLESS: Final = Room(1 << 62, lambda text: 0)


def read(
    uri: _URI,
    /,
    *,
    line: Count = None,
    char: Count = None,
    row: Count = None,
    count: Count = None,
    raw: bool = False,
    places: Flat = None,
) -> int:
    """Print one page of a stored text.

    Where it stands, and where to go on, is told on standard error. A page is what fits the policy's limit; `--raw` has
    none, and prints the exact bytes: of the whole text, unless a place is given.

    Args:
        line: Begin at this line (1 is the first). Default: 1.
        char: Begin at this character instead.
        row: Begin at this element of a stored JSON list or object instead.
        count: How many lines, characters or elements.
        raw: No page: the exact bytes, nothing else.
    """
    place = Place(line=line, char=char, row=row, count=count)
    host, url = open_host(places or Places())
    with host:
        blob_id = _find(host, uri, url)
        if raw:
            whole = line is char is row is count is None
            stored = BlobText(host.store, blob_id)
            text = host.store.get(blob_id) if whole else page_at(stored, place, _BOUNDLESS).text
            write_bytes(text.encode("utf-8", "surrogatepass"))
            return 0
        page = host.read(f"trimtab:{blob_id}", allow=ALL, line=line, char=char, row=row, count=count)
    emit(shown(page.text))
    given = f" --store {places.store}" if places is not None and places.store else ""
    _tell(page, f"trimtab read {uri}{given}", by_line=place.unit == "line")
    return 0


def grep(
    uri: _URI,
    pattern: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    line: Annotated[int, Parameter(metavar="N")] = 1,
    places: Flat = None,
) -> int:
    """Print the lines of a stored text that match, each as LINE:CHAR:TEXT.

    CHAR is where the match begins in the whole text (for `trimtab read --char`); of a long line the part around it is
    shown. Exits with 1 if nothing matches.

    Args:
        pattern: A word or a regular expression (which needs the extra `grep`); case counts.
        line: Search from this line on.
    """
    find = finder(pattern)
    host, url = open_host(places or Places())
    screen = console(sys.stdout)
    found = 0
    with host:
        uri = f"trimtab:{_find(host, uri, url)}"
        total = host.store.size(uri.removeprefix("trimtab:")).lines
        with progress("searching", total, printing=True) as tell:
            at: int | None = line
            while at is not None:
                result = host.grep(uri, pattern, allow=ALL, line=at)
                for match in result.matches:
                    _print(screen, match, find)
                found += len(result.matches)
                if result.unsearched is not None and result.stopped == "time":
                    after = f", or go on after it with --line {result.next_line}" if result.next_line else ""
                    raise BadPattern(
                        f"line {result.unsearched} alone takes longer than {SECONDS:g} seconds; "
                        f"use a simpler pattern{after}"
                    )
                at = result.next_line
                tell(at or total)
    saying((f"{counted(found, 'line')} of {total:,} {'matches' if found == 1 else 'match'}", "dim"))
    return 0 if found else 1


def _find(host: Host, uri: str, url: str) -> str:
    """The full id of the text that a uri names in this store, whoever holds it."""
    if _BARE.fullmatch(uri):
        uri = f"trimtab:{uri}"
    try:
        return blob_of(uri, ALL, host.store)
    except UnknownBlob:
        raise CallerError(
            f"store {url} has no text {uri:.80}; name the store it was put into with --store, or in {STORE_VARIABLE}"
        ) from None


def _tell(page: Page, again: str, *, by_line: bool) -> None:
    """Where a page stands, and the command for the next one."""
    lines = f"{_range('line', page.start_line, page.end_line)} of {page.total_lines:,}"
    chars = f"{_range('char', page.start_char, page.end_char)} of {page.total_chars:,}"
    if not page.total_chars:
        saying(("the text is empty", "dim"))
        return
    saying((f"{lines}, {chars}", "dim"))
    if page.next_line is not None and by_line:
        saying("next: ", (f"{again} --line {page.next_line}", "bold"))
    elif page.next_char is not None:
        saying("next: ", (f"{again} --char {page.next_char}", "bold"))


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit} {first:,}" if first == last else f"{unit}s {first:,}-{last:,}"


def _print(screen: Console, match: Match, find: Finder) -> None:
    text = shown(match.text)
    if not is_terminal(sys.stdout):
        emit(f"{match.line}:{match.char}:{text}\n")
        return
    try:
        where = find(match.text, _LOOK_AGAIN)
    except TimeoutError:
        where = None
    start, stop = where or (0, 0)
    place = ((f"{match.line}", "green"), ":", (f"{match.char}", "green"), ":")
    screen.print(styled(*place, text[:start], (text[start:stop], "bold red"), text[stop:]), soft_wrap=True)
