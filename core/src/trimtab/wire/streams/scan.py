"""Whether a JSON value has ended, without decoding it: brackets counted outside strings, text in pieces."""

from __future__ import annotations

import re

__all__ = ["BracketScanner"]

_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')


class BracketScanner:
    """Follows objects and arrays, from the opening bracket on. `depth`: brackets that are open."""

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False
        self._escaped = False

    @property
    def open(self) -> bool:
        """Whether something has begun and not ended."""
        return self.depth > 0 or self._in_string

    def feed(self, text: str, begin: int = 0) -> int:
        """Scan on from `begin`; gives where the value ended (one past its bracket), or -1: not in this piece."""
        at, end = begin, len(text)
        while at < end:
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(text, at)
            if found is None:
                return -1
            at = found.end()
            sign = found[0]
            if sign == '"':
                self._in_string = not self._in_string
            elif sign == "\\":
                self._escaped = True
            elif sign in "{[":
                self.depth += 1
            else:
                self.depth = max(self.depth - 1, 0)
                if self.depth == 0:
                    return at
        return -1
