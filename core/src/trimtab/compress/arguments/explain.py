"""Turns a diagnosis into one short text for the model that made the call.

It says what was wrong, what is expected, and whether to call again; nothing else, and nothing that was not found: a
false cause makes a model repeat the same mistake in another way.
"""

from __future__ import annotations

from typing import Final

from trimtab.compress.arguments.entries import one_line, shown_keys
from trimtab.compress.arguments.results import Diagnostics
from trimtab.lenient.repairs import GIVEN_UP

__all__ = ["EXAMPLE", "advice", "causes", "explain"]

_REASONS: Final = 8
_REASON_CHARS: Final = 200

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


def explain(diagnostics: Diagnostics, *, example: str = EXAMPLE) -> str:
    """One text for the model, at most about 2,500 chars: cause, faults by entry, expected shape, what to do next.

    An untroubled call gives a text that says so.

    Args:
        diagnostics: of the call.
        example: one valid call, as JSON: with refs of the conversation where these are known.
    """
    if _all_taken(diagnostics):
        return _cause(diagnostics)
    return f"{causes(diagnostics)}\n{advice(diagnostics, example=example)}"


def causes(diagnostics: Diagnostics) -> str:
    """What was wrong, and with which entries; neither the expected shape nor what to do next."""
    return "\n".join([_cause(diagnostics), *_faults(diagnostics)])


def advice(diagnostics: Diagnostics, *, example: str = EXAMPLE) -> str:
    """The expected shape with one example, and what to do next."""
    return f"{_SHAPE}{example}\n{_next_step(diagnostics)}"


def _all_taken(found: Diagnostics) -> bool:
    return found.kind == "ok" and not found.invalid_items and GIVEN_UP not in found.repairs


def _cause(found: Diagnostics) -> str:
    kind = found.kind
    if kind == "truncated":
        return (
            "The arguments of compress end too early: the text breaks off before the call is closed. "
            f"{_taken_before(found)}"
        )
    if GIVEN_UP in found.repairs:
        return (
            f"The arguments of compress are so far from JSON that they were not read to the end. {_taken_before(found)}"
        )
    if found.ok:
        if found.invalid_items:
            return f"compress took the usable entries; {_count(found.invalid_items)} could not be used."
        return "compress took all entries."
    if kind == "missing-content":
        if found.content_type:
            return f"What was sent is {found.content_type}, and not the arguments of compress. {_keys(found)}"
        return f"The arguments of compress have no `content`. {_keys(found)}"
    if kind == "content-not-array":
        return _content_cause(found)
    if kind == "no-valid-ranges" and not found.invalid_items:
        return "`content` is there but holds no entry."
    return _CAUSES[kind]


def _taken_before(found: Diagnostics) -> str:
    """What became of the entries before the place where reading ended."""
    if not found.ok:
        return "No entry before that could be used." if found.invalid_items else "No entry before that was complete."
    return f"The {'usable' if found.invalid_items else 'complete'} entries before that were taken."


def _keys(found: Diagnostics) -> str:
    """What keys there were instead."""
    keys = found.argument_keys or found.keys
    return f"The object has only: {shown_keys(keys)}." if keys else "The object is empty."


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
    lines += [f"- {one_line(reason, _REASON_CHARS)}" for reason in found.invalid_reasons[:_REASONS]]
    more = found.invalid_items - min(len(found.invalid_reasons), _REASONS)
    if more > 0:
        lines.append(f"- and {more} more")
    return lines


def _next_step(found: Diagnostics) -> str:
    again = "do not repeat those that were taken."
    if found.ok and not found.invalid_items:  # cut off, or given up
        return f"Call again only if entries are missing, with those alone and in shorter calls; {again}"
    if found.ok and found.kind == "ok" and GIVEN_UP not in found.repairs:
        return "Call again only with the entries that could not be used, once they are mended."
    if found.ok:
        mended = (
            "Call again only with the entries that could not be used, once they are mended, and those that are missing"
        )
        return f"{mended}; {again}"
    if found.kind == "truncated":
        return "Call again with fewer entries or shorter summaries, so that the call is not cut off."
    if _is_empty(found):
        return "Call again only if there is something to compress, with at least one entry."
    return "Call again once, in the expected shape; the same arguments would fail again."


def _is_empty(found: Diagnostics) -> bool:
    """Whether nothing was sent that could be meant as an entry."""
    if found.kind == "missing-content":
        return not found.keys
    return found.kind in ("no-valid-ranges", "empty-input") and not found.invalid_items


def _count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
