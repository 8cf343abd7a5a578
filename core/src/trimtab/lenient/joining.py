"""Strings in several parts, as programs write them: `"a" + "b"`, and Python's `'a' 'b'` and `('a' 'b')`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trimtab.lenient.chars import BODIES, QUOTE_ENDS, STRAIGHT
from trimtab.lenient.closing import past_comments

__all__ = ["lone_in_brackets", "next_part", "past_bracket", "past_operands"]

_BRACKETS: Final = frozenset(")）")

# Parts that are no strings: names, calls, indices, numbers, nothing. What they stand for is not in the text.
_OPERANDS: Final = re.compile(
    r"(?:[ \t\r\n]*+\+[ \t\r\n]*+(?:[A-Za-z_$][A-Za-z0-9_$.]*+(?:\([^()\"'\n]*+\)|\[[^\[\]\n]*+\])?|[0-9][0-9.]*+)?)+"
)


def _string_end(text: str, at: int, end: int) -> int:
    """The index behind the quote that may end the string whose quote stands at index `at`, or `end`."""
    quote = text[at]
    if quote in STRAIGHT and text.startswith(quote * 3, at):
        found = text.find(quote * 3, at + 3, end)
        return found + 3 if found >= 0 else end
    stop: int = BODIES[QUOTE_ENDS[quote]].match(text, at + 1, end).end()  # type: ignore[union-attr]  # or the empty text
    return min(stop + 1, end)


def next_part(text: str, at: int, end: int, ends: Callable[[int, int], bool], in_object: bool) -> int:
    """The index of the quote with which the string goes on whose part ends before index `at`, or -1.

    Without a plus between them, strings in a row are one only as the value of a member: in an array they are elements
    whose comma is missing. `ends` tells whether the quote before an index ends a string, by what follows up to `end`.
    """
    i = past_comments(text, at, end)
    if text[i : i + 1] == "+":
        i = past_comments(text, i + 1, end)
    elif i == at or not in_object:
        return -1
    if i >= end or text[i] not in QUOTE_ENDS:
        return -1
    stop = _string_end(text, i, end)
    if stop >= end or ends(stop, end):
        return i
    behind = past_comments(text, stop, end)
    goes_on = behind >= end or text[behind] == "+" or (behind > stop and text[behind] in QUOTE_ENDS)
    return i if goes_on else -1


def past_operands(text: str, at: int, end: int, ends: Callable[[int, int], bool]) -> int:
    """The index behind what is added to a string and is none itself, as in `"a" + name`, or -1."""
    found = _OPERANDS.match(text, at, end)
    return found.end() if found is not None and ends(found.end(), end) else -1


def lone_in_brackets(text: str, at: int, end: int) -> bool:
    """Whether a bracket at index `at` only groups one string, in one part or several: there is no comma in it."""
    i = past_comments(text, at + 1, end)
    if i >= end or text[i] not in QUOTE_ENDS:
        return False
    stop = _string_end(text, i, end)
    behind = past_comments(text, stop, end)
    if behind >= end:
        return True
    return text[behind] in _BRACKETS or text[behind] == "+" or (behind > stop and text[behind] in QUOTE_ENDS)


def past_bracket(text: str, at: int, end: int) -> int:
    """The index behind the bracket that closes such a group, or `at` if none stands there."""
    i = past_comments(text, at, end)
    return i + 1 if i < end and text[i] in _BRACKETS else at
