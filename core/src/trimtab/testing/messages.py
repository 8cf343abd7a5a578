"""What a model says, as a whole response and as the events of a stream, for every wire. Needs Hypothesis.

What is said is told once, in plain values; `SPOKEN` has, for each protocol, the function that writes both.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from attrs import frozen
from hypothesis import strategies as st

from trimtab.types import Json

__all__ = ["SPOKEN", "VALUES", "Call", "ToldMessage", "told_messages"]

VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=6)
ARGUMENTS = st.dictionaries(st.text(max_size=4), VALUES | st.lists(VALUES, max_size=2), max_size=3)
TEXTS = st.text(max_size=12).map(lambda text: f"so{text}")


@frozen
class Call:
    """A call of a tool."""

    call_id: str
    name: str
    arguments: dict[str, Json]


@frozen
class ToldMessage:
    """What the model said, with where each text is cut."""

    thinking: str
    signature: str
    text: str
    calls: tuple[Call, ...]
    cuts: tuple[int, ...]

    def cut(self, text: str) -> list[str]:
        """The text in pieces."""
        places = sorted({at % (len(text) + 1) for at in self.cuts})
        return [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]


def told_messages() -> st.SearchStrategy[ToldMessage]:
    """Messages with or without thinking, text and calls; something is always said."""
    call = st.builds(Call, st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(["read", "f", "compress"]), ARGUMENTS)
    return st.builds(
        ToldMessage,
        thinking=st.just("") | TEXTS.map(lambda text: text + "\n\n"),
        signature=st.sampled_from(["c2ln", "EqQBCgIYAhIM"]),
        text=TEXTS,
        calls=st.lists(call, max_size=3, unique_by=lambda one: one.call_id).map(tuple),
        cuts=st.lists(st.integers(0, 50), max_size=4).map(tuple),
    )


def _dumped(value: Json) -> str:
    """Arguments as a model writes them."""
    return json.dumps(value, ensure_ascii=False)


def _chat(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A completion whole, and its chunks."""
    message: dict[str, Json] = {"role": "assistant", "content": told.text, "refusal": None, "annotations": []}
    message |= {"reasoning_content": told.thinking} if told.thinking else {}
    calls: list[Json] = [
        {"id": one.call_id, "type": "function", "function": {"name": one.name, "arguments": _dumped(one.arguments)}}
        for one in told.calls
    ]
    message |= {"tool_calls": calls} if calls else {}
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in told.cut(told.thinking)]
    deltas += [{"content": piece} for piece in told.cut(told.text)]
    for index, call in enumerate(calls):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas += [{"tool_calls": [{**call, "index": index, "function": function}]}]
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in told.cut(call["function"]["arguments"])
        ]
    reason = "tool_calls" if calls else "stop"
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return whole, [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]


