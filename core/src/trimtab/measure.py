"""How long a text is where it will stand: as itself, inside a JSON string, or two JSON strings deep.

A *spelling* says how a bulk text is written into the prompt. `t.text` of a string output is the string itself; of any
other output it is canonical JSON, in which every string is escaped once more. JSON text inside a string adds the
spelling of that text (`utf8` or `ascii`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import field, frozen

from trimtab._json import Escape, escape, escaped_length

__all__ = ["Spelling", "fit_from_end", "fit_from_start", "shown"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def shown(text: str) -> str:
    """The text as an excerpt shows it: NUL and lone surrogates as U+FFFD (one for one)."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


@frozen
class Spelling:
    """`inner`: escape of the JSON text that the bulk text stands in, or None. `outer`: the output is not a string.

    `length(text)` is the number of code points that a text takes in `t.text`.
    """

    inner: Escape | None
    outer: bool
    length: Callable[[str], int] = field(init=False, repr=False, eq=False)

    @length.default
    def _length(self) -> Callable[[str], int]:
        measure = escaped_length if self.outer else len
        inner = self.inner
        return measure if inner is None else lambda text: measure(escape(text, inner))

    @property
    def newline(self) -> int:
        """Code points that a newline takes in `t.text`."""
        return 1 + (self.inner is not None) + self.outer

    def spell(self, text: str) -> str:
        """The text as it stands in the skeleton's string."""
        return text if self.inner is None else escape(text, self.inner)


def fit_from_start(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Largest `stop` in `start..end` such that `text[start:stop]`, as shown, takes at most `room`."""
    length = spelling.length
    piece = shown(text[start : min(end, start + max(room, 0))])
    if length(piece) <= room:
        return start + len(piece)
    return start + _most(len(piece), room, lambda count: length(piece[:count]))


def fit_from_end(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Smallest `first` in `start..end` such that `text[first:end]`, as shown, takes at most `room`."""
    length = spelling.length
    piece = shown(text[max(start, end - max(room, 0)) : end])
    if length(piece) <= room:
        return end - len(piece)
    return end - _most(len(piece), room, lambda count: length(piece[len(piece) - count :]))


def _most(count: int, room: int, length: Callable[[int], int]) -> int:
    """The largest number up to `count` of which `length` is at most `room`.

    Each char takes at least 1. So what is over by `n` fits when `n` chars less are taken, and what fits with `n` to
    spare cannot take more than `n` chars more: with few escapes that leaves next to nothing to search.
    """
    over = length(count) - room
    if over <= 0:
        return count
    low, high = max(count - over, 0), count  # `low` fits, `high` does not
    while low < high - 1:
        middle = (low + high) // 2
        over = length(middle) - room
        if over <= 0:
            low, high = middle, min(high, middle - over + 1)
        else:
            low, high = max(low, middle - over), middle
    return low
