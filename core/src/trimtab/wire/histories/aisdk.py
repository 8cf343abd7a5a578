"""The AI SDK's UI messages as a conversation: a call's part also has its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trimtab.pointer import Path
from trimtab.types import Json
from trimtab.wire.histories.spelling import as_text
from trimtab.wire.histories.types import Answer, Role
from trimtab.wire.nodes import blocks, has, is_object, items, member, text

__all__ = ["bring", "fill", "id_at", "reply", "role", "user_text"]

_ID_DIGITS: Final = 16
# States of a part whose call waits for its result, of this version and of older ones.
_WAITING: Final = ("input-available", "approval-responded", "call")


def role(native: Json) -> Role:
    """As the message says."""
    name = text(native, "role")
    if name in ("assistant", "system", "tool"):
        return name  # type: ignore[return-value]
    return "user"


def user_text(said: str) -> Json:
    """A UI message of the user; its id is made of its text."""
    from trimtab._json import blob_id  # not when the protocols are imported: listing the plugins needs no encoder

    return {"id": f"msg_{blob_id(said)[:_ID_DIGITS]}", "role": "user", "parts": [{"type": "text", "text": said}]}


def bring(answers: Sequence[Answer], said: Sequence[Json]) -> list[Json]:
    """A model message of role `tool` with a part for each result."""
    return [{"role": "tool", "content": [_part(one) for one in answers]}]


def _part(answer: Answer) -> Json:
    kind = "text" if isinstance(answer.value, str) else "json"
    output = {"type": f"error-{kind}" if answer.is_error else kind, "value": answer.value}
    return {"type": "tool-result", "toolCallId": answer.call_id, "toolName": answer.name, "output": output}


def fill(said: Sequence[Json], answers: Sequence[Answer]) -> list[Json] | None:
    """UI messages with the results in the parts of their calls; None: they are model messages."""
    if not any(has(one, "parts") for one in said):
        return None
    given = {one.call_id: one for one in answers}
    return [_filled(one, given) for one in said]


def _filled(native: Json, given: Mapping[str, Answer]) -> Json:
    if not isinstance(native, Mapping):
        return native
    parts = [_answered(part, given) for _, part in blocks(native, "parts")]
    same = all(one is other for one, other in zip(parts, items(native["parts"]), strict=True))
    return native if same else {**native, "parts": parts}


def _answered(part: Json, given: Mapping[str, Answer]) -> Json:
    older = member(part, "toolInvocation")
    call = part if older is None else older
    answer = given.get(text(call, "toolCallId"))
    if answer is None or not isinstance(call, Mapping) or text(call, "state") not in _WAITING:
        return part
    if older is not None:
        return {**part, "toolInvocation": {**call, "state": "result", "result": answer.value}}
    if answer.is_error:
        return {**part, "state": "output-error", "errorText": as_text(answer.value)}
    return {**part, "state": "output-available", "output": answer.value}


def id_at(path: Path) -> Path:
    """In the call's part."""
    return (*path[:-1], "toolCallId")


def reply(response: Json) -> list[Json]:
    """The messages of what `generateText` gives, or the UI message itself."""
    inner = member(response, "response")
    if has(inner, "messages"):
        return list(items(member(inner, "messages")))
    if has(response, "messages"):
        return list(items(member(response, "messages")))
    return [response] if is_object(response) and has(response, "role") else list(items(response))
