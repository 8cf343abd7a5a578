"""Gemini as a conversation: results are parts of the user's next content, with an object each."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.types import Json
from trimtab.wire.histories.shape import Answer
from trimtab.wire.histories.types import Role
from trimtab.wire.nodes import has, items, member, text

__all__ = ["results", "role", "said", "user_text"]


def role(native: Json) -> Role:
    """`model` is the assistant's; the older role `function` has only results."""
    name = text(native, "role")
    return "assistant" if name == "model" else "system" if name == "system" else "user"


def user_text(said: str) -> Json:
    """A content of the user."""
    return {"role": "user", "parts": [{"text": said}]}


def results(answers: Sequence[Answer]) -> list[Json]:
    """One content of the user with a part for each result, in the order of the calls."""
    return [{"role": "user", "parts": [_part(one) for one in answers]}] if answers else []


def _part(answer: Answer) -> Json:
    """The id only where the call had one that the wire carried: the API pairs by name and order else."""
    value = answer.value if isinstance(answer.value, dict) and not answer.is_error else None
    response = value if value is not None else {"error" if answer.is_error else "output": answer.value}
    result = {"name": answer.name, "response": response}
    return {"functionResponse": {"id": answer.call_id, **result} if answer.call_id else result}


def said(response: Json) -> list[Json]:
    """The content of the first candidate."""
    if has(response, "parts"):
        return [response]
    candidates = items(member(response, "candidates"))
    content = member(candidates[0], "content") if candidates else None
    return [content] if content is not None and items(member(content, "parts")) else []
