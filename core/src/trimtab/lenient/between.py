"""Finds where a value between tags ends: a closing tag inside one of its strings is text."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from trimtab.lenient.repairs import BARE_VALUE, MISSING_COMMA
from trimtab.lenient.tree import read

__all__ = ["closer_of"]

_OPENERS: Final = frozenset('{["')
_BEGIN: Final = re.compile("[ \\t\\r\\n]*+(?:(?:`{3,}+|~{3,}+)[A-Za-z0-9_+-]*+[ \\t\\r\\n]*+)?")
_CLOSERS: Final = 6  # tried as the end of one value
_LIKE_TAGS: Final = frozenset([BARE_VALUE, MISSING_COMMA])  # damage that a tag outside of strings looks like


def closer_of(
    text: str, start: int, closer: re.Pattern[str], *, known: frozenset[str] = frozenset()
) -> re.Match[str] | None:
    """The tag that closes what begins at index `start`; None: the text ends before one.

    Where JSON begins there, it is the first tag before which it is complete. If there is none, the first tag of all:
    the end of the JSON itself is missing.
    """
    first = closer.search(text, start)
    if first is None:
        return None
    begin = _BEGIN.match(text, start).end()  # type: ignore[union-attr]  # it matches the empty text
    if text[begin : begin + 1] not in _OPENERS or closer.search(text, first.end()) is None:
        return first
    for found in islice(closer.finditer(text, start), _CLOSERS):
        document = read(text[begin : found.start()], 0, known=known)
        if document.finished and (found.start() == first.start() or _LIKE_TAGS.isdisjoint(document.repairs)):
            return found
    return first
