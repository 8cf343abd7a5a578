"""A codec from a tool's own result type: `codec_for(list[WebResult])`."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import attrs

from trimtab.errors import CallerError
from trimtab.pointer import Path, to_pointer
from trimtab.types import Codec, Json

__all__ = ["Bulk", "codec_for"]


class _Bulk:
    """The type of `Bulk`."""

    def __repr__(self) -> str:
        return "Bulk"


Bulk: Final = _Bulk()
"""Marks bulk text in a result type: `content: Annotated[str, Bulk]`."""


def codec_for(shape: Any) -> Codec:
    """A codec whose shape is a type and whose bulk texts are the fields marked `Annotated[str, Bulk]`.

    The type is an attrs class, or a `list[...]`, `dict[str, ...]`, `X | None` of one. cattrs checks the shape of each
    output, without coercion; unknown fields are allowed. An output that does not fit is not this codec's (None).

    Raises:
        CallerError: no field of the type is marked, or `Bulk` marks something that is not a string.
    """
    if not _marks(shape, set()):
        raise CallerError(f"codec_for({shape!r}): no field is marked; write `content: Annotated[str, Bulk]`")

    def codec(output: Json) -> Iterable[str] | None:
        from trimtab.convert import ShapeError, structure  # cattrs takes 50 ms to import, and only typed codecs need it

        try:
            structure(output, shape)
        except ShapeError:
            return None
        return [to_pointer(path) for path in _paths(output, shape, ())]

    return codec


def _bare(shape: Any) -> tuple[Any, bool]:
    """The type without `Annotated`, and whether `Bulk` marks it."""
    if get_origin(shape) is Annotated:
        inner, *notes = get_args(shape)
        return inner, Bulk in notes
    return shape, False


def _options(shape: Any) -> tuple[Any, ...] | None:
    return get_args(shape) if get_origin(shape) in (Union, types.UnionType) else None


def _marks(shape: Any, seen: set[Any]) -> bool:
    """Whether a field anywhere in the type is marked. Raises CallerError for a mark on something else than a str."""
    shape, marked = _bare(shape)
    if marked:
        if str not in (_options(shape) or (shape,)):
            raise CallerError(f"Bulk marks {shape!r}: only a str can be bulk text")
        return True
    if attrs.has(shape):
        if shape in seen:
            return False
        hints = get_type_hints(shape, include_extras=True)
        found = [_marks(hints[one.name], {*seen, shape}) for one in attrs.fields(shape) if one.name in hints]
    else:
        found = [_marks(part, seen) for part in get_args(shape)]
    return any(found)  # of all, not the first: every wrong mark is an error


def _paths(value: Json, shape: Any, path: Path) -> Iterable[Path]:
    """Paths of marked strings in a value that has the shape, in document order of the value."""
    shape, marked = _bare(shape)
    if marked:
        if isinstance(value, str):
            yield path
    elif (options := _options(shape)) is not None:
        yield from _first_fit(value, options, path)
    elif attrs.has(shape) and isinstance(value, dict):
        hints = get_type_hints(shape, include_extras=True)
        for key, child in value.items():
            if key in hints:
                yield from _paths(child, hints[key], (*path, key))
    elif isinstance(value, list) and (parts := get_args(shape)) and issubclass(get_origin(shape), Sequence):
        for index, child in enumerate(value):
            yield from _paths(child, parts[0], (*path, index))
    elif isinstance(value, dict) and (parts := get_args(shape)) and issubclass(get_origin(shape), Mapping):
        for key, child in value.items():
            yield from _paths(child, parts[1], (*path, key))


def _first_fit(value: Json, options: tuple[Any, ...], path: Path) -> Iterable[Path]:
    from trimtab.convert import ShapeError, structure

    for option in options:
        try:
            structure(value, option)
        except (ShapeError, TypeError):
            continue
        yield from _paths(value, option, path)
        return
