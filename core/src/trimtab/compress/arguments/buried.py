"""Tells a document of a text from prose with brackets in it, and finds the call that such prose seems to hold."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.arguments.names import ENVELOPE, KNOWN, NAMES, SLOTS, names_compress, plain
from trimtab.compress.arguments.standing import PYTHON
from trimtab.lenient import repairs as names
from trimtab.lenient.document import Document
from trimtab.types import Json

__all__ = ["OBJECT", "STRING", "first_inside", "is_known", "is_prose", "says_cut"]

# Damage that words between brackets look like.
_LIKE_PROSE: Final = frozenset(
    [names.BARE_VALUE, names.MISSING_COLON, names.MISSING_KEY, names.MISSING_VALUE, names.STRAY]
)
_BLANK: Final = "[ \\t\\r\\n\\xa0\\u200b\\u3000\\ufeff]*+"
OBJECT: Final = re.compile(
    f"(?:\\[{_BLANK})?[{{｛]{_BLANK}[\"'“‘`]?(?P<name>[A-Za-z_][A-Za-z0-9_-]{{0,63}}+)[\"'”’`]?{_BLANK}[:=：]"
)
"""An object, with its first key, or an array that begins with one."""

STRING: Final = re.compile(
    '(?:(?<![^\\n>\\]}"])|(?<=compress)|(?<=\\n[ \\t])|(?<=(?:Input|press|ments): )|(?<=(?:[Cc]all|[Aa]rgs): ))'
    '\ufeff?"(?=[ \\t]*(?:\\\\[nrt])*[\\[{])'
)
"""A text that holds JSON, in quotes, where a call can stand."""

_COMPRESS: Final = re.compile(f"{_BLANK}[\"'][A-Za-z0-9_.:-]{{0,60}}compress[\"']")
_BLANKS: Final = " \t\r\n"
_KEY: Final = re.compile(f"(?P<name>[A-Za-z_][A-Za-z0-9_-]*+)(?P<quote>[\"'”’`]?){_BLANK}(?P<colon>[:=：]?){_BLANK}\\Z")
_KEY_CHARS: Final = 80


def is_known(document: Document) -> bool:
    """Whether the document begins as arguments or an envelope do, or as an array of objects."""
    value = document.value
    if isinstance(value, dict):
        return any(plain(key) in KNOWN or plain(key) in ENVELOPE for key in value)
    return isinstance(value, str) or any(isinstance(item, dict) for item in value)


def is_prose(document: Document) -> bool:
    """Whether a document holds nothing that a call is made of."""
    value = document.value
    if isinstance(value, dict):
        return not any(plain(key) in KNOWN or isinstance(item, dict | list) for key, item in value.items())
    return not any(isinstance(item, dict) for item in value)


def says_cut(document: Document) -> bool:
    """Whether a document that the text ends inside shows that the text is cut, and is no mere bracket of prose."""
    return not document.finished and (not _is_like_prose(document) or _begins_known(document))


def first_inside(text: str, document: Document, *, known_only: bool = False) -> int:
    """The index at which, between the brackets of prose, a document begins; -1: these brackets are no prose.

    What is the value of a key belongs to that key, and is left where it is. With `known_only`, a document whose first
    key is that of a call, or names it.
    """
    if not _may_be_prose(document):
        return -1
    # Where not even the first word has a colon behind it, those that have one are no keys.
    is_object = isinstance(document.value, dict) and OBJECT.match(text, document.start) is not None
    marks = [pattern.search(text, document.start + 1, document.end) for pattern in (STRING, PYTHON)]
    quoted = min((mark.start() for mark in marks if mark is not None), default=-1)
    for found in OBJECT.finditer(text, document.start + 1, document.end):
        start = found.start()
        if 0 <= quoted < start:
            return quoted
        if _is_value(text[max(document.start, start - _KEY_CHARS) : start], is_object):
            return -1
        if known_only and plain(found["name"]) not in KNOWN and not _COMPRESS.match(text, found.end()):
            continue
        if text[start] == "[" and plain(found["name"]) in SLOTS:
            start = found.end() - len(found[0][1:].lstrip(_BLANKS))
        return start
    return quoted


def _is_value(before: str, is_object: bool) -> bool:
    """Whether the value of a key follows. In an array it is a key in quotes, or else prose has a colon there."""
    key = _KEY.search(before)
    if key is None or not (key["quote"] or is_object):
        return False
    return bool(key["colon"]) or (bool(key["quote"]) and plain(key["name"]) in KNOWN)


def _is_like_prose(document: Document) -> bool:
    repairs = document.repairs
    if isinstance(document.value, list) and names.MISSING_COMMA in repairs:
        return True
    # An apostrophe may have begun the string that the text ends inside.
    return not _LIKE_PROSE.isdisjoint(repairs) or (document.cut is not None and names.QUOTES in repairs)


def _begins_known(document: Document) -> bool:
    """Whether a document begins with a key of a call, or holds the array of one."""
    value: Json = document.value
    if isinstance(value, list):
        return _begins_with_object(document)
    first = next(iter(value), None)
    if first is None:
        return False
    if plain(first) in KNOWN or any(isinstance(value.get(slot), list) for slot in SLOTS):
        return True
    return names_compress(value[first]) and plain(first) in NAMES


def _begins_with_object(document: Document) -> bool:
    """Whether an array begins with an object, and not with words before it."""
    value: Json = document.value
    first = value[0] if value else None
    return isinstance(first, dict) and names.STRAY not in document.repairs


def _may_be_prose(document: Document) -> bool:
    value: Json = document.value
    if isinstance(value, list) and not document.finished:
        first = value[0] if value else None
        if isinstance(first, dict) and _begins_with_object(document):
            return any(plain(key) in SLOTS for key in first)
        if not isinstance(first, str):
            return True
    return _is_like_prose(document) and not _begins_known(document)
