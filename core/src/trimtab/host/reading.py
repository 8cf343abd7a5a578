"""Reading back as steps: pages and searches, and the answers to a model's calls of the read tools."""

from __future__ import annotations

from trimtab.answers import (
    asks_to_search,
    error_output,
    place_of,
    read_output,
    search_output,
    text_argument,
    uri_argument,
    whole_number,
)
from trimtab.errors import BadPattern, CallerError, MissingExtra, StoreError, StoreUnavailable, TrimtabError
from trimtab.grep import finder, grep
from trimtab.host.engine import Engine
from trimtab.host.steps import Steps
from trimtab.readback import BlobText, Place, Room, blob_of, check_allow, page_at, room_of
from trimtab.telemetry import Recording, log, span
from trimtab.types import AllowList, Everything, GrepResult, Json, Page

__all__ = ["grep_steps", "read_steps", "room_for", "run_read_tool_steps"]

Allow = AllowList | Everything


def room_for(engine: Engine, tool: str | None = None) -> Room:
    """What a page of a read tool's output may take beside its fields."""
    budget = engine.policy.budget(tool)
    return room_of(budget, engine.counter(budget))


def read_steps(engine: Engine, uri: str, allow: Allow, place: Place) -> Steps[Page]:
    """One page of a stored text."""
    room = room_for(engine, engine.policy.reader())
    found: Page = yield lambda store: page_at(BlobText(store, blob_of(uri, allow, store)), place, room)
    return found


def grep_steps(uri: str, pattern: str, allow: Allow, *, line: int = 1) -> Steps[GrepResult]:
    """Matching lines from 1-based `line` on."""
    find = finder(pattern)
    found: GrepResult = yield lambda store: grep(BlobText(store, blob_of(uri, allow, store)), find, line=line)
    return found


def run_read_tool_steps(engine: Engine, name: str, arguments: Json, allow: Allow) -> Steps[Json]:
    """The output of a model's call of the read or the search tool; its mistakes are answered, not raised.

    Raises:
        CallerError: `name` is none of the read tools.
    """
    policy = engine.policy
    if name not in policy.read_names:
        raise CallerError(f"{name!r:.80} is not a read tool here; they are {', '.join(policy.read_names) or 'none'}")
    check_allow(allow)
    with span("trimtab.read", {"gen_ai.tool.name": name}) as recording:
        try:
            if asks_to_search(policy, name, arguments):
                return (yield from _search(engine, arguments, allow))
            return (yield from _read(engine, arguments, allow))
        except MissingExtra as error:  # what to install is for the application; the model can do with a word
            _report(recording, name, error)
            return error_output(BadPattern("regular expressions cannot be used here; look for a plain word"))
        except TrimtabError as error:
            if isinstance(error, StoreError):
                _report(recording, name, error)
            return error_output(error)
        except Exception as error:  # whatever a store of others raises: the model's turn goes on
            _report(recording, name, error)
            return error_output(StoreUnavailable(f"the store cannot be read now ({type(error).__name__}); try later"))


def _report(recording: Recording, name: str, error: Exception) -> None:
    log.warning("%s: %s", name, error)
    recording.fail(error)


def _read(engine: Engine, arguments: Json, allow: Allow) -> Steps[Json]:
    uri, place, room = _uri(arguments), place_of(arguments), room_for(engine, engine.policy.reader())
    return (yield lambda store: read_output(BlobText(store, blob_of(uri, allow, store)), place, room))


def _search(engine: Engine, arguments: Json, allow: Allow) -> Steps[Json]:
    pattern = text_argument(arguments, "pattern")
    if pattern is None:
        raise CallerError("`pattern` is missing: a word or a regular expression to look for")
    found = yield from grep_steps(_uri(arguments), pattern, allow, line=whole_number(arguments, "line") or 1)
    return search_output(found, room_for(engine, engine.policy.search_tool or None))


def _uri(arguments: Json) -> str:
    uri = uri_argument(arguments)
    if uri is None:
        raise CallerError("`uri` is missing: give the one from the marker, as in trimtab:3f2a9c1b7d04e5f6")
    return uri
