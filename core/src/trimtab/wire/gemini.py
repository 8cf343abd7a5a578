"""Google's Gemini: calls and results are parts, with objects for arguments and results.

Shapes: https://ai.google.dev/api/caching#FunctionCall. Calls have an id only sometimes: without one, a result belongs
to the first unanswered call of its name. REST spells names in camelCase, SDKs also in snake_case. Thought signatures
stay on their parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.arguments import stands_as_object
from trimtab.wire.histories import gemini as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, first, has, is_object, items, member, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site, same
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import spoken
from trimtab.wire.types import RawCall, Stream

__all__ = ["GEMINI"]

# The response of a function is an object; "output" and "error" are the names that the API itself gives a meaning. The
# others are what SDKs put around a result that is not an object.
_OUTPUT: Final = ("output", "error")
_WRAPPERS: Final = ("result", "return_value", "content")


def _contents(request: Json) -> tuple[Path, Json]:
    """The contents of a request, with the path to them: a list, or the only one."""
    if isinstance(request, list | tuple):
        return (), request
    found = member(request, "contents")
    return ("contents",), found if isinstance(found, list | tuple) else () if found is None else (found,)


def _sites(request: Json) -> Iterator[Site]:
    before, contents = _contents(request)
    alone = before == ("contents",) and not isinstance(member(request, "contents"), list | tuple)
    turn: Path | None = None
    for index, content in enumerate(contents):
        path = before if alone else (*before, index)
        turn = (turn or path) if member(content, "role") == "model" else None
        for place, part in blocks(content, "parts"):
            there = (*path, "parts", place)
            key, call = first(part, "functionCall", "function_call")
            if is_object(call):
                yield _call(call, (*there, key), turn or path)
            key, result = first(part, "functionResponse", "function_response")
            if is_object(result):
                yield _result(result, (*there, key))


def _call(call: Json, path: Path, message: Path) -> CallSite:
    return CallSite.of_object(
        path=(*path, "args"),
        message=message,
        call_id=text(call, "id"),
        name=text(call, "name"),
        raw=member(call, "args"),
        stands=lambda raw: raw is None or stands_as_object(raw),  # a call without arguments may leave them out
    )


def _result(result: Json, path: Path) -> ResultSite:
    response = member(result, "response")
    key = _wrapper(response)
    value = response if key is None else response[key]
    return ResultSite(
        path=(*path, "response") if key is None else (*path, "response", key),
        place=(*path, "response"),
        call_id=text(result, "id"),
        name=text(result, "name"),
        value=value,
        is_error=key == "error" or (key is None and bool(member(response, "error"))),
        wrap=same if key is not None else lambda new: _as_object(new, response),
    )


def _wrapper(response: Json) -> str | None:
    """The only key of a response that just holds what the tool returned; None: the response is what it returned."""
    if not isinstance(response, dict) or len(response) != 1:
        return None
    (key,) = response
    if key in _OUTPUT or (key in _WRAPPERS and not isinstance(response[key], dict)):
        return str(key)
    return None


def _as_object(value: Json, original: Json) -> Json:
    """A response must be an object: anything else is put into one as its output, unless it was no object before."""
    return value if isinstance(value, dict) or type(value) is type(original) else {"output": value}


def _unwrapped(response: Json) -> Json:
    """The response itself: Code Assist has it in a `response` of its own."""
    inner = member(response, "response")
    return inner if has(inner, "candidates") and not has(response, "candidates") else response


def _calls(response: Json) -> Iterator[RawCall]:
    response = _unwrapped(response)
    candidates = items(member(response, "candidates"))
    for candidate in candidates or ([{"content": response}] if has(response, "parts") else ()):
        complete = not is_cut(first(candidate, "finishReason", "finish_reason")[1])
        for _, part in blocks(member(candidate, "content"), "parts"):
            _, call = first(part, "functionCall", "function_call")
            if is_object(call):
                yield evolve(_call(call, (), ()), complete=complete).raw_call
            elif not member(part, "thought"):
                yield from spoken(text(part, "text"))


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        roles = [member(one, "role") for one in payload if has(one, "parts")]
        return 0.9 if "model" in roles or roles == [None] else 0.3 * (roles == ["user"])
    if has(_unwrapped(payload), "candidates") or has(payload, "promptFeedback"):
        return 1.0
    if has(payload, "contents"):
        return 1.0
    return 0.8 if has(payload, "parts") and member(payload, "role") == "model" else 0.0


def _reader() -> Stream:
    from trimtab.wire.streams.gemini import GeminiStream

    return GeminiStream()


GEMINI: Final = Wire(
    name="gemini",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    adjacent=True,
    history=Shape(
        place=_contents,
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        adjacent=True,
        opens_with_user=True,
        mend=history.mend,
        alternates=("user", "assistant"),
        joins="parts",
    ),
)
