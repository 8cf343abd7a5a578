"""Reads a call that is whole up to where the text ends inside an entry, and decodes what the quick lane has mended."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Final

from trimtab._json import decode_or_none
from trimtab.lenient import repairs as names
from trimtab.lenient.chars import CONTROLS
from trimtab.lenient.document import Document
from trimtab.lenient.repeated import with_repeats
from trimtab.lenient.shapes import CUT
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["cut_entry", "decoded", "read_cut"]

_loose = JSONDecoder(strict=False).decode
_CLOSED: Final = frozenset("}])>`~")  # a text that ends so was hardly cut inside an entry
_RAW_BREAK: Final = re.compile('\n[^ \\t\\r\\n"{}\\[\\]]')


def cut_entry(text: str, start: int) -> re.Match[str] | None:
    """The entry that the text ends inside, if everything before it, from index `start`, is plain JSON."""
    if text[-1] in _CLOSED:
        return None
    found = CUT.match(text, start)
    return found if found is not None and text.find("}", found.start(1)) < 0 else None


def read_cut(text: str, start: int, found: re.Match[str], repeats: bool) -> Document | None:
    """A call that the text ends inside: what is whole of it."""
    whole = text[start : found.end(2 if found[2] else 1)].rstrip(" \t\r\n").removesuffix(",")
    repairs: dict[str, None] = {}
    value = decoded(f"{whole}}}]}}", repairs, repeats)
    if value is None:
        return None
    repairs[names.UNFINISHED] = None
    (entries,) = value.values()
    cut = found[4]
    return Document(
        value=value,
        start=start,
        end=len(text),
        finished=False,
        open=(value, entries, entries[-1]),
        cut=None if cut is None else text_of(cut, '"', repairs),
        last_key=found[3] or "",
        repairs=tuple(repairs),
    )


def decoded(patched: str, repairs: dict[str, None], repeats: bool) -> Json:
    """The value of a patched text, in which control characters may still stand as themselves; or None."""
    value = None
    if "\n" in patched and _RAW_BREAK.search(patched) and "\\\n" not in patched:
        # Spelt as escapes, line breaks are JSON only if all of them stand inside of strings.
        value = decode_or_none(patched.replace("\n", "\\n"))
        if value is not None:
            repairs[names.CONTROL] = None
    if value is None:
        value = decode_or_none(patched)
    if value is None and CONTROLS.search(patched):
        try:
            value = _loose(patched)
        except ValueError:
            return None
        repairs[names.CONTROL] = None
    return None if repeats and with_repeats(patched, value) is not value else value
