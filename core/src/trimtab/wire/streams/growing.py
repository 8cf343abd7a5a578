"""Blocks of a message that are no calls, while they arrive."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.types import Json
from trimtab.wire.streams.drafts import join, number

__all__ = ["Growing"]

# Members that say what an element of a list is: they come again with each piece, and are not joined.
_FIXED = ("format", "id", "index", "signature", "type")


class Growing:
    """An object whose members come in pieces. `native`: how it began; `ended`: the wire said that it is whole."""

    def __init__(self, native: Mapping[str, Json] | None = None, *, ended: bool = False) -> None:
        self.native: dict[str, Json] = dict(native or {})
        self.ended = ended
        self._pieces: dict[str, list[str]] = {}
        self._lists: dict[str, list[Json]] = {}
        self._elements: dict[tuple[str, int], Growing] = {}

    def add(self, name: str, piece: str) -> None:
        """The next piece of a text."""
        self._pieces.setdefault(name, []).append(piece)

    def put(self, name: str, value: Json) -> None:
        """A member, whole."""
        self._pieces.pop(name, None)
        self._lists.pop(name, None)
        self.native[name] = value

    def append(self, name: str, value: Json) -> None:
        """One more element of a list."""
        held = self._lists.get(name)
        if held is None:  # what the event has stays the application's
            begun = self.native.get(name)
            held = self.native[name] = self._lists[name] = list(begun) if isinstance(begun, list) else []
        held.append(value)

    def take(self, members: Mapping[str, Json]) -> None:
        """Pieces of any members: texts are joined, elements of lists with one index too, all else is put."""
        for name, value in members.items():
            if isinstance(value, str):
                if value:
                    self.add(name, value)
            elif isinstance(value, list):
                for one in value:
                    self._element(name, one)
            elif value is not None:
                there = self.native.get(name)
                self.put(name, {**there, **value} if isinstance(there, dict) and isinstance(value, dict) else value)

    def _element(self, name: str, value: Json) -> None:
        """An element of a list: a new one, or more of the one with its index."""
        index = number(value.get("index")) if isinstance(value, dict) else None
        if index is None or not isinstance(value, dict):
            self.append(name, value)
            return
        held = self._elements.get((name, index))
        if held is None or value.get("type", held.native.get("type")) != held.native.get("type"):
            held = self._elements[name, index] = Growing()
            self.append(name, held)
        for key in _FIXED:
            if value.get(key) is not None:
                held.put(key, value[key])
        held.take({key: one for key, one in value.items() if key not in _FIXED})

    @property
    def empty(self) -> bool:
        """Whether nothing has come but its beginning."""
        return not self._pieces and not self._lists

    def text(self, name: str) -> str:
        """A text so far; "" where there is none."""
        begun = self.native.get(name)
        return join([begun if isinstance(begun, str) else "", *self._pieces.get(name, ())])

    def whole(self) -> dict[str, Json]:
        """The object so far."""
        found = {name: _settled(value) for name, value in self.native.items()}
        found.update((name, self.text(name)) for name in self._pieces)
        return found


def _settled(value: Json) -> Json:
    if isinstance(value, list):
        return [one.whole() if isinstance(one, Growing) else one for one in value]
    return value
