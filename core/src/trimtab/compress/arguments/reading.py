"""One parse under way: goes from text to values to entries, and keeps what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from trimtab._json import decode_strict
from trimtab.compress.arguments.buried import first_inside, says_cut
from trimtab.compress.arguments.calls import (
    arguments_of,
    calls_in,
    is_no_call,
    is_other_call,
    names_other,
    sent_again,
    slots_of,
    sole_value,
)
from trimtab.compress.arguments.documents import begins_inside, documents, read_one
from trimtab.compress.arguments.elements import is_promising, read_elements
from trimtab.compress.arguments.entries import is_entry, kind_of, line_range, max_chars_of, topic_of
from trimtab.compress.arguments.found import Found
from trimtab.compress.arguments.lines import blocks, is_header, line_entry
from trimtab.compress.arguments.names import MAX_CHARS, SPACES, TOPIC, field, narrowed
from trimtab.compress.arguments.parts import entries_in, objects_in
from trimtab.compress.arguments.quoted import ENDS_ALONE, read_string
from trimtab.compress.arguments.regions import regions
from trimtab.compress.arguments.repairs import LINE_FORM, REPEATED_KEY
from trimtab.compress.arguments.results import CompressRange
from trimtab.compress.arguments.standing import ESCAPED, PYTHON, QUOTED_WORDS, SENTENCE
from trimtab.lenient.document import Cut, Document
from trimtab.lenient.repairs import GIVEN_UP, PADDING, STRINGIFIED, TRAILING_TEXT
from trimtab.lenient.repeated import Repeated, with_repeats
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["Reading"]

_TEXTS: Final = 6  # texts in texts that are opened: three levels of strings, and a content or arguments string
_OPENED_TEXTS: Final = 5_000  # in one call
# How much damaged text in damaged text is read: so many chars, and so many times the outermost.
_DAMAGED_SLACK: Final = 500_000
_DAMAGED_TIMES: Final = 3
_LEVELS: Final = 6  # envelopes and wrappers around the arguments
_NESTED: Final = 12  # values in values, of all kinds: more are no call that anyone meant
_STRINGS: Final = 1_000  # texts in a row: more is no call that anyone meant
_BETWEEN: Final = SPACES + ","
_QUOTES: Final = "\"'“‘`"
_EMPTY_FENCE: Final = re.compile("(?:`{3,}+|~{3,}+)[A-Za-z0-9_+-]*+[ \\t\\r\\n]*+(?:`{3,}+|~{3,}+)?\\Z")
_HEADER_STARTS: Final = frozenset("mMbB")
_ESCAPED_CHARS: Final = 64
_OPENED: Final = re.compile("[{\\[]")
_BRACKETS: Final = "{["
_NONE: Final[frozenset[int]] = frozenset()
_ANSWER: Final = "the answer to a call, or a message of someone else's"
_OTHER_CALL: Final = "a call of another tool"
_PLAIN: Final = frozenset(["content", "topic", "summaryMaxChars"])


class Reading(Found):
    """Reads one call's arguments."""

    def __init__(self, call_id: str | None) -> None:
        super().__init__(call_id)
        self._opened = 0  # texts
        self._size = self._damaged = 0  # chars of the first damaged text, and of all
        self._depth = 0  # how many values are being read, each in the one before it

    def root(self, value: Json) -> None:
        """A value that is the whole input."""
        if value is None:
            self.fail("empty-input")
        elif isinstance(value, str):
            self.repairs[STRINGIFIED] = None
            self.text(value, 2)
        else:
            self.value(value, _NONE, 1)

    def text(self, text: str, level: int, *, slot: bool = False) -> None:
        """A text in a text: JSON once more, or what is left of it. In a `slot` it is the content itself."""
        self._opened += 1
        if level > _TEXTS or self._opened > _OPENED_TEXTS:
            if self._opened > _OPENED_TEXTS:
                self.repairs[GIVEN_UP] = None
            self.fail("content-not-array" if slot else "not-object")
            return
        try:
            value = decode_strict(str.__str__(text))  # of a subclass the decoder takes no text
        except ValueError:
            self.damaged(text, level, slot=slot)
            return
        value = with_repeats(text, value)
        self.repairs[STRINGIFIED] = None
        if isinstance(value, str):
            self.text(value, level + 1, slot=slot)
        else:
            self.value(value, _NONE, level, slot=slot)

    def damaged(self, text: str, level: int = 1, *, slot: bool = False, first: Document | None = None) -> None:
        """A text that is not strict JSON. `first`: the document behind its white space, where that was read already."""
        self._size = self._size or len(text)
        self._damaged += len(text)
        if self._damaged > _DAMAGED_SLACK + _DAMAGED_TIMES * self._size:
            self.repairs[GIVEN_UP] = None
            return
        body = text.strip(SPACES)
        if len(body) != len(text) and body != text.strip(" \t\r\n"):
            self.repairs[PADDING] = None
        if not body or (body[0] in "`~" and _EMPTY_FENCE.match(body)):
            self.fail("no-valid-ranges" if slot else "empty-input")
            return
        before = self.count()
        whole = not isinstance(text, Cut)
        if body[0] in _HEADER_STARTS and is_header(body):
            self._lines(body, whole)
        if self.count() == before:
            self._documents(body, level, slot, first)
        if self.count() == before and body[0] != "{":
            self._regions(body, whole)
        if self.count() == before and slot and (not self.cut or not whole):
            self._lines(body, whole)
        if self.count() == before:
            # What a JSON string holds was decoded, so it is not malformed.
            self.fail("content-not-array" if slot else "not-object" if level > 1 else "malformed-json")

    def _lines(self, body: str, whole: bool) -> None:
        """A text in line form; the last entry of one that was cut is dropped."""
        found = list(blocks(body))
        for block in found if whole else found[:-1]:
            entry = line_entry(block, slot=True)
            if entry is not None:
                self.repairs[LINE_FORM] = None
                self.add(line_range(entry, self.defaults, self.call_id))

    def _regions(self, body: str, whole: bool) -> None:
        """Line form behind a thought, in a fence, between tags. Without their end its last entry has none either."""
        for region in islice(regions(body), _STRINGS):
            self.cut = self.cut or not region.closed
            self._lines(region.text, whole and region.closed)

    def _documents(self, body: str, level: int, slot: bool, document: Document | None) -> None:
        """The JSON documents in a text."""
        first = body[0]
        if first in _QUOTES and not body.startswith("```") and self._quoted(body, level, slot):
            return
        if "\\" in body[:_ESCAPED_CHARS] and ESCAPED.match(body):
            self.repairs[STRINGIFIED] = None
            self.text(text_of(body, "", self.repairs), level + 1, slot=slot)
            return
        if first in _BRACKETS and not PYTHON.match(body):
            document = document or read_one(body, 0)
            if document.end == len(body) and (
                (document.finished and not document.repairs) or first_inside(body, document) < 0
            ):
                self.cut = self.cut or says_cut(document)
                self._document(document, level, slot)
                return
        found = documents(body, document)
        self.cut = self.cut or found.cut
        self.repairs.update(found.repairs)
        if not found.plain and found.documents:
            self.repairs[TRAILING_TEXT] = None
        seen: set[tuple[CompressRange, ...]] = set()
        for document in found.documents:
            self._once(seen, lambda document=document: self._document(document, level, slot))  # type: ignore[misc]

    def _document(self, document: Document, level: int, slot: bool) -> None:
        self.repairs.update(dict.fromkeys(document.repairs))
        self.value(document.value, frozenset(map(id, document.open)), level, slot=slot)

    def _quoted(self, body: str, level: int, slot: bool) -> bool:
        """A text that is one string, or several, in whichever quotes; False: it is not."""
        if begins_inside(body) or (not slot and QUOTED_WORDS.match(body)):
            return False
        before, seen, rest = self.count(), set[str](), body
        for _ in range(_STRINGS):
            if not rest or rest[0] not in _QUOTES:
                return not rest or self.count() > before
            document = read_string(rest, 0)
            if not slot and self._is_said(document, rest):
                return self.count() > before
            if self.count() == before and ENDS_ALONE.match(rest, document.end) and _OPENED.search(rest, document.end):
                return False  # another document follows
            value, rest = document.value, rest[document.end :].lstrip(_BETWEEN)
            if not isinstance(value, str) or ("{" in rest and "{" not in value):
                return self.count() > before
            self.repairs.update(dict.fromkeys([STRINGIFIED, *document.repairs]))
            self.cut = self.cut or not document.finished
            if value not in seen:
                self.text(value if document.finished else Cut(value), level + 1, slot=slot)
            seen.add(value)
        return True

    def _is_said(self, document: Document, text: str) -> bool:
        """Whether a string is but the first words of a text: a sentence goes on behind it, or it has no end."""
        if document.finished:
            return SENTENCE.match(text, document.end) is not None
        value = document.value
        return isinstance(value, str) and "{" not in value and "[" not in value and not is_header(value)

    def value(self, value: Json, left_open: frozenset[int], level: int, *, slot: bool = False) -> None:
        """A decoded value: the arguments, or something around them. `left_open`: what the text ended inside."""
        if not self._depth and not slot and not self.keys and isinstance(value, dict):
            self.keys = tuple(value)
        self._depth += 1
        for _ in range(_LEVELS if self._depth <= _NESTED else 0):
            if isinstance(value, dict):
                value = self._object(value, left_open, level, slot)
                if value is None:
                    break
            elif isinstance(value, list):
                self._array(value, left_open, level, slot)
                break
            elif isinstance(value, str):
                self.text(value, level + 1, slot=slot)
                break
            else:
                self.fail("content-not-array" if slot else "not-object")
                break
        else:  # too deep
            self.fail("content-not-array" if slot else "missing-content")
        self._depth -= 1

    def _object(self, value: dict[str, Json], left_open: frozenset[int], level: int, slot: bool) -> Json:
        """Take the entries of an object; or give what it is only a wrapper of."""
        content = value.get("content")
        if type(content) is list and content and type(value) is dict and _PLAIN.issuperset(value):
            self._content(value, content, left_open, level)
            return None
        if type(value) is Repeated and self._apart(value, left_open, level, slot):
            return None
        few = value if slot else narrowed(value)
        if len(few) < len(value):
            inner = self._object(few, left_open | {id(few)} if id(value) in left_open else left_open, level, slot)
            if self.fault_keys == tuple(few):
                self.fault_keys = tuple(value)
            return inner
        if is_no_call(value):
            self.fail("missing-content", value, _ANSWER)
            return None
        calls = calls_in(value)
        if calls is not None and level < _TEXTS:
            for call in calls:
                self.value(call, left_open, level + 1)
            return None
        slots, inner = slots_of(value), arguments_of(value)
        if not slots:
            return self._slotless(value, inner, left_open, level, slot)
        before = self.count()
        if inner is not None:
            self.value(inner, left_open, level + 1)
        for content in slots:
            if self.count() == before:
                self._content(value, content, left_open, level)
        if self.count() == before and _is_flat(value, slot):
            self.take(value, left_open=id(value) in left_open)
        return None

    def _apart(self, value: Repeated, left_open: frozenset[int], level: int, slot: bool) -> bool:
        """Read each of the objects that an object was before the brackets between them were lost; False: it was one."""
        self.repairs[REPEATED_KEY] = None
        parts = objects_in(value)
        if len(parts) < 2:
            return False
        if id(value) in left_open:
            left_open |= {id(parts[-1])}
        seen: set[tuple[CompressRange, ...]] = set()
        for part in parts:
            self._once(seen, lambda part=part: self.value(part, left_open, level + 1, slot=slot))  # type: ignore[misc]
        return True

    def _once(self, seen: set[tuple[CompressRange, ...]], read: Callable[[], None]) -> None:
        """Read something, and forget what it gave if the same was `seen` before: it was sent twice."""
        start, invalid, reasons = len(self.ranges), self.invalid, len(self.reasons)
        read()
        own = tuple(self.ranges[start:])
        if own and own in seen:
            del self.ranges[start:], self.reasons[reasons:]
            self.invalid = invalid
        seen.add(own)

    def _slotless(self, value: dict[str, Json], inner: Json, left_open: frozenset[int], level: int, slot: bool) -> Json:
        """Take one range whose fields are the object's own; or give what the object is a wrapper of."""
        if _is_flat(value, slot):
            self.take(value, left_open=id(value) in left_open)
            return None
        if inner is None and not is_other_call(value):
            inner = sent_again(value) or _wrapped(sole_value(value))
        if inner is None:
            self._no_content(value, left_open, level, slot)
        return inner

    def _no_content(self, value: dict[str, Json], left_open: frozenset[int], level: int, slot: bool) -> None:
        if not slot:
            other = is_other_call(value) or (names_other(value) and is_entry(value))
            self.fail("missing-content", value, _OTHER_CALL if other else None)
        elif not value:
            self.fail("content-not-array")
        elif all(key.isascii() and key.isdigit() for key in value):
            self._array(list(value.values()), left_open, level, slot)
        else:
            self.take(value, left_open=id(value) in left_open)
            self.fail("no-valid-ranges")

    def _content(self, value: dict[str, Json], content: Json, left_open: frozenset[int], level: int) -> None:
        """The place for entries, and the topic and size beside it."""
        outer = self.defaults
        if len(value) > 1:
            topic = field(value, TOPIC)
            own = None if isinstance(topic, Cut) else topic_of(topic) or outer[0]
            self.defaults = (own, max_chars_of(field(value, MAX_CHARS)) or outer[1])
        self.content_type = "text" if isinstance(content, str) else kind_of(content)
        if isinstance(content, list):
            self._array(content, left_open, level, True)
        elif isinstance(content, str):
            self.text(content, level + 1, slot=True)
        elif isinstance(content, dict):
            self.value(content, left_open, level, slot=True)
        else:
            self.fail("content-not-array")
        self.defaults = outer

    def _array(self, items: list[Json], left_open: frozenset[int], level: int, slot: bool) -> None:
        if not slot and not any(map(is_promising, items)):
            self.fail("not-object")
            return
        read_elements(
            items,
            self,
            left_open,
            slot,
            lambda text: self.text(text, level + 1, slot=True),
            lambda inner: self.value(inner, left_open, level + 1),
        )
        if not self.ranges:
            self.fail("no-valid-ranges")


def _is_flat(value: dict[str, Json], slot: bool) -> bool:
    """Whether an object's own fields are a range, or several; outside of a slot none where it names another tool."""
    if not slot and names_other(value):
        return False
    return is_entry(value) or (type(value) is Repeated and any(map(is_entry, entries_in(value))))


def _wrapped(inner: Json) -> Json:
    """The arguments in a wrapper, if its value can be that; else None."""
    if isinstance(inner, list):
        return inner if any(map(is_entry, inner)) else None
    if isinstance(inner, str):
        return inner if inner.lstrip(SPACES).startswith(("{", "[", "```", '"')) or is_header(inner) else None
    return inner if isinstance(inner, dict) else None
