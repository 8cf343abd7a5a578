"""OpenAI's Chat Completions as a conversation: results are messages of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.spelling import as_text, text_or_blocks
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import has, is_object, items, member, text
from trimtab.wire.types import is_synthetic

__all__ = ["bring", "fit_message", "id_at", "reply", "role", "says", "user_text"]

# What only responses have: https://platform.openai.com/docs/api-reference/chat/create lists what a message may have,
# and the stricter servers that speak this protocol refuse the rest.
_OF_RESPONSES: Final = ("annotations",)
_IN_RESULTS: Final = {"text": ("text",)}


def role(native: Json) -> Role:
    """`developer` is the system's, `function` the older form of `tool`."""
    name = text(native, "role")
    if name in ("system", "developer"):
        return "system"
    return "assistant" if name == "assistant" else "tool" if name in ("tool", "function") else "user"


def user_text(said: str) -> Json:
    """A message of the user."""
    return {"role": "user", "content": said}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """A message for each result. The wire has no place that says that one failed: its text has to."""
    older = {text(member(one, "function_call"), "name") for one in said}
    return [
        {"role": "function", "name": one.name, "content": as_text(one.value)}
        if one.name in older and is_synthetic(one.call_id)
        else {"role": "tool", "tool_call_id": one.call_id, "content": text_or_blocks(one.value, _IN_RESULTS)}
        for one in answers
    ]


def id_at(path: Path) -> Path | None:
    """Beside the function. The older `function_call` has no id."""
    return (*path[:-2], "id") if "tool_calls" in path else None


def reply(response: Json) -> list[Json]:
    """The message of the first choice."""
    if text(response, "role") == "assistant":
        return [fit_message(response)]
    choices = items(member(response, "choices"))
    message = member(choices[0], "message") if choices else None
    return [fit_message(message)] if is_object(message) and says(message) else []


def fit_message(message: Json) -> Json:
    """A message without what only responses have; spoken words by their id. An SDK's object stays as it is."""
    if not isinstance(message, Mapping):
        return message
    left = {key: value for key, value in message.items() if _goes_back(key, value)}
    calls = items(message.get("tool_calls"))
    if any(has(call, "index") for call in calls):
        left["tool_calls"] = [_unnumbered(call) for call in calls]
    audio = message.get("audio")
    if isinstance(audio, Mapping) and "id" in audio:
        left["audio"] = {"id": audio["id"]}
    return {"role": "assistant", **left}


def _unnumbered(call: Json) -> Json:
    """A call without its place, which only streams have to say."""
    return {key: value for key, value in call.items() if key != "index"} if isinstance(call, Mapping) else call


def _goes_back(key: str, value: Json) -> bool:
    """Members that are not there are null; an empty list of calls is refused."""
    if key == "content":
        return True
    return value is not None and key not in _OF_RESPONSES and not (key == "tool_calls" and not value)


def says(message: Json) -> bool:
    """Whether there is anything in a message that goes into a history."""
    return any(member(message, name) for name in ("content", "tool_calls", "function_call", "refusal", "audio"))
