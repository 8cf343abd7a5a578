"""A codec from a tool's own result type: `codec_for(list[WebResult])`."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

import attrs

from trimtab.errors import CallerError
from trimtab.pointer import Path, to_pointer
from trimtab.types import Codec, Json

__all__ = ["Bulk", "codec_for"]

_Finder: TypeAlias = Callable[[Json, Path, list[Path]], None]


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
    paths = _finder(shape, {})

    def codec(output: Json) -> Iterable[str] | None:
        from trimtab.convert import fits  # cattrs takes 50 ms to import, and only typed codecs need it

        if not fits(output, shape):
            return None
        found: list[Path] = []
        paths(output, (), found)
        return [to_pointer(path) for path in found]

    return codec


def _bare(shape: Any) -> tuple[Any, bool]:
    """The type without `Annotated`, and whether `Bulk` marks it."""
    if get_origin(shape) is Annotated:
        inner, *notes = get_args(shape)
        return inner, Bulk in notes
    return shape, False


def _options(shape: Any) -> tuple[Any, ...] | None:
    return get_args(shape) if get_origin(shape) in (Union, types.UnionType) else None


@cache
def _hints(shape: Any) -> dict[str, Any]:
    """The types of a class's fields, by name."""
    hints = get_type_hints(shape, include_extras=True)
    return {one.name: hints[one.name] for one in attrs.fields(shape) if one.name in hints}


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
        found = [_marks(hint, {*seen, shape}) for hint in _hints(shape).values()]
    else:
        found = [_marks(part, seen) for part in get_args(shape)]
    return any(found)  # of all, not the first: every wrong mark is an error


def _finder(shape: Any, made: dict[Any, _Finder]) -> _Finder:
    """What appends the paths of the marked strings in a value that has the shape, in the value's order.

    Once, when the codec is made: reading type hints takes longer than all else of it. `made` has the finders of
    classes that are not finished yet, for those that contain themselves.
    """
    shape, marked = _bare(shape)
    origin, parts = get_origin(shape), get_args(shape)
    if marked:
        return _here
    if (options := _options(shape)) is not None:
        return _in_union([(one, _finder(one, made)) for one in options])
    if attrs.has(shape):
        return made[shape] if shape in made else _in_class(shape, made)
    if parts and isinstance(origin, type) and issubclass(origin, Mapping):
        return _in_object(_finder(parts[1], made))
    if parts and isinstance(origin, type) and issubclass(origin, Sequence):
        return _in_list(_finder(parts[0], made))
    return _nowhere


def _here(value: Json, path: Path, found: list[Path]) -> None:
    if isinstance(value, str):
        found.append(path)


def _nowhere(value: Json, path: Path, found: list[Path]) -> None:
    del value, path, found


def _in_class(shape: Any, made: dict[Any, _Finder]) -> _Finder:
    fields: dict[str, _Finder] = {}

    def find(value: Json, path: Path, found: list[Path]) -> None:
        if isinstance(value, dict):
            for key, child in value.items():
                if key in fields:
                    fields[key](child, (*path, key), found)

    made[shape] = find
    fields.update({name: _finder(hint, made) for name, hint in _hints(shape).items() if _marks(hint, set())})
    return find


def _in_list(child_finder: _Finder) -> _Finder:
    def find(value: Json, path: Path, found: list[Path]) -> None:
        if isinstance(value, list):
            for index, child in enumerate(value):
                child_finder(child, (*path, index), found)

    return find


def _in_object(child_finder: _Finder) -> _Finder:
    def find(value: Json, path: Path, found: list[Path]) -> None:
        if isinstance(value, dict):
            for key, child in value.items():
                child_finder(child, (*path, key), found)

    return find


def _in_union(options: Sequence[tuple[Any, _Finder]]) -> _Finder:
    """By the first option that the value fits; with only one beside None nothing has to be tried."""
    others = [(one, finder) for one, finder in options if one is not type(None)]

    def find(value: Json, path: Path, found: list[Path]) -> None:
        if value is None:
            return
        for one, finder in others:
            if len(others) == 1 or _fits(value, one):
                finder(value, path, found)
                return

    return find


def _fits(value: Json, shape: Any) -> bool:
    from trimtab.convert import fits

    try:
        return fits(value, shape)
    except TypeError:
        return False
