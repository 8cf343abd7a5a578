"""Shape checks by attrs types. Owns cattrs.

A value has the shape of a type when cattrs can structure it strictly: no coercion between JSON's scalar types, unknown
fields allowed (a tool may add some in a later version), fields without a default required. Of a union, the first type
that fits counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs
from cattrs import BaseValidationError, Converter, StructureHandlerNotFoundError, transform_error
from cattrs.cols import is_mapping, is_sequence, list_structure_factory, mapping_structure_factory

from trimtab.types import Json

__all__ = ["ShapeError", "fits", "structure"]

_SCALARS = frozenset({str, int, float, bool})


class ShapeError(ValueError):
    """A value that has not got the shape of a type; the message lists every fault with its place (`@ $[0].url`)."""


def _strict(kind: type) -> Any:
    def hook(value: Json, _: Any) -> Json:
        if type(value) is kind:
            return value
        good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            good = True
        if not good:
            raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return hook


def _is_literal(shape: Any) -> bool:
    return get_origin(shape) is Literal


def _one_of(shape: Any) -> Any:
    """The hook of a `Literal`: cattrs takes True for 1, and raises an error of its own that is no ValueError."""
    allowed = get_args(shape)

    def hook(value: Json, _: Any) -> Json:
        if not any(type(value) is type(one) and value == one for one in allowed):
            raise ValueError(f"expected one of {allowed}")
        return value

    return hook


def _is_open_union(shape: Any) -> bool:
    """Whether a type is a union of several types beside None: cattrs wants to be told how to choose."""
    return get_origin(shape) in (Union, UnionType) and len({*get_args(shape)} - {NoneType}) > 1


def _first_fit(converter: Converter, union: Any) -> Any:
    options = [one for one in get_args(union) if one is not NoneType]
    allows_none = len(options) < len(get_args(union))
    # A value of such a type needs no trying.
    scalars = {_bare(one) for one in options} & _SCALARS

    def hook(value: Json, _: Any) -> Any:
        if type(value) in scalars or (value is None and allows_none):
            return value
        for option in options:
            try:
                return converter.structure(value, option)
            except (BaseValidationError, TypeError, ValueError, KeyError):
                continue  # the next one may fit
        raise TypeError(f"{type(value).__name__} fits none of {union}")

    return hook


def _bare(shape: Any) -> Any:
    return get_args(shape)[0] if get_origin(shape) is Annotated else shape


def _sequence(converter: Converter, shape: Any) -> Callable[[Any, Any], Any]:
    """The hook of a list or a tuple of any length: cattrs' own gives a list for both."""
    structured = list_structure_factory(shape, converter)
    return (lambda value, of: tuple(structured(value, of))) if get_origin(shape) is tuple else structured


def _only(kind: type, hook: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The hook for values of JSON's own container type: cattrs also takes a string for a list, or a list of keys."""

    def checked(value: Json, shape: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
        return hook(value, shape)

    return checked


@cache
def _converter(*, detailed: bool) -> Converter:
    converter = Converter(forbid_extra_keys=False, detailed_validation=detailed)
    for kind in _SCALARS:
        converter.register_structure_hook(kind, _strict(kind))
    converter.register_structure_hook_factory(_is_literal, _one_of)
    converter.register_structure_hook_factory(_is_open_union, lambda union: _first_fit(converter, union))
    converter.register_structure_hook_factory(
        attrs.has, lambda shape: _only(dict, converter.gen_structure_attrs_fromdict(shape))
    )
    converter.register_structure_hook_factory(
        is_mapping, lambda shape: _only(dict, mapping_structure_factory(shape, converter))
    )
    converter.register_structure_hook_factory(is_sequence, lambda shape: _only(list, _sequence(converter, shape)))
    return converter


def fits(value: Json, shape: Any) -> bool:
    """Whether the value has the shape of a type: as `structure`, without saying why not, in half the time.

    Raises:
        TypeError: the type is none that a JSON value can have.
    """
    try:
        _converter(detailed=False).structure(value, shape)
    except StructureHandlerNotFoundError as error:
        raise TypeError(f"{shape!r} is not a type that a JSON value can have: {error}") from error
    except (BaseValidationError, TypeError, ValueError, KeyError):
        return False
    return True


def structure(value: Json, shape: Any) -> Any:
    """The value as an object of an attrs type, or of a `list[...]`, `dict[str, ...]` or union of such.

    Raises:
        ShapeError: it has not got that shape.
        TypeError: the type is none that a JSON value can have.
    """
    try:
        return _converter(detailed=True).structure(value, shape)
    except StructureHandlerNotFoundError as error:
        raise TypeError(f"{shape!r} is not a type that a JSON value can have: {error}") from error
    except (BaseValidationError, TypeError, ValueError, KeyError) as error:
        raise ShapeError("; ".join(transform_error(error))[:1_000]) from error
