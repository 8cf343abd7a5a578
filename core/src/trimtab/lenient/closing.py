"""Which quote ends a string: the rules for texts whose inner quotes are not escaped.

A quote ends its string when what follows can only be structure: the end of the text, a comma and a key, closing
brackets and what may stand behind them. Every other quote is part of the text. A rule looks at most `WINDOW` chars
ahead, so that a text is read the same way however it is fed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from trimtab.lenient.chars import (
    ARRAY_OPENERS,
    CHAIN,
    CLOSERS,
    COMMAS,
    HALF_KEY,
    KEY_AHEAD,
    KEY_WITHOUT_COLON,
    LITERALS,
    LITERALS_WINDOW,
    OBJECT_OPENERS,
    QUOTE_ENDS,
    SEPARATORS,
    SPACE,
    SPACES,
    VALUE_LITERAL,
)

__all__ = [
    "END_TAG",
    "WINDOW",
    "Place",
    "ends_item",
    "ends_member",
    "ends_root",
    "is_known",
    "known_key_ahead",
    "past_comments",
]

WINDOW: Final = 2048

_STRING_AHEAD: Final = {
    ends: re.compile(rf"[^\\{ends}]*+(?:\\.[^\\{ends}]*+)*", re.DOTALL) for ends in set(QUOTE_ENDS.values())
}
_CUT_KEY: Final = re.compile(f"[\"'“‘][A-Za-z_]?+[A-Za-z0-9_]{{0,63}}+[\"'”’]?+[{SPACES}]*+")
_CUT_BARE_KEY: Final = re.compile(f"[A-Za-z_][A-Za-z0-9_]{{0,63}}+[{SPACES}]*+")
_REF_AHEAD: Final = re.compile("[mb][0-9]")
_COMMENT: Final = re.compile(r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*\*/|\#[^\n]*+|<!--(?:[^-]|-(?!->))*-->")
_FENCE: Final = re.compile("```|~~~|</|<[|｜]|\\[/|data:")
END_TAG: Final = re.compile(
    "</(?:[a-z]{1,20}:)?(?:(?:tool|function)(?:_calls?|_use)?|acp_compress|compress|invoke|parameter|arguments|arg_value)s?>"
    "|<[|｜][A-Za-z_▁]{1,40}[|｜]>"
)
"""A tag that ends a call, or a value of one."""

_LAST_TAG: Final = re.compile(f"(?:{END_TAG.pattern})[{SPACES}]*+(?:\\Z|<)")
_CLOSED_LATER: Final = re.compile("[\"'`”’][ \\t]*+[}\\]]")
_MARK: Final = re.compile("[\"'“”`{}\\[\\]]")
# An object whose first key is damaged.
_DAMAGED_ENTRY: Final = re.compile("[{｛][ \\t\\r\\n]*+[^{}:=\\n]{1,40}+[:=][ \\t]*+[\"'“\\[{0-9]")
_STARTS: Final = frozenset("\"'`{[(-0123456789“‘„＂«【")


@frozen(kw_only=True)
class Place:
    """Where a string stands: what containers are open (whether each is an object), what is known of the keys there,
    and whether the string has had an inner quote already.
    """

    stack: Sequence[bool | None]
    known: frozenset[str]
    bare_keys: bool
    doubt: bool


def is_known(name: str, known: frozenset[str]) -> bool:
    """Whether a key is one of these, which are spelt in lower case and without separators."""
    return name.replace("_", "").replace("-", "").replace(" ", "").lower() in known


def known_key_ahead(text: str, at: int, end: int, known: frozenset[str]) -> bool:
    """Whether one of these keys, in quotes, and its colon stand at this index."""
    found = KEY_AHEAD.match(text, at, end) if text[at : at + 1] in QUOTE_ENDS else None
    return found is not None and is_known(found[found.lastindex or 0], known)


def past_comments(text: str, at: int, end: int) -> int:
    """The index of the next character that is neither white space nor in a comment, or `end`."""
    while True:
        at = SPACE.match(text, at, end).end()  # type: ignore[union-attr]  # it matches the empty text
        found = _COMMENT.match(text, at, end) if text[at : at + 1] in ("/", "#", "<") else None
        if found is None:
            return at
        at = found.end()


def ends_member(text: str, at: int, end: int, place: Place) -> bool:
    """Whether the quote before index `at` ends the value of an object's member."""
    i = past_comments(text, at, end)
    if i >= end:
        return True
    char = text[i]
    if char in COMMAS:
        return _after_comma(text, i, end, place)
    if char in CLOSERS:
        return _after_closers(text, i, end, place)
    if char in OBJECT_OPENERS:
        return _entry_ahead(text, i, end, place, place.doubt)
    if char == "<" and _LAST_TAG.match(text, i, end):
        return True
    if char in QUOTE_ENDS or i > at:
        return _key_ahead(text, i, end, place)
    return False


