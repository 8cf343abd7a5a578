"""The short way for the usual call: an object with `content`, an array of entries that are all whole.

It gives what `Reading` gives for such a value, and leaves every other one to it.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.arguments.entries import Defaults, max_chars_of, range_or_reason, topic_of
from trimtab.compress.arguments.names import TOPIC
from trimtab.compress.arguments.results import CompressRange, Diagnostics, Parsed
from trimtab.lenient.document import Cut, Document
from trimtab.lenient.repairs import GIVEN_UP
from trimtab.types import Json

__all__ = ["PREFIX", "parsed_directly"]

PREFIX: Final = 800  # chars of the text that a diagnosis shows
_KEYS: Final = frozenset(["content", TOPIC, "summaryMaxChars"])
_ALONE: Final[Defaults] = (None, None)


def parsed_directly(text: str, value: Json, document: Document | None, call_id: str | None) -> Parsed | None:
    """The ranges of a text whose value is plain arguments; None: it is something else, or has a fault to be told.

    Args:
        text: the whole input.
        value: what was read from it.
        document: how it was read, where the text is damaged.
        call_id: put into each range.
    """
    if type(value) is not dict or not _KEYS.issuperset(value):
        return None
    content = value.get("content")
    if type(content) is not list or not content:
        return None
    cut = document is not None and not document.finished
    last = content[-1] if cut and document is not None and len(document.open) > 2 else None
    defaults = _ALONE if len(value) == 1 else _defaults(value)
    ranges: list[CompressRange] = []
    for item in content:
        if type(item) is not dict or "type" in item:
            return None
        if item is last:  # the text ends inside it
            continue
        entry = range_or_reason(item, defaults, call_id)
        if type(entry) is not CompressRange:
            return None
        ranges.append(entry)
    repairs = document.repairs if document is not None else ()
    if (cut and GIVEN_UP in repairs) or not (ranges or cut):
        return None
    return Parsed(
        ranges=tuple(ranges),
        diagnostics=Diagnostics(
            ok=bool(ranges),
            kind="truncated" if cut else "ok",
            raw_prefix=text[:PREFIX],
            length=len(text),
            keys=tuple(value),
            repairs=repairs,
        ),
    )


def _defaults(value: dict[str, Json]) -> Defaults:
    """The topic and the size beside the content."""
    topic = value.get(TOPIC)
    return None if isinstance(topic, Cut) else topic_of(topic), max_chars_of(value.get("summaryMaxChars"))
