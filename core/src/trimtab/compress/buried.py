"""Tells a document of a text from prose with brackets in it, and finds the call that such prose seems to hold."""

from __future__ import annotations

import re
from typing import Final

from trimtab.compress.names import ENVELOPE, KNOWN, SLOTS, plain
from trimtab.lenient import repairs as names
from trimtab.lenient.document import Document
from trimtab.types import Json

__all__ = ["first_inside", "is_known", "is_prose", "says_cut"]

# Damage that words between brackets look like.
_LIKE_PROSE: Final = frozenset(
    [names.BARE_VALUE, names.MISSING_COLON, names.MISSING_COMMA, names.MISSING_KEY, names.MISSING_VALUE, names.STRAY]
)
_BLANK: Final = "[ \\t\\r\\n\\xa0\\u200b\\u3000\\ufeff]*+"
_OBJECT: Final = re.compile(
    f"(?:\\[{_BLANK})?[{{｛]{_BLANK}[\"'“‘`]?(?P<name>[A-Za-z_][A-Za-z0-9_-]{{0,63}}+)[\"'”’`]?{_BLANK}[:=：]"
)
_BLANKS: Final = " \t\r\n"
_COLONS: Final = frozenset(":=：")
_QUOTES: Final = frozenset("\"'”’`")


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
    """Whether a document that the text ends inside shows that the text is cut, and no mere bracket of prose."""
    return not document.finished and not (is_prose(document) and _LIKE_PROSE.intersection(document.repairs))


def first_inside(text: str, document: Document, *, known_only: bool = False) -> int:
    """The index at which, between the brackets of prose, a document begins; -1: these brackets are no prose.

    What is the value of a key belongs to that key, and is left where it is. With `known_only`, a document whose first
    key is that of a call.
    """
    if not _may_be_prose(document):
        return -1
    is_object = isinstance(document.value, dict)
    for found in _OBJECT.finditer(text, document.start + 1, document.end):
        if known_only and plain(found["name"]) not in KNOWN:
            continue
        start = found.start()
        if text[start] == "[" and plain(found["name"]) in SLOTS:
            start = text.index(found[0][1:].lstrip(_BLANKS)[0], start + 1)
        before = text[max(document.start, start - 40) : start].rstrip(_BLANKS)
        if before[-1:] in _COLONS and (is_object or before[:-1].rstrip(_BLANKS)[-1:] in _QUOTES):
            continue
        return start
    return -1


def _may_be_prose(document: Document) -> bool:
    value: Json = document.value
    like_prose = not _LIKE_PROSE.isdisjoint(document.repairs)
    if isinstance(value, dict):
        return like_prose and not any(plain(key) in KNOWN for key in value)
    first = value[0] if value else None
    if isinstance(first, dict):
        return not document.finished and any(plain(key) in SLOTS for key in first)
    return like_prose or (not document.finished and not isinstance(first, str))
