"""The quick lane: mends damage that can be read in one way only, and leaves the rest to the msgspec decoder.

Patterns step over whatever is plain JSON; the walk stops at brackets and at damage, patches it, and the patched text is
decoded strictly, so that a wrong patch cannot pass. Wherever a string could end in two places, or anything else is
doubtful, it gives up, and the scanner reads the text. Both give the same value.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import Final

from trimtab._json import decode_or_none
from trimtab.lenient import repairs as names
from trimtab.lenient.cut import cut_entry, decoded, read_cut
from trimtab.lenient.document import Document
from trimtab.lenient.shapes import (
    BAD,
    BARE_KEY,
    BARE_PAIRS,
    BARE_RUN,
    CLEAN,
    COMMENT,
    DOUBTED,
    DROPPED,
    FIRST_MEMBERS,
    FLAT,
    HALF,
    HEAD,
    INNER_QUOTE,
    LAST_PAIR,
    LITERAL,
    LITERALS,
    LOOSE_RUN,
    MEMBERS,
    MENDED,
    NO_COLON,
    ONE,
    OPEN_ENTRY,
    OPEN_RUN,
    REST,
    SINGLE,
    SINGLE_BAD,
    SINGLE_KEY,
    SINGLE_RUN,
    SMART,
    SPACE,
    SURPLUS,
    SURROGATE,
    TICKED,
    TRAILING,
    TRIPLE,
)
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["read_quickly"]

_MAX_LEVELS: Final = 200


def read_quickly(text: str, start: int, *, repeats: bool = False) -> Document | None:
    """The document that begins at index `start` with a bracket; None: its damage (with `repeats` also a key that stands
    twice) is not of the easy kinds.
    """
    found = cut_entry(text, start)
    if found is not None:
        return read_cut(text, start, found, repeats)
    return _Mender(text, start, repeats).run()


class _Mender:
    """One walk: `pieces` is the patched text up to `copied`."""

    __slots__ = ("copied", "copied_at_mark", "mark", "pieces", "pos", "repairs", "repeats", "stack", "start", "text")

    def __init__(self, text: str, start: int, repeats: bool) -> None:
        self.text = text
        self.repeats = repeats
        self.start = start
        self.pos = self.copied = self.mark = self.copied_at_mark = start
        self.pieces: list[str] = []
        self.stack: list[str] = []
        self.repairs: dict[str, None] = {}

    def run(self) -> Document | None:
        text, n, stack, clean = self.text, len(self.text), self.stack, CLEAN.match
        head = HEAD.match(text, self.start)
        if head is not None:
            stack += ["}", "]"]
            self._marked(head.end())
        elif (whole := FLAT.match(text, self.start)) is not None:
            return self._finished(whole.end())
        else:
            self._push(text[self.start], self.start)
        while True:
            i: int = clean(text, self.pos).end()  # type: ignore[union-attr]  # it matches the empty text
            if i >= n:
                return self._unfinished(i)
            char = text[i]
            if char == "}" or char == "]":
                if not stack or (stack[-1] != char and not self._closes(i)):
                    return None
                if self.pos > i:  # it was one too many
                    continue
                stack.pop()
                self._marked(i + 1)
                if not stack:
                    return self._finished(i + 1)
            elif char == "{" or char == "[":
                if not self._opens(char, i):
                    return None
            else:
                patch = _PATCHES.get(char, _Mender._word)
                self.pos = i
                if not patch(self, i):
                    return self._unfinished(i)

    def _patch(self, begin: int, end: int, new: str, repair: str) -> bool:
        """Put `new` in the place of a part of the text."""
        self.pieces.append(self.text[self.copied : begin])
        self.pieces.append(new)
        self.copied = self.pos = end
        self.repairs[repair] = None
        return True

    def _before(self, i: int) -> str:
        """The last significant character before this index."""
        text = self.text
        i -= 1
        while i >= self.start and text[i] in " \t\r\n":
            i -= 1
        return text[i] if i >= self.start else ""

    def _opens(self, char: str, i: int) -> bool:
        """An opening bracket: after a closed entry a comma may be missing before it, after a member a brace."""
        stack = self.stack
        if char == "{" and stack and self.text.find("}", i) >= 0:  # otherwise the text ends inside it
            if stack[-1] == "]" and self._run_at(i):
                return True
            before = self._before(i)
            if before == "}":
                self._patch(i, i, ",", names.MISSING_COMMA)
                return self._more(i) or self._push(char, i)
            if stack[-1] == "}" and before != ":":
                return False
        return self._push(char, i)

    def _push(self, char: str, i: int) -> bool:
        if len(self.stack) >= _MAX_LEVELS:
            return False
        self.stack.append("}" if char == "{" else "]")
        self._marked(i + 1)
        return True

    def _more(self, i: int) -> bool:
        """Take the objects that stand here one after another without commas."""
        text = self.text
        one = ONE.match(text, i)
        if one is None:
            return False
        while True:
            i = SPACE.match(text, one.end()).end()  # type: ignore[union-attr]  # it matches the empty text
            if text[i : i + 1] != "{":
                self._marked(i)
                return True
            self._patch(i, i, ",", names.MISSING_COMMA)
            one = ONE.match(text, i)
            if one is None:
                return self._push("{", i)

    def _marked(self, i: int) -> None:
        """All before this index is settled."""
        self.pos = self.mark = i
        self.copied_at_mark = self.copied

    def _run_at(self, i: int) -> bool:
        """Take the objects that stand here in an array and have one kind of damage."""
        text, char = self.text, self.text[i + 1 : i + 2]
        if char == "'":
            run = SINGLE_RUN.match(text, i)
            new, repair = run and run[0].replace("'", '"'), names.QUOTES
        elif char != '"':
            run = BARE_RUN.match(text, i)
            new, repair = run and BARE_PAIRS.sub(r'"\1"\2', run[0]), names.BARE_KEY
        elif (run := self._members(i))[1]:
            new, count = TRAILING.subn("", run[0])
            values, repair = decode_or_none(f"[{new}]"), names.EXTRA_COMMA
            if values is None or count != len(values):  # one of them stood inside a string
                return False
        elif text[run.end() : run.end() + 1] == "{":
            run, repair = OPEN_RUN.match(text, i), names.MISSING_BRACKET
            new = run and OPEN_ENTRY.sub("},", run[0].rstrip(" \t\n\r")[:-1]) + "},"
        elif "\\" not in text:
            return False
        else:
            run, repair = LOOSE_RUN.match(text, i), names.BAD_ESCAPE
            new = run and ("\\\\" not in run[0] or None) and SINGLE_BAD.sub(r"\\\\", run[0])
        if run is None or not new or new == run[0]:
            return False
        self._patch(i, run.end(), new, repair)
        self._marked(self.pos)
        return True

    def _members(self, i: int) -> re.Match[str]:
        """The plain members of the object at this index."""
        return FIRST_MEMBERS.match(self.text, i)  # type: ignore[return-value]  # a brace stands there

    def _closes(self, i: int) -> bool:
        """A `]` inside an object in an array: the object's own brace is missing. One at the end, with no array open, is
        too many.
        """
        stack = self.stack
        if self.text[i] == "]" and "]" not in stack and SURPLUS.match(self.text, i):
            return self._patch(i, i + 1, "", names.EXTRA_BRACKET)
        if self.text[i] != "]" or len(stack) < 2 or stack[-1] != "}" or stack[-2] != "]":
            return False
        self._patch(i, i, "}", names.MISSING_BRACKET)
        stack.pop()
        return True

    def _comma(self, i: int) -> bool:
        """A comma with a closing bracket behind it, or with an object."""
        stack = self.stack
        if DROPPED.match(self.text, i + 1):
            return self._patch(i, i + 1, "", names.EXTRA_COMMA)
        behind: int = SPACE.match(self.text, i + 1).end()  # type: ignore[union-attr]  # it matches the empty text
        if self.text[behind : behind + 1] != "{":
            return False
        if self._before(i) == "[":
            return self._patch(i, i + 1, "", names.EXTRA_COMMA)
        if stack[-1:] == ["}"]:  # the object before it lacks its brace
            if stack[-2:-1] != ["]"] or self.mark == i:
                return False
            self._patch(i, i, "}", names.MISSING_BRACKET)
            stack.pop()
        self.pos = i + 1
        return True

    def _string(self, i: int) -> bool:
        """A string with bad characters, bad escapes or inner quotes in it, or no comma behind it."""
        found = DOUBTED.match(self.text, i)
        if self.stack[-1:] != ["}"]:
            return False
        if self.text.startswith('"""', i):
            return self._quoted(TRIPLE.match(self.text, i))
        if found is None:
            return self._colonless(i)
        source, end = found[1], found.end()
        if ("\\u" in source or not source.isascii()) and SURROGATE.search(source):
            return False
        if "\\" not in source:
            mended = source.replace('"', '\\"')
        elif "\\\\" not in source and '"' not in source:
            mended = SINGLE_BAD.sub(r"\\\\", source)
        else:
            mended = MENDED.sub(r"\1\\\2", source)
        if len(mended) != len(source):
            inner = INNER_QUOTE.match(source) is not None
            if inner:
                self.repairs[names.INNER_QUOTE] = None
            if not inner or BAD.match(source):
                self.repairs[names.BAD_ESCAPE] = None
        quoted = f'"{mended}"'
        if self.text[end : end + 1] == '"':
            return '"' not in source and self._patch(i, end, quoted + ",", names.MISSING_COMMA)
        self.pieces.append(self.text[self.copied : i])
        self.pieces.append(quoted)
        self.copied = self.pos = end
        return True

    def _colonless(self, i: int) -> bool:
        """A key and a bracket behind it."""
        found = NO_COLON.match(self.text, i)
        if found is None or self._before(i) not in ("{", ","):
            return False
        return self._patch(i, found.end(), f'"{found[1]}":', names.MISSING_COLON)

    def _quoted(self, found: re.Match[str] | None) -> bool:
        """A string in other quotes, with none inside."""
        return found is not None and self._patch(found.start(), found.end(), f'"{found[1]}"', names.QUOTES)

    def _smart(self, i: int) -> bool:
        return self._quoted(SMART.match(self.text, i))

    def _ticked(self, i: int) -> bool:
        return self.stack[-1:] == ["}"] and self._quoted(TICKED.match(self.text, i))

    def _single(self, i: int) -> bool:
        found = SINGLE_KEY.match(self.text, i)
        if found is not None:
            return self._patch(i, found.end(), f'"{found[1]}":', names.QUOTES)
        found = SINGLE.match(self.text, i)
        if found is None or self.stack[-1:] != ["}"]:
            return False
        quoted = encode_basestring(text_of(found[1], "'", self.repairs))
        return self._patch(i, found.end(), quoted, names.QUOTES)

    def _comment(self, i: int) -> bool:
        found = COMMENT.match(self.text, i)
        return bool(found and self._patch(i, found.end(), " ", names.COMMENT))

    def _word(self, i: int) -> bool:
        found = BARE_KEY.match(self.text, i)
        if found is not None and self._before(i) in ("{", ","):
            return self._patch(i, found.end(), f'"{found[1]}":', names.BARE_KEY)
        found = LITERAL.match(self.text, i)
        return found is not None and self._patch(i, found.end(), LITERALS[found[1]], names.LITERAL)

    def _finished(self, end: int) -> Document | None:
        if end < len(self.text) and not REST.match(self.text, end):
            return None  # the scanner knows how to tell other text behind the document from text of its last string
        patched = "".join([*self.pieces, self.text[self.copied : end]])
        value = decoded(patched, self.repairs, self.repeats)
        if value is None:
            return None
        return self._document(value, end)

    def _document(
        self, value: Json, end: int, left_open: tuple[Json, ...] = (), cut: str | None = None, key: str = ""
    ) -> Document:
        return Document(
            value=value,
            start=self.start,
            end=end,
            finished=not left_open,
            open=left_open,
            cut=cut,
            last_key=key,
            repairs=tuple(self.repairs),
        )

    def _unfinished(self, i: int) -> Document | None:
        """The text ends inside the document, and nothing doubtful stands before this index: what is whole of it."""
        text, stack = self.text, self.stack
        if self.copied != self.copied_at_mark or not stack:
            return None
        rest = text[self.mark :]
        whole, cut, key = "", None, ""
        if not rest:
            pass
        elif stack[-1] == "}":
            whole = MEMBERS.match(rest)[0]  # type: ignore[index]  # it matches the empty text
            last = LAST_PAIR.match(rest, len(whole))
            half = None if last else HALF.match(rest, len(whole))
            if last:
                whole = rest
            elif half is None:
                return None
            else:
                cut, key = half[2], half[1] or ""
            whole = whole.rstrip(" \t\r\n").removesuffix(",")
        elif text[i:].strip(" \t\r\n") not in ("", ","):
            return None
        else:
            whole = rest.rstrip(" \t\r\n").removesuffix(",")
        before = "".join([*self.pieces, text[self.copied : self.mark]])
        value = decoded(f"{before}{whole}{''.join(reversed(stack))}", self.repairs, self.repeats)
        if value is None:
            return None
        self.repairs[names.UNFINISHED] = None
        left_open = [value]
        for _ in stack[1:]:
            inner = left_open[-1]
            left_open.append(inner[-1] if isinstance(inner, list) else inner[next(reversed(inner))])
        cut = None if cut is None else text_of(cut, '"', self.repairs)
        return self._document(value, len(text), tuple(left_open), cut, key)


_PATCHES: Final = {
    ",": _Mender._comma,
    '"': _Mender._string,
    "'": _Mender._single,
    "“": _Mender._smart,
    "`": _Mender._ticked,
    "/": _Mender._comment,
    "#": _Mender._comment,
}
