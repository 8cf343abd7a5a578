"""The elements of a content array: objects, texts in line form, headers whose text follows, lists too deep."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from trimtab.compress.arguments.calls import (
    are_arguments,
    arguments_of,
    calls_in,
    is_block,
    is_no_call,
    is_other_call,
    names_other,
    slots_of,
)
from trimtab.compress.arguments.entries import Entry, is_entry, line_range, range_or_reason
from trimtab.compress.arguments.found import Found
from trimtab.compress.arguments.lines import LineEntry, line_entry
from trimtab.compress.arguments.names import SPACES, is_foreign
from trimtab.compress.arguments.results import CompressRange
from trimtab.lenient.document import Cut
from trimtab.lenient.repeated import Repeated
from trimtab.types import Json

__all__ = ["is_promising", "read_elements"]

_JSON_STARTS = ("{", "[", '"', "```")


def is_promising(item: Json) -> bool:
    """Whether an array with this element can be the content: it is an entry, or the envelope of one."""
    if isinstance(item, dict):
        return not is_no_call(item) and (
            (is_entry(item) and not names_other(item))
            or arguments_of(item) is not None
            or _are_arguments(item)
            or _is_message(item)
        )
    if isinstance(item, list):
        return any(map(is_entry, item))
    if not isinstance(item, str):
        return False
    entry = line_entry(item)
    return (entry is not None and bool(entry.summary)) or item.lstrip(SPACES).startswith(_JSON_STARTS)


def _are_arguments(item: dict[str, Json]) -> bool:
    """Whether an object is the arguments themselves, in an array that is one too many."""
    return are_arguments(item) and any(
        any(map(is_entry, slot)) if isinstance(slot, list) else isinstance(slot, str) and _holds_json(slot)
        for slot in slots_of(item)
    )


def _is_message(item: dict[str, Json]) -> bool:
    """Whether an object is a message that holds a compress call."""
    calls = calls_in(item)
    if calls is None and "role" in item:
        calls = item.get("content")
    return isinstance(calls, list) and any(isinstance(one, dict) and arguments_of(one) is not None for one in calls)


def read_elements(
    items: list[Json],
    found: Found,
    left_open: frozenset[int],
    slot: bool,
    open_text: Callable[[str], None],
    open_value: Callable[[Json], None],
) -> None:
    """Take the entries of an array. `slot`: it is the content, not an array on its own. `open_text` reads a text that
    holds JSON, `open_value` the arguments of a call, or a message.
    """
    _Elements(items, found, left_open, slot, open_text, open_value).run()


def _holds_json(text: str) -> bool:
    return text.lstrip(SPACES).startswith(_JSON_STARTS)


def _is_call(item: Json) -> bool:
    return isinstance(item, dict) and not is_foreign(item) and (arguments_of(item) is not None or is_other_call(item))


@define(eq=False)
class _Elements:
    """One walk over an array."""

    items: list[Json]
    found: Found
    left_open: frozenset[int]
    slot: bool
    open_text: Callable[[str], None]
    open_value: Callable[[Json], None]
    beside: bool | None = field(default=None, init=False)
    """Whether a call stands in the array, beside which other blocks may stand."""
    header: tuple[LineEntry, list[str]] | None = field(default=None, init=False)
    """And the texts that follow it."""

    def run(self) -> None:
        for item in self.items:
            if type(item) is str:
                self._text(item)
            elif isinstance(item, Cut):
                self._cut(item)
            else:
                if self.header is not None:
                    self._close()
                if isinstance(item, dict):
                    self._object(item)
                else:
                    self._other(item)
        if id(self.items) not in self.left_open:
            self._close()

    def _text(self, item: str) -> None:
        """A text: line form, what belongs to the header before it, or JSON."""
        entry = line_entry(item)
        if self.header is not None:
            if entry is None and not _holds_json(item):
                self.header[1].append(item)
                return
            self._close()
        found = self.found
        if entry is not None and entry.summary:
            found.add(line_range(entry, found.defaults, found.call_id))
        elif entry is not None:
            self.header = entry, []
        elif _holds_json(item):
            before, cut = found.count(), found.cut
            self.open_text(item)
            if found.count() == before and found.cut == cut:
                found.add_bad(item)
        else:
            found.add_bad(item)

    def _cut(self, item: str) -> None:
        """The text ends inside it: it belonged to the summary above, unless it began an entry of its own."""
        if line_entry(item) or _holds_json(item):
            self._close()
        self.header = None

    def _close(self) -> None:
        """The texts below a header are all there."""
        if self.header is None:
            return
        (entry, bodies), found = self.header, self.found
        whole = LineEntry(start=entry.start, end=entry.end, topic=entry.topic, summary="\n".join(bodies))
        found.add(line_range(whole, found.defaults, found.call_id))
        self.header = None

    def _object(self, item: dict[str, Json]) -> None:
        """An object: an entry, the arguments, a call or a message."""
        found, slot = self.found, self.slot
        if id(item) in self.left_open:
            if arguments_of(item) is not None or self._is_around(item):
                self.open_value(item)
            else:
                found.take(item, left_open=True)
            return
        if slot and self.beside is False and found.has_reasons() and is_foreign(item):
            found.add_bad(item)
            return
        entry = range_or_reason(item, found.defaults, found.call_id)
        if type(entry) is not CompressRange:
            self._no_entry(item, entry)
        elif slot and type(item) is dict and "type" not in item:
            found.add(entry)
        elif not is_no_call(item) and (slot or not names_other(item)):
            self._take(item, entry)

    def _no_entry(self, item: dict[str, Json], reason: Entry) -> None:
        """A call, or a block of the message that holds one; else an entry that is unusable."""
        if is_no_call(item):
            return
        if self.beside is None:
            self.beside = any(map(_is_call, self.items))
        inner = arguments_of(item)
        if inner is not None:
            self.open_value(item if type(item) is Repeated else inner)
        elif self._is_around(item):
            self.open_value(item)
        elif not is_other_call(item) and not (self.beside and is_block(item)):
            self._take(item, reason)

    def _is_around(self, item: dict[str, Json]) -> bool:
        """Whether an object is the arguments, alone in the content or in an array on its own, or a message."""
        return (_are_arguments(item) and (len(self.items) == 1 or not self.slot)) or _is_message(item)

    def _take(self, item: dict[str, Json], entry: Entry) -> None:
        if type(item) is Repeated:
            self.found.take(item)
        else:
            self.found.add(entry)

    def _other(self, item: Json) -> None:
        """A list too deep, or what is no entry."""
        if isinstance(item, list) and any(isinstance(inner, dict) and is_entry(inner) for inner in item):
            for inner in item:
                if isinstance(inner, dict):
                    self.found.take(inner, left_open=id(inner) in self.left_open)
                elif id(inner) not in self.left_open:
                    self.found.add_bad(inner)
        elif id(item) not in self.left_open:
            self.found.add_bad(item)
