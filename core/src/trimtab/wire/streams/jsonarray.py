"""JSON objects in a text: the elements of one array, lines of JSON, or one object alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trimtab._json import decode, decode_strict
from trimtab.types import Json

__all__ = ["ObjectReader"]

# Up to the next bracket outside strings. It stops at a quote only where a string does not end on its line: JSON
# allows no line end inside a string, so the value was broken off there.
_TO_BRACKET = re.compile(r'[^"{}\[\]]*+(?:"(?:[^"\\\n]++|\\[^\n])*"[^"{}\[\]]*+)*')


class ObjectReader:
    """Collects text in pieces of any size, and reads it when it ends.

    `ended`: the array was closed. `cut`: the text ends inside an object. `damaged`: one before it was broken off or
    could not be read.
    """

    def __init__(self) -> None:
        self.ended = False
        self.cut = False
        self.damaged = False
        self._pieces: list[str] = []

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._pieces.append(text)

    def close(self) -> list[dict[str, Json]]:
        """Every outermost object. What stands between them (brackets, commas, line ends) is skipped."""
        text = "".join(self._pieces)
        self._pieces.clear()
        try:
            value = decode_strict(text)
        except ValueError:
            return list(self._objects(text))
        self.ended = isinstance(value, list)
        return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]

    def _objects(self, text: str) -> Iterator[dict[str, Json]]:
        """The objects of a text that is no one JSON value, found by their brackets."""
        at = 0
        while (begin := text.find("{", at)) >= 0:
            at, whole = _end(text, begin)
            try:
                value = decode(text[begin:at]) if whole else None
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                yield value
            elif whole or at < len(text):
                self.damaged = True
            else:
                self.cut = True
        self.ended = "]" in text[at:]


def _end(text: str, begin: int) -> tuple[int, bool]:
    """Where the object that begins here ends, or is broken off; and whether it is whole."""
    depth, at = 0, begin
    while (match := _TO_BRACKET.match(text, at)) is not None and (at := match.end()) < len(text):
        sign = text[at]
        at += 1
        if sign == '"':
            line_end = text.find("\n", at)
            return (len(text) if line_end < 0 else line_end), False
        depth += 1 if sign in "{[" else -1
        if depth == 0:
            return at, True
    return len(text), False
