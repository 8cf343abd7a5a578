"""The text that a string's source stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from json import decoder
from typing import Final

from trimtab.lenient.chars import CONTROLS
from trimtab.lenient.repairs import BAD_ESCAPE, CONTROL, SURROGATE

__all__ = ["ESCAPED_START", "mend_surrogates", "mended", "text_of"]

ESCAPED_START: Final = '[\\[{ \\t\\r\\n]*+(?:\\\\+[nrt][\\[{ \\t\\r\\n]*+)*\\\\+"'
"""The pattern with which JSON begins whose quotes are all escaped, since those around it are lost."""

# Python's own reader of JSON strings, which json offers to subclasses of its decoder.
_scan: Final[Callable[[str, int, bool], tuple[str, int]]] = decoder.scanstring  # type: ignore[attr-defined]
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def mend_surrogates(text: str) -> str:
    """The text with surrogate pairs joined and every lone surrogate as U+FFFD, so that it is valid Unicode."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def text_of(source: str, quote: str, repairs: dict[str, None]) -> str:
    """The text of a string whose source, between its quotes, is given; a bad escape stands for itself.

    A quote that needs its backslash only inside this kind of quotes loses it there; what was mended goes to `repairs`.
    """
    if CONTROL not in repairs and CONTROLS.search(source):
        repairs[CONTROL] = None
    text = _unescaped(source, quote, repairs) if "\\" in source else source
    return mended(text, repairs)


def mended(text: str, repairs: dict[str, None]) -> str:
    """The text as valid Unicode, and a note where it was not."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    whole = mend_surrogates(text)
    if whole.count("\ufffd") > text.count("\ufffd"):
        repairs[SURROGATE] = None
    return whole


def _unescaped(source: str, quote: str, repairs: dict[str, None]) -> str:
    try:
        text, end = _scan(source + '"', 0, False)
    except ValueError:
        text, end = "", 0
    if end == len(source) + 1:
        return text
    bad = False

    def one(found: re.Match[str]) -> str:
        nonlocal bad
        code, char = found.groups()
        if code is not None:
            return chr(int(code, 16))
        if char == quote:
            return quote
        known = _SHORT.get(char)
        if known is None:
            bad = True
            return found[0]
        return known

    text = _ESCAPE.sub(one, source)
    if bad or (text.endswith("\\") and len(source) - len(source.rstrip("\\")) & 1):
        repairs[BAD_ESCAPE] = None
    return text
