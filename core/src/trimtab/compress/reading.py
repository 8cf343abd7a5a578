"""One parse under way: goes from text to values to entries, and keeps what it finds."""

from __future__ import annotations

import re
from typing import Final

from trimtab._json import decode_strict
from trimtab.compress.calls import arguments_of, calls_in, is_other_call, slot_of, sole_value
from trimtab.compress.documents import begins_inside, documents, read_one
from trimtab.compress.elements import is_promising, read_elements
from trimtab.compress.entries import entry_of, is_entry, kind_of, line_range, max_chars_of, range_or_reason, topic_of
from trimtab.compress.found import Found
from trimtab.compress.lines import blocks, is_header, line_entry
from trimtab.compress.names import MAX_CHARS, SPACES, TOPIC, field
from trimtab.compress.results import CompressRange
from trimtab.lenient.document import Cut, Document
from trimtab.lenient.repairs import PADDING, STRINGIFIED, TRAILING_TEXT
from trimtab.lenient.strings import text_of
from trimtab.types import Json

__all__ = ["Reading"]

_TEXTS: Final = 6  # texts in texts that are opened: three levels of strings, and a content or arguments string
_LEVELS: Final = 6  # envelopes and wrappers around the arguments
_STRINGS: Final = 1_000  # texts in a row: more is no call that anyone meant
_BETWEEN: Final = SPACES + ","
_QUOTES: Final = "\"'“‘`"
_ESCAPED: Final = re.compile('[\\[{ \\t\\r\\n]*+\\\\+"')
_EMPTY_FENCE: Final = re.compile("(?:`{3,}|~{3,})[A-Za-z0-9_+-]*+[ \\t\\r\\n]*+(?:`{3,}|~{3,})?\\Z")
_HEADER_STARTS: Final = frozenset("mMbB")
_ESCAPED_CHARS: Final = 64
_LINES: Final = "line-form"
_NONE: Final[frozenset[int]] = frozenset()


