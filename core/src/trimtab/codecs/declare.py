"""Codecs declared by pattern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trimtab.errors import PointerError
from trimtab.pointer import expand, parse_pattern, resolve, to_pointer
from trimtab.types import Codec, Json

__all__ = ["entities", "pointers", "text_field"]


def entities(pattern: str) -> Codec:
    """A codec for a collection of entities, as in `entities("/*/content")` or `entities("/results/*/text")`.

    `*` stands for every element of a list, or every member of an object. Everything else is identity. Every entity
    must be an object with a string there: one that is not, and the output is not this codec's shape (None).

    Raises:
        PointerError: the pattern is not a JSON Pointer, or holds no `*`.
    """
    if "*" not in parse_pattern(pattern):
        raise PointerError(f"entities({pattern!r}): the pattern holds no '*'; for one text use text_field({pattern!r})")
    return pointers([pattern])


def text_field(pointer: str) -> Codec:
    """A codec for one text field, as in `text_field("/text")`; None where it is missing or not a string.

    Raises:
        PointerError: not a JSON Pointer, or it holds a `*`.
    """
    if "*" in parse_pattern(pointer):
        raise PointerError(f"text_field({pointer!r}): for many texts use entities({pointer!r})")
    return pointers([pointer])


def pointers(patterns: Sequence[str]) -> Codec:
    """A codec for several patterns at once, each of which may be absent; None where all are.

    Raises:
        PointerError: a pattern is not a JSON Pointer, or there is none.
    """
    if isinstance(patterns, str) or not patterns:
        raise PointerError("pointers() takes a list of patterns, as in ['/issues/*/body', '/note']")
    parsed = [parse_pattern(pattern) for pattern in patterns]

    def codec(output: Json) -> Iterable[str] | None:
        found: list[str] | None = None
        for pattern in parsed:
            paths = expand(output, pattern)
            if paths is None or not all(isinstance(resolve(output, path), str) for path in paths):
                continue
            found = [*(found or ()), *map(to_pointer, paths)]
        return found

    return codec
