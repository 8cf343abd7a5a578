"""What a read tool answers: a model's arguments in, an output that fits its limit out.

A model's mistakes are answered, not raised: `error_output` says what to do instead. Numbers come as models write them:
also as strings, or as floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trimtab._json import canonical
from trimtab.errors import CallerError, TrimtabError
from trimtab.measure import shown
from trimtab.policy import Policy
from trimtab.readback import Place, Room, numbered, page_at
from trimtab.types import GrepResult, Json, TextSource

__all__ = [
    "TIME_UP",
    "argument",
    "asks_to_search",
    "error_output",
    "fitting_matches",
    "place_of",
    "read_output",
    "search_output",
    "text_argument",
    "uri_argument",
    "whole_number",
]

TIME_UP: Final = "the time limit was reached; search on from there, or with a simpler pattern"
"""What `stopped` says in a search tool's output."""

_LONGEST_NUMBER = 16

# What models copy along from around the uri of a marker.
_AROUND_URI = " \t\r\n<>`\"'"


def argument(arguments: Json, name: str) -> Json:
    """One argument of a model's call; None where it is missing. Raises CallerError: the arguments are no object."""
    if not isinstance(arguments, Mapping):
        raise CallerError('the arguments must be an object, as in {"uri": "trimtab:..."}')
    return arguments.get(name)


def text_argument(arguments: Json, *names: str) -> str | None:
    """The first of these arguments that is a string with something in it. Raises CallerError as `argument`."""
    found = (argument(arguments, name) for name in names)
    return next((one for one in found if isinstance(one, str) and one), None)


def uri_argument(arguments: Json) -> str | None:
    """The uri (or path) of a call, without what a model copied around it. Raises CallerError as `argument`."""
    uri = text_argument(arguments, "uri", "path")
    return None if uri is None else uri.strip(_AROUND_URI)


def asks_to_search(policy: Policy, name: str, arguments: Json) -> bool:
    """Whether a call of a read tool is one of the search tool; under an alias, whether it has a `pattern`."""
    has_pattern = isinstance(arguments, Mapping) and arguments.get("pattern") is not None
    return name == policy.search_tool or (name != policy.read_tool and has_pattern)


def whole_number(arguments: Json, name: str) -> int | None:
    """A whole number argument; None where it is missing, null or empty. Raises CallerError for anything else."""
    value: Any = argument(arguments, name)
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        digits = value.strip(" ")
        if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST_NUMBER:
            value = int(digits)
    if isinstance(value, bool) or not isinstance(value, int):
        raise CallerError(f"`{name}` must be a whole number, not {value!r:.80}")
    return value


def place_of(arguments: Json) -> Place:
    """Where a call of a read tool wants to begin. Raises CallerError: one of its numbers is no number."""
    return Place(
        line=whole_number(arguments, "line"),
        char=whole_number(arguments, "char"),
        row=whole_number(arguments, "row"),
        count=whole_number(arguments, "count"),
        numbers=argument(arguments, "numbers") in (True, "true"),
    )


def read_output(source: TextSource, place: Place, room: Room) -> Json:
    """A page as a read tool's output: the text as it is shown, where it stands, where to go on (absent at the end).

    Raises:
        OutOfRange, CallerError: as `page_at`.
    """
    page = page_at(source, place, room)
    text = shown(page.text)
    output: dict[str, Json] = {"text": numbered(text, page.start_line) if place.numbers else text}
    if place.unit == "line":
        output |= {"start_line": page.start_line, "end_line": page.end_line, "total_lines": page.total_lines}
    else:
        output |= {"start_char": page.start_char, "end_char": page.end_char, "total_chars": page.total_chars}
    if page.next_line is not None and place.unit == "line":
        output["next_line"] = page.next_line
    elif page.next_char is not None:
        output["next_char"] = page.next_char
    return output


def search_output(found: GrepResult, room: Room) -> Json:
    """Matches in one text as a search tool's output; those that do not fit come with the next call."""
    matches = fitting_matches(
        [{"line": one.line, "char": one.char, "text": shown(one.text)} for one in found.matches], room
    )
    output: dict[str, Json] = {"matches": matches, "total_lines": found.total_lines}
    left = found.matches[len(matches) :]
    next_line = left[0].line if left else found.next_line
    if next_line is not None:
        output["next_line"] = next_line
    if found.stopped == "time":
        output["stopped"] = TIME_UP
    if found.unsearched is not None:
        output["unsearched_line"] = found.unsearched
    return output


def fitting_matches(matches: Sequence[dict[str, Json]], room: Room) -> list[dict[str, Json]]:
    """The first of these matches, as many as fit. The first always does: its `text` is cut short where it must be."""
    kept: list[dict[str, Json]] = []
    left = room.most
    for match in matches:
        left -= room.length(canonical(match)) + 1
        if left < 0:
            break
        kept.append(match)
    if matches and not kept:
        frame = room.length(canonical({**matches[0], "text": ""}))
        small = Room(room.most - frame, room.length, room.in_tokens)
        kept = [{**matches[0], "text": matches[0]["text"][: small.fitting(matches[0]["text"])]}]
    return kept


def error_output(error: TrimtabError) -> Json:
    """An error as a read tool's output: its kind and what to do."""
    return {"error": {"kind": type(error).__name__, "message": str(error)}}
