"""Builds the value of a damaged document, and tells which parts of it the text ended inside."""

from __future__ import annotations

import re
import sys
from json import JSONDecoder
from typing import Final

from trimtab._json import decode_or_none
from trimtab.lenient.chars import ENTRY_RUN, LIST_RUN, MEMBER, SINGLE_TEXT_RUN, TEXT_RUN
from trimtab.lenient.closing import WINDOW, is_known, known_key_ahead
from trimtab.lenient.document import Document
from trimtab.lenient.repairs import BARE_KEY, INNER_QUOTE, MISSING_BRACKET, QUOTES
from trimtab.lenient.repeated import Repeated, with_repeats
from trimtab.lenient.scanner import Scanner
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["read", "read_members", "read_slowly"]


_IN_QUOTES: Final = re.compile('["\'][ \\t\\r\\n]*(?P<brace>\\{)[ \\t\\r\\n]*"([A-Za-z_]{1,40})"[ \\t]*:')
_QUOTE_END: Final = re.compile("[ \\t\\r\\n]*([\"'])[ \\t\\r\\n]*[,\\]\"']")
_RUNS: Final = {"{": ENTRY_RUN, '"': TEXT_RUN, "'": SINGLE_TEXT_RUN, "[": LIST_RUN}
_COMMAS: Final = " \t\r\n,"
_decode = JSONDecoder().raw_decode
_BRACKETS: Final = frozenset("{[")

# The quick lane, a short cut only, is made of possessive groups, which CPython matches wrongly before this version.
_HAS_GROUPS: Final = sys.version_info >= (3, 11, 5)


class _Tree(Scanner):
    """Keeps the containers that are open, and puts each value where it belongs."""

    def __init__(self, known: frozenset[str]) -> None:
        super().__init__(known=known)
        self.bulk = self.closed = True
        self.value: Json = None
        self.cut: str | None = None
        self.last_key = ""
        self.left_open: tuple[Json, ...] = ()
        self._containers: list[Json] = []
        self._keys: list[str] = []  # of each open object the key that was read last

    def begin_inside(self, start: int) -> None:
        """Begin as if an object's brace stood before this index."""
        self.repairs[MISSING_BRACKET] = None
        self._open(True, start - 1)

    def _put(self, value: Json) -> None:
        if not self._containers:
            self.value = value
        elif self._stack_top():
            self._containers[-1][self._keys[-1]] = value
        else:
            self._containers[-1].append(value)

    def _swap(self, value: Json) -> None:
        """Put this in the place of the innermost container."""
        self._containers[-1] = value
        if len(self._containers) == 1:
            self.value = value
            return
        outer = self._containers[-2]
        if type(outer) is list:
            outer[-1] = value
        elif type(outer) is Repeated:
            outer.put_last(value)
        else:
            outer[self._keys[-2]] = value

    def _note_repeat(self) -> None:
        """A key of the innermost object stands there again."""
        container = self._containers[-1]
        if type(container) is not Repeated:
            self._swap(Repeated(container.items()))

    def _stack_top(self) -> bool:
        return type(self._containers[-1]) is not list

    def on_open(self, is_object: bool, start: int) -> None:
        container: Json = {} if is_object else []
        self._put(container)
        self._containers.append(container)
        if is_object:
            self._keys.append("")

    def on_close(self, end: int, by_text: bool) -> None:
        if type(self._containers.pop()) is not list:
            self._keys.pop()

    def on_key(self, name: str, start: int, end: int) -> None:
        self._keys[-1] = name
        if self._known and name in self._containers[-1]:
            self._note_repeat()

    def on_value(self, value: Json, start: int, end: int, by_text: bool) -> None:
        if by_text or not self._containers:
            self._put(value)
        elif isinstance(value, str):
            self.cut = value

    def on_imply(self) -> bool:
        inside = self._containers[-1]
        last = inside.get(self._keys[-1])
        if type(last) is list and last and type(last[-1]) in (dict, Repeated) and self._is_entry_ahead():
            self._containers.append(last)  # it was closed too early
            return True
        if type(last) is not dict and type(last) is not Repeated:
            return False
        container = [last]
        if type(inside) is Repeated:
            inside.put_last(container)
        else:
            self._put(container)
        self._containers.append(container)
        return True

    def _is_entry_ahead(self) -> bool:
        """Whether an object with a known key begins here."""
        start = self._skip(self.pos + 1)
        return known_key_ahead(self.text, start, start + WINDOW, self._known)

    def on_end(self) -> None:
        self.left_open = tuple(self._containers)
        self.last_key = self._keys[-1] if self._keys else ""

    def _run(self, i: int) -> bool:
        """Take the strict objects of scalars, strings or arrays of numbers that stand here in an array at once."""
        char = self.text[i]
        found = _RUNS[char].match(self.text, i)
        if found is None:
            return False
        run = f"[{found[0].rstrip(_COMMAS)}]"
        if char == "'":
            self.repairs[QUOTES] = None
            run = run.replace("'", '"')
        values = decode_or_none(run)
        if values is None:
            return False
        if self._known:
            values = with_repeats(run, values)
        self._judge_commas(False, self._fresh, self._commas)
        self._containers[-1].extend(values)
        self.pos = found.end()
        self._after_value()
        self._commas = 0 if char == "{" else 1
        return True

    def _quoted_object(self, i: int) -> bool:
        """Take an element that is an object with a known key, in quotes, whose own quotes have no backslashes."""
        found = _IN_QUOTES.match(self.text, i)
        if found is None or not is_known(found[2], self._known) or self._wasted > 16 * WINDOW + 4 * (i):
            return False
        part = self.text[i + 1 : i + 1 + 16 * WINDOW]
        try:
            value, size = _decode(part, found.start("brace") - i - 1)
        except (ValueError, RecursionError):
            self._wasted += len(part)
            return False
        end = _QUOTE_END.match(self.text, i + 1 + size)
        if end is None or end[1] != self.text[i]:
            return False
        self.repairs[INNER_QUOTE] = None
        self.pos = end.end(1)
        self.on_value(value, i, self.pos, True)
        self._after_value()
        return True

    def _member(self) -> bool:
        """Take a member at once where nothing is doubtful."""
        if self._commas != (0 if self._fresh else 1):
            return False
        found = MEMBER.match(self.text, self.pos)
        if found is None:
            return False
        quoted, single, bare, text, other, word, comma = found.groups()
        if quoted is None:
            self.repairs[QUOTES if single is not None else BARE_KEY] = None
            self._bare_keys = self._bare_keys or bare is not None
        value: Json
        if text is not None:
            value = text_of(text, '"', self.repairs)
        elif other is not None:
            self.repairs[QUOTES] = None
            value = text_of(other, "'", self.repairs)
        else:
            value = decode_or_none(word)
        name = quoted or single or bare
        if self._known and name in self._containers[-1]:
            self._note_repeat()
        self._containers[-1][name] = value
        self.pos = found.end()
        self._fresh = False
        self._commas = 1 if comma else 0
        return True


