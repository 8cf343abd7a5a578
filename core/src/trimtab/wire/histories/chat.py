"""OpenAI's Chat Completions as a conversation: results are messages of their own."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.spelling import as_text
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import items, member, text

__all__ = ["results", "role", "said", "user_text"]


def role(native: Json) -> Role:
    """`developer` is the system's, `function` the older form of `tool`."""
    name = text(native, "role")
    if name in ("system", "developer"):
        return "system"
    return "assistant" if name == "assistant" else "tool" if name in ("tool", "function") else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": said}


def results(answers: Sequence[Answer]) -> list[Json]:
    """A message for each result. The wire has no place that says that one failed: its text has to."""
    return [{"role": "tool", "tool_call_id": one.call_id, "content": as_text(one.value)} for one in answers]


def said(response: Json) -> list[Json]:
    """The message of the first choice."""
    if text(response, "role") == "assistant":
        return [response]
    choices = items(member(response, "choices"))
    message = member(choices[0], "message") if choices else None
    return [] if message is None else [message]
