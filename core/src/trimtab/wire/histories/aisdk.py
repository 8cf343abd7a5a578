"""The AI SDK's UI messages as a conversation: a call's part also has its result."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab._json import blob_id
from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import has, items, member, text

__all__ = ["results", "role", "said", "user_text"]

_ID_DIGITS = 16


def role(native: Json) -> Role:
    """As the message says."""
    name = text(native, "role")
    if name in ("assistant", "system", "tool"):
        return name  # type: ignore[return-value]
    return "user"


def user_text(said: str) -> Json:
    """A UI message of the user; its id is made of its text."""
    return {"id": f"msg_{blob_id(said)[:_ID_DIGITS]}", "role": "user", "parts": [{"type": "text", "text": said}]}


def results(answers: Sequence[Answer]) -> list[Json]:
    """A model message of role `tool` with a part for each result."""
    return [{"role": "tool", "content": [_part(one) for one in answers]}] if answers else []


def _part(answer: Answer) -> Json:
    kind = "text" if isinstance(answer.value, str) else "json"
    output = {"type": f"error-{kind}" if answer.is_error else kind, "value": answer.value}
    return {"type": "tool-result", "toolCallId": answer.call_id, "toolName": answer.name, "output": output}


def said(response: Json) -> list[Json]:
    """The messages of what `generateText` gives, or the UI message itself."""
    inner = member(response, "response")
    if has(inner, "messages"):
        return list(items(member(inner, "messages")))
    if has(response, "messages"):
        return list(items(member(response, "messages")))
    return [response] if has(response, "role") else list(items(response))
