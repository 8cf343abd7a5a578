"""The part of the scanner that reads strings, and the state that all parts share."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Final

from trimtab.lenient import repairs as names
from trimtab.lenient.chars import (
    BODIES,
    FULL_WIDTH_MARKS,
    KEY_AHEAD,
    QUOTE_ENDS,
    SPACE,
    STRAIGHT,
)
from trimtab.lenient.closing import WINDOW, Place, ends_item, ends_member, ends_root, is_known
from trimtab.lenient.joining import next_part, past_bracket, past_operands
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["MANY", "QuotedText"]

_TRIPLE: Final = {
    quote: re.compile(rf"(?:[^\\{quote}]|\\.|{quote}(?={quote}?[^{quote}]))*", re.DOTALL) for quote in STRAIGHT
}
_ENTRY_START: Final = re.compile("\\}[ \\t\\r\\n]*+,?+[ \\t\\r\\n]*+\\{[ \\t\\r\\n]*+\\Z")
_BEHIND: Final = 64
_REF: Final = re.compile("[ \\t\\r\\n]*+([mMbB][0-9]{1,7})[ \\t\\r\\n]*+")
_KEY_AND_COLON: Final = re.compile("([A-Za-z_][A-Za-z0-9_-]{0,39}+)[ \\t]{0,4}+([:：])[ \\t\\r\\n\\[{]{0,8}+")
_COLONS: Final = frozenset(":：=")
_BARE: Final = 7  # the group of KEY_AHEAD that is a key without quotes
_NO_LAST_CHAR: Final = frozenset("\"'“”‘’`,[{ \t\r\n")  # of a string whose quote was lost before a comma
_QUOTE_RUN: Final = re.compile("([\"'`“”„‘’‚«»＂＇])\\1*+")
_EARLY: Final = re.compile('["\'][ \\t\\r\\n]*+,[ \\t\\r\\n]*+(["\'])[A-Za-z_]++\\1[ \\t]*+:[ \\t\\r\\n]*+["\\[{0-9]')
# More of what may be missing or inside a string than any text has by mistake.
MANY: Final = 30_000
_decode = JSONDecoder().raw_decode


class QuotedText:
    """State of a scanner, and how it reads the things that have no structure inside."""

    ROOT: Final = 0
    KEY: Final = 1
    VALUE: Final = 2
    ITEM: Final = 3
    STRING: Final = 4
    COMMENT: Final = 5
    DONE: Final = 6

    def __init__(self, *, known: frozenset[str]) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0  # how much of the document lies before the buffer
        self.closed = False
        self.bulk = False
        self.unfinished = False
        self.repairs: dict[str, None] = {}
        self._known = known
        self._state: int = self.ROOT
        self._stack: list[
            bool | None
        ] = []  # for each open container: an object, an array, or (None) an array without brackets
        self._objects = 0
        self._implied = 0
        self._fresh = True  # nothing was read since the innermost container was opened
        self._commas = 0
        self._colon = False
        self._bare_keys = False
        self._quote = ""
        self._triple = False
        self._is_key_text = False
        self._start = 0
        self._scan = 0
        self._pieces: list[str] = []
        self._joined: list[str] = []  # the texts before this one that are one string with it
        self._in_brackets = False
        self._doubt = False
        self._inner = 0  # inner quotes, joints, missing commas, keys and values in all the text
        self._skipped = -1
        self._wasted = 0
        self._comment_end = ""
        self._resume = 0

    def on_open(self, is_object: bool, start: int) -> None:
        """A container was opened at this index of the buffer."""
        raise NotImplementedError

    def on_close(self, end: int, by_text: bool) -> None:
        """The innermost container was closed; `by_text`: by its own bracket or by one further out."""
        raise NotImplementedError

    def on_key(self, name: str, start: int, end: int) -> None:
        """A key of the innermost object was read."""
        raise NotImplementedError

    def on_value(self, value: Json, start: int, end: int, by_text: bool) -> None:
        """A value that is no container was read; `by_text`: its end stands in the text."""
        raise NotImplementedError

    def on_imply(self) -> bool:
        """The last value of the innermost object begins an array without brackets; False: it cannot."""
        return False

    def on_end(self) -> None:
        """The text ended inside what is open now."""

    def _end(self) -> bool:
        raise NotImplementedError

    def _pop(self, end: int, by_text: bool) -> None:
        raise NotImplementedError

    def _run(self, i: int) -> bool:
        return False

    def _member(self) -> bool:
        return False

    def _quoted_object(self, i: int) -> bool:
        return False

    def _skip(self, i: int) -> int:
        """The index behind white space."""
        return SPACE.match(self.text, i).end()  # type: ignore[union-attr]  # it matches the empty text

    def _enough(self, i: int) -> bool:
        """Whether all that a rule may look at behind this index is there."""
        return self.closed or len(self.text) - i >= WINDOW

    def _after_value(self) -> None:
        self._fresh = False
        self._commas = 0
        stack = self._stack
        self._state = (self.KEY if stack[-1] else self.ITEM) if stack else self.DONE

    def _place(self) -> Place:
        return Place(
            stack=self._stack,
            known=self._known,
            bare_keys=self._bare_keys,
            doubt=self._doubt,
        )

    def key_ahead(self, i: int) -> bool:
        """Whether a quoted key and its colon stand at this index."""
        return KEY_AHEAD.match(self.text, i, i + WINDOW) is not None

    def _open_string(self, quote: str, i: int, is_key: bool) -> bool:
        text = self.text
        if not self.closed and len(text) - i < 3:
            return False
        self._begin_text(quote, i)
        self._start, self._is_key_text = i, is_key
        self._resume, self._state = self._state, self.STRING
        return True

    def _begin_text(self, quote: str, i: int) -> None:
        """A string, or the next part of it, begins with the quote at this index."""
        if quote != '"':
            self.repairs[names.FULL_WIDTH if quote in FULL_WIDTH_MARKS else names.QUOTES] = None
        self._triple = quote in STRAIGHT and self.text.startswith(quote * 3, i)
        if self._triple:
            self.repairs[names.QUOTES] = None
        self._quote = quote
        self.pos = self._scan = i + (3 if self._triple else 1)
        self._pieces.clear()
        self._doubt, self._skipped = False, -1

    def _in_string(self) -> bool:
        """Read on in a string up to the quote that ends it."""
        text, n = self.text, len(self.text)
        ends = QUOTE_ENDS[self._quote]
        body = _TRIPLE[ends] if self._triple else BODIES[ends]
        while True:
            at: int = body.match(text, self._scan).end()  # type: ignore[union-attr]  # it matches the empty text
            if at >= n or text[at] == "\\" or (self._triple and not text.startswith(text[at] * 3, at)):
                self._scan = at
                return self._string_runs_out(at)
            waits = not self._triple or self._in_brackets
            if waits and not self._is_key_text and not self._enough(at) and not self._is_early(at):
                self._scan = at
                self._keep(at)
                return False
            behind = at + (3 if self._triple else 1)
            if not self._triple and not self._is_key_text and text.startswith(text[at] * 4, at):
                behind = _QUOTE_RUN.match(text, at).end()  # type: ignore[union-attr]  # a quote stands there
                at = behind - 1
                if not self._enough(at):
                    self._scan = at
                    return False
                self.repairs[names.INNER_QUOTE] = None
            if self._is_key_text and self._known and not self._pieces and not self._triple:
                lost = self._key_runs_on(at)
                if lost is not False:
                    self._scan = at
                    return lost is True
            end = min(len(text), behind + WINDOW)
            if self._is_key_text or self._triple or self._ends(behind, end):
                self._finish(at, self._past_bracket(behind, end), True)
                return True
            if not self._doubt and self._joins(at, behind, end):
                return True
            self._inner += 1
            if self._inner > MANY:
                return self._give_up()
            if self._is_cut(at):
                return True
            self.repairs[names.INNER_QUOTE] = None
            self._doubt = True
            self._scan = self._past_object(at)

    def _is_early(self, at: int) -> bool:
        """Whether the quote at this index ends its string, whatever text is still to come."""
        return bool(self._stack and self._stack[-1]) and not self._doubt and _EARLY.match(self.text, at) is not None

    def _give_up(self) -> bool:
        """This is no data that anyone meant: what follows is not read."""
        self.repairs[names.GIVEN_UP] = None
        self.pos = len(self.text)
        self.closed = True
        return self._end()

    def _end_before(self, i: int) -> bool:
        """What stands at this index is no part of the document: the brackets before it are missing."""
        self.repairs[names.MISSING_BRACKET] = None
        while self.bulk and self.text[i - 1] in " \t\r\n":
            i -= 1
        while self._stack:
            self._pop(i, True)
        return True

    def _keep(self, at: int) -> None:
        """Put what was read of a long string aside; a few chars stay for looking back."""
        cut = at - _BEHIND
        if not self.closed and cut > self.pos:
            self._pieces.append(self.text[self.pos : cut])
            self.pos = cut

    def _string_runs_out(self, at: int) -> bool:
        if not self.closed:
            self._keep(at)
            return False
        self._finish(at, len(self.text), False)
        if self._state != self.DONE:
            return self._end()
        self.unfinished = True
        self.repairs[names.UNFINISHED] = None
        return True

    def _finish(self, at: int, behind: int, by_text: bool) -> None:
        """The string ends before index `at`; the text goes on at `behind`."""
        source = self.text[self.pos : at]
        if self._pieces:
            source = "".join([*self._pieces, source])
        value = text_of(source, self._quote, self.repairs)
        if self._joined:
            value = "".join([*self._joined, value])
            self._joined.clear()
        self._in_brackets = False
        self.pos = behind
        if self._is_key_text:
            self.on_key(value, self._start, behind)
            self._colon, self._state = False, self.VALUE
        else:
            self._state = self._resume
            self.on_value(value, self._start, behind, by_text)
            self._after_value()

    def _key_runs_on(self, at: int) -> bool | None:
        """Whether a key has lost its closing quote, so that the quote at this index is that of its value; then the key
        is told. None: more text is needed to say so.
        """
        found = _KEY_AND_COLON.fullmatch(self.text, self.pos, at)
        if found is None or not is_known(found[1], self._known):
            return False
        if not self._enough(at):
            return None
        if self._peek_behind(at + 1) in _COLONS:
            return False
        self.repairs[names.MISSING_QUOTE] = None
        self.pos = found.end(2)
        self.on_key(found[1], self._start, self.pos)
        self._colon, self._state = True, self.VALUE
        return True

    def _peek_behind(self, i: int) -> str:
        """The first character behind white space, or "" at the end."""
        i = self._skip(i)
        return self.text[i : i + 1]

    def _ends(self, behind: int, end: int) -> bool:
        """Whether the quote before index `behind` ends the string, by what stands there up to index `end`."""
        if not self._stack:
            return ends_root(self.text, behind, end)
        behind = self._past_bracket(behind, end)
        rule = ends_member if self._stack[-1] else ends_item
        return rule(self.text, behind, end, self._place())

    def _past_bracket(self, at: int, end: int) -> int:
        """The index behind the bracket around the string, if there is one."""
        return past_bracket(self.text, at, end) if self._in_brackets else at

    def _joins(self, at: int, behind: int, end: int) -> bool:
        """Whether the string goes on in another one, as in `"a" + "b"`; then that one is read on."""
        text = self.text
        found = next_part(text, behind, end, self._ends, bool(self._stack and self._stack[-1]))
        if found >= 0:
            self.repairs[names.CONCATENATED] = None
            self._inner += 1
            if self._inner > MANY:
                return self._give_up()
            source = "".join([*self._pieces, text[self.pos : at]])
            self._joined.append(text_of(source, self._quote, self.repairs))
            self._begin_text(text[found], found)
            return True
        found = past_operands(text, behind, end, self._ends)
        if found < 0:
            return False
        self.repairs[names.MISSING_VALUE] = None
        self._joined.clear()
        self._state = self._resume
        self.pos = self._past_bracket(found, end)
        self._in_brackets = False
        self.on_value(None, self._start, self.pos, True)
        self._after_value()
        return True

    def _is_cut(self, at: int) -> bool:
        """Whether the string lost its closing quote: another member or entry begins inside it. A ref ends there; of any
        other string nobody knows where it was to end, and it is given up.
        """
        if not self._known or not self._stack or not self._stack[-1]:
            return False
        found = KEY_AHEAD.match(self.text, at, at + WINDOW)
        if found is None or not is_known(found[found.lastindex or 0], self._known):
            return False
        end = self._lost_end(at, found.lastindex != _BARE)
        if end < 0:
            return False
        self.repairs[names.MISSING_QUOTE] = None
        self._inner += 4
        self._joined.clear()
        self._in_brackets = False
        self._state = self._resume
        ref = None if self._pieces else _REF.fullmatch(self.text, self.pos, end)
        self.pos = end
        self.on_value(ref and ref[1], self._start, end, True)
        self._after_value()
        return True

    def _lost_end(self, at: int, is_quoted: bool) -> int:
        """The index of the bracket or comma before which a string ended whose quote was lost before a key at `at`; -1:
        it does not look so.
        """
        text = self.text
        brace = text.rfind("}", max(self.pos, at - 32), at)
        if brace >= 0:
            return brace if brace + 1 != self._skipped and _ENTRY_START.match(text, brace, at) else -1
        comma = text.rfind(",", max(self.pos, at - 32), at)
        if comma <= self.pos or self._doubt or not is_quoted or text[comma + 1 : at].strip(" \t\r\n"):
            return -1
        return comma if text[comma - 1] not in _NO_LAST_CHAR else -1

    def _past_object(self, at: int) -> int:
        """Where to read on behind an inner quote: a whole JSON object or array in a string is text of the string."""
        text = self.text
        brace = at - 1
        while brace >= self.pos and text[brace] in " \t\r\n":
            brace -= 1
        if brace < self.pos or text[brace] not in "{[":
            return at + 1
        if brace > self.pos and text[brace] == "{" and text[brace - 1] == "[":
            brace -= 1
        if self._wasted > 16 * WINDOW + 4 * (self.base + at):
            return at + 1
        try:
            end = _decode(text[brace : brace + WINDOW])[1]
        except (ValueError, RecursionError):
            self._wasted += WINDOW
            return at + 1
        self._skipped = brace + end
        return max(at + 1, brace + end)
