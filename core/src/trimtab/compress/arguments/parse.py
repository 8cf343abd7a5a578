"""Reads the arguments of a model's `compress` call, whatever shape they came in.

Laws: every complete entry is recovered; none is invented, shortened or merged with another; what was mended is named;
what was wrong is data. Pure: no I/O, no log, no exception on any input, time linear in the text, no recursion on
its depth. Strict parsing comes first: valid JSON is never mended, and looked at twice only where a key stands twice.
"""

from __future__ import annotations

from trimtab._json import decode_or_none
from trimtab.compress.arguments.calls import sent_again
from trimtab.compress.arguments.direct import PREFIX, parsed_directly
from trimtab.compress.arguments.documents import read_one
from trimtab.compress.arguments.names import SPACES
from trimtab.compress.arguments.reading import Reading
from trimtab.compress.arguments.repairs import BAD_UTF_8
from trimtab.compress.arguments.results import CompressRange, Diagnostics, Parsed
from trimtab.lenient.repeated import with_repeats
from trimtab.types import Json

__all__ = ["parse_compress_args"]


def parse_compress_args(raw: Json, *, call_id: str | None = None) -> Parsed:
    """The ranges in the arguments of a `compress` call, and a diagnosis. Never raises.

    Args:
        raw: what the wire carried: text, bytes (UTF-8) or a decoded value, in any of the shapes that models write:
            the arguments object, its text, also stringified up to three times, `content` as text or as one object,
            a bare array, one flat range, line form, a call's envelope or a model's own tool-call tags around it. The
            object that stands for malformed arguments in a history (`INVALID_JSON`) is read as the text in it.
        call_id: put into each range.
    """
    if isinstance(raw, str):
        text, bad = str.__str__(raw), False
    elif isinstance(raw, bytes | bytearray | memoryview):
        text, bad = _decoded(bytes(raw))
    else:
        sent = sent_again(raw)
        if sent is not None:
            return parse_compress_args(sent, call_id=call_id)
        reading = Reading(call_id)
        reading.root(raw)
        return _parsed(reading, None)
    document, value, body = None, None, text.strip(SPACES)
    if body[:1] != "{" or body[-1] == "}":
        value = decode_or_none(text)
    if value is not None:
        value = with_repeats(text, value)
    elif body[:1] == "{":
        document = read_one(body, 0)
        value = document.value if document.end == len(body) else None
    is_padded = len(body) != len(text) and body != text.strip(" \t\r\n")
    plain = None if bad or is_padded else parsed_directly(text, value, document, call_id)
    if plain is not None:
        return plain
    sent = sent_again(value)
    if sent is not None:
        return parse_compress_args(sent, call_id=call_id)
    reading = Reading(call_id)
    if bad:
        reading.repairs[BAD_UTF_8] = None
    if document is not None:
        reading.damaged(text, first=document)
    elif value is not None:
        reading.root(value)
    elif text.strip(" \t\r\n") == "null":
        reading.fail("not-object")
    else:
        reading.damaged(text)
    return _parsed(reading, text)


def _decoded(raw: bytes) -> tuple[str, bool]:
    """The text of bytes, and whether some of them were no UTF-8."""
    try:
        return raw.decode(), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def _parsed(reading: Reading, text: str | None) -> Parsed:
    ranges: tuple[CompressRange, ...] = tuple(reading.ranges)
    kind = reading.kind()
    return Parsed(
        ranges=ranges,
        diagnostics=Diagnostics(
            ok=bool(ranges),
            kind=kind,
            raw_prefix=None if text is None else text[:PREFIX],
            length=None if text is None else len(text),
            keys=reading.keys,
            invalid_items=reading.invalid,
            invalid_reasons=tuple(reading.reasons),
            repairs=tuple(reading.repairs),
            content_type=reading.fault_type if kind in ("content-not-array", "missing-content") else None,
            argument_keys=reading.fault_keys if kind == "missing-content" else (),
        ),
    )
