"""RFC 6901 JSON Pointers and patterns over them. Owns jsonpointer.

Inside trimtab a place is a `Path`: a tuple of member names (str) and list indexes (int). A pointer is its
spelling in a row or from a codec. A pattern is a pointer in which the segment `*` stands for every element of a
list or every member of an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

import jsonpointer

from trimtab.errors import PointerError
from trimtab.types import Json

__all__ = ["Path", "expand", "follow", "locate", "parse_pattern", "replace", "replace_spans", "resolve", "to_pointer"]

# No list is longer than these digits can say. (RFC 6901: and no leading zeros.)
_INDEX_DIGITS = 16

Path: TypeAlias = tuple[str | int, ...]


def to_pointer(path: Path) -> str:
    """The RFC 6901 spelling of a path; `""` is the whole value."""
    return "".join([f"/{step}" if type(step) is int else _escaped(str.__str__(step)) for step in path])


@lru_cache(maxsize=1_024)
def _escaped(step: str) -> str:
    return f"/{jsonpointer.escape(step)}" if "~" in step or "/" in step else f"/{step}"


def _segments(pointer: str) -> list[str]:
    if isinstance(pointer, str) and pointer.startswith("/") and "~" not in pointer:
        return pointer.split("/")[1:]  # no escapes: what the library would give, in a tenth of the time
    try:
        return list(jsonpointer.JsonPointer(pointer).parts)
    except (jsonpointer.JsonPointerException, TypeError) as error:
        raise PointerError(f"{pointer!r:.200} is not a JSON Pointer (RFC 6901): {error!s:.100}") from None


def _step(container: Json, segment: str) -> str | int | None:
    """The segment as a step into this container; None: it leads nowhere."""
    if isinstance(container, dict):
        return segment if segment in container else None
    if isinstance(container, list) and len(segment) <= _INDEX_DIGITS:
        try:
            index = int(segment)
        except ValueError:
            return None
        return index if 0 <= index < len(container) and str(index) == segment else None
    return None


def follow(value: Json, pointer: str) -> Path:
    """The path that a pointer spells in this value. Raises PointerError as `locate`."""
    return locate(value, pointer)[0]


def locate(value: Json, pointer: str) -> tuple[Path, Json]:
    """The path that a pointer spells in this value, and what stands there.

    Raises:
        PointerError: malformed, or it leads to nothing.
    """
    path: list[str | int] = []
    for segment in _segments(pointer):
        step = _step(value, segment)
        if step is None:
            raise PointerError(f"pointer {pointer!r:.200} leads nowhere at {segment!r:.80}")
        path.append(step)
        value = value[step]
    return tuple(path), value


def resolve(value: Json, path: Path) -> Json:
    """What stands at a path. Raises KeyError, IndexError or TypeError when nothing does."""
    for step in path:
        value = value[step]
    return value


def parse_pattern(pattern: str) -> tuple[str, ...]:
    """Segments of a pattern, `*` kept as it is. Raises PointerError when malformed."""
    return tuple(_segments(pattern))


def expand(value: Json, pattern: tuple[str, ...]) -> list[Path] | None:
    """Every path that a pattern names, in document order; None where the value has not got its shape."""
    paths: list[tuple[Path, Json]] = [((), value)]
    for segment in pattern:
        longer: list[tuple[Path, Json]] = []
        for path, node in paths:
            steps = _steps(node, segment)
            if steps is None:
                return None
            longer.extend(((*path, step), node[step]) for step in steps)
        paths = longer
    return [path for path, _ in paths]


def _steps(node: Json, segment: str) -> Iterator[str | int] | None:
    if segment == "*":
        if isinstance(node, list):
            return iter(range(len(node)))
        return iter(node) if isinstance(node, dict) else None
    step = _step(node, segment)
    return None if step is None else iter((step,))


def replace(value: Json, changes: Mapping[Path, Json]) -> Json:
    """The value with what stands at each path replaced. Copies only the containers on the way; key order stays.

    No path may lie inside another. What is not on the way is the same object as before.
    """
    if () in changes:
        return changes[()]
    copies: dict[Path, Json] = {}
    for path, new in changes.items():
        target = _copied(value, path[:-1], copies)
        target[path[-1]] = new
    return copies.get((), value)


def replace_spans(text: str, changes: Iterable[tuple[tuple[int, int], str]]) -> str:
    """The text with what stands at each span (0-based, half open, disjoint) replaced; in one pass, however many."""
    pieces: list[str] = []
    at = 0
    for (start, end), new in sorted(changes, key=lambda one: one[0]):
        pieces += (text[at:start], new)
        at = end
    return "".join([*pieces, text[at:]])


def _copied(value: Json, path: Path, copies: dict[Path, Json]) -> Json:
    """The copy of the container at `path`, made with those above it where they are not copied yet."""
    if path in copies:
        return copies[path]
    depth = len(path)
    while depth and path[: depth - 1] not in copies:
        depth -= 1
    if depth == 0:
        copies[()] = _shallow(value)
        depth = 1
    node = copies[path[: depth - 1]]
    for end in range(depth, len(path) + 1):
        child = _shallow(node[path[end - 1]])
        node[path[end - 1]] = child
        copies[path[:end]] = child
        node = child
    return node


def _shallow(container: Json) -> Json:
    return dict(container) if isinstance(container, dict) else list(container)
