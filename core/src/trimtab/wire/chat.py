"""OpenAI's Chat Completions, and the looser chat of vLLM, SGLang and other servers that speak it.

Shapes: https://platform.openai.com/docs/api-reference/chat. Arguments are text; a result is a message of role `tool`,
or of role `function` in the older form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.arguments import stands_as_object
from trimtab.wire.histories import chat as history
from trimtab.wire.histories.shape import Shape
from trimtab.wire.nodes import blocks, has, is_object, items, member, messages_of, text
from trimtab.wire.protocol import Wire
from trimtab.wire.sites import CallSite, ResultSite, Site, same
from trimtab.wire.streams.stops import is_cut
from trimtab.wire.triggers import SERVER_TAGS, TRIGGERS, spoken
from trimtab.wire.types import RawCall, Stream

__all__ = ["OPENAI_CHAT", "VLLM"]

# Fields of requests and answers that vLLM and SGLang have and OpenAI refuses or lacks.
_SERVER_FIELDS: Final = (
    *("best_of", "chat_template", "chat_template_kwargs", "guided_json", "guided_regex", "include_stop_str_in_output"),
    *("kv_transfer_params", "min_p", "mm_processor_kwargs", "prompt_logprobs", "repetition_penalty"),
    *("separate_reasoning", "skip_special_tokens", "stop_token_ids", "structured_outputs", "top_k"),
)
_ROLES: Final = ("assistant", "developer", "function", "system", "tool", "user")


def _sites(request: Json) -> Iterator[Site]:
    before, messages = messages_of(request)
    for index, message in enumerate(messages):
        path = (*before, index)
        role = member(message, "role")
        if role == "assistant":
            yield from _calls_in(message, path)
        elif role in ("tool", "function"):
            yield ResultSite(
                path=(*path, "content"),
                call_id=text(message, "tool_call_id"),
                name=text(message, "name"),
                value=member(message, "content"),
                is_error=member(message, "is_error") is True,
            )


def _calls_in(message: Json, path: Path) -> Iterator[CallSite]:
    for place, call in blocks(message, "tool_calls"):
        inside, key = _inner(call)
        there = (*path, "tool_calls", place, inside, key)
        inner = member(call, inside)
        if not is_object(inner):
            continue
        call_id, name, raw = text(call, "id"), text(inner, "name"), member(inner, key)
        make = CallSite.of_anything if inside == "custom" else CallSite
        yield make(path=there, message=path, call_id=call_id, name=name, raw=raw)
    if is_object(old := member(message, "function_call")):
        yield CallSite(
            path=(*path, "function_call", "arguments"),
            message=path,
            call_id="",
            name=text(old, "name"),
            raw=member(old, "arguments"),
        )


def _inner(call: Json) -> tuple[str, str]:
    """The member that holds a call's name and arguments, and the name of the arguments there."""
    return ("custom", "input") if member(call, "type") == "custom" or has(call, "custom") else ("function", "arguments")


def _loose_sites(request: Json) -> Iterator[Site]:
    """As OpenAI's, but such servers also take arguments as objects (and their templates may ask for them)."""
    for site in _sites(request):
        if isinstance(site, CallSite) and isinstance(site.raw, dict):
            yield evolve(site, spell=same, stands=stands_as_object)
        else:
            yield site


def _calls(response: Json, tags: Mapping[str, str] = TRIGGERS) -> Iterator[RawCall]:
    choices = items(member(response, "choices"))
    for choice in choices or ([response] if member(response, "role") == "assistant" else ()):
        message = choice if choice is response else member(choice, "message")
        complete = not is_cut(member(choice, "finish_reason"))
        found = [evolve(site, complete=complete).raw_call for site in _calls_in(message, ())]
        yield from found
        if not found or tags is TRIGGERS:
            for said in _texts(message):
                yield from spoken(said, tags)


def _loose_calls(response: Json) -> Iterator[RawCall]:
    return _calls(response, SERVER_TAGS)


