"""Finds the arguments of a compress call in a decoded value: bare, in an envelope, or in one wrapper."""

from __future__ import annotations

from typing import Final

from trimtab.compress.names import ARGUMENTS, ENVELOPE, SLOTS, field, names_compress, plain
from trimtab.types import Json

__all__ = ["arguments_of", "calls_in", "is_other_call", "slot_of", "sole_value"]

_MISSING: Final = object()
_NESTS: Final = ("function", "functioncall", "tooluse", "toolcall")
_LISTS: Final = ("toolcalls", "tooluses", "calls", "functioncalls")
_NAMES: Final = ("name", "toolname", "tool", "action", "recipientname", "function")
# A sole key that says that what is under it is no call.
_DECOYS: Final = frozenset(
    [
        "example",
        "examples",
        "meta",
        "metadata",
        "schema",
        "properties",
        "default",
        "expected",
        "previous",
        "last",
        "history",
        "error",
        "result",
        "results",
        "output",
        "response",
        "context",
        "note",
        "notes",
        "comment",
        "comments",
    ]
)


def slot_of(value: dict[str, Json]) -> tuple[bool, Json]:
    """Whether the object has a place for entries, and what stands there."""
    for name in SLOTS:
        if name in value:
            return True, value[name]
    found = {plain(key): key for key in value}
    for name in SLOTS:
        if name in found:
            return True, value[found[name]]
    return False, None


def calls_in(value: dict[str, Json]) -> list[Json] | None:
    """The calls that an object lists, as a message with tool calls does; None where it lists none."""
    for key, listed in value.items():
        if isinstance(listed, list) and plain(key) in _LISTS:
            return listed
    return None


def _name_of(value: dict[str, Json]) -> str | None:
    for name in _NAMES:
        found = field(value, name)
        if isinstance(found, str) and found:
            return found
    return None


def arguments_of(value: dict[str, Json]) -> Json:
    """The arguments in the envelope of a compress call; None where the object is no such envelope."""
    for _ in range(2):
        nested = next((value[key] for key in value if plain(key) in _NESTS and isinstance(value[key], dict)), None)
        if nested is None:
            break
        value = nested
    names = {plain(key): key for key in value}
    for argument in ARGUMENTS:
        if argument not in names:
            continue
        name = _name_of(value)
        fits = names_compress(name) if name is not None else names.keys() <= {argument, *ENVELOPE}
        return value[names[argument]] if fits else None
    return None


def is_other_call(value: dict[str, Json]) -> bool:
    """Whether an object is the envelope of a call of some other tool."""
    nested = next((value[key] for key in value if plain(key) in _NESTS and isinstance(value[key], dict)), value)
    name = _name_of(nested)
    return name is not None and not names_compress(name) and any(plain(key) in ARGUMENTS for key in nested)


def sole_value(value: dict[str, Json]) -> Json:
    """What stands under an object's only key, if that can be a wrapper around the arguments; else None."""
    if len(value) != 1:
        return None
    ((key, inner),) = value.items()
    return None if plain(key) in _DECOYS or key.startswith("$") else inner
