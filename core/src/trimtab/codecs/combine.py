"""Codecs made of codecs, for tools whose outputs have one of several shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trimtab.errors import PointerError
from trimtab.pointer import expand, parse_pattern, resolve
from trimtab.types import Codec, Json

__all__ = ["merged", "within"]


def within(codec: Codec, places: Sequence[str]) -> Codec:
    """A codec that looks at several places of an output, as in `within(codec_for(list[Hit]), ["", "/results"])`.

    It points at what `codec` finds at every place that is there, in the order of the places. A place in which it finds
    nothing counts only if nothing is there (an empty list or object): otherwise the texts have names that it does not
    know. None where no place counts.

    Raises:
        PointerError: a place is not a JSON Pointer.
    """
    if isinstance(places, str):
        raise PointerError("within() takes a list of pointers, as in ['', '/results']")
    parsed = [(place, parse_pattern(place)) for place in places]

    def look(output: Json) -> Iterable[str] | None:
        found: list[str] | None = None
        for place, steps in parsed:
            paths = expand(output, steps)
            if not paths:
                continue
            there = resolve(output, paths[0])
            pointers = codec(there)
            inner = None if pointers is None else list(pointers)
            if inner or (inner is not None and not there):
                found = [*(found or ()), *([f"{place}{pointer}" for pointer in inner] if place else inner)]
        return found

    return look


def merged(codecs: Sequence[Codec]) -> Codec:
    """A codec that points at everything that one of several points at; None where all of them do."""

    def look(output: Json) -> Iterable[str] | None:
        found: list[str] | None = None
        for codec in codecs:
            if (pointers := codec(output)) is not None:
                found = [*(found or ()), *pointers]
        return None if found is None else list(dict.fromkeys(found))

    return look