def _anthropic(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A message with all kinds of blocks, and its events."""
    thinking = {"type": "thinking", "thinking": told.thinking, "signature": told.signature}
    cited = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": "X"}
    cited |= {"start_char_index": 0, "end_char_index": 1, "file_id": None}
    blocks: list[Json] = [thinking, {"type": "redacted_thinking", "data": "RW1w"}] if told.thinking else []
    blocks += [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": told.text}}]
    blocks += [{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}]
    blocks += [{"type": "text", "text": told.text, "citations": [cited, cited]}, {"type": "text", "text": told.text}]
    blocks += [{"type": "tool_use", "id": one.call_id, "name": one.name, "input": one.arguments} for one in told.calls]
    reason = "tool_use" if told.calls else "end_turn"
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": reason}
    events: list[Json] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(blocks):
        start, deltas = _anthropic_pieces(block, told)
        events += [{"type": "content_block_start", "index": index, "content_block": start}]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events += [{"type": "content_block_stop", "index": index}]
    events += [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    return whole, events


def _anthropic_pieces(block: dict[str, Json], told: ToldMessage) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in told.cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in told.cut(block["text"])]
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
            begun: dict[str, Json] = {"citations": []} if cited else {}
            return {"type": "text", "text": "", **begun}, [*cited[:1], *deltas, *cited[1:]]
        case "tool_use" | "server_tool_use":
            pieces = told.cut(_dumped(block["input"]))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block, []


def _responses(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A response with reasoning, a message and calls, and its events."""
    reasoning: dict[str, Json] = {
        "type": "reasoning",
        "id": "rs",
        "summary": [],
        "encrypted_content": told.signature,
        "status": None,
    }
    output: list[Json] = [reasoning]
    part = {"type": "output_text", "text": told.text, "annotations": []}
    output += [{"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [part]}]
    output += [
        {
            "type": "function_call",
            "id": f"fc_{one.call_id}",
            "call_id": one.call_id,
            "name": one.name,
            "arguments": _dumped(one.arguments),
            "status": "completed",
        }
        for one in told.calls
    ]
    whole = {"id": "r", "object": "response", "status": "completed", "store": False, "output": output}
    events: list[Json] = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for index, item in enumerate(output):
        there = {"item_id": item["id"], "output_index": index}
        begun = {**item, "status": "in_progress"}
        deltas: list[Json] = []
        if item["type"] == "message":
            begun["content"] = []
            place = {**there, "content_index": 0}
            deltas = [{"type": "response.output_text.delta", **place, "delta": piece} for piece in told.cut(told.text)]
            deltas += [{"type": "response.output_text.done", **place, "text": told.text}]
        elif item["type"] == "function_call":
            begun["arguments"] = ""
            pieces = told.cut(item["arguments"])
            deltas = [{"type": "response.function_call_arguments.delta", **there, "delta": piece} for piece in pieces]
        events += [{"type": "response.output_item.added", "output_index": index, "item": begun}, *deltas]
        events += [{"type": "response.output_item.done", "output_index": index, "item": item}]
    return whole, [*events, {"type": "response.completed", "response": whole}]


def _responses_without_output(told: ToldMessage) -> tuple[Json, list[Json]]:
    """The same from a server that leaves the output out of its last event."""
    whole, events = _responses(told)
    return whole, [*events[:-1], {"type": "response.completed", "response": {**whole, "output": []}}]


def _gemini(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A content with a thought, text and signed calls, and its chunks."""
    thoughts = [{"text": told.thinking, "thought": True}] if told.thinking else []
    calls: list[Json] = [{"functionCall": {"name": one.name, "args": one.arguments}} for one in told.calls]
    calls[:1] = [{**one, "thoughtSignature": told.signature} for one in calls[:1]]
    signed = [] if calls else [{"text": "", "thoughtSignature": told.signature}]
    parts: list[Json] = [*thoughts, {"text": told.text}, *calls, *signed]
    pieces: list[Json] = [{"text": piece, "thought": True} for piece in told.cut(told.thinking)]
    pieces += [{"text": piece} for piece in told.cut(told.text)]
    chunks: list[Json] = [
        {"candidates": [{"content": {"role": "model", "parts": [one]}}]} for one in [*pieces, *calls, *signed]
    ]
    chunks += [{"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}, chunks


def _bedrock(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A message with reasoning, text, citations and calls, and its events."""
    reasoning: dict[str, Json] = {"reasoningText": {"text": told.thinking, "signature": told.signature}}
    blocks: list[Json] = []
    if told.thinking:
        hidden: dict[str, Json] = {"redactedContent": "RW1w"}
        blocks = [{"reasoningContent": reasoning}, {"reasoningContent": hidden}]
    cited: dict[str, Json] = {"content": [{"text": told.text}], "citations": [{"title": "x"}]}
    text: dict[str, Json] = {"text": told.text}
    blocks += [text, {"citationsContent": cited}]
    blocks += [{"toolUse": {"toolUseId": one.call_id, "name": one.name, "input": one.arguments}} for one in told.calls]
    events: list[Json] = [{"messageStart": {"role": "assistant"}}]
    for index, block in enumerate(blocks):
        start, deltas = _bedrock_pieces(block, told)
        events += [{"contentBlockStart": {"contentBlockIndex": index, "start": start}}] if start else []
        events += [{"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}} for delta in deltas]
        events += [{"contentBlockStop": {"contentBlockIndex": index}}]
    reason = "tool_use" if told.calls else "end_turn"
    whole = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": reason}
    return whole, [*events, {"messageStop": {"stopReason": reason}}]


def _bedrock_pieces(block: dict[str, Json], told: ToldMessage) -> tuple[Json, list[Json]]:
    if (use := block.get("toolUse")) is not None:
        start = {key: value for key, value in use.items() if key != "input"}
        return {"toolUse": start}, [{"toolUse": {"input": piece}} for piece in told.cut(_dumped(use["input"]))]
    if (cited := block.get("citationsContent")) is not None:
        return None, [{"text": cited["content"][0]["text"]}, {"citation": cited["citations"][0]}]
    if (reasoning := block.get("reasoningContent")) is None:
        return None, [{"text": piece} for piece in told.cut(block["text"])]
    if "redactedContent" in reasoning:
        return None, [{"reasoningContent": reasoning}]
    text = reasoning["reasoningText"]
    pieces = [{"reasoningContent": {"text": piece}} for piece in told.cut(text["text"])]
    return None, [*pieces, {"reasoningContent": {"signature": text["signature"]}}]


def _ai_sdk(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A UI message, and the stream that writes it."""
    parts: list[Json] = [{"type": "step-start"}]
    events: list[Json] = [{"type": "start", "messageId": "msg_1"}, {"type": "start-step"}]
    for kind, text in (("reasoning", told.thinking), ("text", told.text)):
        if text:
            parts += [{"type": kind, "text": text, "state": "done", "providerMetadata": {"x": {"signature": "c2ln"}}}]
            events += [{"type": f"{kind}-start", "id": kind}]
            events += [{"type": f"{kind}-delta", "id": kind, "delta": piece} for piece in told.cut(text)]
            events += [{"type": f"{kind}-end", "id": kind, "providerMetadata": {"x": {"signature": "c2ln"}}}]
    for one in told.calls:
        call = {"toolCallId": one.call_id, "input": one.arguments}
        begun = {"toolCallId": one.call_id, "toolName": one.name}
        parts += [{"type": f"tool-{one.name}", **call, "state": "input-available"}]
        events += [{"type": "tool-input-start", **begun}]
        pieces = told.cut(_dumped(one.arguments))
        events += [{"type": "tool-input-delta", "toolCallId": one.call_id, "inputTextDelta": piece} for piece in pieces]
        events += [{"type": "tool-input-available", **begun, "input": one.arguments}]
    whole = {"id": "msg_1", "role": "assistant", "parts": parts}
    return whole, [*events, {"type": "finish-step"}, {"type": "finish"}]


def _parsed(told: ToldMessage) -> tuple[Json, list[Json]]:
    """A message that a host has decoded, which is one event."""
    calls = [
        {"type": "toolCall", "id": one.call_id, "name": one.name, "arguments": one.arguments} for one in told.calls
    ]
    message = {"role": "assistant", "content": [{"type": "text", "text": told.text}, *calls]}
    return message, [message]


SPOKEN: dict[str, tuple[str, Callable[[ToldMessage], tuple[Json, list[Json]]]]] = {
    "ai-sdk": ("ai-sdk", _ai_sdk),
    "anthropic": ("anthropic", _anthropic),
    "bedrock": ("bedrock", _bedrock),
    "gemini": ("gemini", _gemini),
    "openai-chat": ("openai-chat", _chat),
    "openai-responses": ("openai-responses", _responses),
    "openai-responses, no output": ("openai-responses", _responses_without_output),
    "parsed": ("parsed", _parsed),
    "vllm": ("vllm", _chat),
}
"""A name to the protocol and to the function that writes a message as a response of its, and as events."""
