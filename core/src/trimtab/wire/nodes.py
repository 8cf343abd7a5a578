"""Reading and replacing parts of payloads: plain data, and the objects of SDKs that applications mix into it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Any

from trimtab.errors import CallerError, UnsupportedOutput
from trimtab.pointer import Path, replace
from trimtab.types import Json

__all__ = ["blocks", "changed", "first", "has", "is_object", "items", "member", "messages_of", "spelt", "text"]

# Values that have attributes of Python's own and no members.
_PLAIN = (str, bytes, int, float, type(None), list, tuple)


def member(node: Json, name: str) -> Json:
    """A member of an object (of a mapping, or an SDK's object with attributes); None where there is none."""
    if isinstance(node, dict):
        return node.get(name)
    if isinstance(node, _PLAIN):
        return None
    return node.get(name) if isinstance(node, Mapping) else getattr(node, name, None)


def has(node: Json, name: str) -> bool:
    """Whether an object has a member, whatever stands there."""
    if isinstance(node, Mapping):
        return name in node
    return not isinstance(node, _PLAIN) and hasattr(node, name)


def is_object(node: Json) -> bool:
    """Whether something has members: a mapping, or an SDK's object."""
    return not isinstance(node, _PLAIN)


def first(node: Json, *names: str) -> tuple[str, Json]:
    """The first of these members that is not None, with its name; else the first name, and None."""
    for name in names:
        if (value := member(node, name)) is not None:
            return name, value
    return names[0], None


def text(node: Json, *names: str) -> str:
    """The first of these members that is a string with something in it; else ""."""
    for name in names:
        value = member(node, name)
        if isinstance(value, str) and value:
            return value
    return ""


def spelt(node: Json) -> str:
    """A node as canonical JSON; of an SDK's object only its kind, which is the same in every process."""
    from trimtab._json import canonical  # not when the protocols are imported: listing the plugins needs no encoder

    try:
        return canonical(node)
    except UnsupportedOutput:
        return type(node).__name__


def items(node: Json) -> Sequence[Json]:
    """The elements of a list; nothing for anything else."""
    return node if isinstance(node, list | tuple) else ()


def blocks(node: Json, name: str) -> Iterator[tuple[int, Json]]:
    """The elements of a member that is a list, numbered."""
    return iter(enumerate(items(member(node, name))))


def messages_of(request: Json, *names: str) -> tuple[Path, Sequence[Json]]:
    """The messages of a request, with the path to them; a bare list of messages is a request too.

    Args:
        names: of the member that holds them, the first that is there; by default `messages`.
    """
    if isinstance(request, list | tuple):
        return (), request
    name, found = first(request, *(names or ("messages",)))
    return (name,), items(found)


def changed(payload: Json, changes: Mapping[Path, Json]) -> Json:
    """The payload with what stands at each path replaced; what is not on the way is the same object as before.

    A member that is not there yet is added as the last one. Objects of SDKs on the way are copied.
    """
    if not changes:
        return payload
    if all(_is_plain_way(payload, path) for path in changes):
        return replace(payload, changes)
    for path, new in changes.items():
        payload = _put(payload, path, new)
    return payload


def _is_plain_way(node: Json, path: Path) -> bool:
    for step in path:
        if type(node) is not dict and type(node) is not list:
            return False
        node = node.get(step) if type(node) is dict else node[int(step)]
    return True


def _put(node: Any, path: Path, new: Json) -> Any:
    if not path:
        return new
    step, *rest = path
    below = node[step] if isinstance(step, int) else member(node, step)
    below = _put(below, tuple(rest), new)
    if isinstance(node, tuple):
        return (*node[: int(step)], below, *node[int(step) + 1 :])
    if isinstance(node, Mapping) and not isinstance(node, MutableMapping):
        return MappingProxyType({**node, step: below})
    twin = copy.copy(node)
    if isinstance(node, Mapping | list):
        twin[step] = below
        return twin
    try:
        object.__setattr__(twin, str(step), below)  # also of a frozen class: the copy is nobody else's yet
    except AttributeError:
        raise CallerError(f"{step!r:.80} of a {type(node).__name__} cannot be replaced; pass plain data") from None
    return twin
