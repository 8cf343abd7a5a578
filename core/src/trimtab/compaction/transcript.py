"""Messages as a text for a summarizer: who said what, tool results shortened, media named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trimtab._json import canonical
from trimtab.compress.identity import texts_of
from trimtab.errors import UnsupportedOutput
from trimtab.types import Json
from trimtab.wire.histories import Message, Part
from trimtab.wire.nodes import member, text

__all__ = ["entries", "transcript"]

_SPEAKERS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}
_RESULT_CHARS: Final = 1_500
_ARGUMENT_CHARS: Final = 500
_HEAD: Final = 1_000  # of a shortened result; the rest of its room is its end


def transcript(messages: Sequence[Message]) -> str:
    """All of it, an entry for each message. The system's messages are left out: they are sent anyway."""
    return "\n\n".join(entries(messages))


def entries(messages: Sequence[Message]) -> Iterator[str]:
    """The text of each message that says anything, in order."""
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "system":
            continue
        lines = [line for part in message.parts if (line := _line(part, names))]
        if lines:
            yield f"{_SPEAKERS[message.role]}: " + "\n".join(lines)


def _line(part: Part, names: dict[str, str]) -> str:
    if part.kind == "text":
        return part.text.strip(" \t\r\n")
    if part.kind == "call":
        names[part.call_id] = part.name
        return f"[called {part.name or 'a tool'}: {_short(_spelt(part.value), _ARGUMENT_CHARS)}]"
    if part.kind == "result":
        name = part.name or names.get(part.call_id, "") or "a tool"
        failed = " failed" if part.is_error else ""
        return f"[{name}{failed} returned: {_short(_shown(part), _RESULT_CHARS)}]"
    if part.kind == "other":
        return f"[{_medium(part.value)}]"
    return ""


def _shown(part: Part) -> str:
    """The text of a result, without its media."""
    return "\n".join(texts_of(Message(role="tool", native=None, parts=(part,))))


def _short(said: str, most: int) -> str:
    """A text of at most so many chars: its beginning and its end, and how much is left out between."""
    said = said.strip(" \t\r\n")
    if len(said) <= most:
        return said
    head = most * _HEAD // _RESULT_CHARS
    tail = most - head
    return f"{said[:head]}\n[{len(said) - most:,} of {len(said):,} chars left out]\n{said[-tail:]}"


def _spelt(value: Json) -> str:
    if isinstance(value, str):
        return value
    try:
        return canonical(value)
    except UnsupportedOutput:
        return type(value).__name__


def _medium(block: Json) -> str:
    """What a block is that is no text: its type, and its name where it has one."""
    kind = (
        text(block, "type") or next((str(key) for key in block), "attachment")
        if isinstance(block, dict)
        else "attachment"
    )
    name = text(block, "filename", "name", "title", "fileName") or text(member(block, kind), "filename", "name")
    return f"{kind}: {name}" if name else kind
