"""How long a text is where it will stand: as itself, inside a JSON string, or two JSON strings deep.

A *spelling* says how a bulk text is written into the prompt. `t.text` of a string output is the string itself; of any
other output it is canonical JSON, in which every string is escaped once more. JSON text inside a string adds the
spelling of that text (`utf8` or `ascii`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import frozen

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
    """`inner`: escape of the JSON text that the bulk text stands in, or None. `outer`: the output is not a string."""

    inner: Escape | None
    outer: bool

    @property
    def newline(self) -> int:
        """Code points that a newline takes in `t.text`."""
        return 1 + (self.inner is not None) + self.outer

    def spell(self, text: str) -> str:
        """The text as it stands in the skeleton's string."""
        return text if self.inner is None else escape(text, self.inner)

    def length(self, text: str) -> int:
        """Code points that the text takes in `t.text`."""
        spelt = self.spell(text)
        return escaped_length(spelt) if self.outer else len(spelt)


def fit_from_start(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Largest `stop` in `start..end` such that `text[start:stop]`, as shown, takes at most `room`."""
    piece = shown(text[start : min(end, start + max(room, 0))])
    return start + _most(len(piece), room, lambda count: spelling.length(piece[:count]))


def fit_from_end(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Smallest `first` in `start..end` such that `text[first:end]`, as shown, takes at most `room`."""
    piece = shown(text[max(start, end - max(room, 0)) : end])
    return end - _most(len(piece), room, lambda count: spelling.length(piece[len(piece) - count :]))


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
