"""What a word without quotes stands for: a number, a literal of JSON, Python or JavaScript, or itself."""

from __future__ import annotations

from typing import Final

from trimtab.lenient.chars import NUMBER
from trimtab.lenient.repairs import BARE_VALUE, LITERAL
from trimtab.types import Json

__all__ = ["scalar_of"]

_STRICT: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}
_FOREIGN: Final[dict[str, Json]] = {
    "True": True,
    "TRUE": True,
    "False": False,
    "FALSE": False,
    "None": None,
    "NULL": None,
    "Null": None,
    "nil": None,
    "undefined": None,
    "NaN": None,
    "nan": None,
    "Infinity": None,
    "+Infinity": None,
    "-Infinity": None,
    "inf": None,
    "-inf": None,
}
_DIGITS: Final = 4_000  # above this Python refuses to make an int


def scalar_of(word: str, repairs: dict[str, None]) -> Json:
    """The value of a bare word; NaN and the infinities, which JSON has not got, become None."""
    if word in _STRICT:
        return _STRICT[word]
    found = NUMBER.match(word)
    if found is not None and len(word) <= _DIGITS:
        return int(word) if found.lastindex is None else float(word)
    if word in _FOREIGN:
        repairs[LITERAL] = None
        return _FOREIGN[word]
    repairs[BARE_VALUE] = None
    return word
