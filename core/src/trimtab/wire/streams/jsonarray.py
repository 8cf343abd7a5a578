"""JSON objects in a text that comes in pieces: the elements of one array, lines of JSON, or one object alone."""

from __future__ import annotations

from trimtab.wire.streams.scan import BracketScanner

__all__ = ["ObjectReader"]


class ObjectReader:
    """Finds each outermost object; what stands between them (brackets and commas of an array, line ends) is skipped.

    `ended`: the array's closing bracket came after the last object. `damaged`: an object was broken off and another
    followed.
    """

    def __init__(self) -> None:
        self.ended = False
        self.damaged = False
        self._scanner: BracketScanner | None = None
        self._pieces: list[str] = []

    def feed(self, text: str) -> list[str]:
        """The texts of the objects that end in this piece."""
        found: list[str] = []
        at = 0
        while at < len(text):
            if self._scanner is None:
                begin = text.find("{", at)
                between = text[at:] if begin < 0 else text[at:begin]
                self.ended = "]" in between or (self.ended and begin < 0)
                if begin < 0:
                    break
                at = begin
                self._scanner = BracketScanner(strict=True)
            end = self._scanner.feed(text, at)
            if end < 0:
                self._pieces.append(text[at:])
                break
            if self._scanner.broken:
                self.damaged = True
            else:
                found.append("".join([*self._pieces, text[at:end]]))
            self._pieces.clear()
            self._scanner = None
            at = end
        return found