def read(text: str, start: int = 0, *, known: frozenset[str] = frozenset()) -> Document:
    """Read the document that begins at index `start` of a text, behind white space.

    Where names are `known`, an object in which a key stands twice is a `Repeated`.
    """
    if text[start : start + 1] in _BRACKETS:
        quick = _quickly(text, start, repeats=bool(known)) if _HAS_GROUPS else None
        if quick is not None and not (known and _is_cut_again(quick)):
            return quick
    return read_slowly(text, start, known=known)


def _is_cut_again(document: Document) -> bool:
    """Whether the text ends inside the value of a key that stands in its object already."""
    return document.cut is not None and bool(document.open) and document.last_key in document.open[-1]


def read_members(text: str, start: int, *, known: frozenset[str] = frozenset()) -> Document:
    """The object whose opening brace is not in the text, and whose members begin at index `start`."""
    tree = _Tree(known)
    tree.text = text
    tree.begin_inside(start)
    return _document(tree, text, start)


def read_slowly(text: str, start: int = 0, *, known: frozenset[str] = frozenset()) -> Document:
    """As `read`, with the scanner alone."""
    return _document(_Tree(known), text, start)


def _document(tree: _Tree, text: str, start: int) -> Document:
    tree.text = text
    tree.pos = start
    tree.run()
    return Document(
        value=tree.value,
        start=start,
        end=tree.pos,
        finished=not tree.unfinished,
        open=tree.left_open,
        cut=tree.cut,
        last_key=tree.last_key,
        repairs=tuple(tree.repairs),
    )


def _quickly(text: str, start: int, *, repeats: bool) -> Document | None:
    # Here and not above: its patterns take longer to compile than all else takes to import.
    from trimtab.lenient.quick import read_quickly

    return read_quickly(text, start, repeats=repeats)
