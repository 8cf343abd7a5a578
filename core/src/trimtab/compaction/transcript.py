"""Messages as a text for a summarizer: who said what, tool results shortened, media named and never spelt out.

An entry begins with `User: `, `Assistant: ` or `Tool: ` at the beginning of a line; a call or a result stands in
brackets that begin a line or an entry, and a text after them has the speaker once more. A line of somebody's text that
begins so has a blank before it: no page and no file can put words into the user's mouth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trimtab._json import canonical
from trimtab.errors import UnsupportedOutput
from trimtab.types import Json
from trimtab.wire.histories import Message, Part
from trimtab.wire.nodes import is_object, items, member, text

__all__ = ["LABELS", "entries", "transcript", "without_payloads"]

LABELS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}

_RESULT_CHARS: Final = 1_500
_ARGUMENT_CHARS: Final = 500
_HEAD: Final = 1_000  # of a shortened result; the rest of its room is its end
_BLANK: Final = " \t\r\n"
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
_STEERING: Final = re.compile(f"(?:\\A|(?<=\n))(?=(?:{'|'.join(LABELS.values())}):|\\[)")

_LEAST_PAYLOAD: Final = 200
_LEAST_KINDS: Final = 12  # different chars: a ruler of dashes is no payload
_BASE64: Final = "[A-Za-z0-9+/_\\\\-]"
_BREAK: Final = "(?:\r?\n|(?:\\\\r)?\\\\n)"
_PAYLOAD: Final = re.compile(
    f"data:(?P<type>[a-z]{{1,20}}/[A-Za-z0-9.+-]{{1,80}})?(?:;[A-Za-z0-9=._-]{{1,80}}){{0,4}},[!#-&(-;=?-~]*+"
    f"|{_BASE64}{{{_LEAST_PAYLOAD},}}+={{0,2}}"
    f"|(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{{60,76}}{_BREAK}){{3,}}[A-Za-z0-9+/]{{0,76}}={{0,2}}"
)
_MIME_KEYS: Final = ("mimeType", "mime_type", "media_type", "mediaType")
_NAMES: Final = ("filename", "name", "title", "fileName", "file_name")
_TEXTS: Final = ("text", "content", "input_text", "output_text")


def transcript(messages: Sequence[Message]) -> str:
    """All of it, an entry for each message. The system's messages are left out: they are sent anyway."""
    return "\n\n".join(entries(messages))


def entries(messages: Sequence[Message]) -> Iterator[str]:
    """The text of each message that says anything, in order."""
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "system":
            continue
        said: list[str] = []
        in_brackets = False
        for part in message.parts:
            line = _line(part, names)
            if line:
                again = not said or (part.kind == "text" and in_brackets)
                said.append(f"{LABELS[message.role]}: {line}" if again else line)
                in_brackets = part.kind != "text"
        if said:
            yield "\n".join(said)


def without_payloads(said: str) -> str:
    """A text with `data:` urls and long base64 named in their places: `[image/png, 48,211 chars]`."""
    return _PAYLOAD.sub(_named, said)


def _named(found: re.Match[str]) -> str:
    payload = found[0]
    if payload.startswith("data:"):
        return f"[{found['type'] or 'data'}, {len(payload):,} chars]" if len(payload) >= _LEAST_PAYLOAD else payload
    return payload if len(set(payload)) < _LEAST_KINDS else f"[base64, {len(payload):,} chars]"


def _line(part: Part, names: dict[str, str]) -> str:
    if part.kind == "text":
        return _plain(part.text)
    if part.kind == "call":
        names[part.call_id] = part.name
        return f"[called {part.name or 'a tool'}: {_short(_spelt(part.value), _ARGUMENT_CHARS)}]"
    if part.kind == "result":
        name = part.name or names.get(part.call_id, "") or "a tool"
        outcome = "returned an error" if part.is_error else "returned"
        return f"[{name} {outcome}: {_short(_shown(part.value), _RESULT_CHARS)}]"
    if part.kind == "other":
        return f"[{_medium(part.value)}]"
    return ""


def _plain(said: str) -> str:
    return _STEERING.sub(" ", _UNSENDABLE.sub("\ufffd", without_payloads(said.strip(_BLANK))))


def _shown(value: Json) -> str:
    """What a tool returned: of a list of blocks their texts, with media named; else its JSON."""
    if not isinstance(value, list | tuple) or not any(_is_block(one) for one in value):
        return _spelt(value)
    return "\n".join(filter(None, map(_block, value)))


def _is_block(value: Json) -> bool:
    return is_object(value) and (isinstance(member(value, "text"), str) or bool(text(value, "type")))


def _block(value: Json) -> str:
    said = member(value, "text") if is_object(value) else None
    if isinstance(said, str):
        return said
    if is_object(value) and not items(member(value, "content")) and _is_medium(value):
        return f"[{_medium(value)}]"
    return _spelt(value)


def _is_medium(block: Json) -> bool:
    kind = text(block, "type")
    return bool(text(block, *_MIME_KEYS)) or (bool(kind) and kind not in _TEXTS and not kind.endswith("result"))


def _short(said: str, most: int) -> str:
    """A text of at most so many chars: its beginning and its end, and how much is left out between."""
    said = _plain(said)
    if len(said) <= most:
        return said
    head = most * _HEAD // _RESULT_CHARS
    tail = most - head
    return f"{said[:head]}\n(… {len(said) - most:,} of {len(said):,} chars left out …)\n{_plain(said[-tail:])}"


def _spelt(value: Json) -> str:
    if isinstance(value, str):
        return value
    try:
        return canonical(value)
    except UnsupportedOutput:
        return type(value).__name__


def _medium(block: Json) -> str:
    """What a block is that is no text: its type, and its name where it has one."""
    if not is_object(block):
        return "attachment"
    keys = [str(key) for key in block] if isinstance(block, dict) else []
    kind = text(block, "type", *_MIME_KEYS) or next(iter(keys), "attachment")
    inner = member(block, kind)
    name = text(block, *_NAMES) or (text(inner, *_NAMES) if is_object(inner) else "")
    name = without_payloads(name.replace("\n", " "))
    return f"{kind}: {name}" if name else kind
