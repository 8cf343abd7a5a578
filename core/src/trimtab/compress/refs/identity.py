"""What a message is known by: the hash of what it says, without the fields that clients add and drop."""

from __future__ import annotations

import re
from collections.abc import Container
from hashlib import sha256
from typing import Final

from trimtab._json import utf8
from trimtab.types import Json
from trimtab.wire.arguments import as_object
from trimtab.wire.histories import Message, Part
from trimtab.wire.nodes import spelt, text
from trimtab.wire.triggers import SERVER_TAGS, spoken

__all__ = ["chars_of", "form_of", "is_form", "key_of", "texts_in", "texts_of"]

_DIGITS: Final = 16
_FORM_DIGITS: Final = 8
_FORM: Final = re.compile("[aortu][0-9]{1,9}\\.[0-9]{1,9}(?:\\.[0-9a-f]{8})?")
_EDGES: Final = " \t\r\n"
# Fields that come and go between one sending and the next.
_CACHING: Final = frozenset(["cache_control", "cachePoint", "cache_point"])
_FLEETING: Final = _CACHING | {"id", "status", "index"}
# Clients that read and write arguments have another spelling for whole numbers.
_WHOLE: Final = re.compile("(?<=[0-9])\\.0(?=[],}])")


def key_of(message: Message, by_id: bool = False) -> str:
    """16 hex digits of the SHA-256 of who says what: texts without white space around, calls, results, other blocks.

    Cache points, the ids of calls and messages, the spelling of arguments, and thinking beside other parts count for
    nothing. `by_id`: a message of the assistant's that has an id is known by that, since it goes on after it was first
    said.
    """
    if by_id and message.role == "assistant" and (name := text(message.native, "id")):
        return sha256(utf8(f"id\0{name}")).hexdigest()[:_DIGITS]
    parts = [part for part in message.parts if _counts(part)] or message.of("thinking")
    said = "\0".join([message.role, *(f"{part.kind}\1{_said(part)}" for part in parts)])
    return sha256(utf8(said)).hexdigest()[:_DIGITS]


def form_of(message: Message, own: Container[str]) -> str:
    """What an edit of a message's text leaves alike: whose it is, how many calls and results it has, and the calls.

    `u0.0`, `t0.1`, `a1.0.5f0c8d21`: the role's first letter, calls, results, and where there are calls 8 hex digits of
    the SHA-256 of these. `r` in the place of `a`: there is only reasoning; `o`: all calls are of our `own` tools.
    """
    calls, results = message.of("call"), message.of("result")
    said = [_said(part) for part in calls]
    if message.role == "assistant":
        said += [str(call.raw_args) for part in message.of("text") for call in spoken(part.text, SERVER_TAGS)]
    letter = message.role[0]
    if calls and all(part.name in own and not part.by_provider for part in calls):
        letter = "o"
    elif message.parts and all(part.kind == "thinking" for part in message.parts):
        letter = "r"
    form = f"{letter}{len(calls)}.{len(results)}"
    return f"{form}.{sha256(utf8(chr(0).join(said))).hexdigest()[:_FORM_DIGITS]}" if said else form


def is_form(text: str) -> bool:
    """Whether a text is such a form."""
    return _FORM.fullmatch(text) is not None


def texts_of(message: Message) -> list[str]:
    """The texts of a message as a model reads them; media have none."""
    return [text for part in message.parts for text in texts_in(part)]


def texts_in(part: Part) -> list[str]:
    """The texts of one part."""
    if part.kind == "text":
        return [part.text]
    if part.kind == "call":
        return [part.name, *_texts(part.value)]
    if part.kind == "result":
        return _texts(part.value)
    return _texts(_lasting(part.value)) if part.kind == "thinking" else []


def chars_of(message: Message) -> int:
    """Chars of these texts."""
    return sum(map(len, texts_of(message)))


def _counts(part: Part) -> bool:
    return part.kind not in ("thinking", "aside") and (part.kind != "text" or bool(part.text.strip(_EDGES)))


def _said(part: Part) -> str:
    if part.kind == "text":
        return part.text.strip(_EDGES)
    if part.kind == "call":
        return f"{part.name}\1{_WHOLE.sub('', _spelt(as_object(part.value)))}"
    if part.kind != "result":
        return _spelt(_lasting(part.value))
    texts = _only_texts(part.value)
    # An id or a status is what the tool says there.
    return _spelt(_lasting(part.value, _CACHING)) if texts is None else "\1".join(one.strip(_EDGES) for one in texts)


def _only_texts(value: Json) -> list[str] | None:
    """The texts of a result, whether it is a text or a list of texts; None: there is more in it."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(_is_text(one) and _is_alone(one) for one in value):
        return [one["text"] for one in value]
    return None


def _is_alone(block: dict[str, Json]) -> bool:
    return block.keys() <= {"type", "text", *_CACHING}


def _lasting(value: Json, fleeting: Container[str] = _FLEETING) -> Json:
    """A block without the fields that come and go; a list of blocks likewise."""
    if isinstance(value, list):
        return [_lasting(one, fleeting) for one in value]
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if key not in fleeting}
    return value


def _spelt(value: Json) -> str:
    return value.strip(_EDGES) if isinstance(value, str) else spelt(value)


def _texts(value: Json) -> list[str]:
    """The text of a value: of a list of blocks that of each block; of anything else its JSON."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple) and any(
        (isinstance(one, dict) and "type" in one) or _is_text(one) for one in value
    ):
        return [one["text"] for one in value if _is_text(one)]
    return [_spelt(value)]


def _is_text(block: Json) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)
