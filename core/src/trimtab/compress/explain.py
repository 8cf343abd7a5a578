"""Turns a diagnosis into one short text for the model that made the call.

It says what was wrong, what is expected, and whether to call again; nothing else, and nothing that was not found: a
false cause makes a model repeat the same mistake in another way.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.results import Diagnostics

__all__ = ["EXAMPLE", "explain"]

_REASONS: Final = 8
_REASON_CHARS: Final = 200
_KEYS: Final = 8
_KEY_CHARS: Final = 40

EXAMPLE: Final = (
    '{"content": [{"startId": "m00012", "endId": "m00034", "summary": "What was done and found there, in full."}]}'
)
"""One valid call. Its refs stand for those that the conversation shows."""

_CAUSES: Final = {
    "empty-input": "The compress call came without arguments.",
    "not-object": "The arguments of compress are not an object.",
    "malformed-json": "The arguments of compress could not be read as JSON.",
    "no-valid-ranges": "No entry of `content` could be used.",
}
_SHAPE: Final = (
    "Expected: an object whose `content` is an array of entries, each with the texts startId, endId and summary "
    "(topic is optional), for example with refs that you see in the conversation:\n"
)


def explain(diagnostics: Diagnostics) -> str:
    """One text for the model, at most about 2,500 chars: cause, faults by entry, expected shape, what to do next.

    An untroubled call gives a text that says so.
    """
    parts = [_cause(diagnostics)]
    parts += _faults(diagnostics)
    if diagnostics.ok and not diagnostics.invalid_items and diagnostics.kind == "ok":
        return parts[0]
    parts.append(_SHAPE + EXAMPLE)
    parts.append(_next_step(diagnostics))
    return "\n".join(parts)


def _cause(found: Diagnostics) -> str:
    kind = found.kind
    if kind == "truncated":
        kept = "The complete entries before that were taken." if found.ok else "No entry before that was complete."
        return f"The arguments of compress end too early: the text breaks off before the call is closed. {kept}"
    if found.ok:
        if found.invalid_items:
            return f"compress took the usable entries; {_count(found.invalid_items)} could not be used."
        return "compress took all entries."
    if kind == "missing-content":
        return f"The arguments of compress have no `content`. {_keys(found)}"
    if kind == "content-not-array":
        return _content_cause(found)
    if kind == "no-valid-ranges" and not found.invalid_items:
        return "`content` is there but holds no entry."
    return _CAUSES[kind]


def _keys(found: Diagnostics) -> str:
    """What keys there were instead."""
    if not found.keys:
        return "The object is empty."
    shown = ", ".join(_one_line(key, _KEY_CHARS) for key in found.keys[:_KEYS])
    more = len(found.keys) - _KEYS
    return f"It has only: {shown}{f' and {more} more' if more > 0 else ''}."


def _content_cause(found: Diagnostics) -> str:
    """A text in the place of the array is told from another wrong type."""
    what = found.content_type
    if what == "text":
        return "`content` is a text, and no array of entries could be read from it. Pass the array itself, not a text."
    if what is None:
        return "`content` is not an array."
    return f"`content` is {what}, not an array."


def _faults(found: Diagnostics) -> list[str]:
    """What is wrong with each entry, counted from 0, as far as there is room."""
    if not found.invalid_items:
        return []
    lines = ["Not usable (entries counted from 0):"]
    lines += [f"- {_one_line(reason, _REASON_CHARS)}" for reason in found.invalid_reasons[:_REASONS]]
    more = found.invalid_items - min(len(found.invalid_reasons), _REASONS)
    if more > 0:
        lines.append(f"- and {more} more")
    return lines


def _next_step(found: Diagnostics) -> str:
    if found.ok and found.kind == "truncated":
        return (
            "Call again only with the entries that are missing, in shorter calls; do not repeat those that were taken."
        )
    if found.ok:
        return "Call again only with the entries that could not be used, once they are mended."
    if found.kind == "truncated":
        return "Call again with fewer entries or shorter summaries, so that the call is not cut off."
    if found.kind in ("no-valid-ranges", "missing-content", "empty-input") and not found.invalid_items:
        return "Call again only if there is something to compress, with at least one entry."
    return "Call again once, in the expected shape; the same arguments would fail again."


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _one_line(text: str, most: int) -> str:
    """The text on one line, of at most so many chars."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