def _after_comma(text: str, at: int, end: int, place: Place) -> bool:
    i = at
    while i < end and text[i] in COMMAS:
        i = past_comments(text, i + 1, end)
    if i >= end:
        return True
    if text[i] in CLOSERS:
        return _after_closers(text, i, end, place)
    if text[i] in OBJECT_OPENERS:
        return _entry_ahead(text, i, end, place, place.doubt)
    return _key_ahead(text, i, end, place)


def _after_closers(text: str, at: int, end: int, place: Place) -> bool:
    """What follows closing brackets: more structure, or, where they close everything, other text."""
    i = at
    while True:
        i = CHAIN.match(text, i, end).end()  # type: ignore[union-attr]  # it matches the empty text
        behind = past_comments(text, i, end)
        if behind == i:
            break
        i = behind
    if i >= end or _FENCE.match(text, i):
        return True
    chain = text[at:i]
    apart = not COMMAS.isdisjoint(chain)
    left = _levels_left(chain, place.stack)
    if text[i] in OBJECT_OPENERS:
        if _entry_ahead(text, i, end, place, place.doubt or not apart):
            return True
        is_next = apart and left and not place.stack[left - 1] and not place.doubt
        if is_next and _DAMAGED_ENTRY.match(text, i, end):
            return True
        if left:
            return False
    if left and place.stack[left - 1]:
        if left == 1 and "]" in chain and _CLOSED_LATER.search(text, i, end) is None and not _MARK.match(text, i):
            return True  # only the last brace is missing before other text
        return _key_ahead(text, i, end, place, apart)
    if left:
        if apart and (_item_ahead(text, i, end) or known_key_ahead(text, i, end, place.known)):
            return True
        return _entry_behind(text, i, end, place)
    if "\n" in chain or text[i] in ARRAY_OPENERS or _entry_behind(text, i, end, place):
        return True
    line = text.find("\n", i, end)
    return _CLOSED_LATER.search(text, i, end if line < 0 else line) is None


def _entry_behind(text: str, at: int, end: int, place: Place) -> bool:
    """Whether, behind other text without quotes or brackets, an entry with a known key begins, or all closes."""
    found = _MARK.search(text, at, end)
    if found is None or found.start() == at:
        return False
    i = found.start()
    if text[i] == "{":
        return _entry_ahead(text, i, end, place, True)
    return text[i] in CLOSERS and _CLOSED_LATER.search(text, i, end) is None


def _levels_left(chain: str, stack: Sequence[bool | None]) -> int:
    """How many of the open containers stay open behind these closing brackets."""
    left = len(stack)
    closers = [char for char in chain if char in CLOSERS]
    for place, char in enumerate(closers):
        is_object = CLOSERS[char] == "{"
        if is_object and left and not stack[left - 1] and closers[place + 1 : place + 2] == ["]"]:
            continue  # a brace too many
        while left and bool(stack[left - 1]) is not is_object:
            left -= 1
        left = max(left - 1, 0)
    return left


