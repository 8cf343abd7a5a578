"""Where the code of a Markdown text stands: fenced blocks, indented blocks, code spans.

After CommonMark 0.31 (https://spec.commonmark.org/0.31.2/, sections 4.4, 4.5 and 6.1), with one wider rule, since
models nest lists carelessly: a fence may be indented by any number of blanks, not by three at most. Inside a list
indented lines are text, as they are there. Raw HTML is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from attrs import define, frozen

__all__ = ["code_ranges", "is_escaped"]

# No two parts of a pattern can share blanks: otherwise a line of many quote signs or bullets takes for ever.
_QUOTE = r"(?: {0,3}>)"
_ITEM = r"(?:(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$))"
# What follows opening backticks on their line holds none: "``` x ```" on one line is a code span.
_OPENING = re.compile(rf"(?P<quote>{_QUOTE}*)[ \t]*(?P<item>{_ITEM}*)(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})")
_CLOSING = re.compile(rf"(?P<quote>{_QUOTE}*)[ \t]*(?P<fence>`{{3,}}|~{{3,}})[ \t]*$")
_BLANK = re.compile(rf"{_QUOTE}*[ \t]*$")
_QUOTED = re.compile(_QUOTE)
_LISTED = re.compile(rf"{_QUOTE}*[ \t]*{_ITEM}")
_HEADING = re.compile(rf"(?:{_QUOTE}+ ?)? {{0,3}}#{{1,6}}(?:[ \t]|$)")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_TICKS = re.compile("`+")

_Kind: TypeAlias = Literal["code", "blank", "first", "next"]


@frozen
class _Fence:
    """An open fence: its characters, and whether it stands in a quote, at whose end it ends."""

    characters: str
    quoted: bool

    def closed_by(self, line: str) -> bool:
        found = _CLOSING.match(line)
        return found is not None and found["fence"].startswith(self.characters) and bool(found["quote"]) == self.quoted


@define
class _Lines:
    """Says what the lines of a text are; each depends on those before it."""

    fence: _Fence | None = None
    in_list: bool = False
    in_quote: bool = False
    after_text: bool = False
    after_blank: bool = True

    def kind(self, line: str) -> _Kind:
        """Code, blank, or text: the first or a further line of its block."""
        kind = self._kind(line)
        self.after_text = kind in ("first", "next") and _HEADING.match(line) is None
        self.after_blank = kind == "blank"
        self.in_quote = _QUOTED.match(line) is not None
        return kind

    def _kind(self, line: str) -> _Kind:
        if self.fence is not None and (not self.fence.quoted or _QUOTED.match(line)):
            if self.fence.closed_by(line):
                self.fence = None
            return "code"
        self.fence = None
        if opening := _OPENING.match(line):
            self.fence = _Fence(opening["fence"], bool(opening["quote"]))
            self.in_list = self.in_list or bool(opening["item"])
            return "code"
        if _BLANK.match(line):
            return "blank"
        if _INDENTED.match(line) and not self.in_list and not self.after_text:
            return "code"
        if _LISTED.match(line):
            self.in_list = True
            return "first"
        if self.after_blank and not line.startswith((" ", "\t")):
            self.in_list = False
        begins = not self.after_text or _HEADING.match(line) or (_QUOTED.match(line) and not self.in_quote)
        return "first" if begins else "next"


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Where code stands in a Markdown text: `start:end` in code points, half open, ascending, disjoint.

    Fences and backticks are part of their range. A fence that is never closed ends with the text (or its quote); a run
    of backticks without an equal one in its block is text.
    """
    ranges: list[tuple[int, int]] = []
    lines = _Lines()
    block = at = 0
    for line in text.split("\n"):
        kind = lines.kind(line.removesuffix("\r"))
        end = at + len(line)
        if kind != "next":
            ranges += _spans(text, block, at)
            block = at
        if kind == "code":
            ranges += [(at, end)] if line else []
            block = end
        at = end + 1
    return [*ranges, *_spans(text, block, len(text))]


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Code spans of one block: from a run of backticks to the next one of the same length."""
    runs = [found.span() for found in _TICKS.finditer(text, start, end)]
    index = 0
    while index < len(runs):
        first, after = runs[index]
        first += is_escaped(text, first)
        close = next((n for n in range(index + 1, len(runs)) if _length(runs[n]) == after - first), None)
        if first == after or close is None:
            index += 1
            continue
        yield first, runs[close][1]
        index = close + 1


def _length(run: tuple[int, int]) -> int:
    return run[1] - run[0]


def is_escaped(text: str, at: int) -> bool:
    """Whether a backslash makes the character at `at` (0-based) an ordinary one. Not for places in code."""
    slashes = at
    while slashes and text[slashes - 1] == "\\":
        slashes -= 1
    return (at - slashes) % 2 == 1