class Reading(Found):
    """Reads one call's arguments."""

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
        if level > _TEXTS:
            self.fail("content-not-array" if slot else "not-object")
            return
        try:
            value = decode_strict(str.__str__(text))  # of a subclass the decoder takes no text
        except ValueError:
            self.damaged(text, level, slot=slot)
            return
        self.repairs[STRINGIFIED] = None
        if isinstance(value, str):
            self.text(value, level + 1, slot=slot)
        else:
            self.value(value, _NONE, level, slot=slot)

    def damaged(self, text: str, level: int = 1, *, slot: bool = False) -> None:
        """A text that is not strict JSON."""
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
            self._documents(body, level, slot)
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
                self.repairs[_LINES] = None
                self.add(line_range(entry, self.defaults, self.call_id))

    def _documents(self, body: str, level: int, slot: bool) -> None:
        """The JSON documents in a text."""
        first = body[0]
        if first in _QUOTES and not body.startswith("```") and self._quoted(body, level, slot):
            return
        if "\\" in body[:_ESCAPED_CHARS] and _ESCAPED.match(body):
            self.repairs[STRINGIFIED] = None
            self.text(text_of(body, "", self.repairs), level + 1, slot=slot)
            return
        document = None
        if first in "{[":
            document = read_one(body, 0)
            if document.end == len(body):
                self.cut = self.cut or not document.finished
                self._document(document, level, slot)
                return
        found = documents(body, document)
        self.cut = self.cut or found.cut
        self.repairs.update(found.repairs)
        if not found.plain and found.documents:
            self.repairs[TRAILING_TEXT] = None
        seen: set[tuple[CompressRange, ...]] = set()
        for document in found.documents:
            start, invalid, reasons = len(self.ranges), self.invalid, len(self.reasons)
            self._document(document, level, slot)
            own = tuple(self.ranges[start:])
            if own and own in seen:  # the same document, sent twice
                del self.ranges[start:], self.reasons[reasons:]
                self.invalid = invalid
            seen.add(own)

    def _document(self, document: Document, level: int, slot: bool) -> None:
        self.repairs.update(dict.fromkeys(document.repairs))
        self.value(document.value, frozenset(map(id, document.open)), level, slot=slot)

    def _quoted(self, body: str, level: int, slot: bool) -> bool:
        """A text that is one string, or several, in whichever quotes; False: it is not."""
        if begins_inside(body):
            return False
        before, seen, rest = self.count(), set[str](), body
        for _ in range(_STRINGS):
            if not rest or rest[0] not in _QUOTES:
                break
            document = read_one(rest, 0)
            value, rest = document.value, rest[document.end :].lstrip(_BETWEEN)
            if not isinstance(value, str) or ("{" in rest and "{" not in value):
                return self.count() > before
            self.repairs.update(dict.fromkeys([STRINGIFIED, *document.repairs]))
            self.cut = self.cut or not document.finished
            if value not in seen:
                self.text(value if document.finished else Cut(value), level + 1, slot=slot)
            seen.add(value)
        return True

    def value(self, value: Json, left_open: frozenset[int], level: int, *, slot: bool = False) -> None:
        """A decoded value: the arguments, or something around them. `left_open`: what the text ended inside."""
        for depth in range(_LEVELS):
            if isinstance(value, dict):
                if not depth and not slot and not self.keys:
                    self.keys = tuple(value)
                inner = self._object(value, left_open, level, slot)
                if inner is None:
                    return
                value = inner
            elif isinstance(value, list):
                self._array(value, left_open, level, slot)
                return
            elif isinstance(value, str):
                self.text(value, level + 1, slot=slot)
                return
            else:
                break
        self.fail("content-not-array" if slot else "not-object")

    def _object(self, value: dict[str, Json], left_open: frozenset[int], level: int, slot: bool) -> Json:
        """Take the entries of an object; or give what it is only a wrapper of."""
        content = value.get("content")
        if type(content) is list and content:
            self._content(value, content, left_open, level)
            return None
        calls = calls_in(value)
        if calls is not None and level < _TEXTS:
            for call in calls:
                self.value(call, left_open, level + 1)
            return None
        has_slot, content = slot_of(value)
        if has_slot:
            self._content(value, content, left_open, level)
            return None
        if self._flat(value, left_open):
            return None
        inner = arguments_of(value)
        if inner is None and not is_other_call(value):
            inner = _wrapped(sole_value(value))
        if inner is None:
            self._no_content(value, left_open, level, slot)
        return inner

    def _flat(self, value: dict[str, Json], left_open: frozenset[int]) -> bool:
        """One range whose fields are the object's own."""
        entry = range_or_reason(value, self.defaults, self.call_id)
        if isinstance(entry, str):
            return False
        if id(value) not in left_open:
            self.add(entry)
        return True

    def _no_content(self, value: dict[str, Json], left_open: frozenset[int], level: int, slot: bool) -> None:
        if not slot:
            self.fail("missing-content")
        elif not value:
            self.fail("content-not-array")
        elif all(key.isascii() and key.isdigit() for key in value):
            self._array(list(value.values()), left_open, level, slot)
        elif id(value) not in left_open:
            self.add(entry_of(value, self.defaults, self.call_id))
            self.fail("no-valid-ranges")

    def _content(self, value: dict[str, Json], content: Json, left_open: frozenset[int], level: int) -> None:
        """The place for entries, and the topic and size beside it."""
        outer = self.defaults
        if len(value) > 1:
            topic = field(value, TOPIC)
            most = max_chars_of(field(value, MAX_CHARS))
            self.defaults = (None if isinstance(topic, Cut) else topic_of(topic), most)
        if (content is None or content == []) and range_or_reason(value, (None, None), None).__class__ is CompressRange:
            self.defaults = outer
            self._flat(value, left_open)
        elif isinstance(content, list):
            self._array(content, left_open, level, True)
        elif isinstance(content, str):
            self.content_type = "text"
            self.text(content, level + 1, slot=True)
        elif isinstance(content, dict):
            self.content_type = kind_of(content)
            self.value(content, left_open, level, slot=True)
        else:
            self.content_type = kind_of(content)
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
            lambda text: self.text(text, level + 1, slot=True),
            lambda inner: self.value(inner, left_open, level + 1),
        )
        if not self.ranges:
            self.fail("no-valid-ranges")


def _wrapped(inner: Json) -> Json:
    """The arguments in a wrapper, if its value can be that; else None."""
    if isinstance(inner, list):
        return inner if any(map(is_entry, inner)) else None
    if isinstance(inner, str):
        return inner if inner.lstrip(SPACES).startswith(("{", "[", "```", '"')) or is_header(inner) else None
    return inner if isinstance(inner, dict) else None
