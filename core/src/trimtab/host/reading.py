"""Reading back as steps: pages and searches, and the answers to a model's calls of the read tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trimtab._json import canonical
from trimtab.errors import CallerError, StoreError, TrimtabError
from trimtab.grep import grep
from trimtab.host.engine import Engine
from trimtab.host.steps import Steps
from trimtab.measure import escaped_length, shown
from trimtab.readback import Room, blob_of, page_at_char, page_at_line, page_at_row, page_output
from trimtab.telemetry import log, span
from trimtab.types import AllowList, BlobStore, Everything, GrepResult, Json, Page

__all__ = ["error_output", "grep_steps", "read_steps", "room_for", "run_read_tool_steps"]

# What a read tool's output takes beside its text: the field names and numbers around it.
_FRAME: Final = {"chars": 200, "tokens": 60}

Allow = AllowList | Everything


def room_for(engine: Engine, tool: str | None = None) -> Room:
    """What a page may take: the limit of a read-back tool's output, less the fields around the text."""
    budget = engine.policy.budget(tool)
    most = budget.limit - _FRAME[budget.unit]
    if budget.unit == "chars":
        return Room(most, lambda text: escaped_length(shown(text)))
    counter = engine.counter(budget)
    return Room(most, lambda text: counter.count(canonical(shown(text))), in_tokens=True)


def read_steps(
    engine: Engine,
    uri: str,
    allow: Allow,
    *,
    line: int | None = None,
    char: int | None = None,
    row: int | None = None,
    count: int | None = None,
) -> Steps[Page]:
    """One page, by line, char or row (each 1-based); the first by line where none is given."""
    if sum(one is not None for one in (line, char, row)) > 1:
        raise CallerError("give one of line, char and row")
    room = room_for(engine, engine.policy.reader())

    def page(store: BlobStore) -> Page:
        blob = blob_of(uri, allow, store)
        if char is not None:
            return page_at_char(store, blob, char, count, room)
        if row is not None:
            return page_at_row(store, blob, row, count, room)
        return page_at_line(store, blob, 1 if line is None else line, count, room)

    found: Page = yield page
    return found


def grep_steps(uri: str, pattern: str, allow: Allow, *, line: int = 1) -> Steps[GrepResult]:
    """Matching lines from 1-based `line` on."""
    found: GrepResult = yield lambda store: grep(store, blob_of(uri, allow, store), pattern, line=line)
    return found


def run_read_tool_steps(engine: Engine, name: str, arguments: Json, allow: Allow) -> Steps[Json]:
    """The output of a model's call of the read or the search tool; its mistakes are answered, not raised.

    Raises:
        CallerError: `name` is none of the read tools.
    """
    policy = engine.policy
    if name not in policy.read_names:
        raise CallerError(f"{name!r:.80} is not a read tool here; they are {', '.join(policy.read_names) or 'none'}")
    with span("trimtab.read", {"gen_ai.tool.name": name}) as recording:
        try:
            if name == policy.search_tool or (name != policy.read_tool and _get(arguments, "pattern") is not None):
                return (yield from _search(engine, arguments, allow))
            return (yield from _read(engine, arguments, allow))
        except TrimtabError as error:
            if isinstance(error, StoreError):
                log.warning("%s: %s", name, error)
                recording.fail(error)
            return error_output(error)


def error_output(error: TrimtabError) -> Json:
    """An error as a read tool's output: its kind and what to do."""
    return {"error": {"kind": type(error).__name__, "message": str(error)}}


def _read(engine: Engine, arguments: Json, allow: Allow) -> Steps[Json]:
    place = {name: number for name in ("line", "char", "row") if (number := _number(arguments, name)) is not None}
    page = yield from read_steps(engine, _uri(arguments), allow, **place, count=_number(arguments, "count"))
    return page_output(page, shown(page.text), unit="char" if "char" in place or "row" in place else "line")


def _search(engine: Engine, arguments: Json, allow: Allow) -> Steps[Json]:
    pattern = _get(arguments, "pattern")
    if not isinstance(pattern, str):
        raise CallerError("`pattern` is missing: a word or a regular expression to look for")
    found = yield from grep_steps(_uri(arguments), pattern, allow, line=_number(arguments, "line") or 1)
    return search_output(engine, found)


def search_output(engine: Engine, found: GrepResult) -> Json:
    """Matches as a tool's output that fits its limit; those that do not fit come with the next call."""
    room = room_for(engine, engine.policy.search_tool or None)
    output: dict[str, Json] = {"matches": [], "total_lines": found.total_lines}
    left = room.most
    next_line = found.next_line
    for match in found.matches:
        entry = {"line": match.line, "char": match.char, "text": shown(match.text)}
        left -= room.length(canonical(entry)) + 1
        if left < 0:
            next_line = match.line
            break
        output["matches"].append(entry)
    if next_line is not None:
        output["next_line"] = next_line
    if found.stopped == "time":
        output["stopped"] = "the time limit was reached; search on from next_line, or with a simpler pattern"
    return output


def _get(arguments: Json, name: str) -> Json:
    if not isinstance(arguments, Mapping):
        raise CallerError('the arguments must be an object, as in {"uri": "trimtab:..."}')
    return arguments.get(name)


def _uri(arguments: Json) -> str:
    for name in ("uri", "path"):
        if isinstance(value := _get(arguments, name), str) and value:
            return value.strip(" \t\r\n<>`\"'")
    raise CallerError("`uri` is missing: give the one from the marker, as in trimtab:3f2a9c1b7d04e5f6")


def _number(arguments: Json, name: str) -> int | None:
    """A whole number argument; models also write it as a string or a float."""
    value: Any = _get(arguments, name)
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.strip(" ").isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise CallerError(f"`{name}` must be a whole number, not {value!r:.80}")
    return value