def _texts(message: Json) -> Iterator[str]:
    content = member(message, "content")
    if isinstance(content, str):
        yield content
    for part in items(content):
        if said := text(part, "text"):
            yield said


def _looks(payload: Json) -> float:
    if isinstance(payload, list | tuple):
        return 0.8 * _looks_like_history(payload)
    if str(member(payload, "object")).startswith("chat.completion"):
        return 0.95
    if choices := items(member(payload, "choices")):
        return 0.9 if has(choices[0], "message") or has(choices[0], "delta") else 0.0
    if not has(payload, "messages"):
        return 0.8 if member(payload, "role") == "assistant" and has(payload, "tool_calls") else 0.0
    tools = items(member(payload, "tools"))
    if any(has(one, "function") or has(one, "custom") for one in tools):
        return 0.95
    messages = items(member(payload, "messages"))
    found = _looks_like_history(messages) if messages else 0.1
    if has(payload, "system") or (tools and has(tools[0], "input_schema")):
        return min(found, 0.2)
    return found


def _looks_like_history(messages: Json) -> float:
    """0.95: a message has what only this protocol has; 0.5: nothing speaks against it; 0: it is another's."""
    best = 0.0
    for message in messages:
        role = member(message, "role")
        if role not in _ROLES or has(message, "parts"):
            return 0.0
        content = member(message, "content")
        if has(message, "tool_calls") or has(message, "tool_call_id") or has(message, "function_call"):
            return 0.95 if isinstance(content, str | None) or not _is_foreign(content) else 0.0
        if _is_foreign(content):
            return 0.0
        best = max(best, 0.7 if role in ("system", "developer") else 0.5)
    return best


def _is_foreign(content: Json) -> bool:
    """Whether content blocks are of another protocol: Anthropic's, Bedrock's, the AI SDK's."""
    types = ("tool_use", "tool_result", "tool-call", "tool-result", "thinking", "toolCall")
    return any(
        not isinstance(part, str) and (not has(part, "type") or member(part, "type") in types)
        for part in items(content)
    )


def _looks_loose(payload: Json) -> float:
    """As OpenAI's, but below it, unless something is there that OpenAI does not have."""
    found = _looks(payload)
    if not found:
        return 0.0
    choices = items(member(payload, "choices"))
    signs = any(has(payload, name) for name in _SERVER_FIELDS) or any(has(one, "stop_reason") for one in choices)
    return 1.0 if found >= 0.5 and (signs or _has_objects(payload)) else found * 0.9


def _has_objects(payload: Json) -> bool:
    """Whether a call's arguments are an object."""
    _, messages = messages_of(payload)
    messages = [*messages, *(member(one, "message") for one in items(member(payload, "choices")))]
    return any(isinstance(site.raw, dict) for message in messages for site in _calls_in(message, ()))


def _reader() -> Stream:
    from trimtab.wire.streams.chat import ChatStream

    return ChatStream()


def _loose_reader() -> Stream:
    from trimtab.wire.streams.chat import ChatStream

    return ChatStream(tags=SERVER_TAGS)


OPENAI_CHAT: Final = Wire(
    name="openai-chat",
    looks=_looks,
    sites=_sites,
    calls=_calls,
    reader=_reader,
    adjacent=True,
    history=Shape(
        place=messages_of,
        sites=_sites,
        calls=_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        adjacent=True,
    ),
)
VLLM: Final = Wire(
    name="vllm",
    looks=_looks_loose,
    sites=_loose_sites,
    calls=_loose_calls,
    reader=_loose_reader,
    adjacent=False,
    history=Shape(
        place=messages_of,
        sites=_loose_sites,
        calls=_loose_calls,
        role=history.role,
        user_text=history.user_text,
        bring=history.bring,
        reply=history.reply,
        id_at=history.id_at,
        opens_with_user=True,
        tags=SERVER_TAGS,
        alternates=("user",),
    ),
)
