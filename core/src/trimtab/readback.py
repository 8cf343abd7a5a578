"""Reading stored text back: which blob a uri names, pages of it, and the answers to a model's read calls.

A conversation reads what its rows name and nothing else. Pages joined equal the text: a page is an exact slice, line
ends included, fits its room as it will stand in JSON, and always moves forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import frozen

from trimtab.codecs.jsontext import elements
from trimtab.errors import AmbiguousHandle, CallerError, LostBlob, NotOurs, OutOfRange, UnknownBlob
from trimtab.types import ALL, AllowList, BlobStore, Everything, Page

__all__ = ["Room", "blob_of", "page_at_char", "page_at_line", "page_at_row", "page_output", "uri_of"]

_URI = re.compile("trimtab:([0-9a-f]{16,32})")

# Raw chars looked at per unit of room: a token is seldom longer, and what is cut off comes with the next page.
_CHARS_PER_TOKEN = 8


def uri_of(blob_id: str) -> str:
    """The uri of a whole blob id."""
    return f"trimtab:{blob_id}"


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
        raise NotOurs(f"{uri!r:.80} is not one of ours; ask for a uri from a marker, as in trimtab:3f2a9c1b7d04e5f6")
    handle = found[1]
    if not isinstance(allow, AllowList | Everything):
        raise CallerError(f"allow must be what host.allow_list gives (or ALL, for operators), not {allow!r:.80}")
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


def page_at_line(store: BlobStore, blob_id: str, line: int, count: int | None, room: Room) -> Page:
    """The page that begins at 1-based `line`: at most `count` lines, whole lines unless one alone does not fit.

    Raises:
        OutOfRange: `line` is past the last, or `line` or `count` is under 1.
    """
    size = store.size(blob_id)
    _in_range("line", line, size.lines)
    start = store.line_start(blob_id, line)
    stop = size.chars + 1
    if count is not None:
        _positive("count", count, size.lines)
        if line + count <= size.lines:
            stop = store.line_start(blob_id, line + count)
    text = store.slice(blob_id, start, min(stop - 1, start + room.chars - 1)) if start < stop else ""
    fits = room.fitting(text) if text else 0
    if start + fits < stop:  # stopped by room: end at a line's end, where one fits
        fits = (text.rfind("\n", 0, fits) + 1) or fits
    return _page(store, blob_id, text[:fits], start)


def page_at_char(store: BlobStore, blob_id: str, char: int, count: int | None, room: Room) -> Page:
    """The page that begins at 1-based `char`: at most `count` chars.

    Raises:
        OutOfRange: `char` is past the last, or `char` or `count` is under 1.
    """
    size = store.size(blob_id)
    _in_range("char", char, size.chars)
    longest = room.chars if count is None else min(_positive("count", count, size.chars), room.chars)
    text = store.slice(blob_id, char, char + longest - 1) if size.chars else ""
    return _page(store, blob_id, text[: room.fitting(text)] if text else "", char)


def page_at_row(store: BlobStore, blob_id: str, row: int, count: int | None, room: Room) -> Page:
    """The page that begins at element `row` (1-based) of a stored array or object: at most `count` elements.

    Raises:
        OutOfRange: `row` is past the last, the text is no array or object, or `row` or `count` is under 1.
    """
    text = store.get(blob_id)
    try:
        spans = elements(text)
    except ValueError:
        raise OutOfRange("row", row, 0) from None
    _in_range("row", row, len(spans))
    if not spans:
        return _page(store, blob_id, "", 1)
    last = len(spans) if count is None else min(len(spans), row - 1 + _positive("count", count, len(spans)))
    start, stop = spans[row - 1][0], spans[last - 1][1]
    fits = start + room.fitting(text[start : min(stop, start + room.chars)])
    whole = [end for _, end in spans[row - 1 : last] if end <= fits]
    return _page(store, blob_id, text[start : whole[-1] if whole else fits], start + 1)


def _page(store: BlobStore, blob_id: str, text: str, start: int) -> Page:
    size = store.size(blob_id)
    end = start + len(text) - 1
    more = end < size.chars
    return Page(
        text=text,
        start_line=store.line_at(blob_id, start) if text else min(1, size.lines),
        end_line=store.line_at(blob_id, end) if text else min(1, size.lines),
        start_char=start,
        end_char=end,
        total_lines=size.lines,
        total_chars=size.chars,
        next_line=store.line_at(blob_id, end + 1) if more and text.endswith("\n") else None,
        next_char=end + 1 if more else None,
        truncated=more,
    )


def _in_range(unit: str, asked: int, total: int) -> None:
    """An empty text has one empty page, at 1."""
    if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= asked <= max(total, 1):
        raise OutOfRange(unit, asked, total)


def _positive(name: str, value: int, total: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OutOfRange(name, value, total)
    return value


def page_output(page: Page, shown_text: str, *, unit: str) -> Mapping[str, int | str]:
    """A page as a read tool's output: the text, where it stands, and where to go on (absent at the end)."""
    output: dict[str, int | str] = {"text": shown_text}
    if unit == "line":
        output |= {"start_line": page.start_line, "end_line": page.end_line, "total_lines": page.total_lines}
    else:
        output |= {"start_char": page.start_char, "end_char": page.end_char, "total_chars": page.total_chars}
    if page.next_line is not None and unit == "line":
        output["next_line"] = page.next_line
    elif page.next_char is not None:
        output["next_char"] = page.next_char
    return output
