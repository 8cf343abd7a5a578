"""Reading a page of a long text by chars or lines, touching only the chunks that the page lies in.

A text is a row of chunks. `Marks` says where each begins; `PagedText` fetches the one or two that an answer
needs and keeps the last. Every store pages through this module, so all count lines alike: only a newline ends a
line, `""` has 0 lines, `"a\\nb\\n"` has 2, `"\\n"` has 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TypeVar

from attrs import frozen

from trimtab._json import utf8
from trimtab.types import BlobSize

__all__ = ["STEP", "Marks", "PagedStore", "PagedText", "count_lines", "mark", "paged"]

Answer = TypeVar("Answer")

# Chars from one mark to the next of a text that is in memory.
STEP = 64_000


@frozen(kw_only=True)
class Marks:
    """Where the chunks of a text begin.

    `chars[n]`: code points before chunk `n`. `ends[n]`: newlines before it. Both begin with 0 (or are empty, for
    the empty text) and never fall.
    """

    size: BlobSize
    chars: tuple[int, ...]
    ends: tuple[int, ...]


def count_lines(newlines: int, last: str) -> int:
    """Lines of a text with so many newlines whose last char is `last` (`""` for the empty text)."""
    return newlines if last in ("", "\n") else newlines + 1


def mark(text: str) -> Marks:
    """Marks of a text in memory, one each `STEP` chars."""
    ends, newlines, size = [], 0, 0
    for at in range(0, len(text), STEP):
        piece = text[at : at + STEP]
        ends.append(newlines)
        newlines += piece.count("\n")
        size += len(utf8(piece))
    return Marks(
        size=BlobSize(chars=len(text), lines=count_lines(newlines, text[-1:]), bytes=size),
        chars=tuple(range(0, len(text), STEP)),
        ends=tuple(ends),
    )


def paged(text: str, marks: Marks) -> PagedText:
    """A text in memory, by the marks that `mark` gave it."""
    return PagedText(marks, lambda n: text[n * STEP : (n + 1) * STEP])


class PagedText:
    """One text, read chunk by chunk through `fetch(n)`. Holds at most one chunk."""

    def __init__(self, marks: Marks, fetch: Callable[[int], str]) -> None:
        self._marks = marks
        self._fetch = fetch
        self._number = -1
        self._chunk = ""

    @property
    def size(self) -> BlobSize:
        """Of the whole text."""
        return self._marks.size

    def slice(self, first: int, last: int) -> str:
        """Chars `first` to `last`, 1-based, inclusive, clipped to the text."""
        start, end = max(first, 1) - 1, min(last, self.size.chars)
        if start >= end:
            return ""
        begins = self._marks.chars
        touched = range(bisect_right(begins, start) - 1, bisect_left(begins, end))
        return "".join(self._at(n)[max(start - begins[n], 0) : end - begins[n]] for n in touched)

    def lines(self, first: int, last: int) -> str:
        """Lines `first` to `last`, 1-based, inclusive, clipped, line ends included."""
        return self.slice(self.line_start(first), self.line_start(last + 1) - 1)

    def line_start(self, line: int) -> int:
        """The 1-based char at which 1-based `line` begins; past the last line, `chars + 1`."""
        if line <= 1:
            return 1
        if line > self.size.lines:
            return self.size.chars + 1
        n = bisect_left(self._marks.ends, line - 1) - 1
        newline = _nth_newline(self._at(n), line - 1 - self._marks.ends[n])
        return self._marks.chars[n] + newline + 2

    def line_at(self, char: int) -> int:
        """The 1-based line that holds 1-based `char`; past the end, the last line; 0 for the empty text."""
        before = max(char, 1) - 1
        if before >= self.size.chars:
            return self.size.lines
        n = bisect_right(self._marks.chars, before) - 1
        return self._marks.ends[n] + self._at(n).count("\n", 0, before - self._marks.chars[n]) + 1

    def _at(self, n: int) -> str:
        if n != self._number:
            # The old chunk goes first, so that never two are held.
            self._number, self._chunk = -1, ""
            self._chunk = self._fetch(n)
            self._number = n
        return self._chunk


def _nth_newline(text: str, n: int) -> int:
    """The 0-based place of the `n`-th newline, of which there are that many. By halves: a chunk may be all newlines."""
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        below = text.count("\n", low, middle)
        if below >= n:
            high = middle
        else:
            low, n = middle, n - below
    return low


class PagedStore(ABC):
    """The paging half of a `BlobStore`, for stores that can answer from a `PagedText`."""

    @abstractmethod
    def _ask(self, blob_id: str, question: Callable[[PagedText], Answer]) -> Answer:
        """The answer about one stored text. Raises LostBlob, DamagedBlob, StoreUnavailable."""

    def size(self, blob_id: str) -> BlobSize:
        """Its size, without reading it all. Raises LostBlob, DamagedBlob."""
        return self._ask(blob_id, lambda text: text.size)

    def slice(self, blob_id: str, first: int, last: int) -> str:
        """Chars `first` to `last` (1-based, inclusive, clipped to the text). Raises LostBlob, DamagedBlob."""
        return self._ask(blob_id, lambda text: text.slice(first, last))

    def lines(self, blob_id: str, first: int, last: int) -> str:
        """Lines `first` to `last` (1-based, inclusive, clipped), line ends included. Raises LostBlob, DamagedBlob."""
        return self._ask(blob_id, lambda text: text.lines(first, last))

    def line_start(self, blob_id: str, line: int) -> int:
        """The 1-based char at which 1-based `line` begins; for `line` past the last, `chars + 1`."""
        return self._ask(blob_id, lambda text: text.line_start(line))

    def line_at(self, blob_id: str, char: int) -> int:
        """The 1-based line that holds 1-based `char`; past the end, the last line; 0 for the empty text."""
        return self._ask(blob_id, lambda text: text.line_at(char))
