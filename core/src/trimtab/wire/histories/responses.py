"""OpenAI's Responses as a conversation: messages, reasoning, calls and results are items of one list."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.spelling import as_text
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import items, member, text

__all__ = ["results", "role", "said", "user_text"]


def role(native: Json) -> Role:
    """A message says whose it is; outputs are the tools'; everything else came from the model."""
    name = text(native, "role")
    if isinstance(native, str) or name == "user":
        return "user"
    if name in ("system", "developer"):
        return "system"
    return "tool" if text(native, "type").endswith("_output") else "assistant"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": said}


def results(answers: Sequence[Answer]) -> list[Json]:
    """An output item for each result. The wire has no place that says that one failed: its text has to."""
    return [{"type": "function_call_output", "call_id": one.call_id, "output": as_text(one.value)} for one in answers]


def said(response: Json) -> list[Json]:
    """The output items of a response."""
    output = response if isinstance(response, list | tuple) else items(member(response, "output"))
    return list(output)
