"""What parsing gives: ranges, and a diagnosis as data."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

__all__ = ["CompressRange", "Diagnostics", "Kind", "Parsed"]

Kind: TypeAlias = Literal[
    "ok",
    "empty-input",
    "not-object",
    "missing-content",
    "content-not-array",
    "malformed-json",
    "truncated",
    "no-valid-ranges",
]


# Without slots, which cost time when an object is made: a call of one entry is read in some twelve microseconds.
@frozen(kw_only=True, slots=False)
class CompressRange:
    """One entry of a `compress` call: the messages from `start_ref` to `end_ref` are to be replaced by `summary`.

    Refs are as the model wrote them, without white space around or inside (`m 12` is `m12`); of line form, message refs
    have at least five digits (`m12` is `m00012`). `summary` is never blank and never shortened.
    `summary_max_chars` is a positive number of chars, or None. `call_id` is what the caller passed.
    """

    start_ref: str
    end_ref: str
    summary: str
    topic: str | None = None
    summary_max_chars: int | None = None
    call_id: str | None = None


@frozen(kw_only=True, slots=False)
class Diagnostics:
    """What was found in the arguments of one call.

    `ok`: at least one range. `kind`: why there are no ranges, or `ok`, or `truncated` where the text ended early,
    also beside ranges. `raw_prefix`: the first 800 chars of text input, `length` its length in code points; both None
    for decoded input. `keys`: the top-level keys of the decoded object; empty where there was none. `invalid_items`:
    how many entries were complete but unusable, `invalid_reasons` one text for each ("entry 1: summary is missing",
    counted from 0). `repairs`: what had to be mended to read the text, each name once. `content_type`: what stands in
    the place of the array where `kind` is `content-not-array` ("text", "a number", "a boolean", "null" or "an object");
    where it is `missing-content`, what the object is instead of arguments, if it says so. `argument_keys`: where `kind`
    is `missing-content`, the keys of the object without it, which may stand in a wrapper or an envelope.
    """

    ok: bool
    kind: Kind
    raw_prefix: str | None = None
    length: int | None = None
    keys: tuple[str, ...] = ()
    invalid_items: int = 0
    invalid_reasons: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    content_type: str | None = None
    argument_keys: tuple[str, ...] = ()


@frozen(kw_only=True, slots=False)
class Parsed:
    """The ranges of one call, in the order of the text, and the diagnosis."""

    ranges: tuple[CompressRange, ...]
    diagnostics: Diagnostics