def _item_ahead(text: str, at: int, end: int) -> bool:
    """Whether an element of an array that is no object begins here."""
    if text[at] in QUOTE_ENDS:
        return _REF_AHEAD.match(text, at + 1, end) is not None or _string_ahead(text, at, end, ",]})")
    return text[at] in ARRAY_OPENERS or VALUE_LITERAL.match(text, at, end) is not None


def _entry_ahead(text: str, at: int, end: int, place: Place, doubt: bool = False) -> bool:
    """Whether an object begins here that has a key, or nothing, in it; in doubt, whether it has a known key."""
    i = past_comments(text, at + 1, end)
    while i < end and text[i] in OBJECT_OPENERS:
        i = past_comments(text, i + 1, end)
    if i >= end:
        return True
    if doubt and place.known:
        found = KEY_AHEAD.match(text, i, end)
        return found is not None and is_known(found[found.lastindex or 0], place.known)
    return text[i] in CLOSERS or _key_ahead(text, i, end, place)


def _key_ahead(text: str, at: int, end: int, place: Place, apart: bool = False) -> bool:
    """Whether a key and its colon stand here. A key that is not known must have a value behind it; one without quotes
    counts among others without, or behind brackets and a comma (`apart`).
    """
    found = KEY_AHEAD.match(text, at, end)
    if found is None:
        found = KEY_WITHOUT_COLON.match(text, at, end) or HALF_KEY.match(text, at, end)
        if found is None:
            return _cut_key(text, at, end, place.bare_keys)
        return is_known(found[found.lastindex or 0], place.known)
    name, bare = found[found.lastindex or 0], found.lastindex == 7
    if is_known(name, place.known):
        return True
    if bare and not place.bare_keys and not (apart and not place.doubt):
        return False
    i = found.end()
    if i >= end:
        return True
    if text[i] in CLOSERS or text[i] in COMMAS:
        return not place.doubt
    if text[i] not in _STARTS:
        return VALUE_LITERAL.match(text, i, end) is not None
    if not place.doubt or text[i] not in QUOTE_ENDS:
        return True
    return _string_ahead(text, i, end, ",}]")


def _cut_key(text: str, at: int, end: int, bare_keys: bool) -> bool:
    """Whether the text ends inside a key, or behind it."""
    found = _CUT_KEY.match(text, at, end) or (_CUT_BARE_KEY.match(text, at, end) if bare_keys else None)
    return found is not None and found.end() >= end


def _string_ahead(text: str, at: int, end: int, follow: str, more: bool = False) -> bool:
    """Whether the string that begins here ends, at its first quote, before one of these characters; or, with `more`,
    before white space and another string.
    """
    ends = QUOTE_ENDS[text[at]]
    found = _STRING_AHEAD[ends].match(text, at + 1, end)
    stop = found.end() if found else end
    if stop >= end:
        return True
    i = past_comments(text, stop + 1, end)
    return i >= end or text[i] in follow or (more and i > stop + 1 and text[i] in QUOTE_ENDS)


def ends_item(text: str, at: int, end: int, place: Place) -> bool:
    """Whether the quote before index `at` ends an element of an array."""
    i = past_comments(text, at, end)
    if i >= end:
        return True
    char = text[i]
    if char in COMMAS:
        i = past_comments(text, SEPARATORS.match(text, i, end).end(), end)  # type: ignore[union-attr]
        if i >= end:
            return True
        char = text[i]
        if char in ARRAY_OPENERS or VALUE_LITERAL.match(text, i, end):
            return True
    if char in CLOSERS:
        return _after_closers(text, i, end, place)
    if char in OBJECT_OPENERS:
        return _entry_ahead(text, i, end, place)
    if char in QUOTE_ENDS:
        return _item_ahead(text, i, end) or (not place.doubt and _string_ahead(text, i, end, "", more=True))
    return i > at and not place.doubt and LITERALS.match(text, i, i + LITERALS_WINDOW) is not None


def ends_root(text: str, at: int, end: int) -> bool:
    """Whether the quote before index `at` ends a string that is the whole document: no other one follows."""
    return text.find(text[at - 1], at, end) < 0 or SPACE.match(text, at, end).end() >= end  # type: ignore[union-attr]
