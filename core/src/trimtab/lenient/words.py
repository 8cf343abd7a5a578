"""The part of the scanner that reads keys and values without quotes."""

from __future__ import annotations

import re
from typing import Final

from trimtab.lenient import repairs as names
from trimtab.lenient.asides import Asides
from trimtab.lenient.chars import (
    CLOSERS,
    COLONS,
    COMMAS,
    COMMENT_START,
    LITERALS,
    LITERALS_WINDOW,
    QUOTE_ENDS,
    SPACES,
    VALUE_LITERAL,
    WORD,
)
from trimtab.lenient.closing import WINDOW, ends_member
from trimtab.lenient.scalars import ELLIPSES, scalar_of
from trimtab.lenient.strings import mended, text_of
from trimtab.types import Json

__all__ = ["BareText"]

_TEXT_END: Final = re.compile("[,，；、}｝\\]］\\n]")
_ITEM_END: Final = re.compile("[,，}｝\\]］\\n{｛\\[［]")
_LINE_END: Final = re.compile("\\n|\\Z")
_PUNCTUATION: Final = re.compile("[|.…·*~_+-]+")
_BEFORE_COMMENT: Final = re.compile(f"{VALUE_LITERAL.pattern}(?=//|/\\*|<!--|#)")
# Digits in groups of three: in an object, where digits and a comma cannot be a value and a key.
_THOUSANDS: Final = re.compile(f"[+-]?[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+(?=[{SPACES}]*+(?:[,，}}｝]|\\Z))")
_QUOTES: Final = frozenset("\"'”")
_OPENERS: Final = frozenset("[{(")
_PROSE: Final = re.compile("[A-Za-z][A-Za-z'’]*+(?:[.!:]|[ ,][A-Za-z (])|<[A-Za-z|｜]|>[ \\t]")
_ITEM_CLOSERS: Final = frozenset("}]`")
_NEAR: Final = 40
_LAST_QUOTE: Final = re.compile('[^"{}]*+(?:\\{[^"{}]*+\\}[^"{}]*+)*"(?=[ \\t\\r\\n]*+[,}\\]])')
_WORD_ENDS: Final = 4_000  # where a text without quotes could end, and does not: with more it does not end at all
_COLONS: Final = frozenset(":：")
_ONE_WORD: Final = re.compile("[A-Za-z0-9_-]+'")


