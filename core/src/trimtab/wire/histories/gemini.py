"""Gemini as a conversation: results are parts of the user's next content, with an object each.

A turn with calls must follow a turn of the user or of results, and results the turn with their calls; several contents
of one role in a row are refused by some of its servers, and by none when they are one content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import blocks, changed, first, has, is_object, items, member, text
from trimtab.wire.types import is_synthetic

__all__ = ["bring", "content", "id_at", "mend", "reply", "role", "user_text"]

_SIGNATURES: Final = ("thoughtSignature", "thought_signature")
# What the API takes where the signature of a call cannot be given: https://ai.google.dev/gemini-api/docs/thought-signatures
_UNSIGNED: Final = "skip_thought_signature_validator"


def role(native: Json) -> Role:
    """`model` is the assistant's; the older role `function` has only results."""
    name = text(native, "role")
    return "assistant" if name == "model" else "system" if name == "system" else "user"


def user_text(said: str) -> Json:
    """A content of the user."""
    return {"role": "user", "parts": [{"text": said}]}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """One content of the user with a part for each result, in the order of the calls."""
    return [{"role": "user", "parts": [_part(one) for one in answers]}]


def _part(answer: Answer) -> Json:
    """The id only where the call has one on the wire: the API pairs by name and order else."""
    value = answer.value if isinstance(answer.value, dict) and not answer.is_error else None
    response = value if value is not None else {"error" if answer.is_error else "output": answer.value}
    result = {"name": answer.name, "response": response}
    given = answer.call_id and not is_synthetic(answer.call_id)
    return {"functionResponse": {"id": answer.call_id, **result} if given else result}


def id_at(path: Path) -> None:
    """Calls without an id are answered by name and order."""
    return


def reply(response: Json) -> list[Json]:
    """The content of the first candidate."""
    if candidates := items(member(response, "candidates")):  # which an SDK's response has beside `parts`
        return content(member(candidates[0], "content"))
    return content(response) if has(response, "parts") else []


def content(native: Json) -> list[Json]:
    """A content of the model, if there is anything in it. An empty part is refused, unless it brings a signature."""
    there = items(member(native, "parts"))
    kept = [part for part in there if not _is_empty(part)]
    if not kept:
        return []
    if not isinstance(native, Mapping):
        return [native]
    found: dict[str, Json] = {**native, "role": "model"}
    return [found if len(kept) == len(there) else {**found, "parts": kept}]


def _is_empty(part: Json) -> bool:
    """Whether there is nothing in a part but an empty text."""
    return isinstance(part, Mapping) and member(part, "text") == "" and set(part) <= {"text", "thought"}


def mend(before: Json, left: Json) -> Json:
    """The first of several calls has the signature for all: the API asks for one there when that call is gone."""
    place = next((at for at, _ in _calls(left)), None)
    if place is None or _signature(items(member(left, "parts"))[place]):
        return left
    spelt = next((name for _, part in _calls(before) if (name := _signature(part))), "")
    return changed(left, {("parts", place, spelt): _UNSIGNED}) if spelt else left


def _calls(native: Json) -> Iterator[tuple[int, Json]]:
    for place, part in blocks(native, "parts"):
        if is_object(first(part, "functionCall", "function_call")[1]):
            yield place, part


def _signature(part: Json) -> str:
    """The member with a signature; "": there is none."""
    return next((name for name in _SIGNATURES if member(part, name)), "")
