"""Finds where a value between tags ends: a closing tag inside one of its strings is text."""

from __future__ import annotations

import re
from typing import Final

from trimtab.lenient.tree import read

__all__ = ["closer_of"]

_OPENERS: Final = frozenset('{["')
_BEGIN: Final = re.compile("[ \\t\\r\\n]*(?:(?:`{3,}|~{3,})[A-Za-z0-9_+-]*[ \\t\\r\\n]*)?")


def closer_of(
    text: str, start: int, closer: re.Pattern[str], *, known: frozenset[str] = frozenset()
) -> re.Match[str] | None:
    """The tag that closes what begins at index `start`; None: the text ends before one.

    Where JSON begins there, it is the first tag behind it. JSON that is not closed by the tag it stands before, and
    does not end before a later one, was closed by the first tag: its own end is missing.
    """
    found = closer.search(text, start)
    if found is None:
        return None
    begin = _BEGIN.match(text, start).end()  # type: ignore[union-attr]  # it matches the empty text
    if text[begin : begin + 1] not in _OPENERS or closer.search(text, found.end()) is None:
        return found
    if read(text[begin : found.start()], 0, known=known).finished:
        return found
    whole = read(text, begin, known=known)
    if not whole.finished or whole.end < found.start():
        return found
    behind = closer.search(text, whole.end)
    return found if behind is None or "<" in text[whole.end : behind.start()] else behind
