"""The guard around a protocol that somebody else may have written: what it raises, or gives in a wrong shape, names it.

Whatever of ours asks a protocol asks through `guarded`. An application that calls a protocol itself needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from attrs import frozen

from trimtab.errors import CallerError, PluginError
from trimtab.types import Json
from trimtab.wire.types import Fault, PastCall, RawCall, Stream, ToolResult, WireProtocol

__all__ = ["METHODS", "Guarded", "guarded", "is_protocol", "protocol_named"]

T = TypeVar("T")

METHODS: Final = tuple(name for name in vars(WireProtocol) if not name.startswith("_") and name != "name")
"""What every protocol can do."""


def is_protocol(given: object) -> bool:
    """Whether something has a name and every method of `WireProtocol`."""
    try:
        named = isinstance(getattr(given, "name", None), str)
        return named and all(callable(getattr(given, method, None)) for method in METHODS)
    except Exception:  # a property that raises: what has it cannot be used either
        return False


def protocol_named(name: object, among: Mapping[str, T]) -> T:
    """What a table has for the name of a protocol. Raises CallerError, with the names that there are."""
    found = among.get(name) if isinstance(name, str) else None
    if found is None:
        raise CallerError(f"unknown protocol {name!r:.80}; known: {', '.join(among)}")
    return found


def guarded(protocol: WireProtocol) -> Guarded:
    """The protocol, so that whatever goes wrong in it is a PluginError with its name."""
    if isinstance(protocol, Guarded):
        return protocol
    try:
        name = str(protocol.name)
    except Exception:  # it had a name when it was registered
        name = type(protocol).__name__
    return Guarded(name, protocol)


@frozen
class _Guard:
    """Asks something that belongs to the protocol `name`; what goes wrong there is a PluginError."""

    name: str
    _asked: Any

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._asked, method)(*arguments)
        except (Exception, SystemExit) as error:
            raise self._raised(error) from error

    def _listed(self, kind: type[T], method: str, *arguments: Any) -> list[T]:
        """What a method gives, to its end, each one of this kind."""
        given = self._ask(method, *arguments)
        try:
            found = list(given)
        except (Exception, SystemExit) as error:  # it may be a generator
            raise self._raised(error) from error
        for one in found:
            if not isinstance(one, kind):
                raise self._fault(f"{method} must give a list of {kind.__name__}, not of {type(one).__name__}")
        return found

    def _raised(self, error: BaseException) -> PluginError:
        return self._fault(f"raised {type(error).__name__}: {error!s:.200}")

    def _fault(self, what: str) -> PluginError:
        return PluginError(f"wire protocol {self.name!r} {what}")


@frozen
class Guarded(_Guard):
    """A protocol as `WireProtocol` promises it; where it breaks the promise, each method raises PluginError."""

    def detect(self, payload: Json) -> float:
        """How much a payload looks like it, 0 to 1."""
        score = self._ask("detect", payload)
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise self._fault(f"gave {score!r:.80} for detect, which is no number from 0 to 1")
        return score

    def tool_results(self, request: Json) -> list[ToolResult]:
        """Every tool result in the request."""
        found = self._listed(ToolResult, "tool_results", request)
        for one in found:
            if not all(isinstance(word, str) for word in (one.key, one.call_id, one.name, one.message, one.call or "")):
                raise self._fault("gave a result whose key, call_id, name, message or call is no string")
        if len({one.key for one in found}) < len(found):
            raise self._fault("gave two results with the same key; a key is a place in the request")
        return found

    def with_results(self, request: Json, values: Mapping[str, Json]) -> Json:
        """The request with other values."""
        return self._ask("with_results", request, values)

    def tool_calls(self, response: Json) -> list[RawCall]:
        """The tool calls of a response."""
        return self._listed(RawCall, "tool_calls", response)

    def past_calls(self, request: Json) -> list[PastCall]:
        """The tool calls in the request's history."""
        return self._listed(PastCall, "past_calls", request)

    def with_calls(self, request: Json, arguments: Mapping[str, Json]) -> Json:
        """The request fit to be sent again."""
        return self._ask("with_calls", request, arguments)

    def check_pairs(self, request: Json) -> list[Fault]:
        """Results without their call and calls without their result."""
        return self._listed(Fault, "check_pairs", request)

    def stream(self) -> Stream:
        """A reader for one streamed response, guarded too."""
        return _GuardedStream(self.name, self._ask("stream"))


@frozen
class _GuardedStream(_Guard):
    """A stream reader of a guarded protocol's."""

    def feed(self, data: bytes | str | Mapping[str, Json]) -> None:
        """Take what came."""
        self._ask("feed", data)

    def close(self) -> list[RawCall]:
        """The calls."""
        return self._listed(RawCall, "close")
