"""Shape checks by attrs types. Owns cattrs.

A value has the shape of a type when cattrs can structure it strictly: no coercion between JSON's scalar types, unknown
fields allowed (a tool may add some in a later version), fields without a default required.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cattrs import BaseValidationError, Converter, StructureHandlerNotFoundError, transform_error

from trimtab.types import Json

__all__ = ["ShapeError", "structure"]


class ShapeError(ValueError):
    """A value that has not got the shape of a type; the message lists every fault with its place (`@ $[0].url`)."""


def _strict(kind: type) -> Any:
    def hook(value: Json, _: Any) -> Json:
        good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            good = True
        if not good:
            raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
        return value

    return hook


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=False, detailed_validation=True)
    for kind in (str, int, float, bool):
        converter.register_structure_hook(kind, _strict(kind))
    return converter


def structure(value: Json, shape: Any) -> Any:
    """The value as an object of an attrs type, or of a `list[...]`, `dict[str, ...]` or union of such.

    Raises:
        ShapeError: it has not got that shape.
        TypeError: the type is none that a JSON value can have.
    """
    try:
        return _converter().structure(value, shape)
    except StructureHandlerNotFoundError as error:
        raise TypeError(f"{shape!r} is not a type that a JSON value can have: {error}") from error
    except (BaseValidationError, TypeError, ValueError, KeyError) as error:
        raise ShapeError("; ".join(transform_error(error))[:1_000]) from error
