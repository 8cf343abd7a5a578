"""Finds the arguments of a compress call in a decoded value: bare, in an envelope, or in one wrapper."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.arguments.names import (
    ARGUMENTS,
    ENVELOPE,
    LISTS,
    MAX_CHARS,
    NAMES,
    NESTS,
    SLOTS,
    TOPIC,
    field,
    names_compress,
    plain,
)
from trimtab.types import Json
from trimtab.wire.arguments import INVALID

__all__ = [
    "are_arguments",
    "arguments_of",
    "calls_in",
    "is_block",
    "is_no_call",
    "is_other_call",
    "names_other",
    "sent_again",
    "slots_of",
    "sole_value",
]

# What a `type` or a sole key ends with that is the answer to a call, in any provider's words.
_ANSWERS: Final = ("result", "results", "output", "outputs", "response", "responses")
# Roles of messages that hold no call of the model's.
_OTHERS: Final = frozenset(["tool", "user", "system", "developer", "function", "human", "toolresult", "toolresponse"])
# Under these names a tool stands beside the call's own fields, too.
_TOOL_NAMES: Final = ("name", "toolname", "tool", "recipientname", "function")
_TOOL: Final = re.compile("[A-Za-z_][A-Za-z0-9_.:/-]*\\Z")
# A sole key that says that what is under it is no call.
_DECOYS: Final = frozenset(
    [
        "example",
        "examples",
        "forexample",
        "observation",
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
        "context",
        "note",
        "notes",
        "comment",
        "comments",
    ]
)
_FIELDS: Final = frozenset([*SLOTS, TOPIC, MAX_CHARS])
_EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})


def slots_of(value: dict[str, Json]) -> list[Json]:
    """What stands in an object's places for entries, in the order in which they count; empty ones come last."""
    found = [value[name] for name in SLOTS if name in value]
    if len(found) < len(value):
        found += [value[key] for name in SLOTS for key in value if key not in SLOTS and plain(key) == name]
    return found if len(found) < 2 else sorted(found, key=_EMPTY.__contains__)


def calls_in(value: dict[str, Json]) -> list[Json] | None:
    """The calls that an object lists, as a message with tool calls does; None where it lists none."""
    for key, listed in value.items():
        if isinstance(listed, list) and key != "content":
            name = plain(key)
            if name in LISTS:
                return listed
            if name == "parts":  # Gemini's, of which some are text
                calls = [part for part in listed if isinstance(part, dict) and arguments_of(part) is not None]
                return calls or None
    return None


def _nested(value: dict[str, Json]) -> dict[str, Json] | None:
    return next((value[key] for key in value if isinstance(value[key], dict) and plain(key) in NESTS), None)


def _name_of(value: dict[str, Json]) -> str | None:
    for name in NAMES:
        found = field(value, name)
        if isinstance(found, str) and found and (name != "method" or "/" not in found):  # `tools/call` is no tool
            return found
    return None


def arguments_of(value: dict[str, Json]) -> Json:
    """The arguments in the envelope of a compress call; None where the object is no such envelope."""
    for _ in range(2):
        nested = _nested(value)
        if nested is None:
            break
        value = nested
    if len(value) == 1:
        ((sole, inner),) = value.items()
        if names_compress(sole) and isinstance(inner, dict | str):
            return inner
    names = {plain(key): key for key in value}
    for argument in ARGUMENTS:
        if argument not in names:
            continue
        name = _name_of(value)
        fits = names_compress(name) if name is not None else names.keys() <= {argument, *ENVELOPE}
        return value[names[argument]] if fits else None
    return None


def are_arguments(value: dict[str, Json]) -> bool:
    """Whether an object has a place for entries, and beside it nothing but a topic and a size."""
    names = {plain(key) for key in value}
    return not names.isdisjoint(SLOTS) and names <= _FIELDS


def is_other_call(value: dict[str, Json]) -> bool:
    """Whether an object is the envelope of a call of some other tool."""
    nested = _nested(value) or value
    name = _name_of(nested)
    return name is not None and not names_compress(name) and any(plain(key) in ARGUMENTS for key in nested)


def names_other(value: dict[str, Json]) -> bool:
    """Whether an object names another tool beside fields of its own, as in `{"name": "read", "path": …}`."""
    for name in _TOOL_NAMES:
        found = field(value, name)
        if isinstance(found, str) and _TOOL.match(found):
            return not names_compress(found)
    return False


def is_no_call(value: dict[str, Json]) -> bool:
    """Whether an object says itself that it is no call: the answer to one, or a message of someone else's."""
    kind, role = value.get("type"), value.get("role")
    if isinstance(kind, str) and plain(kind).endswith(_ANSWERS):
        return True
    return isinstance(role, str) and plain(role) in _OTHERS


def is_block(value: dict[str, Json]) -> bool:
    """Whether an object can stand beside a call: a block of text or thoughts, an answer, what has a type of its own."""
    if "type" in value:
        return True
    return len(value) == 1 and plain(next(iter(value))).endswith((*_ANSWERS, "text", "thinking", "reasoningcontent"))


def sent_again(value: Json) -> str | None:
    """The text of malformed arguments, where this object was sent in their place; None where it is no such object."""
    text = value.get(INVALID) if isinstance(value, dict) and len(value) == 1 else None
    return text if isinstance(text, str) else None


def sole_value(value: dict[str, Json]) -> Json:
    """What stands under an object's only key, if that can be a wrapper around the arguments; else None."""
    if len(value) != 1:
        return None
    ((key, inner),) = value.items()
    name = plain(key)
    return None if name in _DECOYS or name.endswith(_ANSWERS) or key.startswith("$") else inner
