"""Takes objects apart in which keys stand twice: where the brackets between two entries or two calls were lost.

`{"startId": …, "endId": …, "summary": …, "startId": …, "endId": …, "summary": …}` was two entries. Read as JSON says,
the last of each key wins: an entry is lost, or one is made of the fields of two. A field that alone stands twice was
written anew, and its last value holds.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.arguments.entries import is_entry
from trimtab.compress.arguments.names import ARGUMENTS, ENVELOPE, LISTS, NESTS, SLOTS, SUMMARY, TOPIC, plain, roles_of
from trimtab.lenient.repeated import Repeated
from trimtab.types import Json

__all__ = ["entries_in", "objects_in"]

_HOLDERS: Final = frozenset([*SLOTS, *ARGUMENTS, *NESTS, *LISTS])
_OF_A_CALL: Final = _HOLDERS | ENVELOPE | {TOPIC}
_NEEDED: Final = ("start", "end", SUMMARY)
_FIELDS: Final = 50  # with a meaning: an object with more is no entry that anyone meant


def objects_in(value: Repeated) -> list[dict[str, Json]]:
    """The objects with a place for entries or for arguments that an object was; one where it is whole."""
    parts: list[dict[str, Json]] = [{}]
    for key, item in value.pairs:
        if key in parts[-1] and plain(key) in _OF_A_CALL and _holds(parts[-1]):
            parts.append({})
        parts[-1][key] = item
    if len(parts) > 1 and not _holds(parts[-1]):
        parts[-2].update(parts.pop())
    return parts


def _holds(part: dict[str, Json]) -> bool:
    return any(plain(key) in _HOLDERS for key in part)


def entries_in(value: Repeated) -> list[dict[str, Json]]:
    """The entries that an object was, in the order of the text, whole ones and others."""
    roles = roles_of(value)
    first = next((roles[key] for key in value if roles[key] in _NEEDED), "")
    parts: list[dict[str, Json]] = []
    part, anew = _Part(), _Part()  # an entry, and what stands again behind it, once it is whole
    for key, item in value.pairs:
        role = roles[key]
        if key not in part.fields or not role:
            part.put(key, item, role)
        elif role != first and part.is_whole():
            anew.put(key, item, role)
        elif role == first and (anew.fields or part.needed > 1):
            begun = {} if anew.needed else anew.fields  # a topic before the refs is already that of the next entry
            parts += part.ended(_Part() if begun else anew)
            part, anew = _Part(), _Part()
            for name, begun_item in begun.items():
                part.put(name, begun_item, roles[name])
            part.put(key, item, role)
        else:
            part.put(key, item, role)
    if parts and part.needed == 1 and not anew.fields:
        if first != "start":
            return [*parts[:-1], {**parts[-1], **part.fields}]
        if all(parts[-1].get(key) == item for key, item in part.fields.items()):
            return parts
    return [*parts, *part.ended(anew)]


class _Part:
    """Fields of one entry. `needed`: how many of them it cannot do without."""

    def __init__(self) -> None:
        self.fields: dict[str, Json] = {}
        self.needed = 0
        self._known: dict[str, Json] = {}
        self._whole: bool | None = None

    def put(self, key: str, item: Json, role: str) -> None:
        """Set a field."""
        self.needed += role in _NEEDED and key not in self.fields
        self.fields[key] = item
        if role:
            self._known[key] = item
            self._whole = None

    def is_whole(self) -> bool:
        """Whether it is an entry."""
        if self._whole is None:
            self._whole = len(self._known) <= _FIELDS and is_entry(self._known)
        return self._whole

    def ended(self, anew: _Part) -> list[dict[str, Json]]:
        """The entry and what stands again behind it: one field is its last value, several are another entry's."""
        return [{**self.fields, **anew.fields}] if anew.needed < 2 else [self.fields, anew.fields]
