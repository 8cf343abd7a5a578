"""Conversations of a known size, as OpenAI's chat has them, and a model that calls the tools of compression."""

from __future__ import annotations

import json
from typing import Any

from trimtab.compress import CompressConfig, CompressSession, Outcome
from trimtab.compress.board import Board
from trimtab.compress.refs.conversation import Conversation
from trimtab.types import Json
from trimtab.wire.lookup import shape_of

__all__ = [
    "SUMMARY",
    "active",
    "begin",
    "board_of",
    "call",
    "called",
    "compress",
    "decompress",
    "entry",
    "read",
    "response",
    "say",
    "search",
    "shown_texts",
    "talk",
]

SUMMARY = "What was asked, done and found here, with all names. ".ljust(200, "s")


def say(role: str, number: int, chars: int = 1_000) -> dict[str, Json]:
    """A message of exactly so many chars."""
    return {"role": role, "content": f"{role} {number} ".ljust(chars, "w")}


def talk(count: int, chars: int = 1_000) -> list[Json]:
    """So many messages, the user's and the assistant's in turn, each of so many chars."""
    return [say("assistant" if number % 2 else "user", number, chars) for number in range(count)]


def read(call_id: str, chars: int = 1_000, tool: str = "read") -> list[Json]:
    """A call of a tool in a message of the assistant's, and its result of so many chars."""
    return [
        {"role": "assistant", "content": None, "tool_calls": [called(call_id, tool, {"path": call_id})]},
        {"role": "tool", "tool_call_id": call_id, "content": f"{call_id} ".ljust(chars, "r")},
    ]


def called(call_id: str, tool: str, arguments: Json) -> dict[str, Json]:
    """A call as a message has it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": text}}


def response(*calls: dict[str, Json], text: str | None = None) -> Json:
    """A whole response with these calls."""
    message = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


def entry(start: str, end: str, summary: str = SUMMARY, **more: Json) -> dict[str, Json]:
    """An entry of a compress call."""
    return {"startId": start, "endId": end, "summary": summary, **more}


def begin(messages: list[Json], **config: Any) -> CompressSession:
    """A session of OpenAI's chat with these messages."""
    return CompressSession("openai-chat", config=CompressConfig(**config), messages=messages)


def compress(session: CompressSession, *entries: Json) -> Outcome:
    """The model calls compress with these entries."""
    return call(session, "compress", {"content": list(entries)})


def decompress(session: CompressSession, ref: Json, **more: Json) -> Outcome:
    """The model calls decompress."""
    return call(session, "decompress", {"ref": ref, **more})


def call(session: CompressSession, tool: str, arguments: Json) -> Outcome:
    """The model calls one of the two tools with these arguments, in a message of its own."""
    turn = session.receive(response(called(f"call-{len(session.messages)}", tool, arguments)))
    (outcome,) = turn.outcomes
    return outcome


def search(session: CompressSession, arguments: Json) -> str:
    """The model calls the search tool; the text that it gets."""
    session.receive(response(called(f"call-{len(session.messages)}", "search_context", arguments)))
    return str(session.messages[-1]["content"])


def board_of(session: CompressSession) -> Board:
    """The working view of a session."""
    now = Conversation.read(shape_of(session.protocol, None), session.messages)
    return Board(session.state, now, session.config)


def active(session: CompressSession) -> dict[str, list[int]]:
    """Refs of the blocks that are shown, each with the numbers of its messages."""
    return {
        block.ref: [number for first, last in block.spans for number in range(first, last + 1)]
        for block in session.state.active
    }


def shown_texts(session: CompressSession) -> list[str]:
    """The contents of the next request's messages."""
    return [str(one["content"]) for one in session.request()]
