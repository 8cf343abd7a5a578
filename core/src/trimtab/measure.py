"""How long a text is where it will stand: as itself, inside a JSON string, or two JSON strings deep.

A *spelling* says how a bulk text is written into the prompt. `t.text` of a string output is the string itself; of any
other output it is canonical JSON, in which every string is escaped once more. JSON text inside a string adds the
spelling of that text (`utf8` or `ascii`).
"""

from __future__ import annotations

import re

from attrs import frozen

from trimtab._json import Escape, escape

__all__ = ["Spelling", "escaped_length", "fit_from_end", "fit_from_start", "shown"]

_UNSHOWABLE = re.compile("[\x00\ud800-\udfff]")


def shown(text: str) -> str:
    """The text as an excerpt shows it: NUL and lone surrogates as U+FFFD (one for one)."""
    return _UNSHOWABLE.sub("\ufffd", text)


def escaped_length(text: str) -> int:
    """Code points of the text inside a canonical JSON string, without the quotes."""
    return len(escape(text, "utf8"))


@frozen
class Spelling:
    """`inner`: escape of the JSON text that the bulk text stands in, or None. `outer`: the output is not a string."""

    inner: Escape | None
    outer: bool

    def spell(self, text: str) -> str:
        """The text as it stands in the skeleton's string."""
        return text if self.inner is None else escape(text, self.inner)

    def length(self, text: str) -> int:
        """Code points that the text takes in `t.text`."""
        spelt = self.spell(text)
        return escaped_length(spelt) if self.outer else len(spelt)


def fit_from_start(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Largest `stop` in `start..end` such that `text[start:stop]`, as shown, takes at most `room`."""
    low, high = start, min(end, start + max(room, 0))
    if spelling.length(shown(text[start:high])) <= room:
        return high
    while low < high - 1:  # the piece to `low` fits, the piece to `high` does not
        middle = (low + high) // 2
        if spelling.length(shown(text[start:middle])) <= room:
            low = middle
        else:
            high = middle
    return low


def fit_from_end(text: str, start: int, end: int, room: int, spelling: Spelling) -> int:
    """Smallest `first` in `start..end` such that `text[first:end]`, as shown, takes at most `room`."""
    low, high = max(start, end - max(room, 0)), end
    if spelling.length(shown(text[low:end])) <= room:
        return low
    while low < high - 1:  # the piece from `high` fits, the piece from `low` does not
        middle = (low + high) // 2
        if spelling.length(shown(text[middle:end])) <= room:
            high = middle
        else:
            low = middle
    return high
