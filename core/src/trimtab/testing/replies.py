"""What a model answers, written as a response of every built-in wire protocol, whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from trimtab._json import blob_id
from trimtab.types import Json

__all__ = ["FLAVOURS", "RESPONSES", "STREAMS", "Called", "Reply", "protocol_of"]


@frozen(kw_only=True)
class Called:
    """A call; `arguments` are text as it goes over the wire, or a value."""

    call_id: str
    name: str
    arguments: Json


@frozen(kw_only=True)
class Reply:
    """One answer of a model: thoughts, text, calls; `cut`: it was stopped at a length limit."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    thought: str = ""
    cut: bool = False


def protocol_of(flavour: str) -> str:
    """The protocol's name; of some there are two flavours."""
    return "ai-sdk" if flavour == "ai-sdk-ui" else flavour


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _object(value: Json) -> dict[str, Json]:
    """As a wire that has objects carries it: what is no object is the value of a key."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"content": value}
    return value if isinstance(value, dict) else {"content": value}


def _chat(reply: Reply) -> Json:
    return _chat_response(reply, _text)


def _vllm(reply: Reply) -> Json:
    return _chat_response(reply, lambda value: value)


def _chat_response(reply: Reply, spell: Callable[[Json], Json]) -> Json:
    calls = [
        {"id": one.call_id, "type": "function", "function": {"name": one.name, "arguments": spell(one.arguments)}}
        for one in reply.calls
    ]
    message = {"role": "assistant", "content": reply.text or None, "tool_calls": calls, "refusal": None}
    if reply.thought:
        message["reasoning_content"] = reply.thought
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": _stop(reply, "length", "stop")}]}


def _stop(reply: Reply, cut: str, whole: str) -> str:
    return cut if reply.cut else whole


def _responses(reply: Reply) -> Json:
    return {"object": "response", "output": list(_items(reply)), "status": _stop(reply, "incomplete", "completed")}


def _items(reply: Reply) -> Iterator[dict[str, Json]]:
    if reply.thought:
        yield {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": reply.thought}
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    for place, one in enumerate(reply.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{place}",
            "call_id": one.call_id,
            "name": one.name,
            "arguments": _text(one.arguments),
            "status": "completed",
        }


def _anthropic(reply: Reply) -> Json:
    content: list[Json] = []
    if reply.thought:
        content.append({"type": "thinking", "thinking": reply.thought, "signature": "c2ln"})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": one.call_id, "name": one.name, "input": _object(one.arguments)}
        for one in reply.calls
    ]
    stop = _stop(reply, "max_tokens", "tool_use" if reply.calls else "end_turn")
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop}


def _gemini(reply: Reply) -> Json:
    parts: list[Json] = []
    if reply.thought:
        parts.append({"text": reply.thought, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    for place, one in enumerate(reply.calls):
        call: dict[str, Json] = {"name": one.name, "args": _object(one.arguments)}
        if one.call_id:
            call["id"] = one.call_id
        parts.append({"functionCall": call} | ({} if place else {"thoughtSignature": "c2ln"}))
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": _stop(reply, "MAX_TOKENS", "STOP")}
    return {"candidates": [candidate]}


def _bedrock(reply: Reply) -> Json:
    content: list[Json] = []
    if reply.thought:
        content.append({"reasoningContent": {"reasoningText": {"text": reply.thought, "signature": "c2ln"}}})
    if reply.text:
        content.append({"text": reply.text})
    content += [
        {"toolUse": {"toolUseId": one.call_id, "name": one.name, "input": _object(one.arguments)}}
        for one in reply.calls
    ]
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": _stop(reply, "max_tokens", "tool_use")}


def _ai_sdk(reply: Reply) -> Json:
    content: list[Json] = []
    if reply.thought:
        content.append({"type": "reasoning", "text": reply.thought})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    calls = [
        {
            "type": "tool-call",
            "toolCallId": one.call_id,
            "toolName": one.name,
            "input": _object(one.arguments),
        }
        for one in reply.calls
    ]
    message = {"role": "assistant", "content": [*content, *calls]}
    return {"toolCalls": calls, "finishReason": _stop(reply, "length", "stop"), "response": {"messages": [message]}}


def _ai_sdk_ui(reply: Reply) -> Json:
    parts: list[Json] = [{"type": "step-start"}]
    if reply.thought:
        parts.append({"type": "reasoning", "text": reply.thought, "state": "done"})
    if reply.text:
        parts.append({"type": "text", "text": reply.text})
    parts += [
        {
            "type": f"tool-{one.name}",
            "toolCallId": one.call_id,
            "state": "input-available",
            "input": _object(one.arguments),
        }
        for one in reply.calls
    ]
    return {"id": f"a-{blob_id(_text(parts))[:8]}", "role": "assistant", "parts": parts}


def _parsed(reply: Reply) -> Json:
    content: list[Json] = []
    if reply.thought:
        content.append({"type": "thinking", "thinking": reply.thought})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "toolCall", "id": one.call_id, "name": one.name, "arguments": _object(one.arguments)}
        for one in reply.calls
    ]
    return {"role": "assistant", "content": content, "stopReason": _stop(reply, "length", "toolUse")}


RESPONSES: Final[Mapping[str, Callable[[Reply], Json]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "vllm": _vllm,
    "ai-sdk": _ai_sdk,
    "ai-sdk-ui": _ai_sdk_ui,
    "parsed": _parsed,
}
"""Flavour to the function that writes an answer as a whole response."""

FLAVOURS: Final = tuple(RESPONSES)


def _chat_events(reply: Reply) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Json], stop: Json = None) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}

    if reply.thought:
        yield chunk({"role": "assistant", "reasoning_content": reply.thought})
    if reply.text:
        yield chunk({"content": reply.text})
    for place, one in enumerate(reply.calls):
        text = _text(one.arguments)
        function = {"name": one.name, "arguments": text[:7]}
        yield chunk({"tool_calls": [{"index": place, "id": one.call_id, "type": "function", "function": function}]})
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": text[7:]}}]})
    if not reply.cut:
        yield chunk({}, "stop")


def _responses_events(reply: Reply) -> Iterator[dict[str, Any]]:
    for place, item in enumerate(_items(reply)):
        yield {"type": "response.output_item.added", "output_index": place, "item": item}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    response = _responses(reply)
    yield {"type": _stop(reply, "response.incomplete", "response.completed"), "response": response}


def _anthropic_events(reply: Reply) -> Iterator[dict[str, Any]]:
    response = _anthropic(reply)
    yield {"type": "message_start", "message": {**response, "content": [], "stop_reason": None}}
    for place, block in enumerate(response["content"]):
        if block["type"] == "tool_use":
            yield {"type": "content_block_start", "index": place, "content_block": {**block, "input": {}}}
            called = reply.calls[place - len(response["content"]) + len(reply.calls)]
            text = _text(called.arguments)
            for piece in (text[:5], text[5:]):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield {"type": "content_block_delta", "index": place, "delta": delta}
        elif block["type"] == "text":
            yield {"type": "content_block_start", "index": place, "content_block": {"type": "text", "text": ""}}
            delta = {"type": "text_delta", "text": block["text"]}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        else:
            yield {"type": "content_block_start", "index": place, "content_block": block}
        if not (reply.cut and place == len(response["content"]) - 1):
            yield {"type": "content_block_stop", "index": place}
    yield {"type": "message_delta", "delta": {"stop_reason": response["stop_reason"]}}
    yield {"type": "message_stop"}


def _gemini_events(reply: Reply) -> Iterator[dict[str, Any]]:
    candidate = _gemini(reply)["candidates"][0]
    for part in candidate["content"]["parts"]:
        yield {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
    yield {"candidates": [{"finishReason": candidate["finishReason"]}]}


def _bedrock_events(reply: Reply) -> Iterator[dict[str, Any]]:
    response = _bedrock(reply)
    content = response["output"]["message"]["content"]
    yield {"messageStart": {"role": "assistant"}}
    for place, block in enumerate(content):
        if "toolUse" in block:
            use = block["toolUse"]
            start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
            yield {"contentBlockStart": {"contentBlockIndex": place, "start": start}}
            text = _text(reply.calls[place - len(content) + len(reply.calls)].arguments)
            yield {"contentBlockDelta": {"contentBlockIndex": place, "delta": {"toolUse": {"input": text}}}}
        elif "text" in block:
            yield {"contentBlockDelta": {"contentBlockIndex": place, "delta": {"text": block["text"]}}}
        else:
            inner = block["reasoningContent"]["reasoningText"]
            for key, value in inner.items():
                yield {"contentBlockDelta": {"contentBlockIndex": place, "delta": {"reasoningContent": {key: value}}}}
        yield {"contentBlockStop": {"contentBlockIndex": place}}
    yield {"messageStop": {"stopReason": response["stopReason"]}}


STREAMS: Final[Mapping[str, Callable[[Reply], Iterator[dict[str, Any]]]]] = {
    "openai-chat": _chat_events,
    "vllm": _chat_events,
    "openai-responses": _responses_events,
    "anthropic": _anthropic_events,
    "gemini": _gemini_events,
    "bedrock": _bedrock_events,
}
"""Flavour to the function that writes an answer as the events of a stream, decoded already."""
