"""Reading text back: which blob a uri names, and pages of a text.

A conversation reads what its rows name and nothing else. Pages joined equal the text: a page is an exact slice, line
ends included, fits its room as it will stand in JSON, and always moves forward. Blobs, files and texts in memory are
all read through `page_at`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

from trimtab._json import canonical, escaped_length
from trimtab.budget import Budget
from trimtab.codecs.jsontext import elements
from trimtab.errors import AmbiguousHandle, CallerError, LostBlob, NotOurs, OutOfRange, UnknownBlob
from trimtab.measure import shown
from trimtab.types import ALL, AllowList, BlobSize, BlobStore, Everything, Page, TextSource, TokenCounter

__all__ = ["BlobText", "Place", "Room", "blob_of", "check_allow", "numbered", "page_at", "room_of"]

_URI = re.compile("trimtab:([0-9a-f]{16,32})")

# Raw chars looked at per unit of room: a token is seldom longer, and what is cut off comes with the next page.
_CHARS_PER_TOKEN = 8

# What a read tool's output takes beside its text: the field names and numbers around it.
_FRAME: Final = {"chars": 200, "tokens": 60}


def numbered(text: str, first_line: int) -> str:
    """Each line of the text after its number and a tab; the first one's number is `first_line`."""
    lines = text.split("\n")
    last = lines.pop()
    parts = [f"{number}\t{line}\n" for number, line in enumerate(lines, start=first_line)]
    return "".join([*parts, f"{first_line + len(lines)}\t{last}"] if last else parts)


@frozen
class Room:
    """What a page may take: at most `most`, as `length` measures a text where it will stand."""

    most: int
    length: Callable[[str], int]
    in_tokens: bool = False

    @property
    def chars(self) -> int:
        """No page is longer than this."""
        return self.most * (_CHARS_PER_TOKEN if self.in_tokens else 1)

    def numbered(self, first_line: int) -> Room:
        """The room of a text that is shown with line numbers, the first of which is `first_line`."""
        return evolve(self, length=lambda text: self.length(numbered(text, first_line)))

    def fitting(self, text: str) -> int:
        """Chars of the longest beginning that fits; at least 1 of a text that is not empty."""
        if self.length(text) <= self.most:
            return len(text)
        low, high = 1, len(text)
        while low < high - 1:
            middle = (low + high) // 2
            if self.length(text[:middle]) <= self.most:
                low = middle
            else:
                high = middle
        return low


def room_of(budget: Budget, counter: TokenCounter) -> Room:
    """What a page of a read tool's output may take: the budget's limit, less the fields around the text."""
    most = budget.limit - _FRAME[budget.unit]
    if budget.unit == "chars":
        return Room(most, lambda text: escaped_length(shown(text)))
    return Room(most, lambda text: counter.count(canonical(shown(text))), in_tokens=True)


@frozen
class BlobText:
    """One stored text as a `TextSource`."""

    store: BlobStore
    blob_id: str

    @property
    def size(self) -> BlobSize:
        """Of the whole text. Raises LostBlob, DamagedBlob, as do the others."""
        return self.store.size(self.blob_id)

    def slice(self, first: int, last: int) -> str:
        """Chars `first` to `last`."""
        return self.store.slice(self.blob_id, first, last)

    def line_start(self, line: int) -> int:
        """The char at which `line` begins."""
        return self.store.line_start(self.blob_id, line)

    def line_at(self, char: int) -> int:
        """The line that holds `char`."""
        return self.store.line_at(self.blob_id, char)


def check_allow(allow: object) -> None:
    """Raises CallerError for anything but an `AllowList` or `ALL`: a mistake of the application's, not of a model's."""
    if not isinstance(allow, AllowList | Everything):
        raise CallerError(f"allow must be what host.allow_list gives (or ALL, for operators), not {allow!r:.80}")


def blob_of(uri: str, allow: AllowList | Everything, store: BlobStore) -> str:
    """The full id of the blob that a uri names, among those allowed.

    Raises:
        NotOurs: not a `trimtab:` uri with 16 to 32 hex digits.
        UnknownBlob: nothing allowed begins with its handle.
        AmbiguousHandle: two allowed blobs do.
        LostBlob: a row of this conversation names it, but this store has not got it.
    """
    found = _URI.fullmatch(uri) if isinstance(uri, str) else None
    if found is None:
        raise NotOurs(f"{uri!r:.80} is no uri of a marker: that is `trimtab:` and 16 to 32 hex digits")
    handle = found[1]
    check_allow(allow)
    if isinstance(allow, Everything):
        held = store.find(ALL, [handle])[handle]
        lost: list[str] = []
    else:
        held = sorted(one for one in allow.held if one.startswith(handle))
        lost = sorted(one for one in allow.lost if one.startswith(handle))
    if len(held) + len(lost) > 1:
        raise AmbiguousHandle(handle, sorted([*held, *lost]))
    if held:
        return held[0]
    if lost:
        raise LostBlob(lost[0])
    raise UnknownBlob(f"no tool output of this conversation names trimtab:{handle}; use a uri from a marker in it")


