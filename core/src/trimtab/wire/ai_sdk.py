"""Vercel's AI SDK: UI messages, whose parts hold a call and its result, and the model messages made from them.

Shapes: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message and .../model-message. A part is named `tool-<name>` or
`dynamic-tool`; its state says whether it has a result. The `tool-invocation` parts of older versions are read too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories import aisdk as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, first, has, is_object, items, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.types import RawCall, Stream

__all__ = ["AI_SDK"]

_EVENTS: Final = ("tool-input-start", "tool-input-delta", "tool-input-available", "tool-output-available", "start-step")
# States in which a call is answered without an output, waits for a person, or is not sent at all.
_NO_OUTPUT: Final = ("approval-requested", "approval-responded", "input-streaming", "output-denied", "partial-call")
_WRITTEN: Final = ("input-streaming", "partial-call")


def _sites(request: Json) -> Iterator[Site]:
    before, messages = messages_of(request)
    waiting = _waiting(messages)
    for index, message in enumerate(messages):
        yield from _in_message(message, (*before, index), waiting)


def _waiting(messages: Iterable[Json]) -> set[str]:
    """Ids of the calls in model messages that a person was asked about and that have no result: the SDK runs them."""
    parts = [part for message in messages for _, part in blocks(message, "content")]
    asked = {text(part, "toolCallId") for part in parts if text(part, "type") == "tool-approval-request"}
    return asked - {text(part, "toolCallId") for part in parts if text(part, "type") == "tool-result"}


def _in_message(message: Json, path: Path, waiting: Collection[str] = ()) -> Iterator[Site]:
    step = path
    for place, part in blocks(message, "parts"):
        there = (*path, "parts", place)
        kind = text(part, "type")
        if kind == "step-start":
            step = there
        elif kind == "tool-invocation":
            yield from _invocation(member(part, "toolInvocation"), (*there, "toolInvocation"), step)
        elif kind == "dynamic-tool" or (kind.startswith("tool-") and has(part, "toolCallId")):
            name = text(part, "toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
            yield from _ui_part(part, there, step, name)
    if not has(message, "parts"):  # both are there in the older versions, with the same in them
        for place, one in blocks(message, "toolInvocations"):
            yield from _invocation(one, (*path, "toolInvocations", place), path)
    for place, part in blocks(message, "content"):
        # In a message of the assistant's own a result is of a tool that the provider ran.
        if text(message, "role") != "assistant" or text(part, "type") != "tool-result":
            yield from _model_part(part, (*path, "content", place), path, waiting)


def _ui_part(part: Json, path: Path, message: Path, name: str) -> Iterator[Site]:
    state, call_id = text(part, "state"), text(part, "toolCallId")
    by_provider = member(part, "providerExecuted") is True
    # What could not be parsed is kept as `rawInput`; the SDK sends it where there is no `input`.
    _, raw = first(part, "input", "rawInput")
    yield CallSite.of_object(
        path=(*path, "input"),
        message=message,
        call_id=call_id,
        name=name,
        raw=raw,
        answered=by_provider or state in _NO_OUTPUT,
        by_provider=by_provider,
        complete=state not in _WRITTEN,
        **({"stands": lambda _: True} if state in _WRITTEN else {}),
    )
    if state in ("output-available", "output-error") and not by_provider:
        failed = state == "output-error"
        key = "errorText" if failed else "output"
        yield ResultSite(
            path=(*path, key),
            call_id=call_id,
            name=name,
            value=member(part, key),
            is_error=failed,
            call=(*path, "input"),
        )


def _invocation(part: Json, path: Path, message: Path) -> Iterator[Site]:
    """A tool invocation of versions 3 and 4: states `partial-call`, `call`, `result`."""
    if not is_object(part):
        return
    state, call_id, name = text(part, "state"), text(part, "toolCallId"), text(part, "toolName")
    yield CallSite.of_object(
        path=(*path, "args"),
        message=message,
        call_id=call_id,
        name=name,
        raw=member(part, "args"),
        answered=state in _NO_OUTPUT,
        complete=state not in _WRITTEN,
        **({"stands": lambda _: True} if state in _WRITTEN else {}),
    )
    if state == "result":
        yield ResultSite(
            path=(*path, "result"),
            call_id=call_id,
            name=name,
            value=member(part, "result"),
            is_error=member(part, "isError") is True,
            call=(*path, "args"),
        )


def _model_part(part: Json, path: Path, message: Path, waiting: Collection[str]) -> Iterator[Site]:
    """A part of a model message: `tool-call`, `tool-result`."""
    kind, call_id, name = text(part, "type"), text(part, "toolCallId"), text(part, "toolName")
    if kind == "tool-call":
        by_provider = member(part, "providerExecuted") is True
        key, raw = first(part, "input", "args")
        yield CallSite.of_object(
            path=(*path, key if has(part, key) else "input"),
            message=message,
            call_id=call_id,
            name=name,
            raw=raw,
            by_provider=by_provider,
            answered=by_provider or call_id in waiting,
        )
    elif kind == "tool-result" and member(part, "providerExecuted") is not True:
        output = member(part, "output")
        typed = text(output, "type")
        older = output is None and has(part, "result")
        inner = bool(typed) and has(output, "value")
        where: Path = ("result",) if older else ("output", "value") if inner else ("output",)
        yield ResultSite(
            path=(*path, *where),
            call_id=call_id,
            name=name,
            value=member(part, "result") if older else member(output, "value") if inner else output,
            is_error=typed.startswith("error") or member(part, "isError") is True,
            hidden=typed == "execution-denied",
        )


def _calls(response: Json) -> Iterator[RawCall]:
    if has(response, "toolCalls"):  # what `generateText` gives
        for one in filter(is_object, items(member(response, "toolCalls"))):
            _, raw = first(one, "input", "args")
            yield RawCall(
                call_id=text(one, "toolCallId"),
                name=text(one, "toolName"),
                raw_args={} if raw is None else raw,
                complete=not _is_cut(response),
                by_provider=member(one, "providerExecuted") is True,
            )
        return
    found = _sites(response) if has(response, "messages") or isinstance(response, list) else _in_message(response, ())
    cut = _is_cut(response)
    for site in found:
        if isinstance(site, CallSite):
            yield evolve(site, complete=site.complete and not cut).raw_call


def _is_cut(response: Json) -> bool:
    return is_cut(member(response, "finishReason"))


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        return _looks_like_history(payload)
    if member(payload, "type") in _EVENTS:
        return 1.0
    if has(payload, "messages"):
        return _looks_like_history(items(member(payload, "messages")))
    if has(payload, "toolCalls") and any(has(one, "toolCallId") for one in items(member(payload, "toolCalls"))):
        return 0.95
    return _looks_like_history([payload]) if has(payload, "role") or has(payload, "parts") else 0.0


def _looks_like_history(messages: Json) -> float:
    """0.95: a part is one that only the AI SDK has; 0.8: messages have typed parts; 0: it is another's."""
    best = 0.0
    for message in messages:
        if has(message, "toolInvocations"):
            return 0.95
        for _, part in (*blocks(message, "parts"), *blocks(message, "content")):
            kind = text(part, "type")
            if kind == "dynamic-tool" or (kind.startswith("tool-") and has(part, "toolCallId")):
                return 0.95
            if kind == "tool-invocation" or (kind and has(message, "parts")):
                best = 0.8
    return best


def _reader() -> Stream:
    from trimtab.wire.streams.aisdk import AiSdkStream

    return AiSdkStream()


AI_SDK: Final = Wire(
    name="ai-sdk",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    history=Shape(
        place=messages_of,
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        fill=history.fill,
        grows=True,
        adjacent=True,
    ),
)
