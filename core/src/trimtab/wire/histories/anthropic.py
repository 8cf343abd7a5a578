"""Anthropic's Messages as a conversation: results are blocks of the user's next message.

Messages of one role in a row are joined by the provider itself: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.fitting import is_blank
from trimtab.wire.histories.spelling import text_or_blocks
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import has, items, member, text

__all__ = ["bring", "id_at", "message", "reply", "role", "user_text"]

# What only the citations of responses have, by the vendor's own types.
_OF_RESPONSES: Final = "file_id"
_IN_RESULTS: Final = {
    "browser_state": ("tabs",),
    "document": ("source",),
    "image": ("source",),
    "search_result": ("content", "source", "title"),
    "text": ("text",),
    "tool_reference": ("tool_name",),
}


def role(native: Json) -> Role:
    """A message of role `system` in the list changes tools or instructions on the way."""
    name = text(native, "role")
    return "assistant" if name == "assistant" else "system" if name == "system" else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": said}]}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """One message of the user with a block for each result: the provider takes them only together."""
    return [{"role": "user", "content": [_block(one) for one in answers]}]


def _block(answer: Answer) -> Json:
    block = {"type": "tool_result", "tool_use_id": answer.call_id, "content": text_or_blocks(answer.value, _IN_RESULTS)}
    return {**block, "is_error": True} if answer.is_error else block


def id_at(path: Path) -> Path:
    """In the call's block."""
    return (*path[:-1], "id")


def reply(response: Json) -> list[Json]:
    """The message that the response is, without what only responses have."""
    content = response if isinstance(response, list | tuple) else member(response, "content")
    if isinstance(content, str):
        return [{"role": "assistant", "content": content}] if content.strip(" \t\r\n") else []
    return message(items(content))


def message(content: Sequence[Json]) -> list[Json]:
    """The message with these blocks, if there are any. Blank texts are left out: they are sent, and refused back."""
    kept = [_fit(block) for block in content if not (text(block, "type") == "text" and is_blank(block))]
    return [{"role": "assistant", "content": kept}] if kept else []


def _fit(block: Json) -> Json:
    """A block whose citations have only what a request may have; the same object where they do."""
    cited = items(member(block, "citations"))
    if not isinstance(block, Mapping) or not any(has(one, _OF_RESPONSES) for one in cited):
        return block
    return {**block, "citations": [_without(one) for one in cited]}


def _without(citation: Json) -> Json:
    if not isinstance(citation, Mapping):
        return citation
    return {key: value for key, value in citation.items() if key != _OF_RESPONSES}
