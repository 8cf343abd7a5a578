"""Reads JSON and what models write for it, without recursion, in time linear in the text.

The scanner walks over the text in steps. A step reads one thing (a bracket, a key, a value, a comment) and tells it
through a hook: `on_open`, `on_key`, `on_value`, `on_close`. A step that would need text which has not come yet changes
nothing and returns False. Laws:

- Text that is JSON is read as JSON says, and nothing is repaired.
- Nothing is made up: a value is what stands between its marks, whole; what the text ends inside is told as not closed.
- The same text gives the same steps however it was cut when it was fed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from trimtab.lenient import repairs as names
from trimtab.lenient.chars import (
    ARRAY_OPENERS,
    CLOSERS,
    COLONS,
    COMMAS,
    COMMENT_START,
    FULL_WIDTH_MARKS,
    OBJECT_OPENERS,
    ODD_SPACES,
    OPENERS,
    QUOTE_ENDS,
    SEPARATORS,
)
from trimtab.lenient.closing import END_TAG, WINDOW, known_key_ahead, past_comments
from trimtab.lenient.joining import lone_in_brackets
from trimtab.lenient.quoted import MANY
from trimtab.lenient.words import BareText

__all__ = ["MAX_LEVELS", "Scanner"]

# Deeper nesting is no data that anyone meant; what stands below it is not read.
MAX_LEVELS: Final = 20_000

_RUNS: Final = frozenset("{\"'[")
_NO_COMMAS: Final = dict.fromkeys(map(ord, COMMAS))
_PREFIXES: Final = frozenset("uUbBrRfF")
_PREFIXED: Final = frozenset("\"'")
_STRAY: Final = re.compile("[<>*~^&|%@!?.\\\\][ \\t]?(?=[\"'“])")
_PLAIN: Final = frozenset(["", ",", ", ", " ", "\n", ",\n"])


class Scanner(BareText):
    """One document. `known`: names of keys, lower case without separators, that are keys wherever they may be."""

    def step(self) -> bool:
        """Read one thing. False: it needs more text than there is, or the document has ended."""
        return _STEPS[self._state](self)

    def run(self) -> None:
        """Read on until more text is needed, or the document has ended."""
        steps = _STEPS
        while steps[self._state](self):
            pass

    def _never(self) -> bool:
        return False

    def _peek(self, i: int) -> str:
        """The character at this index of the buffer, or "" at its end."""
        return self.text[i] if i < len(self.text) else ""

    def _separators(self) -> int:
        """Step over white space and commas, count the commas; the index behind them."""
        pos = self.pos
        i: int = SEPARATORS.match(self.text, pos).end()  # type: ignore[union-attr]  # it matches the empty text
        if i > pos:
            between = self.text[pos:i]
            if between not in _PLAIN:
                self._note_odd(between)
            self._commas += len(between) - len(between.translate(_NO_COMMAS))
            self.pos = i
        return i

    def _note_odd(self, between: str) -> None:
        for char in between:
            if char in FULL_WIDTH_MARKS:
                self.repairs[names.FULL_WIDTH] = None
            elif char == ";":
                self.repairs[names.STRAY] = None
            elif ODD_SPACES.match(char):
                self.repairs[names.ODD_SPACE] = None

    def _judge_commas(self, closing: bool, fresh: bool, commas: int) -> None:
        """Name what was wrong with the commas before the thing that has come now."""
        if commas > (0 if fresh or closing else 1):
            self.repairs[names.EXTRA_COMMA] = None
        elif not commas and not closing and not fresh:
            self.repairs[names.MISSING_COMMA] = None
            self._inner += 1

    def _at_root(self) -> bool:
        i = self._separators()
        char = self.text[i : i + 1]
        self._commas = 0
        return self._begin(char, i)

    def _at_item(self) -> bool:
        """Before an element of an array, or its end."""
        if self._inner > MANY:
            return self._give_up()
        i = self._separators()
        char = self.text[i : i + 1]
        if self.bulk and char in _RUNS and self._run(i):
            return True
        if char in CLOSERS:
            return self._closer(char, i)
        if char in COMMENT_START:
            if not self._enough(i):
                return False
            if self._aside(i) or self._end_tag(i):
                return True
        if not char and not self.closed:
            return False
        if self._implied and self._stack[-1] is None and char in QUOTE_ENDS and self.key_ahead(i):
            self._pop(i, True)
            return True
        if self._known and char in QUOTE_ENDS and self._stack[-1] is False:
            if not self._enough(i):
                return False
            if known_key_ahead(self.text, i, i + WINDOW, self._known):
                self.repairs[names.MISSING_BRACKET] = None
                return self._open(True, i - 1)
            if self._quoted_object(i):
                return True
        fresh, commas = self._fresh, self._commas
        if not self._begin(char, i):
            return False
        if char:
            self._judge_commas(False, fresh, commas)
        return True

    def _at_key(self) -> bool:
        """Before a key of an object, or its end."""
        if self._inner > MANY:
            return self._give_up()
        i = self._separators()
        if self.bulk and self._member():
            return True
        char = self.text[i : i + 1]
        if char in CLOSERS:
            return self._closer(char, i)
        if not char:
            return self._end()
        if char in COMMENT_START:
            if not self._enough(i):
                return False
            if self._aside(i) or self._end_tag(i):
                return True
        if char in OBJECT_OPENERS or char in ARRAY_OPENERS:
            return self._opener_for_key(char, i)
        if char in COLONS:
            return self._keyless(i, False)
        i, char = self._past_prefix(i, char)
        if not (self._open_string(char, i, True) if char in QUOTE_ENDS else self._bare_key(i)):
            return False
        self._judge_commas(False, self._fresh, self._commas)
        self._commas = 0
        return True

    def _end_tag(self, i: int) -> bool:
        """The tag that ends what stands around the document: brackets are missing before it."""
        return not self._fresh and END_TAG.match(self.text, i) is not None and self._end_before(i)

    def _keyless(self, i: int, colon: bool) -> bool:
        """A value without a key."""
        self.repairs[names.MISSING_KEY] = None
        self._inner += 3
        self._commas = 0
        self.pos = i
        self.on_key("", i, i)
        self._state, self._colon = self.VALUE, colon
        return True

    def _opener_for_key(self, char: str, i: int) -> bool:
        """An opening bracket where a key should stand: what is missing before it, or is it one too many?"""
        stack = self._stack
        if not self._fresh and char in OBJECT_OPENERS:
            self.repairs[names.MISSING_BRACKET] = None
            self._inner += 2
            if len(stack) > 1 and not stack[-2]:
                commas = self._commas
                self._pop(i, True)
                self._commas = commas
                return True
            if self.on_imply():
                stack.append(None)
                self._implied += 1
                self._state = self.ITEM
                return True
        return self._keyless(i, True)

    def _at_value(self) -> bool:
        """Behind a key: the colon, then the value."""
        i = self._skip(self.pos)
        char = self.text[i : i + 1]
        if char in COMMENT_START:
            if not self._enough(i):
                return False
            if self._aside(i):
                return True
        if not self._colon and char in COLONS:
            if char == "=":
                if i + 1 >= len(self.text) and not self.closed:
                    return False
                self.repairs[names.EQUALS] = None
                if self._peek(i + 1) == ">":
                    i += 1
            elif char == "：":
                self.repairs[names.FULL_WIDTH] = None
            self.pos, self._colon = i + 1, True
            return True
        if not char and not self.closed:
            return False
        if char in CLOSERS or char in COMMAS:
            self.repairs[names.MISSING_VALUE] = None
            self._inner += 1
            self.pos = i
            self.on_value(None, i, i, True)
            self._after_value()
            return True
        if not self._colon and char:
            self.repairs[names.MISSING_COLON] = None
        stray = _STRAY.match(self.text, i) if self._enough(i) else None
        if stray is not None:
            self.repairs[names.STRAY] = None
            self.pos = stray.end()
            self._colon = True
            return True
        return self._begin(char, i)

    def _past_prefix(self, i: int, char: str) -> tuple[int, str]:
        """Behind the letter that Python writes before some strings (`u'text'`): the index, and what stands there."""
        if char in _PREFIXES and self.text[i + 1 : i + 2] in _PREFIXED:
            self.repairs[names.LITERAL] = None
            return i + 1, self.text[i + 1]
        return i, char

    def _begin(self, char: str, i: int) -> bool:
        """A value begins at this index."""
        i, char = self._past_prefix(i, char)
        if char in QUOTE_ENDS:
            if char == "`":
                if not self._enough(i):
                    return False
                if self._aside(i):
                    return True
            return self._open_string(char, i, False)
        if not char:
            return self._end()
        is_object = char in OBJECT_OPENERS
        if is_object or char in ARRAY_OPENERS:
            if char in FULL_WIDTH_MARKS:
                self.repairs[names.FULL_WIDTH] = None
            if char in "(（" and self._state == self.VALUE:
                if not self._enough(i):
                    return False
                if lone_in_brackets(self.text, i, min(len(self.text), i + WINDOW)):
                    return self._open_brackets(i)
            if char == "(":
                self.repairs[names.LITERAL] = None
            return self._open(is_object, i)
        if char in COMMENT_START:
            if not self._enough(i):
                return False
            if self._aside(i):
                return True
        return self._word(i)

    def _open_brackets(self, i: int) -> bool:
        """Brackets around one string, which mean nothing."""
        self.repairs[names.EXTRA_BRACKET] = None
        self._in_brackets = True
        self.pos = past_comments(self.text, i + 1, min(len(self.text), i + WINDOW))
        return self._open_string(self.text[self.pos], self.pos, False)

    def _open(self, is_object: bool, i: int) -> bool:
        if is_object:
            inner = self._skip(i + 1)
            if inner >= len(self.text) and not self.closed:
                return False
            behind = self.text[inner : inner + 1]
            if behind in OBJECT_OPENERS:
                inner = OPENERS.match(self.text, inner).end() - 1  # type: ignore[union-attr]  # a brace stands there
                self.repairs[names.EXTRA_BRACKET] = None
                self.pos = inner
                return True
            if behind in ARRAY_OPENERS:
                self.repairs[names.EXTRA_BRACKET] = None  # this brace opens nothing
                self.pos = inner
                return True
        if len(self._stack) >= MAX_LEVELS:
            return self._give_up()
        self._stack.append(is_object)
        self._objects += is_object
        self.pos = i + 1
        self._fresh = True
        self._commas = 0
        self._state = self.KEY if is_object else self.ITEM
        self.on_open(is_object, i)
        return True

    def _closer(self, char: str, i: int) -> bool:
        """A closing bracket: it closes what is open, or shows that a bracket is missing, or is one too many."""
        stack = self._stack
        is_object = CLOSERS[char] == "{"
        if char in FULL_WIDTH_MARKS:
            self.repairs[names.FULL_WIDTH] = None
        if stack[-1] is None:
            self._pop(i, True)
            return True
        if stack[-1] is not is_object:
            if is_object and not self.closed and len(self.text) - i < WINDOW:
                return False
            if char == ")" and len(stack) == self._objects:
                self.repairs[names.MISSING_BRACKET] = None  # of a call in Python's form
                self._pop(i + 1, True)
                return True
            if not self._missing(is_object, i):
                self.repairs[names.EXTRA_BRACKET] = None
                self.pos = i + 1
                return True
            self.repairs[names.MISSING_BRACKET] = None
            self._pop(i, True)
            return True  # the same bracket is looked at again
        self._judge_commas(True, self._fresh, self._commas)
        self._pop(i + 1, True)
        return True

    def _missing(self, is_object: bool, i: int) -> bool:
        """Whether this bracket, which does not fit, closes something further out."""
        if not is_object:
            return len(self._stack) > self._objects + self._implied
        if not self._objects:
            return False
        behind = self._skip(i + 1)
        char = self._peek(behind)
        if char in COMMAS:
            return self._peek(self._skip(behind + 1)) not in OBJECT_OPENERS
        return char != "]" and char not in OBJECT_OPENERS

    def _pop(self, end: int, by_text: bool) -> None:
        """The innermost container ends before this index."""
        kind = self._stack.pop()
        if kind:
            self._objects -= 1
        elif kind is None:
            self._implied -= 1
        self.pos = end
        self.on_close(end, by_text)
        self._after_value()

    def _end(self) -> bool:
        """The text ends here, or needs to go on."""
        if not self.closed:
            return False
        self.pos = len(self.text)
        if self._stack or self._state != self.ROOT:
            self.repairs[names.UNFINISHED] = None
            self.unfinished = True
        if self._state == self.VALUE:
            self.on_value(None, self.pos, self.pos, False)
        self.on_end()
        while self._stack:
            self._stack.pop()
            self.on_close(self.pos, False)
        self._state = self.DONE
        return True


_STEPS: Final[tuple[Callable[[Scanner], bool], ...]] = (
    Scanner._at_root,
    Scanner._at_key,
    Scanner._at_value,
    Scanner._at_item,
    Scanner._in_string,
    Scanner._in_comment,
    Scanner._never,
)