@frozen(kw_only=True)
class Place:
    """Where a page begins, and how long it may be.

    Args:
        line, char, row: one of them, 1-based; none: the first line. Rows are elements of a JSON array or object.
        count: at most so many of that unit; None: as many as fit.
        numbers: whether the text will be shown with line numbers, so that the page leaves room for them.
    """

    line: int | None = None
    char: int | None = None
    row: int | None = None
    count: int | None = None
    numbers: bool = False

    @property
    def unit(self) -> str:
        """`line`, `char` or `row`."""
        return "char" if self.char is not None else "row" if self.row is not None else "line"


def page_at(source: TextSource, place: Place, room: Room) -> Page:
    """One page of a text: whole lines (or rows) unless one alone does not fit.

    Raises:
        OutOfRange: past the end, or a number under 1; or rows of a text that is no JSON array or object.
        CallerError: more than one of line, char and row.
    """
    if sum(one is not None for one in (place.line, place.char, place.row)) > 1:
        raise CallerError("give one of line, char and row")
    size = source.size
    if place.char is not None:
        start, text = _at_char(source, size, place.char, place, room)
    elif place.row is not None:
        start, text = _at_row(source, size, place.row, place, room)
    else:
        start, text = _at_line(source, size, 1 if place.line is None else place.line, place, room)
    end = start + len(text) - 1
    more = end < size.chars
    return Page(
        text=text,
        start_line=source.line_at(start) if text else min(1, size.lines),
        end_line=source.line_at(end) if text else min(1, size.lines),
        start_char=start,
        end_char=end,
        total_lines=size.lines,
        total_chars=size.chars,
        next_line=source.line_at(end + 1) if more and text.endswith("\n") else None,
        next_char=end + 1 if more else None,
        truncated=more,
    )


def _at_line(source: TextSource, size: BlobSize, line: int, place: Place, room: Room) -> tuple[int, str]:
    _in_range("line", line, size.lines)
    start = source.line_start(line)
    stop = size.chars + 1
    if place.count is not None:
        _positive("count", place.count, size.lines)
        if line + place.count <= size.lines:
            stop = source.line_start(line + place.count)
    text = source.slice(start, min(stop - 1, start + room.chars - 1)) if start < stop else ""
    fits = (room.numbered(line) if place.numbers else room).fitting(text)
    if start + fits < stop:  # stopped by room: end at a line's end, where one fits
        fits = (text.rfind("\n", 0, fits) + 1) or fits
    return start, text[:fits]


def _at_char(source: TextSource, size: BlobSize, char: int, place: Place, room: Room) -> tuple[int, str]:
    _in_range("char", char, size.chars)
    longest = room.chars if place.count is None else min(_positive("count", place.count, size.chars), room.chars)
    text = source.slice(char, char + longest - 1)
    used = room.numbered(source.line_at(char)) if place.numbers else room
    return char, text[: used.fitting(text)]


def _at_row(source: TextSource, size: BlobSize, row: int, place: Place, room: Room) -> tuple[int, str]:
    text = source.slice(1, size.chars)
    try:
        spans = elements(text)
    except ValueError:
        raise OutOfRange("row", row, 0) from None
    _in_range("row", row, len(spans))
    if not spans:  # an empty list is one page: itself
        return 1, text[: room.chars]
    last = len(spans)
    if place.count is not None:
        last = min(last, row - 1 + _positive("count", place.count, len(spans)))
    start, stop = spans[row - 1][0], spans[last - 1][1]
    used = room.numbered(source.line_at(start + 1)) if place.numbers else room
    fits = start + used.fitting(text[start : min(stop, start + room.chars)])
    whole = [end for _, end in spans[row - 1 : last] if end <= fits]
    return start + 1, text[start : whole[-1] if whole else fits]


def _in_range(unit: str, asked: int, total: int) -> None:
    """An empty text has one empty page, at 1."""
    if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= asked <= max(total, 1):
        raise OutOfRange(unit, asked, total)


def _positive(name: str, value: int, total: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OutOfRange(name, value, total)
    return value
