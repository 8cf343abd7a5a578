"""Objects in which a key stands twice. A plain decoder keeps the last value and says nothing: two objects between
which the brackets were lost become one that nobody wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from trimtab.types import Json

__all__ = ["Repeated", "with_repeats"]

_KEY: Final = '":'
_ESCAPED: Final = '\\":'


class Repeated(dict[str, Json]):
    """An object in which a key stands more than once: it holds the last value of each, `pairs` has all in order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Json]]) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)

    def __setitem__(self, key: str, value: Json) -> None:
        self.pairs.append((key, value))
        super().__setitem__(key, value)

    def put_last(self, value: Json) -> None:
        """Put this in the place of the value that was put last."""
        key, _ = self.pairs.pop()
        self[key] = value


def with_repeats(text: str, value: Json) -> Json:
    """The value of a JSON text, in which objects with a key twice are `Repeated`. `value`: as a decoder gave it; where
    there is no such object, it is given back as it is.
    """
    number = text.count(_KEY)
    if number == _near(value) or number - text.count(_ESCAPED) == _keys(value):
        return value
    found: list[Repeated] = []

    def made(pairs: list[tuple[str, Json]]) -> Json:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        found.append(Repeated(pairs))
        return found[-1]

    try:
        whole = json.loads(text, object_pairs_hook=made, strict=False)
    except (ValueError, RecursionError):  # nested deeper than this decoder goes, or a number longer than it reads
        return value
    return whole if found else value


def _near(value: Json) -> int:
    """How many keys an object has, and the objects in its arrays; of other values less than there are, or more."""
    if type(value) is not dict:
        return -1
    number = len(value)
    for item in value.values():
        if type(item) is list:
            try:
                number += sum(map(len, item))
            except TypeError:
                return -1
    return number


def _keys(value: Json) -> int:
    """How many keys there are in all the objects of a value."""
    number, rest = 0, [value]
    while rest:
        item = rest.pop()
        if type(item) is dict:
            number += len(item)
            rest += [inner for inner in item.values() if type(inner) is dict or type(inner) is list]
        elif type(item) is list:
            rest += [inner for inner in item if type(inner) is dict or type(inner) is list]
    return number
