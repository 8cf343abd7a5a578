"""The elements of a content array: objects, texts in line form, headers whose text follows, lists too deep."""

from __future__ import annotations

from collections.abc import Callable

from trimtab.compress.calls import arguments_of
from trimtab.compress.entries import entry_of, is_entry, line_range, range_or_reason
from trimtab.compress.found import Found
from trimtab.compress.lines import LineEntry, line_entry
from trimtab.compress.names import SPACES
from trimtab.compress.results import CompressRange
from trimtab.lenient.document import Cut
from trimtab.types import Json

__all__ = ["is_promising", "read_elements"]

_JSON_STARTS = ("{", "[", '"', "```")


def is_promising(item: Json) -> bool:
    """Whether an array with this element can be the content: it is an entry, or the envelope of one."""
    if isinstance(item, dict):
        return is_entry(item) or arguments_of(item) is not None
    if isinstance(item, list):
        return any(map(is_entry, item))
    if not isinstance(item, str):
        return False
    entry = line_entry(item)
    return (entry is not None and bool(entry.summary)) or item.lstrip(SPACES).startswith(_JSON_STARTS)


def read_elements(
    items: list[Json],
    found: Found,
    left_open: frozenset[int],
    open_text: Callable[[str], None],
    open_value: Callable[[Json], None],
) -> None:
    """Take the entries of an array. `open_text` reads a text that holds JSON, `open_value` the arguments of a call."""
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
        if id(item) in left_open and not isinstance(item, list):
            continue
        if isinstance(item, dict):
            _object(item, items, found, open_value)
        elif isinstance(item, list) and any(map(is_entry, item)):
            for inner in item:
                if id(inner) not in left_open:
                    found.add(entry_of(inner, found.defaults, found.call_id))
        elif id(item) not in left_open:
            found.add(entry_of(item, found.defaults, found.call_id))
    if id(items) not in left_open:
        _close(header, found)


def _holds_json(text: str) -> bool:
    return text.lstrip(SPACES).startswith(_JSON_STARTS)


def _object(item: dict[str, Json], items: list[Json], found: Found, open_value: Callable[[Json], None]) -> None:
    entry = range_or_reason(item, found.defaults, found.call_id)
    if not isinstance(entry, CompressRange):
        inner = arguments_of(item)
        if inner is not None:
            open_value(inner)
            return
        if "type" in item and any(isinstance(one, dict) and arguments_of(one) is not None for one in items):
            return  # another block of the message that holds the call
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
            found.add(entry_of(item, found.defaults, found.call_id))
    else:
        found.add(entry_of(item, found.defaults, found.call_id))
    return None


def _close(header: tuple[LineEntry, list[str]] | None, found: Found) -> None:
    """The texts below a header are all there."""
    if header is None:
        return
    entry, bodies = header
    whole = LineEntry(start=entry.start, end=entry.end, topic=entry.topic, summary="\n".join(bodies))
    found.add(line_range(whole, found.defaults, found.call_id))
