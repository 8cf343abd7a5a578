"""What a word without quotes stands for: a number, a literal of JSON, Python or JavaScript, or itself."""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

from trimtab.lenient.chars import NUMBER
from trimtab.lenient.repairs import BARE_VALUE, ELLIPSIS, LITERAL, OUT_OF_RANGE
from trimtab.types import Json

__all__ = ["ELLIPSES", "scalar_of"]

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
    "+NaN": None,
    "-NaN": None,
    "nan": None,
    "Infinity": None,
    "+Infinity": None,
    "-Infinity": None,
    "inf": None,
    "+inf": None,
    "-inf": None,
}
_DIGITS: Final = 4_000  # above this Python refuses to make an int

# What stands for something that the writer left out, also a spread (`...rest`).
ELLIPSES: Final = re.compile(r"(?:\.{3}|…)(?:[.…]*+|[A-Za-z_$][A-Za-z0-9_$]*+)\Z")

# Numbers of JSON5, JavaScript and Python. One with a leading zero may be octal or decimal: it stays a text.
_RADIX: Final = re.compile(r"([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)n?\Z")
_LOOSE: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9](?:_?[0-9])*)n?|(?:0|[1-9](?:_?[0-9])*|(?=\.[0-9]))(?:\.(?:[0-9](?:_?[0-9])*)?)?"
    r"(?:[eE][+-]?[0-9]++)?|[1-9][0-9]{0,2}(?:,[0-9]{3})+)\Z"
)

_NUMBER_ENDS: Final = frozenset("0123456789.nabcdefABCDEF")


def scalar_of(word: str, repairs: dict[str, None]) -> Json:
    """The value of a bare word. NaN and the infinities, which JSON has not got, become None; a number that is too
    large to be held stays the text that it is.
    """
    if word in _STRICT:
        return _STRICT[word]
    found = NUMBER.match(word)
    if found is not None:
        return _number(word, found.lastindex is None, repairs)
    if word in _FOREIGN:
        repairs[LITERAL] = None
        return _FOREIGN[word]
    if ELLIPSES.match(word):
        repairs[ELLIPSIS] = None
        return None
    if word[-1:] in _NUMBER_ENDS:
        return _foreign_number(word, repairs)
    repairs[BARE_VALUE] = None
    return word


def _foreign_number(word: str, repairs: dict[str, None]) -> Json:
    """A number that is spelt as JSON does not, if it is one."""
    if len(word) > _DIGITS:
        repairs[BARE_VALUE] = None
        return word
    found = _RADIX.match(word)
    if found is not None:
        repairs[LITERAL] = None
        number = int(found[2].replace("_", ""), 0)
        return -number if found[1] == "-" else number
    if not _LOOSE.match(word):
        repairs[BARE_VALUE] = None
        return word
    repairs[LITERAL] = None
    digits = word.replace("_", "").replace(",", "").removesuffix("n")
    return _number(digits, "." not in digits and "e" not in digits and "E" not in digits, repairs)


def _number(word: str, whole: bool, repairs: dict[str, None]) -> Json:
    if whole and len(word) <= _DIGITS:
        return int(word)
    number = None if whole else float(word)
    if number is None or not isfinite(number):
        repairs[OUT_OF_RANGE] = None
        return word
    return number
