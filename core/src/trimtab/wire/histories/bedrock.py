"""Bedrock's Converse as a conversation: as Anthropic's, in blocks that are named by their only member.

Roles must alternate: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.fitting import is_blank
from trimtab.wire.histories.spelling import as_text
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import items, member, text

__all__ = ["bring", "id_at", "message", "reply", "role", "user_text"]

_IN_RESULTS: Final = ("document", "image", "json", "searchResult", "text", "video")


def role(native: Json) -> Role:
    """There are two roles."""
    return "assistant" if text(native, "role") == "assistant" else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": [{"text": said}]}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """One message of the user with a block for each result."""
    return [{"role": "user", "content": [_block(one) for one in answers]}]


def _block(answer: Answer) -> Json:
    block = {"toolUseId": answer.call_id, "content": _content(answer.value)}
    return {"toolResult": {**block, "status": "error"} if answer.is_error else block}


def _content(value: Json) -> list[Json]:
    """A list of blocks: the wire's own, or one. JSON must be an object there, and a text must not be blank."""
    blocks = items(value)
    if blocks and all(
        isinstance(one, Mapping) and len(one) == 1 and not {*one}.isdisjoint(_IN_RESULTS) for one in blocks
    ):
        return list(blocks)
    if isinstance(value, dict):
        return [{"json": value}]
    said = {"text": as_text(value)}
    return [{"json": {"output": value}} if is_blank(said) else said]


def id_at(path: Path) -> Path:
    """In the call."""
    return (*path[:-1], "toolUseId")


def reply(response: Json) -> list[Json]:
    """The message that the response holds."""
    found = member(member(response, "output"), "message")
    if found is None and text(response, "role") == "assistant":
        found = response
    return [] if found is None else message(items(member(found, "content")))


def message(content: Sequence[Json]) -> list[Json]:
    """The message with these blocks, if there are any. Blank texts are left out: they are refused."""
    kept = [block for block in content if not is_blank(block)]
    return [{"role": "assistant", "content": kept}] if kept else []
