"""Takes objects apart in which keys stand twice: where the brackets between two entries or two calls were lost.

`{"startId": …, "endId": …, "summary": …, "startId": …, "endId": …, "summary": …}` was two entries. Read as JSON says,
the last of each key wins: an entry is lost, or one is made of the fields of two. A field that alone stands twice was
written anew, and its last value holds.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.entries import is_entry
from trimtab.compress.names import ARGUMENTS, ENVELOPE, LISTS, NESTS, SLOTS, SUMMARY, TOPIC, plain, roles_of
from trimtab.lenient.repeated import Repeated
from trimtab.types import Json

__all__ = ["entries_in", "objects_in"]

_HOLDERS: Final = frozenset([*SLOTS, *ARGUMENTS, *NESTS, *LISTS])
_OF_A_CALL: Final = _HOLDERS | ENVELOPE | {TOPIC}
_NEEDED: Final = ("start", "end", SUMMARY)


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
    part: dict[str, Json] = {}
    anew: dict[str, Json] = {}  # what stands again behind a whole entry
    for key, item in value.pairs:
        role = roles[key]
        if key not in part or not role:
            part[key] = item
        elif is_entry(part) and role != first:
            anew[key] = item
        elif role == first and (anew or _needed(part, roles) > 1):
            again = {} if _needed(anew, roles) else anew  # a topic before the refs is already that of the next entry
            parts += _with(part, {} if again else anew, roles)
            part, anew = {**again, key: item}, {}
        else:
            part[key] = item
    return _ended(parts, part, anew, roles, first)


def _ended(
    parts: list[dict[str, Json]],
    part: dict[str, Json],
    anew: dict[str, Json],
    roles: dict[str, str],
    first: str,
) -> list[dict[str, Json]]:
    """All entries, now that the object has ended."""
    if parts and _needed(part, roles) == 1 and not anew:
        if first != "start":
            return [*parts[:-1], {**parts[-1], **part}]
        if all(parts[-1].get(key) == item for key, item in part.items()):
            return parts
    return [*parts, *_with(part, anew, roles)]


def _with(part: dict[str, Json], anew: dict[str, Json], roles: dict[str, str]) -> list[dict[str, Json]]:
    """An entry and what stands again behind it: one field is its last value, several belong to another entry."""
    return [{**part, **anew}] if _needed(anew, roles) < 2 else [part, anew]


def _needed(part: dict[str, Json], roles: dict[str, str]) -> int:
    return sum(roles[key] in _NEEDED for key in part)
