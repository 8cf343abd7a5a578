"""Anthropic's Messages as a conversation: results are blocks of the user's next message."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.spelling import as_text
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import member, text

__all__ = ["results", "role", "said", "user_text"]


def role(native: Json) -> Role:
    """There are two roles; `system` in the list is read too, since some gateways put it there."""
    name = text(native, "role")
    return "assistant" if name == "assistant" else "system" if name == "system" else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": said}]}


def results(answers: Sequence[Answer]) -> list[Json]:
    """One message of the user with a block for each result: the provider takes them only together."""
    return [{"role": "user", "content": [_block(one) for one in answers]}] if answers else []


def _block(answer: Answer) -> Json:
    content = answer.value if isinstance(answer.value, list) else as_text(answer.value)
    block = {"type": "tool_result", "tool_use_id": answer.call_id, "content": content}
    return {**block, "is_error": True} if answer.is_error else block


def said(response: Json) -> list[Json]:
    """The message that the response is, without what only responses have."""
    content = response if isinstance(response, list | tuple) else member(response, "content")
    return [{"role": "assistant", "content": content}] if content else []
