"""`Wire`: a protocol made of a few functions that know its shapes; everything else is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import field, frozen

from trimtab.errors import CallerError
from trimtab.pointer import Path, to_pointer
from trimtab.types import Json
from trimtab.wire.arguments import as_object
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import changed
from trimtab.wire.sites import CallSite, Paired, ResultSite, Site, faults, pair
from trimtab.wire.types import Fault, PastCall, RawCall, Stream, ToolResult, named

__all__ = ["Wire"]


@frozen(kw_only=True)
class Wire:
    """A wire protocol: implements `WireProtocol`.

    Attributes:
        looks: how much a payload looks like it, 0 to 1.
        sites: calls and results of a request, in document order.
        calls: calls of a whole response, in order; ids may be "".
        reader: makes a stream reader.
        adjacent: whether a result must follow right after the message with its call.
        history: how its conversations are read and continued; None: what needs that cannot be done with it.
        kept_elsewhere: whether a request's results may answer calls that are not in it, since the provider has them.
    """

    name: str
    looks: Callable[[Json], float] = field(repr=False)
    sites: Callable[[Json], Iterator[Site]] = field(repr=False)
    calls: Callable[[Json], Iterable[RawCall]] = field(repr=False)
    reader: Callable[[], Stream] = field(repr=False)
    adjacent: bool = field(default=False, repr=False)
    history: Shape | None = field(default=None, repr=False)
    kept_elsewhere: Callable[[Json], bool] = field(default=lambda _: False, repr=False)

    def detect(self, payload: Json) -> float:
        """How much a request or response looks like this protocol, 0 to 1."""
        return self.looks(payload)

    def tool_results(self, request: Json) -> list[ToolResult]:
        """Every tool result in the request, in order."""
        return [_result(one) for one in pair(self.sites(request))[0] if not one.result.hidden]

    def with_results(self, request: Json, values: Mapping[str, Json]) -> Json:
        """The request with the values of some results replaced; fields beside them stay. Raises CallerError."""
        if not values:
            return request
        sites = (one for one in self.sites(request) if isinstance(one, ResultSite) and not one.hidden)
        known = {one.key: one for one in sites}
        changes: dict[Path, Json] = {}
        for key, new in values.items():
            if key not in known:
                raise CallerError(f"{key!r:.200} is no result of this request; use the keys that tool_results gives")
            if new is not known[key].value:
                changes[known[key].path] = known[key].wrap(new)
        return changed(request, changes)

    def tool_calls(self, response: Json) -> list[RawCall]:
        """The tool calls of a whole response, in order."""
        return named(self.calls(response))

    def past_calls(self, request: Json) -> list[PastCall]:
        """The tool calls in the request's history, in order."""
        sites = list(self._calls_of(request))
        calls = named(one.raw_call for one in sites)
        return [PastCall(key=to_pointer(one.path), call=call) for one, call in zip(sites, calls, strict=True)]

    def with_calls(self, request: Json, arguments: Mapping[str, Json]) -> Json:
        """The request fit to be sent again: malformed past calls carry an object, valid ones keep their bytes.

        Raises CallerError.
        """
        known = {to_pointer(one.path): one for one in self._calls_of(request)}
        for key, new in arguments.items():
            if key not in known:
                raise CallerError(f"{key!r:.200} is no call of this request; use the keys that past_calls gives")
            if not isinstance(new, dict):
                raise CallerError(f"arguments of {key!r:.200} must be an object, not {type(new).__name__}")
        changes: dict[Path, Json] = {}
        for key, site in known.items():
            fits = site.stands(site.raw)
            if key in arguments:
                new = arguments[key]
                if not fits or not _equal(as_object(site.raw), new):
                    changes[site.path] = site.spell(new)
            elif not fits:
                changes[site.path] = site.spell(as_object(site.raw))
        return changed(request, changes)

    def check_pairs(self, request: Json) -> list[Fault]:
        """Results without their call and calls without their result."""
        results, left = pair(self.sites(request), adjacent=self.adjacent)
        return faults([] if self.kept_elsewhere(request) else results, left)

    def stream(self) -> Stream:
        """A reader for one streamed response."""
        return self.reader()

    def _calls_of(self, request: Json) -> Iterator[CallSite]:
        return (one for one in self.sites(request) if isinstance(one, CallSite) and not one.hidden)


def _result(one: Paired) -> ToolResult:
    result, call = one.result, one.call
    message = call.message if call is not None else one.message
    return ToolResult(
        key=result.key,
        call_id=result.call_id,
        name=result.name or (call.name if call is not None else ""),
        value=result.value,
        is_error=result.is_error,
        message="" if message is None else to_pointer(message),
        call=None if call is None else to_pointer(call.path),
    )


def _equal(left: Json, right: Json) -> bool:
    """Whether two values are the same JSON: `1`, `1.0` and `true` are three different ones."""
    stack = [(left, right)]
    while stack:
        one, other = stack.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            stack += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            stack += zip(one, other, strict=True)
        elif one != other:
            return False
    return True
