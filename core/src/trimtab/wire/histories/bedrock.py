"""Bedrock's Converse as a conversation: as Anthropic's, in blocks that are named by their only member."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import member, text

__all__ = ["results", "role", "said", "user_text"]


def role(native: Json) -> Role:
    """There are two roles."""
    return "assistant" if text(native, "role") == "assistant" else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": [{"text": said}]}


def results(answers: Sequence[Answer]) -> list[Json]:
    """One message of the user with a block for each result."""
    return [{"role": "user", "content": [_block(one) for one in answers]}] if answers else []


def _block(answer: Answer) -> Json:
    value = answer.value
    content = value if isinstance(value, list) else [{"text": value} if isinstance(value, str) else {"json": value}]
    block = {"toolUseId": answer.call_id, "content": content}
    return {"toolResult": {**block, "status": "error"} if answer.is_error else block}


def said(response: Json) -> list[Json]:
    """The message that the response holds."""
    message = member(member(response, "output"), "message")
    if message is None and text(response, "role") == "assistant":
        message = response
    return [] if message is None else [message]
