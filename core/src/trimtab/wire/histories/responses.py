"""OpenAI's Responses as a conversation: messages, reasoning, calls and results are items of one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.spelling import text_or_blocks
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import items, member, text

__all__ = ["bring", "id_at", "reply", "role", "settle", "taken_back", "user_text"]

_BY_CLIENT: Final = ("compaction_trigger", "mcp_approval_response")
# What only responses have, by the vendor's own types: https://platform.openai.com/docs/api-reference/responses/create.
_OF_RESPONSES: Final = ("created_by",)
_IN_RESULTS: Final = {"input_file": (), "input_image": (), "input_text": ("text",)}


def role(native: Json) -> Role:
    """A message says whose it is; outputs are the tools'; everything else came from the model."""
    name, kind = text(native, "role"), text(native, "type")
    if isinstance(native, str) or name == "user" or kind in _BY_CLIENT:
        return "user"
    if name in ("system", "developer"):
        return "system"
    return "tool" if kind.endswith("_output") and member(native, "execution") != "server" else "assistant"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": said}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """An output item for each result. The wire has no place that says that one failed: its text has to.

    Results of the shell, the computer and of patches have shapes that only the application knows how to fill.
    """
    custom = {text(one, "call_id") for one in said if text(one, "type") == "custom_tool_call"}
    return [
        {
            "type": "custom_tool_call_output" if one.call_id in custom else "function_call_output",
            "call_id": one.call_id,
            "output": text_or_blocks(one.value, _IN_RESULTS),
        }
        for one in answers
    ]


def id_at(path: Path) -> Path:
    """In the call's item."""
    return (*path[:-1], "call_id")


def reply(response: Json) -> list[Json]:
    """The output items of a response."""
    if isinstance(response, list | tuple):
        return taken_back(response, stored=None)
    return taken_back(items(member(response, "output")), stored=member(response, "store"))


def taken_back(output: Sequence[Json], *, stored: Json) -> list[Json]:
    """The items that the provider takes back. `stored`: whether it keeps them; None: it did not say.

    Reasoning that is only known by its id is not found where nothing is stored, and is refused when it is the last.
    Members that are null, as dumps of the SDK's objects have them, are refused as unknown.
    """
    kept = [_fit(item) for item in output if not (_is_reasoning(item) and stored is False and not _holds(item))]
    while kept and _is_reasoning(kept[-1]):
        kept.pop()
    return kept


def _fit(item: Json) -> Json:
    """An item without what only responses have; the same object where it has none of that."""
    if not isinstance(item, Mapping):
        return item
    left = {key: value for key, value in item.items() if value is not None and key not in _OF_RESPONSES}
    return item if len(left) == len(item) else left


def _is_reasoning(item: Json) -> bool:
    return text(item, "type") == "reasoning"


def _holds(item: Json) -> bool:
    """Whether reasoning can be read without what the provider has stored."""
    return bool(member(item, "encrypted_content") or member(item, "content"))


def settle(natives: Sequence[Json]) -> list[Json]:
    """The items without reasoning that nothing of the model's follows, which the provider refuses."""
    found: list[Json] = []
    follows = False
    for native in reversed(natives):
        if follows or not _is_reasoning(native):
            found.append(native)
            follows = role(native) == "assistant"
    return found[::-1]
