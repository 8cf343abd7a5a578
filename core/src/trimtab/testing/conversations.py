"""Conversations with tools, written as requests of every built-in wire protocol. Needs Hypothesis.

A conversation is told once, in plain values; `WRITERS` has, for each protocol, the function that writes it as a
request, with the fields that ride along in real traffic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from trimtab.types import Json

__all__ = ["WRITERS", "Told", "Turn", "conversations"]


@frozen(kw_only=True)
class Told:
    """One tool call and its output. `blocks`: the output is written as content blocks, where the wire has them."""

    call_id: str
    name: str
    arguments: dict[str, Json]
    output: str
    failed: bool = False
    blocks: bool = False


@frozen(kw_only=True)
class Turn:
    """What a user says, and the calls of the assistant's message that follows, each with its output."""

    said: str
    calls: tuple[Told, ...] = ()


def conversations(*, longest: int = 4, ids: bool = False) -> SearchStrategy[list[Turn]]:
    """Conversations of up to `longest` turns. Call ids repeat between turns; with `ids`, none is empty."""
    words = st.sampled_from(("id-1", "id-2", "id-3", "id-4", "id-5") + (() if ids else ("",)))
    told = st.builds(
        Told,
        call_id=words,
        name=st.sampled_from(("web_search", "read", "fs_read")),
        arguments=st.dictionaries(st.sampled_from(("query", "path")), st.text(max_size=5), max_size=2),
        output=st.sampled_from(("", "short", "line of an output\n" * 60, "a long line of an output\n" * 400)),
        failed=st.booleans(),
        blocks=st.booleans(),
    )
    calls = st.lists(told, max_size=3, unique_by=lambda one: one.call_id).map(tuple)
    return st.lists(st.builds(Turn, said=st.sampled_from(("go", "and now?")), calls=calls), max_size=longest)


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _chat(turns: Sequence[Turn]) -> Json:
    return {"model": "m", "messages": list(_chat_messages(turns, _text)), "tools": [_function("web_search")], "n": 1}


def _vllm(turns: Sequence[Turn]) -> Json:
    """Arguments as objects."""
    return {"model": "m", "messages": list(_chat_messages(turns, lambda value: value)), "top_k": 20}


def _function(name: str) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def _chat_messages(turns: Sequence[Turn], spell: Callable[[Json], Json]) -> Iterator[Json]:
    for turn in turns:
        yield {"role": "user", "content": turn.said}
        if turn.calls:
            calls = [
                {
                    "id": one.call_id,
                    "type": "function",
                    "function": {"name": one.name, "arguments": spell(one.arguments)},
                }
                for one in turn.calls
            ]
            yield {"role": "assistant", "content": None, "tool_calls": calls, "reasoning_content": "hm"}
        for one in turn.calls:
            content: Json = [{"type": "text", "text": one.output}] if one.blocks else one.output
            yield {"role": "tool", "tool_call_id": one.call_id, "content": content, "x": turn.said}


def _responses(turns: Sequence[Turn]) -> Json:
    items: list[Json] = []
    for turn in turns:
        items += [{"role": "user", "content": turn.said}]
        items += [{"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"}] if turn.calls else []
        items += [
            {
                "type": "function_call",
                "call_id": one.call_id,
                "name": one.name,
                "arguments": _text(one.arguments),
                "id": "fc",
            }
            for one in turn.calls
        ]
        items += [
            {
                "type": "function_call_output",
                "call_id": one.call_id,
                "output": [{"type": "input_text", "text": one.output}] if one.blocks else one.output,
            }
            for one in turn.calls
        ]
    return {"model": "m", "input": items, "store": False}


def _anthropic(turns: Sequence[Turn]) -> Json:
    messages: list[Json] = []
    for turn in turns:
        messages += [{"role": "user", "content": turn.said}]
        if turn.calls:
            thinking: list[Json] = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]
            messages += [
                {
                    "role": "assistant",
                    "content": thinking
                    + [
                        {"type": "tool_use", "id": one.call_id, "name": one.name, "input": one.arguments}
                        for one in turn.calls
                    ],
                },
                {"role": "user", "content": [_anthropic_result(one) for one in turn.calls]},
            ]
    return {"model": "claude-1", "max_tokens": 9, "system": "Be brief.", "messages": messages}


