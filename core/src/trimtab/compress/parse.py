"""Reads the arguments of a model's `compress` call, whatever shape they came in.

Laws: every complete entry is recovered; none is invented, shortened or merged with another; what was mended is named;
what was wrong is data. Pure: no I/O, no log, no exception on any input, time linear in the text, no recursion on
its depth. Strict parsing comes first: valid JSON is never mended, and looked at twice only where a key stands twice.
"""

from __future__ import annotations

from typing import Final

from trimtab._json import decode_or_none
from trimtab.compress.reading import Reading
from trimtab.compress.results import CompressRange, Diagnostics, Parsed
from trimtab.lenient.repeated import with_repeats
from trimtab.types import Json

__all__ = ["parse_compress_args"]

_PREFIX: Final = 800
_BAD_BYTES: Final = "bad-utf-8"


def parse_compress_args(raw: Json, *, call_id: str | None = None) -> Parsed:
    """The ranges in the arguments of a `compress` call, and a diagnosis. Never raises.

    Args:
        raw: what the wire carried: text, bytes (UTF-8) or a decoded value, in any of the shapes that models write:
            the arguments object, its text, also stringified up to three times, `content` as text or as one object,
            a bare array, one flat range, line form, a call's envelope or a model's own tool-call tags around it.
        call_id: put into each range.
    """
    reading = Reading(call_id)
    text: str | None = None
    if isinstance(raw, bytes | bytearray | memoryview):
        text = _decoded(bytes(raw), reading)
    elif isinstance(raw, str):
        text = str.__str__(raw)
    if text is None:
        reading.root(raw)
    else:
        value = decode_or_none(text)
        if value is not None:
            reading.root(with_repeats(text, value))
        elif text.strip(" \t\r\n") == "null":
            reading.fail("not-object")
        else:
            reading.damaged(text)
    return _parsed(reading, text)


def _decoded(raw: bytes, reading: Reading) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        reading.repairs[_BAD_BYTES] = None
        return raw.decode("utf-8", "replace")


def _parsed(reading: Reading, text: str | None) -> Parsed:
    ranges: tuple[CompressRange, ...] = tuple(reading.ranges)
    kind = reading.kind()
    return Parsed(
        ranges=ranges,
        diagnostics=Diagnostics(
            ok=bool(ranges),
            kind=kind,
            raw_prefix=None if text is None else text[:_PREFIX],
            length=None if text is None else len(text),
            keys=reading.keys,
            invalid_items=reading.invalid,
            invalid_reasons=tuple(reading.reasons),
            repairs=tuple(reading.repairs),
            content_type=reading.fault_type if kind == "content-not-array" else None,
            argument_keys=reading.fault_keys if kind == "missing-content" else (),
        ),
    )
