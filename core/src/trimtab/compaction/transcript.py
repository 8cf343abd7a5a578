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
_LINES: Final = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"  # whatever some reader takes for the end of a line
_SPEAKER: Final = "|".join(spelt for label in LABELS.values() for spelt in (label, label.upper(), label.lower()))
_STEERING: Final = re.compile(f"(?:\\A|(?<=[{_LINES}]))(?=(?:{_SPEAKER})[ \t\u00a0\u200b\u3000]{{0,8}}[:：]|\\[)")

_LEAST_PAYLOAD: Final = 200
_LEAST_KINDS: Final = 12  # different chars: a ruler of dashes is no payload
_PADDED: Final = 0.9  # of a payload may be zeros, which are spelt `A`
_WORDS: Final = 0.25  # of a path or a long name is in words; of base64, one char in twelve
_CHAR: Final = "[A-Za-z0-9+/_\\\\-]"
_BREAK: Final = "={0,2}[\"',+ \t]{0,6}(?:\r?\n|,)[\"' \t]{0,12}"
_PAYLOAD: Final = re.compile(
    f"[dD][aA][tT][aA]:(?P<type>[a-zA-Z]{{1,20}}/[A-Za-z0-9.+-]{{1,80}})?(?:;[A-Za-z0-9=._-]{{1,80}}){{0,4}},"
    "[!#-&(-;=?-~]*+"
    "|(?P<url>[a-z][a-z0-9+.-]{1,15}://[!#-&(-;=?-~]*+)"
    f"|(?<![A-Za-z0-9+/_-])(?P<lines>(?:{_CHAR}{{40,}}+{_BREAK})+(?!-){_CHAR}+={{0,2}})"
    f"|{_CHAR}{{{_LEAST_PAYLOAD},}}+={{0,2}}"
    f"|(?P<bytes>(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{{2}}[ :]){{{_LEAST_PAYLOAD // 3},}})"
)
_IN_URL: Final = re.compile(f"[A-Za-z0-9_-]{{{_LEAST_PAYLOAD},}}+")
_WORD: Final = re.compile("[a-z]{4,}+")
_HEX: Final = re.compile("[0-9A-Fa-f]+")
_HANDLE: Final = re.compile("<omitted [^<>\n]{1,140}>|trimtab:[0-9a-f]{16,32}")
_MOST_HANDLES: Final = 20
_SNAP: Final = 64  # chars within which a cut moves to a blank, so that no path, url or number is cut
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
    if found["url"]:
        return _IN_URL.sub(lambda run: _called("base64", run[0]) if _is_payload(run[0]) else run[0], payload)
    if found["bytes"]:
        return _called("hex", payload)
    if payload[:5] in ("data:", "DATA:") or found["type"]:
        return _called(found["type"] or "data", payload) if len(payload) >= _LEAST_PAYLOAD else payload
    if found["lines"]:
        lines = re.split(_BREAK, payload)
        if all(_HEX.fullmatch(line) for line in lines):  # digests
            return payload
    return _called("base64", payload) if len(payload) >= _LEAST_PAYLOAD and _is_payload(payload) else payload


def _called(kind: str, payload: str) -> str:
    return f"[{kind}, {len(payload):,} chars]"


def _is_payload(run: str) -> bool:
    """Whether it is bytes, not a path, a name, a sequence of letters or a ruler, all of which may be as long."""
    if run.count("A") > _PADDED * len(run):
        return True
    if len(set(run)) < _LEAST_KINDS or not any("0" <= ch <= "9" for ch in run):
        return False
    return sum(len(word) for word in _WORD.findall(run)) < _WORDS * len(run)


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
    """A text of about so many chars: its beginning and its end, how much is left out between, and its handles."""
    said = _plain(said)
    if len(said) <= most:
        return said
    head = most * _HEAD // _RESULT_CHARS
    tail = len(said) - (most - head)
    back = max(said.rfind(blank, head - _SNAP, head + 1) for blank in _BLANK)
    ahead = [at for blank in _BLANK if (at := said.find(blank, tail - 1, tail + _SNAP)) >= 0]
    head, tail = (back if back >= 0 else head), min(ahead, default=tail)
    left_out = f"\n(… {tail - head:,} of {len(said):,} chars left out …)\n"
    return f"{said[:head]}{left_out}{_plain(said[tail:])}{_handles(said, head, tail)}"


def _handles(said: str, head: int, tail: int) -> str:
    """What reads back a text, where it stood in what is left out or was cut: there is no other way back to it."""
    lost = dict.fromkeys(found[0] for found in _HANDLE.finditer(said) if found.end() > head and found.start() < tail)
    if not lost:
        return ""
    more = f", and {len(lost) - _MOST_HANDLES:,} more" if len(lost) > _MOST_HANDLES else ""
    return f"\n(left out, too: {', '.join(list(lost)[:_MOST_HANDLES])}{more})"


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