def _anthropic_result(one: Told) -> Json:
    content: Json = [{"type": "text", "text": one.output}] if one.blocks else one.output
    return {
        "type": "tool_result",
        "tool_use_id": one.call_id,
        "content": content,
        "is_error": one.failed,
        "cache_control": {"type": "ephemeral"},
    }


def _gemini(turns: Sequence[Turn]) -> Json:
    contents: list[Json] = []
    for turn in turns:
        contents += [{"role": "user", "parts": [{"text": turn.said}]}]
        if turn.calls:
            calls = [
                {"functionCall": {"name": one.name, "args": one.arguments} | _id(one), "thoughtSignature": "c2ln"}
                for one in turn.calls
            ]
            results = [
                {
                    "functionResponse": {
                        "name": one.name,
                        "response": {"error" if one.failed else "output": one.output},
                    }
                    | _id(one)
                }
                for one in turn.calls
            ]
            contents += [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    return {"contents": contents, "generationConfig": {"temperature": 0}}


def _id(one: Told) -> dict[str, Json]:
    return {"id": one.call_id} if one.call_id else {}


def _bedrock(turns: Sequence[Turn]) -> Json:
    messages: list[Json] = []
    for turn in turns:
        messages += [{"role": "user", "content": [{"text": turn.said}]}]
        if turn.calls:
            uses = [
                {"toolUse": {"toolUseId": one.call_id, "name": one.name, "input": one.arguments}} for one in turn.calls
            ]
            results: list[Json] = [
                {
                    "toolResult": {
                        "toolUseId": one.call_id,
                        "content": [{"text": one.output}] if one.blocks else [{"json": {"text": one.output}}],
                        "status": "error" if one.failed else "success",
                    }
                }
                for one in turn.calls
            ]
            messages += [
                {"role": "assistant", "content": uses},
                {"role": "user", "content": [*results, {"cachePoint": {"type": "default"}}]},
            ]
    return {"modelId": "m", "messages": messages, "inferenceConfig": {"maxTokens": 9}}


def _ai_sdk(turns: Sequence[Turn]) -> Json:
    messages: list[Json] = []
    for turn in turns:
        messages += [{"id": "u", "role": "user", "parts": [{"type": "text", "text": turn.said}]}]
        parts: list[Json] = [{"type": "step-start"}]
        for one in turn.calls:
            state: dict[str, Json] = {"state": "output-available", "output": one.output}
            if one.failed:
                state = {"state": "output-error", "errorText": one.output}
            kind: dict[str, Json] = {"type": f"tool-{one.name}"}
            if one.blocks:
                kind = {"type": "dynamic-tool", "toolName": one.name}
            parts += [{**kind, "toolCallId": one.call_id, "input": one.arguments, **state}]
        messages += [{"id": "a", "role": "assistant", "parts": parts}]
    return {"id": "chat", "messages": messages, "trigger": "submit-message"}


def _parsed(turns: Sequence[Turn]) -> Json:
    messages: list[Json] = []
    for turn in turns:
        messages += [{"role": "user", "content": turn.said, "timestamp": 1}]
        calls = [
            {"type": "toolCall", "id": one.call_id, "name": one.name, "arguments": one.arguments} for one in turn.calls
        ]
        messages += [{"role": "assistant", "content": calls}] if calls else []
        messages += [
            {
                "role": "toolResult",
                "toolCallId": one.call_id,
                "toolName": one.name,
                "content": [{"type": "text", "text": one.output}] if one.blocks else one.output,
                "isError": one.failed,
            }
            for one in turn.calls
        ]
    return {"messages": messages}


WRITERS: Final[Mapping[str, Callable[[Sequence[Turn]], Json]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "vllm": _vllm,
    "ai-sdk": _ai_sdk,
    "parsed": _parsed,
}
"""Protocol to the function that writes a conversation as a request of its."""
