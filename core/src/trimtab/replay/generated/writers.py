"""How each protocol writes what the model said, and a request around the messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from attrs import frozen

from trimtab.types import Json

__all__ = ["WRITERS", "Asked", "Writer"]


@frozen(kw_only=True)
class Asked:
    """A call of a tool."""

    call_id: str
    name: str
    arguments: dict[str, Json]


@frozen(kw_only=True)
class Writer:
    """One protocol.

    Attributes:
        say: the messages of the model with a text ("": none) and calls.
        request: a request with a system prompt, definitions of tools and messages.
        turn: what the model said in one turn, as the protocol keeps it.
    """

    say: Callable[[str, Sequence[Asked]], list[Json]]
    request: Callable[[str, list[Json], list[Json]], Json]
    turn: Callable[[list[Json]], list[Json]] = list


def _chat(text: str, calls: Sequence[Asked]) -> list[Json]:
    message: dict[str, Json] = {"role": "assistant", "content": text or None}
    made = [
        {"id": one.call_id, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}
        for one in calls
    ]
    return [{**message, "tool_calls": made} if made else message]


def _chat_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {"model": "model", "tools": tools, "messages": [{"role": "system", "content": system}, *messages]}


def _responses(text: str, calls: Sequence[Asked]) -> list[Json]:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return [
        *([said] if text else []),
        *(
            {
                "type": "function_call",
                "call_id": one.call_id,
                "name": one.name,
                "arguments": json.dumps(one.arguments),
            }
            for one in calls
        ),
    ]


def _responses_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {"model": "model", "instructions": system, "tools": tools, "input": messages, "store": False}


def _anthropic(text: str, calls: Sequence[Asked]) -> list[Json]:
    made = [{"type": "tool_use", "id": one.call_id, "name": one.name, "input": one.arguments} for one in calls]
    return [{"role": "assistant", "content": [*([{"type": "text", "text": text}] if text else []), *made]}]


def _anthropic_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {"model": "model", "max_tokens": 8_192, "tools": tools, "system": system, "messages": messages}


def _gemini(text: str, calls: Sequence[Asked]) -> list[Json]:
    made = [{"functionCall": {"id": one.call_id, "name": one.name, "args": one.arguments}} for one in calls]
    return [{"role": "model", "parts": [*([{"text": text}] if text else []), *made]}]


def _gemini_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {
        "tools": [{"functionDeclarations": tools}],
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": messages,
    }


def _bedrock(text: str, calls: Sequence[Asked]) -> list[Json]:
    made = [{"toolUse": {"toolUseId": one.call_id, "name": one.name, "input": one.arguments}} for one in calls]
    return [{"role": "assistant", "content": [*([{"text": text}] if text else []), *made]}]


def _bedrock_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {
        "modelId": "model",
        "toolConfig": {"tools": tools},
        "system": [{"text": system}],
        "messages": messages,
    }


def _ai_sdk(text: str, calls: Sequence[Asked]) -> list[Json]:
    parts: list[Json] = [{"type": "step-start"}]
    parts += [{"type": "text", "text": text, "state": "done"}] if text else []
    parts += [
        {
            "type": f"tool-{one.name}",
            "toolCallId": one.call_id,
            "state": "input-available",
            "input": one.arguments,
        }
        for one in calls
    ]
    return [{"role": "assistant", "parts": parts}]


def _ai_sdk_turn(said: list[Json]) -> list[Json]:
    """One message, which has all steps."""
    parts = [part for one in said for part in one["parts"]]
    return [{"id": f"msg-{len(parts)}", "role": "assistant", "parts": parts}]


def _ai_sdk_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    """UI messages go to the application's own server, which knows its tools."""
    said = {"id": "system", "role": "system", "parts": [{"type": "text", "text": system}]}
    return {"id": "chat", "trigger": "submit-message", "messages": [said, *messages]}


def _parsed(text: str, calls: Sequence[Asked]) -> list[Json]:
    made = [{"type": "toolCall", "id": one.call_id, "name": one.name, "arguments": one.arguments} for one in calls]
    return [{"role": "assistant", "content": [*([{"type": "text", "text": text}] if text else []), *made]}]


def _parsed_request(system: str, tools: list[Json], messages: list[Json]) -> Json:
    return {"system": system, "tools": tools, "messages": messages}


_CHAT: Final = Writer(say=_chat, request=_chat_request)

WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        "openai-chat": _CHAT,
        "openai-responses": Writer(say=_responses, request=_responses_request),
        "anthropic": Writer(say=_anthropic, request=_anthropic_request),
        "gemini": Writer(say=_gemini, request=_gemini_request),
        "bedrock": Writer(say=_bedrock, request=_bedrock_request),
        "vllm": _CHAT,
        "ai-sdk": Writer(say=_ai_sdk, request=_ai_sdk_request, turn=_ai_sdk_turn),
        "parsed": Writer(say=_parsed, request=_parsed_request),
    }
)
"""The protocols in which a session can be made up."""
