"""From decoded arguments to ranges: which values are entries, and what is wrong with those that are not.

A ref, a summary or a topic is taken as it stands or not at all; `messageId` alone gives both ends, and only line form
derives a topic. An entry that the text ended inside is passed over without a word; one that is whole but unusable is
counted, with a reason, in which the fields have the names of the tool's schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from trimtab.compress.arguments.lines import LineEntry
from trimtab.compress.arguments.names import MAX_CHARS, REF, SPACES, SUMMARY, TOPIC, field, named_values, plain, ref_of
from trimtab.compress.arguments.results import CompressRange
from trimtab.lenient.strings import mend_surrogates
from trimtab.types import Json

__all__ = [
    "Defaults",
    "Entry",
    "entry_of",
    "is_entry",
    "kind_of",
    "line_range",
    "max_chars_of",
    "one_line",
    "range_or_reason",
    "shown_keys",
    "topic_of",
]

_REASON_CHARS: Final = 200
_SHOWN: Final = 40
_KEYS: Final = 8
_NEEDED: Final = ("startId", "endId", SUMMARY)
_MISSING: Final = "is missing"
_DIGITS: Final = 9
# An object with no other keys than these has none that are spelt otherwise.
_EXACT: Final = frozenset(["startRef", "endRef", "startId", "endId", SUMMARY, TOPIC, "summaryMaxChars"])

_is_ref = REF.match

Entry = CompressRange | str
"""A range, or the reason why an entry is none."""

Defaults = tuple[str | None, int | None]
"""The topic and the largest summary size that hold for entries without their own."""


def topic_of(value: Json) -> str | None:
    """A topic, if the value is a text that is not blank."""
    return value if isinstance(value, str) and value.strip(SPACES) else None


def max_chars_of(value: Json) -> int | None:
    """A positive whole number of chars, also written as text or as `900.0`; anything else counts for nothing."""
    if isinstance(value, str):
        digits = value.strip(SPACES)
        value = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else None
    elif isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def is_entry(value: Json) -> bool:
    """Whether a value is an entry in object form with all that it needs."""
    return isinstance(value, dict) and isinstance(range_or_reason(value, (None, None), None), CompressRange)


def entry_of(value: Json, defaults: Defaults, call_id: str | None) -> Entry:
    """The range that an element of the content is, or why it is none. Line form is read elsewhere."""
    if isinstance(value, dict):
        return range_or_reason(value, defaults, call_id)
    if isinstance(value, str):
        return f'a text that does not begin with refs and is no object: "{one_line(value[: 2 * _SHOWN], _SHOWN)}"'
    return f"{kind_of(value)} where an object should be"


def range_or_reason(entry: dict[str, Json], defaults: Defaults, call_id: str | None) -> Entry:
    """The range of an entry in object form, or why it is none."""
    exact = _EXACT.issuperset(entry)
    start, end, summary = entry.get("startRef"), entry.get("endRef"), entry.get(SUMMARY)
    if exact:
        start = entry.get("startId") if start is None else start
        end = entry.get("endId") if end is None else end
    if not isinstance(start, str) or not _is_ref(start):
        start = _clean(ref_of(entry, "start"))
    if not isinstance(end, str) or not _is_ref(end):
        end = _clean(ref_of(entry, "end"))
    if summary is None and not exact:
        summary = field(entry, SUMMARY)
    if not start or not end or not isinstance(summary, str) or not summary.strip(SPACES):
        return _reason(entry, start, end, summary)
    topic, most = defaults
    if not exact:
        topic = topic_of(field(entry, TOPIC)) or topic
        own = entry.get("summaryMaxChars")
        most = max_chars_of(field(entry, MAX_CHARS) if own is None else own) or most
    elif len(entry) > len(_NEEDED):
        topic = topic_of(entry.get(TOPIC)) or topic
        most = max_chars_of(entry.get("summaryMaxChars")) or most
    return CompressRange(
        start_ref=start,
        end_ref=end,
        summary=summary if summary.isascii() else _clean(summary),
        topic=topic and _clean(topic),
        summary_max_chars=most,
        call_id=call_id,
    )


def line_range(entry: LineEntry, defaults: Defaults, call_id: str | None) -> Entry:
    """The range of an entry in line form, or why it is none."""
    if not entry.summary:
        return f"no summary below the line with {entry.start} and {entry.end}"
    topic = entry.topic or defaults[0] or entry.topic_or_first()
    return CompressRange(
        start_ref=entry.start,
        end_ref=entry.end,
        summary=_clean(entry.summary),
        topic=topic and _clean(topic),
        summary_max_chars=defaults[1],
        call_id=call_id,
    )


def _clean(text: str) -> str:
    """The same text, as valid Unicode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return mend_surrogates(text)
    return text


def _reason(entry: dict[str, Json], start: str, end: str, summary: Json) -> str:
    """What an entry lacks, in the order of its fields."""
    if not entry:
        return "an empty object"
    faults = {}
    if not start:
        faults["startId"] = _fault(named_values(entry, "start"))
    if not end:
        faults["endId"] = _fault(named_values(entry, "end"))
    if not isinstance(summary, str) or not summary.strip(SPACES):
        faults[SUMMARY] = _fault([entry[key] for key in entry if plain(key) == SUMMARY])
    if len(faults) == len(_NEEDED) and set(faults.values()) == {_MISSING}:
        return f"{_NEEDED[0]}, {_NEEDED[1]} and {_NEEDED[2]} are missing; the object has only: {shown_keys(entry)}"
    return "; ".join(f"{name} {fault}" for name, fault in faults.items())[:_REASON_CHARS]


def _fault(values: list[Json]) -> str:
    """What is wrong with what stands under a field's names."""
    if not values:
        return _MISSING
    wrong = next((value for value in values if value is not None and not isinstance(value, str)), None)
    if wrong is not None:
        return f"is {kind_of(wrong)}, not a text"
    return "is blank" if any(isinstance(value, str) for value in values) else "has no usable value"


def shown_keys(keys: Iterable[str]) -> str:
    """The first keys of an object, each on one line and short, and how many more there are."""
    names = [one_line(key, _SHOWN) for key in keys]
    more = len(names) - _KEYS
    return ", ".join(names[:_KEYS]) + (f" and {more} more" if more > 0 else "")


def one_line(text: str, most: int) -> str:
    """The text on one line, of at most so many chars."""
    line = " ".join(_clean(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def kind_of(value: Json) -> str:
    """What a value is, in words for a model."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list):
        return "an array"
    return "an object" if isinstance(value, dict) else "a text"
