"""The quick lane: mends damage that can be read in one way only, and leaves the rest to the msgspec decoder.

Patterns step over whatever is plain JSON; the walk stops at brackets and at damage, patches it, and the patched text is
decoded strictly, so that a wrong patch cannot pass. Wherever a string could end in two places, or anything else is
doubtful, it gives up, and the scanner reads the text. Both give the same value.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from json.encoder import encode_basestring
from typing import Final

from trimtab._json import decode_or_none
from trimtab.lenient import repairs as names
from trimtab.lenient.chars import CONTROLS
from trimtab.lenient.document import Document
from trimtab.lenient.repeated import with_repeats
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["read_quickly"]

_WS: Final = "[ \\t\\n\\r]*+"
_NAME: Final = "[A-Za-z_][A-Za-z0-9_]{0,63}+"
_GOOD: Final = (
    '(?:["\\\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2})'
)
_BODY: Final = f'[^"\\\\\ud800-\udfff]*+(?:\\\\{_GOOD}[^"\\\\\ud800-\udfff]*+)*+'
_TEXT: Final = f'"{_BODY}"'
_SCALAR: Final = "(?:-?(?:0|[1-9][0-9]{0,17}+)(?:\\.[0-9]{1,17}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+|true|false|null)"
_KEY: Final = '"[^"\\\\\n\ud800-\udfff]{1,64}+"'
_PAIR: Final = f"{_WS}{_KEY}{_WS}:{_WS}(?:{_TEXT}|{_SCALAR}){_WS}"
_FLAT: Final = f"\\{{{_PAIR}(?:,{_PAIR})*+\\}}"
_BEGIN: Final = "(?:[\"'“\\[{0-9-]|(?:true|false|null|True|False|None|undefined|NaN)(?![A-Za-z0-9_]))"
_KEY_NEXT: Final = f'"{_NAME}"{_WS}:{_WS}{_BEGIN}'
# Keys that are keys also where the text around them leaves a doubt.
_SURE_KEY: Final = (
    f'"(?:startRef|startId|start_ref|start_id|endRef|endId|end_ref|end_id|messageId|topic|summary|content)"{_WS}:'
)
_TAIL: Final = "[}\\]][ \\t\\n\\r}\\]]*+"
_TAG: Final = "```|</|<[|｜]"
_AFTER: Final = f"{_TAIL}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_KEY_NEXT})|\\Z|\\{{{_WS}{_SURE_KEY}|{_TAG})"
_AFTER_DOUBT: Final = f"{_TAIL}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_SURE_KEY})|\\Z|{_TAG})"
_FOLLOW: Final = (
    f"(?={_WS}(?:,{_WS}(?:[{{\\]/#]|\\Z)|\\][ \\t\\n\\r,}}\\]]*+(?:\\Z|\\{{{_WS}{_SURE_KEY}|{_KEY_NEXT}|{_TAG})|\\Z))"
)
_ENDS: Final = f"(?={_WS}(?:,{_WS}(?:\\{{{_WS})?+{_KEY_NEXT}|(?:,{_WS})?+{_AFTER}))"
_CLEAN: Final = re.compile(
    f'(?:[ \\t\\n\\r]++|"{_NAME}"{_WS}:|{_FLAT}{_FOLLOW}(?:{_WS},{_WS}{_FLAT}{_FOLLOW})*+(?:{_WS},(?={_WS}\\{{))?+'
    f"|{_TEXT}{_ENDS}|{_SCALAR}(?={_WS}[,}}\\]])"
    f"|,(?={_WS}[^ \\t\\n\\r,}}\\]{{]))*+(?:{_FLAT}{_WS}(?=\\{{{_WS}{_SURE_KEY}))?+"
)
_HEAD: Final = re.compile(f'\\{{{_WS}"{_NAME}"{_WS}:{_WS}\\[')
_ONE: Final = re.compile(f"{_FLAT}(?:{_FOLLOW}|(?={_WS}\\{{{_WS}{_SURE_KEY}))")

# A string with damage inside; its inner quotes are those with a word and no colon behind them.
_BARE_NEXT: Final = f"{_WS}[A-Za-z_$][A-Za-z0-9_$-]*+{_WS}[:=：]"
_INNER: Final = f'"(?=[A-Za-z0-9.;!?]|[ ][A-Za-z0-9(&]|,[ ](?:[A-Za-z0-9]|"{_NAME}"[ ][A-Za-z]))(?!,?+{_BARE_NEXT})'
_STRING_BEHIND: Final = f'(?:"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"{_WS}[,}}\\]]|[\\[{{0-9-]|true|false|null)'
_DOUBTED: Final = re.compile(
    f'"([^"\\\\]*+(?:(?:\\\\.|(?<![\\[{{ ]){_INNER}|(?<![\\[{{][ ])(?<=[ ]){_INNER})[^"\\\\]*+)*+)"'
    f'{_WS}(?:(?=,{_WS}"{_NAME}"{_WS}:{_WS}{_STRING_BEHIND}|(?:,{_WS})?+{_AFTER_DOUBT})|(?={_KEY_NEXT}))',
    re.DOTALL,
)
_MENDED: Final = re.compile(f'((?:[^\\\\"]++|\\\\{_GOOD})*+)([\\\\"])')
_SINGLE_BAD: Final = re.compile(f"\\\\(?!{_GOOD})")
_BAD: Final = re.compile(f"(?:[^\\\\]++|\\\\{_GOOD})*+\\\\")
_INNER_QUOTE: Final = re.compile('[^\\\\"]*+(?:\\\\.[^\\\\"]*+)*+"', re.DOTALL)
_SURROGATE: Final = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_SMART: Final = re.compile(f'“([^“”"\\\\\ud800-\udfff]*+)”{_ENDS}')

_SINGLE_BODY: Final = "'[^'\"\\\\\ud800-\udfff]*+'"
_SINGLE_PAIR: Final = f"{_WS}'[^'\"\\\\\n\ud800-\udfff]{{1,64}}+'{_WS}:{_WS}(?:{_SINGLE_BODY}|{_SCALAR}){_WS}"
_SINGLE_FLAT: Final = f"\\{{{_SINGLE_PAIR}(?:,{_SINGLE_PAIR})*+\\}}{_FOLLOW}"
_SINGLE_RUN: Final = re.compile(f"{_SINGLE_FLAT}(?:{_WS},{_WS}{_SINGLE_FLAT})*+")
_TRAILING_FLAT: Final = f"\\{{(?:{_PAIR},)++{_WS}\\}}{_FOLLOW}"
_TRAILING_RUN: Final = re.compile(f"{_TRAILING_FLAT}(?:{_WS},{_WS}{_TRAILING_FLAT})*+")
_TRAILING: Final = re.compile(f'(?<=[^\\\\]"),(?={_WS}\\}})')
_LOOSE: Final = '"[^"\\\\\ud800-\udfff]*+(?:\\\\[^u\n][^"\\\\\ud800-\udfff]*+)*+"'
_LOOSE_PAIR: Final = f"{_WS}{_KEY}{_WS}:{_WS}(?:{_LOOSE}|{_SCALAR}){_WS}"
_LOOSE_FLAT: Final = f"\\{{{_LOOSE_PAIR}(?:,{_LOOSE_PAIR})*+\\}}{_FOLLOW}"
_LOOSE_RUN: Final = re.compile(f"{_LOOSE_FLAT}(?:{_WS},{_WS}{_LOOSE_FLAT})*+")
_NEXT_ENTRY: Final = f",(?={_WS}\\{{{_WS}{_SURE_KEY})"
_OPEN_RUN: Final = re.compile(f"(?:\\{{{_PAIR}(?:,{_PAIR})*+{_NEXT_ENTRY}{_WS})++")
_OPEN_ENTRY: Final = re.compile(_NEXT_ENTRY)
_BARE_PAIR: Final = f"{_WS}({_NAME})({_WS}:{_WS}(?:{_TEXT}|{_SCALAR}))"
_BARE_FLAT: Final = f"\\{{{_BARE_PAIR}{_WS}(?:,{_BARE_PAIR}{_WS})*+\\}}{_FOLLOW}".replace(f"({_NAME})", _NAME)
_BARE_RUN: Final = re.compile(f"{_BARE_FLAT}(?:{_WS},{_WS}{_BARE_FLAT})*+")
_BARE_PAIRS: Final = re.compile(f"({_NAME})({_WS}:{_WS}(?:{_TEXT}|{_SCALAR}))")
_SINGLE_NEXT: Final = f"'{_NAME}'{_WS}:{_WS}{_BEGIN}"
_SINGLE_AFTER: Final = (
    f"{_TAIL}(?:,[ \\t\\n\\r,}}\\]]*+(?:\\Z|(?:\\{{{_WS})?+{_SINGLE_NEXT})|\\Z|{_SINGLE_NEXT}|```|</)"
)
_SINGLE: Final = re.compile(f"'([^'\\\\]*+)'(?={_WS}(?:,{_WS}{_SINGLE_NEXT}|{_SINGLE_AFTER}))")
_SINGLE_KEY: Final = re.compile(f"'({_NAME})'{_WS}:")
_BARE_KEY: Final = re.compile(f"({_NAME}){_WS}:(?={_WS}{_BEGIN})")
_LITERALS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_LITERAL: Final = re.compile(f"({'|'.join(_LITERALS)})(?={_WS}[,}}\\]])")
_COMMENT: Final = re.compile("//[^\\n]*+\\n|/\\*(?:[^*]|\\*(?!/))*+\\*/|#[^\\n]*+\\n")
_SPACE: Final = re.compile(_WS)
_DROPPED: Final = re.compile(f"{_WS}[}}\\]]")
_MEMBERS: Final = re.compile(f'(?:{_PAIR},(?={_WS}(?:["A-Za-z_]|\\Z)))*+')
_LAST_PAIR: Final = re.compile(f"{_WS}{_KEY}{_WS}:{_WS}{_TEXT}{_WS}\\Z")
_HALF: Final = re.compile(
    f'{_WS}(?:"([^"\\\\\x00-\\x1f]{{1,64}}+)"{_WS}:{_WS}(?:"([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)\\\\?+|[0-9]*+)?+'
    f'|"{_NAME}"{_WS}|"(?:{_NAME})?+)?+\\Z',
    re.DOTALL,
)
_REST: Final = re.compile(f"[ \\t]*+\\n|[ \\t\\n\\r,}}\\]]*+(?:\\Z|\\{{{_WS}{_SURE_KEY}|{_TAG})")
_loose = JSONDecoder(strict=False).decode
_MAX_LEVELS: Final = 200


def read_quickly(text: str, start: int, *, repeats: bool = False) -> Document | None:
    """The document that begins at index `start` with a bracket; None: its damage (with `repeats` also a key that stands
    twice) is not of the easy kinds.
    """
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
        text, n, stack, clean = self.text, len(self.text), self.stack, _CLEAN.match
        head = _HEAD.match(text, self.start)
        if head is not None:
            stack += ["}", "]"]
            self._marked(head.end())
        while True:
            i: int = clean(text, self.pos).end()  # type: ignore[union-attr]  # it matches the empty text
            if i >= n:
                return self._unfinished(i)
            char = text[i]
            if char == "{" or char == "[":
                if not self._opens(char, i):
                    return None
            elif char == "}" or char == "]":
                if not stack or (stack[-1] != char and not self._closes(i)):
                    return None
                stack.pop()
                self._marked(i + 1)
                if not stack:
                    return self._finished(i + 1)
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
        one = _ONE.match(text, i)
        if one is None:
            return False
        while True:
            i = _SPACE.match(text, one.end()).end()  # type: ignore[union-attr]  # it matches the empty text
            if text[i : i + 1] != "{":
                self._marked(i)
                return True
            self._patch(i, i, ",", names.MISSING_COMMA)
            one = _ONE.match(text, i)
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
            run = _SINGLE_RUN.match(text, i)
            new, repair = run and run[0].replace("'", '"'), names.QUOTES
        elif char != '"':
            run = _BARE_RUN.match(text, i)
            new, repair = run and _BARE_PAIRS.sub(r'"\1"\2', run[0]), names.BARE_KEY
        elif (run := _TRAILING_RUN.match(text, i)) is not None:
            new, count = _TRAILING.subn("", run[0])
            values, repair = decode_or_none(f"[{new}]"), names.EXTRA_COMMA
            if values is None or count != len(values):  # one of them stood inside a string
                return False
        elif (run := _OPEN_RUN.match(text, i)) is not None:
            new, repair = _OPEN_ENTRY.sub("},", run[0].rstrip(" \t\n\r")[:-1]) + "},", names.MISSING_BRACKET
        else:
            run, repair = _LOOSE_RUN.match(text, i), names.BAD_ESCAPE
            new = run and ("\\\\" not in run[0] or None) and _SINGLE_BAD.sub(r"\\\\", run[0])
        if run is None or not new or new == run[0]:
            return False
        self._patch(i, run.end(), new, repair)
        self._marked(self.pos)
        return True

    def _closes(self, i: int) -> bool:
        """A `]` inside an object in an array: the object's own brace is missing."""
        stack = self.stack
        if self.text[i] != "]" or len(stack) < 2 or stack[-1] != "}" or stack[-2] != "]":
            return False
        self._patch(i, i, "}", names.MISSING_BRACKET)
        stack.pop()
        return True

    def _comma(self, i: int) -> bool:
        """A comma with a closing bracket behind it, or with an object."""
        stack = self.stack
        if _DROPPED.match(self.text, i + 1):
            return self._patch(i, i + 1, "", names.EXTRA_COMMA)
        behind: int = _SPACE.match(self.text, i + 1).end()  # type: ignore[union-attr]  # it matches the empty text
        if self.text[behind : behind + 1] != "{":
            return False
        if stack[-1:] == ["}"]:  # the object before it lacks its brace
            if stack[-2:-1] != ["]"] or self.mark == i:
                return False
            self._patch(i, i, "}", names.MISSING_BRACKET)
            stack.pop()
        self.pos = i + 1
        return True

    def _string(self, i: int) -> bool:
        """A string with bad characters, bad escapes or inner quotes in it, or no comma behind it."""
        found = _DOUBTED.match(self.text, i)
        if found is None or self.stack[-1:] != ["}"]:
            return False
        source, end = found[1], found.end()
        if not source and self.text.startswith('"""', i):
            return False
        if ("\\u" in source or not source.isascii()) and _SURROGATE.search(source):
            return False
        if "\\" not in source:
            mended = source.replace('"', '\\"')
        elif "\\\\" not in source and '"' not in source:
            mended = _SINGLE_BAD.sub(r"\\\\", source)
        else:
            mended = _MENDED.sub(r"\1\\\2", source)
        if len(mended) != len(source):
            inner = _INNER_QUOTE.match(source) is not None
            if inner:
                self.repairs[names.INNER_QUOTE] = None
            if not inner or _BAD.match(source):
                self.repairs[names.BAD_ESCAPE] = None
        quoted = f'"{mended}"'
        if self.text[end : end + 1] == '"':
            return self._patch(i, end, quoted + ",", names.MISSING_COMMA)
        self.pieces.append(self.text[self.copied : i])
        self.pieces.append(quoted)
        self.copied = self.pos = end
        return True

    def _smart(self, i: int) -> bool:
        found = _SMART.match(self.text, i)
        return found is not None and self._patch(i, found.end(), f'"{found[1]}"', names.QUOTES)

    def _single(self, i: int) -> bool:
        found = _SINGLE_KEY.match(self.text, i)
        if found is not None:
            return self._patch(i, found.end(), f'"{found[1]}":', names.QUOTES)
        found = _SINGLE.match(self.text, i)
        if found is None or self.stack[-1:] != ["}"]:
            return False
        quoted = encode_basestring(text_of(found[1], "'", self.repairs))
        return self._patch(i, found.end(), quoted, names.QUOTES)

    def _comment(self, i: int) -> bool:
        found = _COMMENT.match(self.text, i)
        return bool(found and self._patch(i, found.end(), " ", names.COMMENT))

    def _word(self, i: int) -> bool:
        found = _BARE_KEY.match(self.text, i)
        if found is not None and self._before(i) in ("{", ","):
            return self._patch(i, found.end(), f'"{found[1]}":', names.BARE_KEY)
        found = _LITERAL.match(self.text, i)
        return found is not None and self._patch(i, found.end(), _LITERALS[found[1]], names.LITERAL)

    def _decoded(self, patched: str) -> Json:
        """The value of the patched text, in which control characters may still stand as themselves; or None."""
        value = decode_or_none(patched)
        if value is None and CONTROLS.search(patched):
            try:
                value = _loose(patched)
            except ValueError:
                return None
            self.repairs[names.CONTROL] = None
        return None if self.repeats and with_repeats(patched, value) is not value else value

    def _finished(self, end: int) -> Document | None:
        if end < len(self.text) and not _REST.match(self.text, end):
            return None  # the scanner knows how to tell other text behind the document from text of its last string
        patched = "".join([*self.pieces, self.text[self.copied : end]])
        value = self._decoded(patched)
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
            whole = _MEMBERS.match(rest)[0]  # type: ignore[index]  # it matches the empty text
            last = _LAST_PAIR.match(rest, len(whole))
            half = None if last else _HALF.match(rest, len(whole))
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
        value = self._decoded(f"{before}{whole}{''.join(reversed(stack))}")
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
    "/": _Mender._comment,
    "#": _Mender._comment,
}
