"""The elements of a content array: objects, texts in line form, headers whose text follows, lists too deep."""

from __future__ import annotations

from collections.abc import Callable

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
    beside: bool | None = None  # whether a call stands in the array, beside which other blocks may stand
    header: tuple[LineEntry, list[str]] | None = None
    for item in items:
        if type(item) is str:
            if header is not None and not line_entry(item) and not _holds_json(item):
                header[1].append(item)
                continue
            _close(header, found)
            header = _text(item, found, open_text)
            continue
        if isinstance(item, Cut):
            # The text ends inside it: it belonged to the summary above, unless it began an entry of its own.
            if header is not None and (line_entry(item) or _holds_json(item)):
                _close(header, found)
            header = None
            continue
        if header is not None:
            _close(header, found)
            header = None
        if isinstance(item, dict):
            if id(item) in left_open:
                is_around = _are_arguments(item) and (len(items) == 1 or not slot)
                if is_around or arguments_of(item) is not None or _is_message(item):
                    open_value(item)
                else:
                    found.take(item, left_open=True)
                continue
            if slot and beside is False and found.has_reasons() and is_foreign(item):
                found.add_bad(item)
                continue
            entry = range_or_reason(item, found.defaults, found.call_id)
            if type(entry) is CompressRange and slot and type(item) is dict and "type" not in item:
                found.add(entry)
                continue
            if beside is None:
                beside = any(map(_is_call, items))
            _object(item, entry, found, beside, len(items) == 1, slot, open_value)
        elif isinstance(item, list) and any(isinstance(inner, dict) and is_entry(inner) for inner in item):
            for inner in item:
                if isinstance(inner, dict):
                    found.take(inner, left_open=id(inner) in left_open)
                elif id(inner) not in left_open:
                    found.add_bad(inner)
        elif id(item) not in left_open:
            found.add_bad(item)
    if id(items) not in left_open:
        _close(header, found)


def _holds_json(text: str) -> bool:
    return text.lstrip(SPACES).startswith(_JSON_STARTS)


def _is_call(item: Json) -> bool:
    return isinstance(item, dict) and not is_foreign(item) and (arguments_of(item) is not None or is_other_call(item))


def _object(
    item: dict[str, Json],
    entry: Entry,
    found: Found,
    beside: bool,
    alone: bool,
    slot: bool,
    open_value: Callable[[Json], None],
) -> None:
    """Take an object, which is this entry unless it is a call, or a block of the message that holds one."""
    if is_no_call(item):
        return
    if type(entry) is CompressRange:
        if slot or not names_other(item):
            _take(item, entry, found)
        return
    inner = arguments_of(item)
    if inner is not None:
        open_value(item if type(item) is Repeated else inner)
    elif (_are_arguments(item) and (alone or not slot)) or _is_message(item):
        open_value(item)
    elif not is_other_call(item) and not (beside and is_block(item)):
        _take(item, entry, found)


def _take(item: dict[str, Json], entry: Entry, found: Found) -> None:
    if type(item) is Repeated:
        found.take(item)
    else:
        found.add(entry)


def _text(item: str, found: Found, open_text: Callable[[str], None]) -> tuple[LineEntry, list[str]] | None:
    """Take a text element; a header without a summary is given back, for the texts that follow it."""
    entry = line_entry(item)
    if entry is not None and entry.summary:
        found.add(line_range(entry, found.defaults, found.call_id))
    elif entry is not None:
        return entry, []
    elif _holds_json(item):
        before, cut = found.count(), found.cut
        open_text(item)
        if found.count() == before and found.cut == cut:
            found.add_bad(item)
    else:
        found.add_bad(item)
    return None


def _close(header: tuple[LineEntry, list[str]] | None, found: Found) -> None:
    """The texts below a header are all there."""
    if header is None:
        return
    entry, bodies = header
    whole = LineEntry(start=entry.start, end=entry.end, topic=entry.topic, summary="\n".join(bodies))
    found.add(line_range(whole, found.defaults, found.call_id))