class BareText(Asides):
    """Reads bare words."""

    def _bare_key(self, i: int) -> bool:
        """A key without quotes."""
        text = self.text
        found = WORD.match(text, i)
        if found is None:
            self.repairs[names.STRAY] = None
            self.pos = i + 1
            return True
        end = found.end()
        if end >= len(text) and not self.closed:
            return False
        if text[i] in ".…" and ELLIPSES.fullmatch(text, i, end):
            behind = self._skip(end)
            if not self._enough(behind):
                return False
            if text[behind : behind + 1] not in COLONS:
                self.repairs[names.ELLIPSIS] = None
                self.pos = end
                return True
        name, end = self._without_quote(found[0], end)
        if end < 0:
            return False
        self.pos = end
        self.on_key(mended(name, self.repairs), i, end)
        self._colon, self._state = False, self.VALUE
        return True

    def _without_quote(self, name: str, end: int) -> tuple[str, int]:
        """A key without quotes, or with the second alone, which is no part of it; the index behind, or -1: wait."""
        if name[-1] in _QUOTES:
            end -= 1
            name = name[:-1]
        elif self.text[end : end + 1] not in _QUOTES:
            self._bare_keys = True
            self.repairs[names.BARE_KEY] = None
            return name, end
        if not self._enough(end):
            return name, -1
        behind = self._skip(end + 1)
        if name and self.text[behind : behind + 1] in _COLONS:
            self.repairs[names.MISSING_QUOTE] = None
            return name, end + 1
        self._bare_keys = True
        self.repairs[names.BARE_KEY] = None
        if self.text[end] == "'":  # it was part of the word
            return f"{name}'", end + 1
        return name, end

    def _word(self, i: int) -> bool:
        """A value without quotes: a number, a literal, or text up to what can only be structure."""
        text = self.text
        found = WORD.match(text, i)
        if found is None:
            self.repairs[names.STRAY] = None
            self.pos = i + 1
            return True
        end = found.end()
        if not self._enough(end):
            return False
        if self._state == self.ITEM and (self._is_filler(i, end) or self._is_behind(i)):
            return True
        if text[end : end + 1] == "(" and text[end + 1 : end + 2] in _OPENERS:  # Python's `list([…])`
            self.repairs[names.LITERAL] = None
            self.pos = end
            return True
        end = self._value_end(i, end)
        if end < 0:
            return False
        if (
            self._known and self._state == self.ITEM and not self._fresh and text[end : end + 1] == "{"
        ):  # prose between two entries
            self.repairs[names.STRAY] = None
            self.pos = end
            return True
        by_text = end < len(text)
        word = text[i:end].rstrip(" \t\r\n")
        if self._stack and (quote := _lost_quote(word)):
            self.repairs[names.MISSING_QUOTE] = None
            value: Json = text_of(word[:-1], quote, self.repairs)
        else:
            value = scalar_of(mended(word, self.repairs), self.repairs)
        self.pos = end
        self.on_value(value, i, end, by_text)
        self._after_value()
        return True

    def _is_filler(self, i: int, end: int) -> bool:
        """Step over a word that is no element: an ellipsis, or marks of a list."""
        text = self.text
        if text[i] in ".…" and ELLIPSES.fullmatch(text, i, end):
            self.repairs[names.ELLIPSIS] = None
        elif _PUNCTUATION.fullmatch(text, i, end):
            self.repairs[names.STRAY] = None
        else:
            return False
        self.pos = end
        return True

    def _is_behind(self, i: int) -> bool:
        """End the document before a line of prose, or a tag, behind its last entry: its own brackets are missing."""
        if not (self._known and self.bulk) or self._fresh or self._commas or _PROSE.match(self.text, i) is None:
            return False
        before = self.text[max(0, i - _NEAR) : i].rstrip(" \t\r\n")
        is_line = "\n" in self.text[max(0, i - _NEAR) + len(before) : i] or self.text[i] == "<"
        return is_line and before[-1:] in _ITEM_CLOSERS and self._end_before(i)

    def _value_end(self, i: int, end: int) -> int:
        """The index behind the value whose first word ends at index `end`, or -1: it needs more text."""
        text = self.text
        plain = _BEFORE_COMMENT.match(text, i)
        if plain is not None:
            end = plain.end()
        behind = self._skip(end)
        char = text[behind : behind + 1]
        if char == "," and self._stack and self._stack[-1]:
            digits = _THOUSANDS.match(text, i, end + WINDOW)
            if digits is not None:
                return digits.end()
        single = not char or char in CLOSERS or (char in COMMAS and self._ends_at_comma(i, end))
        if not single and "\n" in text[end:behind]:
            single = self._state != self.VALUE or char in QUOTE_ENDS or self.key_ahead(behind)
        if not single and (char in QUOTE_ENDS or char in COMMENT_START):
            single = VALUE_LITERAL.fullmatch(text, i, end) is not None
        elif not single and self._state == self.ITEM and behind > end:
            single = LITERALS.match(text, i, i + LITERALS_WINDOW) is not None
        return end if single and self._state != self.ROOT else self._words_end(end)

    def _ends_at_comma(self, i: int, end: int) -> bool:
        """Whether a comma ends a value of one word: in an object a key follows it, or the word is no text."""
        text = self.text
        if not (self._stack and self._stack[-1]) or VALUE_LITERAL.fullmatch(text, i, end):
            return True
        return ends_member(text, end, min(len(text), end + WINDOW), self._place())

    def _lost_opening(self, i: int) -> int:
        """The index behind the quote that ends a member's value whose opening quote was lost; 0: it has none."""
        text = self.text
        if not self._stack[-1] or not self._enough(i):
            return 0
        found = _LAST_QUOTE.match(text, i, i + WINDOW)
        if found is None or not ends_member(text, found.end(), min(len(text), found.end() + WINDOW), self._place()):
            return 0
        return found.end()

    def _words_end(self, i: int) -> int:
        """The index at which a text without quotes ends, or -1: it needs more text."""
        text = self.text
        if not self._stack:
            return _LINE_END.search(text, i).end()  # type: ignore[union-attr]  # every text ends
        quoted = self._lost_opening(i)
        if quoted:
            return quoted
        pattern = _TEXT_END if self._stack[-1] else _ITEM_END
        found = pattern.search(text, i)
        for _ in range(_WORD_ENDS):
            if found is None:
                break
            at = found.start()
            if not self._enough(at):
                return -1
            if not self._stack[-1] or ends_member(text, at, min(len(text), at + WINDOW), self._place()):
                return at
            found = pattern.search(text, at + 1)
        return len(text) if self.closed else -1


def _lost_quote(word: str) -> str:
    """The quote that ends a value whose opening quote was lost, or "": it has none, or they stand in pairs."""
    last = word[-1:]
    if last == '"':
        return last if word.count(last) % 2 else ""
    return last if last == "'" and _ONE_WORD.fullmatch(word) else ""
