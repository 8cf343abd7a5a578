"""The one line that stands where text was omitted.

`<omitted chars 513-47180 of 48211; full text: fs_read trimtab:3f2a9c1b7d04e5f6>`

Numbers are 1-based, inclusive, in code points of the full text. The handle is the first 16 hex digits of the
blob id. Without a read-back tool the line ends after the total. Nothing recognises a marker by its looks:
`parse` only proposes; the excerpt module proves, by building the same string from the stored text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from attrs import frozen

__all__ = [
    "HANDLE_DIGITS",
    "MARKER_MAX",
    "MIN_MOVED",
    "TOOL_NAME",
    "Marker",
    "line",
    "longest_line",
    "might_hold_marker",
    "parse",
    "signs",
    "uri",
]

HANDLE_DIGITS = 16

# A marker is always shorter than this, and a text shorter than MIN_MOVED is never moved: so a rendering is always
# shorter than its output, and a bare marker is never moved again.
MARKER_MAX = 160
MIN_MOVED = 256

TOOL_NAME = re.compile("[A-Za-z0-9_.-]{1,64}")
_MARKER = re.compile(
    r"<omitted chars ([1-9][0-9]{0,11})-([1-9][0-9]{0,11}) of ([1-9][0-9]{0,11})"
    r"(?:; full text: ([A-Za-z0-9_.-]{1,64}) trimtab:([0-9a-f]{16}))?>"
)


@frozen
class Marker:
    """What a marker says: omitted chars `first` to `last` of `total`, the tool that reads them, the handle."""

    first: int
    last: int
    total: int
    tool: str | None = None
    handle: str | None = None


def uri(blob_id: str) -> str:
    """By what a text is read: its handle, behind `trimtab:`."""
    return f"trimtab:{blob_id[:HANDLE_DIGITS]}"


def line(first: int, last: int, total: int, tool: str | None = None, blob_id: str = "") -> str:
    """The marker for omitted chars `first` to `last` of `total`, without newlines around it; always under 160 chars."""
    how = f"; full text: {tool} {uri(blob_id)}" if tool else ""
    return f"<omitted chars {first}-{last} of {total}{how}>"


@lru_cache(maxsize=1_024)
def longest_line(total: int, tool: str | None) -> int:
    """Chars of the longest marker of a text of `total` chars."""
    return len(line(total, total, total, tool, "0" * HANDLE_DIGITS))


def signs(tool: str) -> tuple[str, str]:
    """A char and a part that every marker with this read-back tool holds, for a fast look."""
    return "<", f"full text: {tool} trimtab:"


def might_hold_marker(text: str, tool: str) -> bool:
    """Whether markers with this read-back tool may stand in the text: a fast look, no claim."""
    sign, part = signs(tool)
    return sign in text and part in text


def parse(text: str) -> Iterator[Marker]:
    """Every string in the text that has a marker's shape, in order. A claim, not a fact."""
    for found in _MARKER.finditer(text):
        first, last, total, tool, handle = found.groups()
        yield Marker(int(first), int(last), int(total), tool, handle)
