"""Messages that a host has decoded already, as a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import has, items, member, text

__all__ = ["bring", "id_at", "reply", "role", "user_text"]

_ROLES: Final[dict[str, Role]] = {
    "AIMessageChunk": "assistant",
    "ai": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "response": "assistant",
    "developer": "system",
    "system": "system",
    "function": "tool",
    "tool": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
}


def role(native: Json) -> Role:
    """By the first of the names that frameworks have for it; a bare call is the assistant's."""
    for name in ("role", "type", "kind", "part_kind"):
        word = text(native, name)
        if word in _ROLES:
            return _ROLES[word]
    if has(native, "tool_calls") or (has(native, "arguments") and has(native, "name")):
        return "assistant"
    return "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": said}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """A message for each result, which says whether it failed."""
    return [
        {"role": "tool", "tool_call_id": one.call_id, "name": one.name, "content": one.value, "is_error": one.is_error}
        for one in answers
    ]


def id_at(path: Path) -> Path:
    """Beside the arguments, or beside the function that has them."""
    return (*path[:-2], "id") if path[-2:-1] == ("function",) else (*path[:-1], "id")


def reply(response: Json) -> list[Json]:
    """The messages that the host gives, or the one message."""
    if isinstance(response, list | tuple):
        return list(response)
    for name in ("new_messages", "messages", "history"):
        if has(response, name):
            return list(items(member(response, name)))
    return [response]
