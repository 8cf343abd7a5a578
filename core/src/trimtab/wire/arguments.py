"""Arguments of calls in a request's history: which may be sent again as they are, and what stands for the others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from trimtab.errors import UnsupportedOutput
from trimtab.types import Json

__all__ = ["INVALID", "SURROGATE", "as_object", "as_text", "stands", "stands_as_object"]

INVALID: Final = "INVALID_JSON"
"""The key under which the text of malformed arguments is sent again: it stays readable, and is the same each time."""

SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character that takes two in UTF-16: no provider takes it."""

_BLANK = " \t\r\n"


def _decoded(raw: str) -> Json:
    """The object that a text holds, or None: providers refuse it (no JSON, no object, NaN, a lone surrogate)."""
    from trimtab._json import decode_strict

    try:
        value = decode_strict(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def stands(raw: Json) -> bool:
    """Whether arguments can be sent as they are where the wire has text: the JSON text of an object."""
    return isinstance(raw, str) and _decoded(raw) is not None


def stands_as_object(raw: Json) -> bool:
    """Whether arguments can be sent as they are where the wire has objects: lone surrogates cannot."""
    return isinstance(raw, dict) and not _has_surrogates(raw)


def as_object(raw: Json) -> dict[str, Json]:
    """The object to send for arguments that cannot be sent as they are; the same one each time."""
    if isinstance(raw, dict):
        return _without_surrogates(raw) if _has_surrogates(raw) else raw
    if raw is None or (isinstance(raw, str) and not raw.strip(_BLANK)):
        return {}
    if not isinstance(raw, str):
        try:
            raw = as_text(raw)
        except UnsupportedOutput:
            raw = f"({type(raw).__name__})"
    found = _decoded(raw)
    return found if found is not None else {INVALID: SURROGATE.sub("\ufffd", raw)}


def as_text(arguments: Json) -> str:
    """The canonical text of an object of arguments, lone surrogates as U+FFFD, since providers refuse them.

    Raises:
        UnsupportedOutput: it is not JSON.
    """
    from trimtab._json import canonical  # listing the plugins imports the protocols, and need not wait for an encoder

    text = canonical(arguments)
    return canonical(_without_surrogates(arguments)) if "\\ud" in text else text


def _has_surrogates(value: Json) -> bool:
    level = [value]
    while level:
        if any(isinstance(one, str) and not one.isascii() and SURROGATE.search(one) for one in level):
            return True
        level = [inner for one in level for inner in _inside(one)]
    return False


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list | tuple) else ()


def _without_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return [_without_surrogates(one) for one in value] if isinstance(value, list | tuple) else value
