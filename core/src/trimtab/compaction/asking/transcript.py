"""Messages as a text for a summarizer, and that text read again: who said what, in entries.

An entry begins with `User: `, `Assistant: ` or `Tool: ` at the beginning of a line; a call, a result or a medium stands
in brackets that begin a line or an entry, and a text after them has the speaker once more. A line of somebody's text
that begins so has a blank before it: no page and no file can put words into the user's mouth. Tool results are
shortened, media are named and never spelt out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from attrs import frozen

from trimtab.codecs.leaves import MIME_KEYS
from trimtab.compaction.measuring.media import is_medium, without_payloads
from trimtab.excerpt.edges import head_stop, tail_start
from trimtab.measure import shown
from trimtab.types import Json
from trimtab.wire.histories import Message, Part, Role
from trimtab.wire.nodes import is_object, member, spelt, text

__all__ = ["LABELS", "Piece", "ends_of", "entries", "pieces", "transcript"]

LABELS: Final[dict[Role, str]] = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}
"""How a speaker is called."""

_CALLED: Final = "called"
_RETURNED: Final = "returned"
_FAILED: Final = "returned an error"
_A_TOOL: Final = "a tool"

# Chars. Of what a tool returned, and more so of what it was told, the beginning and the end tell most, and there may be
# hundreds: at 1,500 a transcript of fifty steps is no larger than the window of a small model.
_RESULT_CHARS: Final = 1_500
_ARGUMENT_CHARS: Final = 500
_MOST_HANDLES: Final = 20  # of a result: about as long as its end

_BLANK: Final = " \t\r\n"
_LINES: Final = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"  # whatever some reader takes for the end of a line
_ANY_CASE: Final = "|".join(spelt for label in LABELS.values() for spelt in (label, label.upper(), label.lower()))
_STEERING: Final = re.compile(f"(?:\\A|(?<=[{_LINES}]))(?=(?:{_ANY_CASE})[ \t\u00a0\u200b\u3000]{{0,8}}[:：]|\\[)")
_LINE_ENDS: Final = re.compile(f"[{_LINES}]+")
_HANDLE: Final = re.compile("<omitted [^<>\n]{1,140}>|trimtab:[0-9a-f]{16,32}")
_NAMES: Final = ("filename", "name", "title", "fileName", "file_name")

_SPEAKER: Final = "|".join(LABELS.values())
_BEGINS: Final = re.compile(f"\n(?=(?:{_SPEAKER}): |\\[)")
_LABEL: Final = re.compile(f"({_SPEAKER}): ")
_ROLES: Final = {label: role for role, label in LABELS.items()}
_TOOL: Final = "[^\n]{1,200}?"  # of a tool: providers take 128 chars at most
_CALL: Final = re.compile(f"\\[{_CALLED} ({_TOOL}): ")
_RESULT: Final = re.compile(f"\\[({_TOOL}) (?:({_FAILED})|{_RETURNED}): ")


@frozen(kw_only=True)
class Piece:
    """What one part of a message left in a transcript.

    Attributes:
        said: the text; of a call its arguments, of a result what it shows; of anything else, as a medium, its name.
        name: the tool's, of a call and of a result.
    """

    speaker: Role
    kind: Literal["text", "call", "result", "other"]
    said: str
    name: str = ""
    is_error: bool = False


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


def pieces(history: str) -> Iterator[Piece]:
    """What stands in a transcript, or in a part of one, in order; before the first speaker it is the assistant's."""
    speaker: Role = "assistant"
    for raw in _BEGINS.split(history):
        label = _LABEL.match(raw)
        if label is not None:
            speaker, raw = _ROLES[label[1]], raw[label.end() :]
        if not raw.strip(_BLANK):
            continue
        if not raw.startswith("["):
            yield Piece(speaker=speaker, kind="text", said=raw)
        elif call := _CALL.match(raw):
            yield Piece(speaker=speaker, kind="call", name=call[1], said=_inside(raw, call.end()))
        elif result := _RESULT.match(raw):
            said = _inside(raw, result.end())
            yield Piece(speaker=speaker, kind="result", name=result[1], said=said, is_error=bool(result[2]))
        else:
            yield Piece(speaker=speaker, kind="other", said=_inside(raw, 1))


def ends_of(said: str, most: int) -> str:
    """The beginning and the end of a text, of `most` chars together, cut between words; between them what is missing.

    The end passes for no entry, wherever it was cut.
    """
    head, tail = head_stop(said, 0, 2 * most // 3), tail_start(said, len(said) - most // 3, len(said))
    end = said[tail:] if said[tail - 1 : tail] == "\n" else _STEERING.sub(" ", said[tail:])
    return f"{said[:head]}\n(… {tail - head:,} chars left out …)\n{end}"


def _inside(raw: str, begin: int) -> str:
    """What stands in brackets from here on."""
    return raw[begin:].rstrip(_BLANK).removesuffix("]")


def _line(part: Part, names: dict[str, str]) -> str:
    if part.kind == "text":
        return _plain(part.text)
    if part.kind == "call":
        names[part.call_id] = part.name
        return f"[{_CALLED} {_name(part.name) or _A_TOOL}: {_short(_spelt(part.value), _ARGUMENT_CHARS)}]"
    if part.kind == "result":
        name = _name(part.name or names.get(part.call_id, "")) or _A_TOOL
        said = _short(_returned(part.value), _RESULT_CHARS)
        return f"[{name} {_FAILED if part.is_error else _RETURNED}: {said}]"
    return f"[{_medium(part.value)}]" if part.kind == "other" else ""


def _plain(said: str) -> str:
    return _STEERING.sub(" ", shown(without_payloads(said.strip(_BLANK))))


def _name(said: str) -> str:
    """A name on one line, which passes for no more than a name."""
    return _LINE_ENDS.sub(" ", shown(without_payloads(said))).replace(": ", ":")


def _short(said: str, most: int) -> str:
    """A text of about so many chars: all of it, or its ends and its handles."""
    said = _plain(said)
    if len(said) <= most:
        return said
    ends = ends_of(said, most)
    return ends + _handles(said, ends)


def _handles(said: str, ends: str) -> str:
    """What reads back a text, where it stood in what is left out or was cut: there is no other way back to it."""
    there = set(_HANDLE.findall(ends))
    lost = [handle for handle in dict.fromkeys(_HANDLE.findall(said)) if handle not in there]
    if not lost:
        return ""
    more = f", and {len(lost) - _MOST_HANDLES:,} more" if len(lost) > _MOST_HANDLES else ""
    return f"\n(left out, too: {', '.join(lost[:_MOST_HANDLES])}{more})"


def _returned(value: Json) -> str:
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
    return f"[{_medium(value)}]" if is_medium(value) else _spelt(value)


def _spelt(value: Json) -> str:
    return value if isinstance(value, str) else spelt(value)


def _medium(block: Json) -> str:
    """What a block is that is no text: its type, and its name where it has one."""
    if not is_object(block):
        return "attachment"
    keys = [str(key) for key in block] if isinstance(block, dict) else []
    kind = text(block, "type", *MIME_KEYS) or next(iter(keys), "attachment")
    inner = member(block, kind)
    name = text(block, *_NAMES) or (text(inner, *_NAMES) if is_object(inner) else "")
    kind = _name(kind).replace(" ", "_")
    return f"{kind}: {_name(name)}" if name else kind
